"""Writes the arrays of zarr-python 1.1, and their expected values. README.md has the commands."""

import lzma
import os
import sys

import numpy as np
import zarr

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import record  # noqa: E402

corpus = record.Corpus(__file__, "zarr-python %s, NumPy %s" % (zarr.__version__, np.__version__))


def write(name, values, fill=None, region=Ellipsis, attributes=None, chunks=None, **options):
    """Writes an array, which is the root of its own store."""
    values = np.asarray(values)
    path = corpus.hierarchy(name + ".zarr")
    os.makedirs(path)
    store = zarr.DirectoryStore(path)
    chunks = chunks or tuple((n + 1) // 2 for n in values.shape)
    options.setdefault("compression", "none")
    zarr.init_store(store, shape=values.shape, chunks=chunks, dtype=values.dtype, fill_value=fill, **options)
    array = zarr.Array(store)
    array[region] = values[region]
    if attributes:
        array.attrs.update(attributes)
    again = zarr.Array(zarr.DirectoryStore(store.path))
    if fill is not None or region is Ellipsis:
        assert record.same(again[:], values), (name, again[:], values)
    corpus.array("", values, fill=fill, attributes=attributes)


for kind in ["b1", "i1", "u1", "i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]:
    order = "<" if kind in ["i2", "i8", "u4", "f2", "f8", "c8"] else ">"
    write("type_" + kind, record.numbers(order + kind, 8))
write("type_S", np.array([b"", b"abc", b"\xc3\xa9", b"abcde"], "S5"))
write("type_U", np.array(["", "caf\u00e9", "\U0001f9ca", "abcde"], ">U5"))
write("type_V", np.array([b"abc", b"\0\1\xff"], "V3"))
write("type_M8", np.array([0, -1, 12345], "<i8").view("<M8[ms]"))
write("type_m8", np.array([0, -1, 12345], ">i8").view(">m8[D]"))
write("type_struct", np.array([(1, 0.5, b"ab"), (-2, 1.5, b"c")], [("a", "<i4"), ("b", ">f8"), ("c", "S2")]))
write(
    "type_struct_nested", np.array([(1, (2, 3.5)), (4, (5, 6.5))], [("a", "u1"), ("b", [("c", ">i2"), ("d", "<f4")])])
)

grid = np.arange(35, dtype="<i4").reshape(5, 7)
write("none", grid)
for level in [None, 0, 1, 9]:
    write("zlib_%s" % ("default" if level is None else level), grid, compression="zlib", compression_opts=level)
write("gzip_alias", grid, compression="gzip", compression_opts=4)
for level in [None, 1, 9]:
    write("bz2_%s" % ("default" if level is None else level), grid, compression="bz2", compression_opts=level)
write("blosc_default", grid, compression="blosc")
for cname in ["blosclz", "lz4", "lz4hc", "snappy", "zlib"]:
    for shuffle in [0, 1, 2]:
        write(
            "blosc_%s_%d" % (cname, shuffle),
            np.arange(200, dtype="<i4"),
            chunks=(200,),
            compression="blosc",
            compression_opts={"cname": cname, "clevel": 5, "shuffle": shuffle},
        )
filters = [{"id": lzma.FILTER_DELTA, "dist": 4}, {"id": lzma.FILTER_LZMA2, "preset": 1}]
for name, options in [
    ("default", None),
    ("preset", {"preset": 9}),
    ("crc64", {"check": lzma.CHECK_CRC64}),
    ("filters", {"filters": filters}),
    ("raw", {"format": lzma.FORMAT_RAW, "filters": filters}),
]:
    write("lzma_" + name, grid, compression="lzma", compression_opts=options)

# zarr-python 1 passes the memory of a chunk to Blosc, and its elements in row-major order to all other compressors.
write("columns_blosc", grid, order="F", compression="blosc")
write("columns_none", grid, order="F")
write("columns_zlib", grid, order="F", compression="zlib")
write("columns_bz2", grid, order="F", compression="bz2")
write("columns_line", np.arange(9, dtype="<i4"), order="F", compression="zlib")
write("columns_3d_blosc", np.arange(60, dtype=">u2").reshape(3, 4, 5), order="F", compression="blosc")

first = (slice(0, 2), slice(0, 2))
for name, dtype, fill in [
    ("int", "<i4", 42),
    ("float", "<f8", -0.5),
    ("nan", "<f8", float("nan")),
    ("true", "?", True),
    ("infinity", ">f4", float("-inf")),
    ("one", "?", 1),
]:
    values = np.full((4, 4), fill, dtype)
    values[first] = np.arange(4).reshape(2, 2)
    write("fill_" + name, values, fill=fill, region=first, chunks=(2, 2), attributes={"fill": name})
values = np.zeros((4,), "<i4")
values[:2] = 1
write("fill_null", values, region=slice(0, 2), chunks=(2,))
write("edge", np.arange(6, dtype="<i4").reshape(2, 3), fill=9, chunks=(4, 5), compression="zlib")
write(
    "attributes",
    np.arange(3, dtype="<i4"),
    attributes={"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4], "\u00e9": {"a": None}},
)
corpus.save()
