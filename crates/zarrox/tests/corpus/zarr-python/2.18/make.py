"""Writes hierarchies of zarr-python 2.18 in format 2, and their expected values. README.md has the commands."""

import os
import sys

import numcodecs
import numpy as np
import zarr

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import record  # noqa: E402

corpus = record.Corpus(
    __file__, f"zarr-python {zarr.__version__}, numcodecs {numcodecs.__version__}, NumPy {np.__version__}"
)


def fixed(root, name, values, fill=None, region=Ellipsis, attributes=None, **options):
    values = np.asarray(values)
    options = {"chunks": tuple(max(1, (n + 1) // 2) for n in values.shape) or True, "compressor": None} | options
    array = root.create_dataset(name, shape=values.shape, dtype=values.dtype, fill_value=fill, **options)
    array[region] = values[region]
    if attributes:
        array.attrs.update(attributes)
    assert record.same(array[...], values), (name, array[...])
    corpus.array(array.path, values, fill=array.fill_value, attributes=attributes)


def objects(values, shape=None):
    array = np.empty(len(values), object)
    for index, value in enumerate(values):
        array[index] = value
    return array.reshape(shape or array.shape)


def varied(root, name, values, kind, codec, region=Ellipsis, fill=None, **options):
    options = {"compressor": None, "chunks": tuple(max(1, (n + 1) // 2) for n in values.shape) or True} | options
    array = root.create_dataset(name, shape=values.shape, dtype=object, object_codec=codec, fill_value=fill, **options)
    array[region] = values[region]
    if region is Ellipsis:
        for one, two in zip(array[...].reshape(-1), values.reshape(-1)):
            equal = record.same(one, two) if isinstance(two, np.ndarray) else one == two
            assert type(one) is type(two) and equal, (name, one, two)
    corpus.objects(array.path, values, kind)


def types():
    root = zarr.group(zarr.DirectoryStore(corpus.hierarchy("types.zarr")))
    for kind in ["b1", "i1", "u1", "<i2", ">i4", "<i8", ">u2", "<u4", ">u8", "<f2", ">f4", "<f8", ">c8", "<c16"]:
        fixed(root, kind.strip("<>"), record.numbers(kind, 8))
    fixed(root, "S5", np.array([b"", b"abc", b"abcde"], "S5"), fill=b"ab")
    fixed(root, "U5", np.array(["", "café", "🧊"], "<U5"), fill="é")
    fixed(root, "V3", np.array([b"abc", b"\0\1\xff"], "V3"))
    fixed(root, "M8", np.array([0, -1, 12345], "<i8").view("<M8[10ms]"), fill=np.datetime64("NaT"))
    fixed(root, "m8", np.array([0, -1, 12345], ">i8").view(">m8[W]"), fill=np.timedelta64(3, "W"))
    record_type = [("a", ">i4"), ("b", "<f8"), ("c", "S2"), ("d", [("e", "u1"), ("f", ">U2")]), ("g", "<i2", (2,))]
    values = np.array([(1, 0.5, b"ab", (1, "é"), [1, 2]), (-2, 1.5, b"c", (2, "xy"), [3, 4])], record_type)
    fixed(root, "struct", values)
    fixed(
        root,
        "struct_columns",
        np.stack([values, values[::-1], values]),
        order="F",
        chunks=(2, 2),
        compressor=numcodecs.Zstd(),
    )
    nothing = np.zeros(2, record_type)
    nothing[0] = values[0]
    fixed(root, "struct_fill", nothing, fill=0, region=slice(0, 1), chunks=(1,))
    corpus.groups()


def codecs():
    root = zarr.group(zarr.DirectoryStore(corpus.hierarchy("codecs.zarr")))
    values = (np.arange(96, dtype="<i4") // 3).reshape(8, 12)
    for name, compressor in [
        ("zstd_checksum", numcodecs.Zstd(3, checksum=True)),
        ("zstd_fast", numcodecs.Zstd(-5)),
        ("gzip", numcodecs.GZip(5)),
        ("lz4", numcodecs.LZ4()),
        ("lzma", numcodecs.LZMA()),
        ("bz2", numcodecs.BZ2()),
        ("zlib", numcodecs.Zlib()),
        ("blosc_bits", numcodecs.Blosc("zstd", 3, 2)),
        ("default", "default"),
    ]:
        fixed(root, name, values, compressor=compressor, chunks=(5, 12), order="F")
    corpus.groups()


def object_arrays():
    root = zarr.group(zarr.DirectoryStore(corpus.hierarchy("objects.zarr")))
    texts = objects(["", "a", "café", "🧊日本語", "x" * 40, "line\nbreak"])
    varied(root, "utf8", texts, "utf8", numcodecs.VLenUTF8())
    varied(
        root,
        "utf8_columns",
        texts.reshape(2, 3),
        "utf8",
        numcodecs.VLenUTF8(),
        order="F",
        chunks=(2, 2),
        compressor=numcodecs.Zstd(),
    )
    varied(
        root,
        "utf8_fill",
        objects(["a", "-", "-"]),
        "utf8",
        numcodecs.VLenUTF8(),
        fill="-",
        region=slice(0, 1),
        chunks=(1,),
    )
    array = root.create_dataset("utf8_by_dtype", shape=8, chunks=4, dtype=str, compressor=None)
    array[:3] = texts[:3]
    corpus.objects("utf8_by_dtype", objects(list(texts[:3]) + [""] * 5), "utf8")
    varied(root, "bytes", objects([b"", b"a", b"\0\xff\0", bytes(range(256))]), "bytes", numcodecs.VLenBytes())
    array = root.create_dataset("bytes_by_dtype", shape=4, chunks=2, dtype=bytes, compressor=None)
    array[:2] = objects([b"x", b""])
    corpus.objects("bytes_by_dtype", objects([b"x", b"", b"", b""]), "bytes")
    base = np.arange(4)
    for dtype in ["<i4", ">f8", "u1"]:
        ragged = objects([base[:2].astype(dtype), base[:0].astype(dtype), base.astype(dtype)])
        varied(root, "ragged_" + dtype.strip("<>"), ragged, "numbers", numcodecs.VLenArray(dtype), chunks=(2,))
    array = root.create_dataset("ragged_by_dtype", shape=2, chunks=2, dtype="array:i4", compressor=None)
    array[:] = objects([np.arange(3, dtype="i4"), np.arange(1, dtype="i4")])
    corpus.objects("ragged_by_dtype", array[:], "numbers")
    things = objects(["text", 7, -1.5, True, None, [1, [2, "x"], {}], {"a": {"b": [None, False]}, "é": 0}, 2**53, ""])
    varied(root, "json2", things, "object", numcodecs.JSON())
    varied(root, "json2_square", things.reshape(3, 3), "object", numcodecs.JSON(), chunks=(2, 2))
    varied(root, "json2_scalar", np.array("one", object), "object", numcodecs.JSON())
    varied(root, "msgpack2", things, "object", numcodecs.MsgPack())
    varied(root, "msgpack2_square", things.reshape(3, 3), "object", numcodecs.MsgPack(), chunks=(2, 2))
    varied(root, "categories", objects(["b", "a", "", "b"]), "utf8", numcodecs.Categorize(["a", "b"], dtype=object))
    root.create_dataset("unsafe", shape=2, dtype=object, object_codec=numcodecs.Pickle())[:] = objects([1, "x"])
    corpus.refused("unsafe", "pickle")
    corpus.groups()


def stores():
    """Writes the files that other stores of zarr-python 2 leave on a disk."""
    grid = np.arange(12, dtype="<i4").reshape(3, 4)
    for name, store in [
        ("fs_store.zarr", zarr.storage.FSStore),
        ("nested_directory.zarr", zarr.NestedDirectoryStore),
        ("fs_store_nested.zarr", lambda path: zarr.storage.FSStore(path, dimension_separator="/")),
    ]:
        root = zarr.group(store(corpus.hierarchy(name)))
        root.attrs["store"] = name
        fixed(root, "grid", grid, chunks=(2, 2))
        fixed(root, "below/line", np.arange(4, dtype=">f8"), attributes={"units": "m"})
        zarr.consolidate_metadata(root.store)
        corpus.groups({"": {"store": name}})


def edges():
    root = zarr.group(zarr.DirectoryStore(corpus.hierarchy("edges.zarr")))
    fixed(root, "scalar", np.array(-7, ">i8"))
    fixed(root, "empty", np.zeros((0, 3), "<i4"), chunks=(1, 2), fill=0)
    fixed(root, "empty_by_default", np.zeros((0,), "<i4"), chunks=True, fill=0)
    fixed(root, "beyond", np.arange(6, dtype="<u2").reshape(2, 3), chunks=(5, 7), fill=9)
    fixed(root, "zeros_not_stored", np.zeros(4, "<i4"), fill=0, write_empty_chunks=False)
    fixed(root, "nan_not_stored", np.array([np.nan, np.nan, 1, np.nan]), fill=np.nan, write_empty_chunks=False)
    fixed(root, "slashes", np.arange(12, dtype="<i4").reshape(3, 4), dimension_separator="/")
    array = root.create_dataset("resized", shape=(3, 3), chunks=(2, 2), dtype="<i4", fill_value=-1, compressor=None)
    array[:] = 1
    array.resize(5, 2)
    array.append(np.full((2, 2), 4, "<i4"))
    # Elements outside of the array in a kept chunk do not have the fill value.
    corpus.array("resized", array[...], fill=-1)
    corpus.groups()


for make in [types, codecs, object_arrays, stores, edges]:
    make()
corpus.save()
