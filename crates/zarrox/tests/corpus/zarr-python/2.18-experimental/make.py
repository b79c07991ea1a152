"""Writes hierarchies of zarr-python 2.18's experimental version 3, and their expected values. README.md has the commands."""

import json
import os
import sys

os.environ["ZARR_V3_EXPERIMENTAL_API"] = "1"
os.environ["ZARR_V3_SHARDING"] = "1"

import numcodecs  # noqa: E402
import numpy as np  # noqa: E402
import zarr  # noqa: E402
from zarr._storage.v3_storage_transformers import ShardingStorageTransformer  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import record  # noqa: E402

corpus = record.Corpus(
    __file__, f"zarr-python {zarr.__version__}, numcodecs {numcodecs.__version__}, NumPy {np.__version__}"
)


def begin(name):
    return zarr.DirectoryStoreV3(corpus.hierarchy(name))


def create(store, path, shape, dtype, fill=None, chunks=None, **options):
    chunks = chunks or tuple(max(1, (n + 1) // 2) for n in shape) or True
    options.setdefault("compressor", None)
    shards = options.pop("chunks_per_shard", None)
    if shards:
        options["storage_transformers"] = [ShardingStorageTransformer("indexed", chunks_per_shard=shards)]
    return zarr.create(
        shape=shape, dtype=dtype, chunks=chunks, store=store, path=path, fill_value=fill, zarr_version=3, **options
    )


def fixed(store, path, values, fill=None, region=Ellipsis, attributes=None, **options):
    values = np.asarray(values)
    array = create(store, path, values.shape, values.dtype, fill, **options)
    array[region] = values[region]
    if attributes:
        array.attrs.update(attributes)
    read = zarr.open_array(store, path=path, mode="r", zarr_version=3)[...]
    assert record.same(read, values) or fill is None and region is not Ellipsis, (path, read)
    corpus.array(path, values, fill=array.fill_value, attributes=attributes)


def filled(store, path, value, stored, dtype):
    """Writes an array of two chunks: one has an element that is not the fill value, and the other is missing."""
    dtype = np.dtype(dtype)
    values = np.full(2, "NaT", dtype) if dtype.kind in "Mm" else np.zeros(2, dtype)
    values[0] = stored
    if value is not None:
        values[1] = value
    fixed(store, path, values, fill=value, region=slice(0, 1), chunks=(1,))


def objects(values, shape=None):
    array = np.empty(len(values), object)
    for index, value in enumerate(values):
        array[index] = value
    return array.reshape(shape or array.shape)


def varied(store, path, values, kind, codec, **options):
    array = create(store, path, values.shape, object, object_codec=codec, **options)
    array[...] = values
    for one, two in zip(array[...].reshape(-1), values.reshape(-1)):
        equal = record.same(one, two) if isinstance(two, np.ndarray) else one == two
        assert type(one) is type(two) and equal, (path, one, two)
    corpus.objects(path, values, kind)


def types():
    store = begin("types.zarr")
    zarr.group(store, zarr_version=3)
    fixed(store, "b1", record.numbers("?", 5))
    for kind in ["i1", "u1"]:
        fixed(store, kind, record.numbers(kind, 5))
    for kind in ["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]:
        for order, word in [("<", "little"), (">", "big")]:
            fixed(store, f"{kind}_{word}", record.numbers(order + kind, 9), chunks=(9,))
    times = np.array([0, -1, 12345, np.iinfo("i8").min], "<i8")
    for unit in ["Y", "D", "ns"]:
        fixed(store, f"M8_{unit}", times.view(f"<M8[{unit}]"))
        fixed(store, f"d8_{unit}", times.astype(">i8").view(f">m8[{unit}]"))
    fixed(store, "S5", np.array([b"", b"abc", b"abcde"], "S5"))
    fixed(store, "U5_little", np.array(["", "café", "🧊"], "<U5"))
    fixed(store, "U5_big", np.array(["", "café", "🧊"], ">U5"))
    fixed(store, "V3", np.array([b"abc", b"\0\1\xff"], "V3"))
    simple = np.array([(1, 0.5, b"ab"), (-2, np.nan, b"c")], [("a", "<i4"), ("b", ">f8"), ("c", "S2")])
    fixed(store, "struct", simple)
    nested = np.array(
        [(1, (2, [3.5, 4.5])), (4, (5, [6, 7]))], [("a", "u1"), ("b", [("c", ">i2"), ("d", "<f4", (2,))])]
    )
    fixed(store, "struct_nested", nested)
    corpus.groups()


def fills():
    store = begin("fills.zarr")
    inf, nan = float("inf"), float("nan")
    for name, dtype, value, stored in [
        ("b1", "?", True, False),
        ("i4", "<i4", -7, 1),
        ("u8", ">u8", 2**64 - 1, 1),
        ("f8", "<f8", 0.1, 1),
        ("f8_nan", "<f8", nan, 1),
        ("f4_inf", ">f4", inf, 1),
        ("f8_neg_inf", "<f8", -inf, 1),
        ("c16", "<c16", 1.5 - 2j, 1),
        ("c8_nan", ">c8", complex(nan, inf), 1),
        ("M8", "<M8[s]", np.datetime64(99, "s"), np.datetime64(1, "s")),
        ("M8_nat", "<M8[s]", np.datetime64("NaT"), np.datetime64(1, "s")),
        ("S5", "S5", b"ab", b"hello"),
        ("U4", "<U4", "é!", "text"),
        ("V3", "V3", b"\0\1\xff", b"abc"),
        ("struct", [("a", "<i4"), ("b", "S2")], (5, b"x"), (1, b"ab")),
        ("undefined", "<i4", None, 1),
        ("undefined_M8", "<M8[s]", None, np.datetime64(1, "s")),
    ]:
        filled(store, name, value, stored, dtype)
    corpus.groups()


def layouts():
    store = begin("layouts.zarr")
    cube = np.arange(60, dtype=">i2").reshape(3, 4, 5)
    for order in "CF":
        fixed(store, f"cube_{order}", cube, chunks=(2, 4, 3), order=order)
        fixed(store, f"cube_{order}_blosc", cube, chunks=(2, 4, 3), order=order, compressor=numcodecs.Blosc())
        fixed(store, f"dots_{order}", cube, chunks=(2, 4, 3), order=order, dimension_separator=".")
    fixed(store, "scalar", np.array(42, "<i8"))
    fixed(store, "scalar_dots", np.array(42.5, ">f4"), dimension_separator=".", compressor=numcodecs.Zlib())
    fixed(store, "line", np.arange(7, dtype="<u4"), chunks=(3,))
    fixed(store, "empty", np.zeros((0, 3), "<i4"), chunks=(1, 2), fill=0)
    fixed(store, "beyond", np.arange(6, dtype="<u2").reshape(2, 3), chunks=(5, 7), fill=9)
    sparse = np.full((4, 6), -1, "<i4")
    sparse[2:, 4:] = 7
    fixed(store, "sparse", sparse, fill=-1, region=(slice(2, 4), slice(4, 6)), chunks=(2, 2), order="F")
    corpus.groups()


def codecs():
    store = begin("codecs.zarr")
    values = (np.arange(96, dtype="<i4") // 3).reshape(8, 12)
    compressors = [
        numcodecs.GZip(),
        numcodecs.Zlib(),
        numcodecs.BZ2(),
        numcodecs.LZ4(),
        numcodecs.LZMA(),
        numcodecs.Zstd(),
        numcodecs.Zstd(3, checksum=True),
        numcodecs.Blosc("zstd", 3, 2),
        numcodecs.Blosc("lz4", 5, 1),
        numcodecs.Blosc("zlib", 5, 0),
    ]
    for number, compressor in enumerate(compressors):
        fixed(store, f"{number}_{compressor.codec_id}", values, compressor=compressor, chunks=(5, 12))
    corpus.groups()


def sharded():
    store = begin("sharded.zarr")
    grid = np.arange(35, dtype="<i4").reshape(5, 7)
    fixed(store, "grid", grid, chunks=(2, 2), chunks_per_shard=(2, 2))
    fixed(store, "grid_dots", grid, chunks=(2, 2), chunks_per_shard=(2, 2), dimension_separator=".")
    fixed(
        store,
        "grid_columns_gzip",
        grid.astype(">i4"),
        chunks=(2, 3),
        chunks_per_shard=(2, 1),
        order="F",
        compressor=numcodecs.GZip(),
    )
    fixed(store, "grid_blosc", grid, chunks=(2, 2), chunks_per_shard=(3, 4), compressor=numcodecs.Blosc())
    fixed(store, "line", np.arange(20, dtype="<f8"), chunks=(3,), chunks_per_shard=(2,))
    fixed(store, "one_per_shard", grid, chunks=(3, 4), chunks_per_shard=(1, 1))
    sparse = np.full((8, 8), 3, "<u2")
    sparse[2:4, 2:4] = 9
    fixed(store, "sparse", sparse, fill=3, region=(slice(2, 4), slice(2, 4)), chunks=(2, 2), chunks_per_shard=(2, 2))
    corpus.groups()


def object_arrays():
    store = begin("objects.zarr")
    texts = objects(["", "a", "café", "🧊日本語", "x" * 40, "line\nbreak"])
    varied(store, "utf8", texts, "utf8", numcodecs.VLenUTF8())
    varied(
        store,
        "utf8_columns",
        texts.reshape(2, 3),
        "utf8",
        numcodecs.VLenUTF8(),
        order="F",
        chunks=(2, 2),
        compressor=numcodecs.Zlib(),
    )
    varied(store, "bytes", objects([b"", b"a", b"\0\xff\0"]), "bytes", numcodecs.VLenBytes())
    base = np.arange(4, dtype="<i4")
    varied(store, "ragged", objects([base[:2], base[:0], base]), "numbers", numcodecs.VLenArray("<i4"))
    things = objects(["text", 7, -1.5, True, None, [1, "x"], {"a": None}, ""])
    varied(store, "json2", things, "object", numcodecs.JSON())
    varied(store, "msgpack2", things, "object", numcodecs.MsgPack())
    create(store, "unsafe", (2,), object, object_codec=numcodecs.Pickle())[:] = objects([1, "x"])
    corpus.refused("unsafe", "pickle")
    corpus.groups()


def nodes():
    store = begin("nodes.zarr")
    attributes = {"title": "café 🧊", "numbers": [1, 2.5, 1e300], "nested": {"a": [None, True]}}
    zarr.group(store, zarr_version=3).attrs.update(attributes)
    zarr.group(store, path="a/b", zarr_version=3).attrs.update({"depth": 2})
    zarr.group(store, path="empty", zarr_version=3)
    fixed(store, "a/b/deep", np.arange(4, dtype="<i4"), attributes={"units": "m"})
    fixed(store, "a/array", np.arange(6, dtype=">u2").reshape(2, 3), attributes={"_ARRAY_DIMENSIONS": ["y", "x"]})
    fixed(store, "implicit/group/array", np.arange(3, dtype="<f4"))
    # zarr.create does not write the groups above: these are implicit.
    corpus.groups({"": attributes, "a/b": {"depth": 2}}, empty=["empty"])

    store = begin("consolidated.zarr")
    group = zarr.group(store, zarr_version=3)
    group.attrs["consolidated"] = True
    fixed(store, "below/grid", np.arange(12, dtype="<i4").reshape(3, 4), chunks=(2, 2))
    zarr.consolidate_metadata(store, metadata_key="meta/root/consolidated/.zmetadata")
    # The document of the consolidated metadata makes its directory a group.
    corpus.groups({"": {"consolidated": True}}, empty=["consolidated"])

    # The array itself is the root.
    store = begin("root_array.zarr")
    fixed(store, "", np.arange(6, dtype="<i4").reshape(2, 3), chunks=(2, 2), attributes={"alone": True})

    # The metadata has no chunks: the data of the root were erased.
    store = begin("erased.zarr")
    fixed(store, "a", np.arange(4, dtype="<i4"))
    for directory, _, files in os.walk(os.path.join(store.path, "data")):
        for name in files:
            os.remove(os.path.join(directory, name))
    del corpus.current["a"]
    with open(os.path.join(store.path, "meta", "root", "a.array.json")) as file:
        assert json.load(file)["fill_value"] is None
    corpus.array("a", np.zeros(4, "<i4"))
    corpus.groups()


for make in [types, fills, layouts, codecs, sharded, object_arrays, nodes]:
    make()
corpus.save()
