"""Writes the cases of this directory: `ZARR_V3_EXPERIMENTAL_API=1 ZARR_V3_SHARDING=1 python make.py`"""

import json
import sys
from pathlib import Path

import numcodecs
import numpy as np
import zarr
from zarr._storage.v3_storage_transformers import ShardingStorageTransformer

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import pack  # noqa: E402

OUT = Path(pack.begin(HERE))


def case(name):
    path = OUT / name / "h.zarr"
    return zarr.open_group(str(path), mode="w", zarr_version=3)


def finish(name, group, paths):
    """Records every element that zarr-python reads back: little-endian, in row-major order; for objects, their text."""
    values = {}
    for path in paths:
        array = group[path]
        data = np.asarray(array[...], order="C")
        if data.dtype.hasobject:
            elements = {"text": data.tolist()}
        else:
            elements = {"hex": data.astype(data.dtype.newbyteorder("<")).tobytes().hex()}
        values[path] = elements | {"shape": list(array.shape), "attributes": dict(array.attrs)}
    (OUT / name / "values.json").write_text(json.dumps(values, indent=1, sort_keys=True) + "\n")


def types():
    group = case("types")
    arrays = {
        "bool": np.array([True, False, True]),
        "i1": np.array([1, -1, 100], dtype="i1"),
        "u1": np.array([1, 255, 100], dtype="u1"),
        "big": np.arange(5, dtype=">i8") * -(2**40),
        "f2": np.array([0.5, np.inf, -2], dtype="<f2"),
        "complex": np.array([1 + 2j, -3j], dtype=">c8"),
        "time": np.array([1, 2**40], dtype="<M8[ns]"),
        "span": np.array([1, -7], dtype=">m8[s]"),
        "bytes": np.array([b"ab", b"c"], dtype="S3"),
        "text": np.array(["ab", "\u00e9"], dtype="<U3"),
        "structure": np.array([(1, 2.5), (-3, 4.5)], dtype=[("a", "<i4"), ("b", ">f8")]),
        "raw": np.frombuffer(b"abcdef", dtype="V3"),
    }
    for name, data in arrays.items():
        group.create_dataset(name, data=data, chunks=(2,), compressor=None)
    group.create_dataset("scalar", data=np.array(7.5))
    group.create_dataset("undefined", data=np.arange(3, dtype="<u2"), chunks=2, fill_value=None)
    group.create_dataset("nan", shape=3, chunks=2, dtype="<f8", fill_value=np.nan)
    objects = np.array(["ab", "", "\u00e9\u00e8"], dtype=object)
    group.create_dataset("objects", data=objects, chunks=2, object_codec=numcodecs.VLenUTF8(), fill_value="")
    finish("types", group, [*arrays, "objects", "scalar", "undefined", "nan"])


def codecs():
    group = case("codecs")
    data = np.arange(20, dtype="<i4").reshape(4, 5)
    compressors = {
        "gzip": numcodecs.GZip(1),
        "zlib": numcodecs.Zlib(3),
        "blosc": numcodecs.Blosc("zstd", 3, numcodecs.Blosc.BITSHUFFLE),
        "bz2": numcodecs.BZ2(2),
        "lz4": numcodecs.LZ4(),
        "zstd": numcodecs.Zstd(3),
    }
    for name, compressor in compressors.items():
        group.create_dataset(name, data=data, chunks=(3, 2), compressor=compressor)
    group.create_dataset("column", data=data, chunks=(3, 2), order="F", compressor=numcodecs.GZip(1))
    dot = group.create_dataset("dot", data=data, chunks=(3, 2), dimension_separator=".", compressor=None)
    dot.attrs["unit"] = "K"
    filtered = group.create_dataset(
        "filtered", data=data, chunks=(3, 2), filters=[numcodecs.Zlib(1)], compressor=numcodecs.GZip(1)
    )
    filtered.attrs["unit"] = "m"
    finish("codecs", group, [*compressors, "column", "dot", "filtered"])


def shards():
    group = case("shards")
    data = np.arange(7 * 6, dtype="<i4").reshape(7, 6)
    for name, order, per_shard in [("row", "C", (2, 3)), ("column", "F", (2, 2)), ("ragged", "C", (3, 2))]:
        transformer = ShardingStorageTransformer("indexed", chunks_per_shard=per_shard)
        array = group.create(
            name, shape=data.shape, chunks=(2, 1), dtype="<i4", order=order,
            compressor=numcodecs.Zlib(1), storage_transformers=[transformer],
        )
        array[:5] = data[:5]
    finish("shards", group, ["row", "column", "ragged"])


def tree():
    group = case("tree")
    group.attrs["title"] = "a tree"
    group.create_dataset("implicit/deep/x", data=np.arange(3, dtype="<i2"), compressor=None)
    group.create_group("explicit").attrs["empty"] = True
    finish("tree", group, ["implicit/deep/x"])


def alone():
    """Writes an array without a group above it, as `zarr.open_array` does."""
    store = OUT / "alone" / "h.zarr"
    array = zarr.open_array(str(store), mode="w", shape=(3, 2), chunks=(2, 2), dtype="<f4", zarr_version=3, path="x")
    array[:] = np.arange(6, dtype="<f4").reshape(3, 2)
    finish("alone", {"x": array}, ["x"])


for make in (types, codecs, shards, tree, alone):
    make()
pack.pack(HERE)
