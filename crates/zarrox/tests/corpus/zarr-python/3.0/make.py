"""Writes a hierarchy of zarr-python 3.0, and its expected values. README.md has the commands."""

import os
import sys

import numcodecs
import numpy as np
import zarr
from zarr.codecs import BloscCodec, BytesCodec, GzipCodec, TransposeCodec, ZstdCodec

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import record  # noqa: E402

corpus = record.Corpus(
    __file__, f"zarr-python {zarr.__version__}, numcodecs {numcodecs.__version__}, NumPy {np.__version__}"
)


def create(root, name, values, dtype=None, **options):
    options = {"chunks": tuple(max(1, (n + 1) // 2) for n in values.shape), "compressors": None} | options
    return root.create_array(name, shape=values.shape, dtype=values.dtype if dtype is None else dtype, **options)


def fixed(root, name, values, **options):
    values = np.asarray(values)
    array = create(root, name, values, **options)
    array[...] = values
    assert record.same(np.asarray(array[...]).astype(values.dtype), values), (name, array[...])
    corpus.array(
        array.path,
        values,
        fill=array.fill_value,
        attributes=options.get("attributes"),
        dimension_names=options.get("dimension_names"),
    )


def varied(root, name, values, kind, dtype, region=Ellipsis, **options):
    array = np.empty(len(values), object)
    array[:] = values
    values = array
    array = create(root, name, values, dtype, **options)
    array[region] = values[region]
    read = array[...].reshape(-1)
    assert all(one == two for one, two in zip(read, values)), (name, read)
    corpus.objects(array.path, values, kind)


root = zarr.open_group(corpus.hierarchy("v3.zarr"), mode="w", zarr_format=3)
fixed(root, "bool", record.numbers("?", 5))
for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]:
    fixed(root, np.dtype(kind).name, record.numbers(kind, 9), chunks=(9,))
grid = np.arange(35, dtype="<i4").reshape(5, 7)
fixed(root, "default", grid, compressors="auto")
fixed(root, "big", grid, serializer=BytesCodec(endian="big"), compressors=GzipCodec())
fixed(root, "blosc", grid, compressors=BloscCodec())
fixed(root, "transposed", grid, filters=TransposeCodec(order=(1, 0)), compressors=ZstdCodec())
fixed(root, "sharded", grid, chunks=(2, 2), shards=(4, 4))
fixed(root, "named", grid, dimension_names=["y", None], attributes={"units": "m"})
fixed(root, "below/deep", np.arange(3, dtype="<f4"))
# The type of these is now called variable_length_bytes; the fill value is a list of bytes.
varied(root, "bytes", [b"", b"a", b"\0\xff\0"], "bytes", bytes)
varied(root, "bytes_fill", [b"a", b"\0n", b"\0n"], "bytes", bytes, region=slice(0, 1), chunks=(1,), fill_value=b"\0n")
varied(root, "bytes_zstd", [b"", b"a", b"\0\xff\0"], "bytes", bytes, compressors="auto")
varied(root, "string", ["", "café", "🧊"], "utf8", str)
varied(root, "string_fill", ["a", "n/a", "n/a"], "utf8", str, region=slice(0, 1), chunks=(1,), fill_value="n/a")
root.attrs["written"] = "long ago"
corpus.groups({"": {"written": "long ago"}})

root = zarr.open_group(corpus.hierarchy("v2.zarr"), mode="w", zarr_format=2)
for order in "CF":
    fixed(root, f"grid_{order}", grid, chunks=(3, 4), order=order)
    fixed(root, f"grid_{order}_zstd", grid.astype(">i4"), chunks=(3, 4), order=order, compressors=numcodecs.Zstd())
fixed(root, "below/deep", np.arange(3, dtype="<f4"))
corpus.groups()
corpus.save()
