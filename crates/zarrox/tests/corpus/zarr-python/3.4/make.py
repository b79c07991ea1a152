"""Writes hierarchies of zarr-python 3.4, in both formats, and their expected values. README.md has the commands."""

import json
import os
import sys

import numcodecs
import numpy as np
import zarr
from zarr.codecs import numcodecs as numcodecs_v3
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    CastValue,
    Crc32cCodec,
    GzipCodec,
    ScaleOffset,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)
from zarr.core.dtype import (
    DateTime64,
    FixedLengthUTF32,
    NullTerminatedBytes,
    RawBytes,
    TimeDelta64,
    VariableLengthBytes,
    VariableLengthUTF8,
)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import record  # noqa: E402

corpus = record.Corpus(
    __file__, f"zarr-python {zarr.__version__}, numcodecs {numcodecs.__version__}, NumPy {np.__version__}"
)
zarr.config.set({"array.rectilinear_chunks": True, "async.concurrency": 1})


def begin(name, zarr_format=3):
    return zarr.open_group(corpus.hierarchy(name), mode="w", zarr_format=zarr_format)


def document(array):
    root = str(array.store.root)
    name = "zarr.json" if array.metadata.zarr_format == 3 else ".zarray"
    with open(os.path.join(root, array.path, name)) as file:
        return json.load(file)


def fixed(root, name, values, region=Ellipsis, dtype=None, data_type=None, fill=None, **options):
    """Writes an array of elements of one size, reads it again, compares the elements, and records them."""
    values = np.asarray(values)
    options = {
        "chunks": tuple(max(1, (n + 1) // 2) for n in values.shape),
        "compressors": None,
        "filters": None,
    } | options
    if fill is not None:
        options["fill_value"] = fill
    array = root.create_array(name, shape=values.shape, dtype=dtype or values.dtype, **options)
    array[region] = values[region]
    again = zarr.open_array(array.store, path=array.path, mode="r")
    assert record.same(np.asarray(again[...]).astype(values.dtype), values), (name, again[...], values)
    stored = document(array)
    if array.metadata.zarr_format == 3:
        data_type = data_type or stored["data_type"]
    fill = None if stored["fill_value"] is None else again.fill_value
    corpus.array(
        array.path,
        values,
        fill=fill,
        data_type=data_type,
        attributes=options.get("attributes"),
        dimension_names=stored.get("dimension_names"),
    )
    return array


def filled(root, name, value, stored, dtype, **options):
    """Writes an array of two chunks: one has an element that is not the fill value, and the other is missing."""
    values = np.zeros(2, dtype)
    values[0], values[1] = stored, value
    fixed(root, name, values, fill=value, region=slice(0, 1), chunks=(1,), **options)


def objects(values, shape=None):
    array = np.empty(len(values), object)
    for index, value in enumerate(values):
        array[index] = value
    return array.reshape(shape or array.shape)


def varied(root, name, values, kind, dtype, region=Ellipsis, **options):
    options = {"chunks": tuple(max(1, (n + 1) // 2) for n in values.shape), "compressors": None} | options
    array = root.create_array(name, shape=values.shape, dtype=dtype, **options)
    array[region] = values[region] if values.shape else values[()]
    again = zarr.open_array(array.store, path=array.path, mode="r")[...]
    for one, two in zip(np.asarray(again).reshape(-1), values.reshape(-1)):
        assert one == two, (name, one, two)
    corpus.objects(array.path, values, kind, attributes=options.get("attributes"))


BIG = BytesCodec(endian="big")


def types():
    root = begin("types.zarr")
    fixed(root, "bool", record.numbers("?", 5))
    for kind in ["i1", "u1"]:
        fixed(root, np.dtype(kind).name, record.numbers(kind, 5))
    for kind in ["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]:
        name = np.dtype(kind).name
        fixed(root, name, record.numbers("<" + kind, 9), chunks=(9,))
        fixed(root, name + "_big", record.numbers("<" + kind, 9), serializer=BIG)
    payloads = np.array([0x7FC00001, 0xFFC00000, 0x7F800001, 0xFFFFFFFF], "<u4")
    fixed(root, "nan_payloads", payloads.view("<f4"))
    times = np.array([0, 1, -1, 12345, np.iinfo("i8").min], "<i8")
    for unit in ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]:
        fixed(root, f"datetime_{unit}", times.view(f"<M8[{unit}]"), dtype=DateTime64(unit=unit), chunks=(5,))
        fixed(root, f"timedelta_{unit}", times.view(f"<m8[{unit}]"), dtype=TimeDelta64(unit=unit), chunks=(5,))
    fixed(root, "datetime_25s", times.view("<M8[25s]"), dtype=DateTime64(unit="s", scale_factor=25))
    fixed(
        root,
        "timedelta_10ms_big",
        times.view("<m8[10ms]"),
        dtype=TimeDelta64(unit="ms", scale_factor=10),
        serializer=BIG,
    )
    fixed(root, "datetime_generic", times.view("<M8"), dtype=DateTime64(unit="generic"))
    fixed(root, "timedelta_generic", times.view("<m8"), dtype=TimeDelta64(unit="generic"))
    fixed(root, "utf32", np.array(["", "café", "🧊日本語", "abcde"], "<U5"), dtype=FixedLengthUTF32(length=5))
    fixed(
        root,
        "utf32_big",
        np.array(["", "café", "🧊日本語", "abcde"], "<U5"),
        dtype=FixedLengthUTF32(length=5),
        serializer=BIG,
    )
    fixed(
        root,
        "null_terminated",
        np.array([b"", b"a\0b", b"\xff\xfe", b"abcde"], "S5"),
        dtype=NullTerminatedBytes(length=5),
    )
    fixed(root, "raw", np.array([b"abc", b"\0\0\0", b"\xff\0\1"], "V3"), dtype=RawBytes(length=3))
    corpus.groups()


def fills():
    root = begin("fills.zarr")
    inf, nan = float("inf"), float("nan")
    for name, value, stored, dtype in [
        ("bool_true", True, False, "?"),
        ("int8", -128, 1, "i1"),
        ("int64", -(2**63), 1, "<i8"),
        ("uint64", 2**64 - 1, 1, "<u8"),
        ("float16_nan", nan, 1, "<f2"),
        ("float32_inf", inf, 1, "<f4"),
        ("float64_neg_inf", -inf, 1, "<f8"),
        ("float64_neg_zero", -0.0, 1, "<f8"),
        ("float64_tenth", 0.1, 1, "<f8"),
        ("float32_tenth", 0.1, 1, "<f4"),
        ("float64_smallest", 5e-324, 1, "<f8"),
        ("complex64", 1.5 - 2j, 1, "<c8"),
        ("complex128_nan", complex(nan, -inf), 1, "<c16"),
        ("datetime", np.datetime64(99, "s"), np.datetime64(1, "s"), "<M8[s]"),
        ("timedelta_nat", np.timedelta64("NaT", "s"), np.timedelta64(1, "s"), "<m8[s]"),
        ("utf32", "é!", "text", "<U4"),
        ("null_terminated", b"ab", b"hello", "S5"),
    ]:
        filled(root, name, value, stored, dtype)
    filled(root, "raw", np.void(b"\0\1\xff"), np.void(b"abc"), "V3")
    corpus.groups()


def structures():
    root = begin("structured.zarr")
    simple = np.array([(1, 1.5, b"abc"), (-2, np.nan, b""), (3, -0.0, b"z")], [("a", "<i4"), ("b", "<f8"), ("c", "S3")])
    for name, serializer in [("simple", "auto"), ("simple_big", BIG)]:
        fixed(root, name, simple, serializer=serializer)
    fixed(root, "bytes_only", np.array([(1, 2, b"ab"), (255, 0, b"")], [("r", "u1"), ("g", "i1"), ("b", "S2")]))
    mixed = [
        ("flag", "?"),
        ("text", "<U2"),
        ("when", "<M8[s]"),
        ("span", "<m8[10ms]"),
        ("z", "<c8"),
        ("raw", "V2"),
        ("h", "<f2"),
    ]
    values = np.array([(True, "éb", 5, 7, 1 - 2j, b"\1\2", 0.5), (False, "", -7, 1, 3j, b"\xff\0", -2)], mixed)
    fixed(root, "mixed", values)
    fixed(root, "mixed_big", values, serializer=BIG)
    inner = [("x", "<i2"), ("y", [("p", "<f4"), ("q", "S2")])]
    nested = np.array([(1, (2, (0.5, b"ab"))), (3, (4, (1.5, b"c")))], [("id", "<u4"), ("inner", inner)])
    for name, serializer in [("nested", "auto"), ("nested_big", BIG)]:
        fixed(root, name, nested, serializer=serializer)
    grid = np.array([[(i * 4 + j, i - j / 8) for j in range(5)] for i in range(3)], [("n", "<i2"), ("v", "<f4")])
    fixed(root, "grid", grid, chunks=(2, 2), compressors=ZstdCodec(level=1))
    fixed(root, "grid_transposed", grid, chunks=(2, 2), filters=TransposeCodec(order=(1, 0)))
    fixed(root, "grid_sharded", grid, chunks=(1, 2), shards=(2, 4))
    fixed(root, "scalar", np.array((7, 0.25), grid.dtype))
    filled(
        root,
        "fill",
        np.array((-1, 2.5, b"xy"), simple.dtype)[()],
        np.array((1, 1.0, b"abc"), simple.dtype)[()],
        simple.dtype,
    )
    filled(root, "fill_nested", nested[1], nested[0], nested.dtype)
    corpus.groups()


TEXTS = ["", "a", "café", "🧊日本語", "x" * 40, "line\nbreak"]
BLOBS = [b"", b"a", b"\0\xff\0", bytes(range(256)), b"zz", b"\0"]


def variable():
    root = begin("variable.zarr")
    for kind, dtype, values, fill in [
        ("utf8", VariableLengthUTF8(), TEXTS, "n/a"),
        ("bytes", VariableLengthBytes(), BLOBS, b"\0n"),
    ]:
        values = objects(values)
        varied(root, kind, values, kind, dtype)
        varied(root, kind + "_zstd", values, kind, dtype, compressors=ZstdCodec(level=1, checksum=True))
        varied(root, kind + "_gzip_crc32c", values, kind, dtype, compressors=[GzipCodec(level=1), Crc32cCodec()])
        varied(root, kind + "_2d", values.reshape(2, 3), kind, dtype, chunks=(2, 2))
        varied(
            root,
            kind + "_transposed",
            values.reshape(2, 3),
            kind,
            dtype,
            chunks=(2, 2),
            filters=TransposeCodec(order=(1, 0)),
        )
        varied(root, kind + "_sharded", values, kind, dtype, chunks=(2,), shards=(4,))
        varied(
            root,
            kind + "_sharded_2d",
            values.reshape(2, 3),
            kind,
            dtype,
            chunks=(1, 2),
            shards=(2, 4),
            compressors=ZstdCodec(level=1),
        )
        if kind == "utf8":  # zarr-python fails to write the other.
            varied(root, kind + "_scalar", np.array(values[3], object), kind, dtype)
        varied(root, kind + "_empty", objects([]), kind, dtype, chunks=(1,))
        expected = objects([values[2], fill, fill])
        varied(root, kind + "_fill", expected, kind, dtype, region=slice(0, 1), chunks=(1,), fill_value=fill)
        expected = objects([values[2], type(fill)(), type(fill)()])
        varied(root, kind + "_fill_default", expected, kind, dtype, region=slice(0, 1), chunks=(1,))
    corpus.groups()


def codecs():
    root = begin("codecs.zarr")
    values = (np.arange(96, dtype="<i4") // 3).reshape(8, 12)
    same = dict(chunks=(5, 12))
    for name, compressors in [
        ("gzip_0", GzipCodec(level=0)),
        ("gzip_9", GzipCodec(level=9)),
        ("zstd", ZstdCodec()),
        ("zstd_22", ZstdCodec(level=22)),
        ("zstd_fast", ZstdCodec(level=-7)),
        ("zstd_checksum", ZstdCodec(level=3, checksum=True)),
        ("crc32c", Crc32cCodec()),
        ("crc32c_outside", [ZstdCodec(), Crc32cCodec()]),
        ("crc32c_inside", [Crc32cCodec(), GzipCodec()]),
        ("gzip_of_zstd", [ZstdCodec(), GzipCodec()]),
    ]:
        fixed(root, name, values, compressors=compressors, **same)
    for cname in ["lz4", "lz4hc", "blosclz", "zlib", "zstd"]:
        for shuffle in ["noshuffle", "shuffle", "bitshuffle"]:
            fixed(
                root,
                f"blosc_{cname}_{shuffle}",
                values,
                compressors=BloscCodec(cname=cname, shuffle=shuffle),
                chunks=(8, 12),
            )
    fixed(root, "blosc_typesize", values, compressors=BloscCodec(typesize=2, shuffle="shuffle"), chunks=(8, 12))
    fixed(root, "blosc_blocks", np.arange(600), compressors=BloscCodec(blocksize=512), chunks=(600,))
    fixed(root, "big_gzip", values, serializer=BIG, compressors=GzipCodec(), **same)
    cube = np.arange(60, dtype="<u2").reshape(3, 4, 5)
    for order in [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)]:
        word = "".join(map(str, order))
        fixed(root, f"transpose_{word}", cube, chunks=(2, 4, 3), filters=TransposeCodec(order=order))
    twice = [TransposeCodec(order=(1, 2, 0)), TransposeCodec(order=(0, 2, 1))]
    fixed(root, "transpose_twice", cube, chunks=(2, 4, 3), filters=twice, serializer=BIG, compressors=ZstdCodec())
    corpus.groups()

    root = begin("numcodecs.zarr")
    for name, compressors in [
        ("zlib", numcodecs_v3.Zlib(level=9)),
        ("bz2", numcodecs_v3.BZ2(level=1)),
        ("lz4", numcodecs_v3.LZ4(acceleration=2)),
        ("lzma", numcodecs_v3.LZMA(preset=1)),
        ("blosc", numcodecs_v3.Blosc(cname="zstd")),
        ("zstd", numcodecs_v3.Zstd(level=3)),
        ("gzip", numcodecs_v3.GZip(level=3)),
        ("crc32c", numcodecs_v3.CRC32C()),
    ]:
        fixed(root, name, values, compressors=compressors, **same)
    corpus.groups()

    root = begin("casts.zarr")
    floats = np.array([0, 1.5, -2.25, 100.75], "<f8")
    fixed(root, "scale_offset", floats, filters=ScaleOffset(offset=1, scale=4), fill=0.0)
    fixed(
        root,
        "scale_offset_then_cast",
        floats,
        filters=[ScaleOffset(offset=1, scale=4), CastValue(data_type="int16")],
        fill=0.0,
    )
    corpus.groups()


def sharded():
    root = begin("sharded.zarr")
    grid = np.arange(35, dtype="<i4").reshape(5, 7)
    fixed(root, "grid", grid, chunks=(2, 2), shards=(4, 4))
    fixed(root, "grid_zstd", grid, chunks=(2, 2), shards=(4, 4), compressors=ZstdCodec(level=1))
    fixed(root, "line", np.arange(20, dtype="<f8"), chunks=(3,), shards=(6,))
    fixed(root, "one_per_shard", grid, chunks=(3, 4), shards=(3, 4))
    fixed(root, "scalar_like", np.array([7], "u1"), chunks=(1,), shards=(1,))

    def shard(chunk_shape, **options):
        return dict(serializer=ShardingCodec(chunk_shape=chunk_shape, **options))

    little = BytesCodec(endian="little")
    for location in ["start", "end"]:
        fixed(root, f"index_{location}", grid, chunks=(4, 4), **shard((2, 2), index_location=location))
        fixed(
            root,
            f"index_{location}_no_checksum",
            grid,
            chunks=(4, 4),
            **shard((2, 2), index_location=location, index_codecs=[BIG]),
        )
        fixed(
            root,
            f"nested_{location}",
            np.arange(144, dtype=">u2").reshape(12, 12),
            chunks=(8, 8),
            **shard(
                (4, 4),
                index_location=location,
                codecs=[
                    ShardingCodec(chunk_shape=(2, 2), index_location=location, codecs=[little, GzipCodec(level=1)])
                ],
            ),
        )
    fixed(
        root,
        "inner_transposed",
        grid,
        chunks=(4, 4),
        **shard((2, 4), codecs=[TransposeCodec(order=(1, 0)), BIG, ZstdCodec()]),
    )
    fixed(
        root,
        "outer_transposed",
        grid,
        chunks=(4, 8),
        filters=TransposeCodec(order=(1, 0)),
        **shard((4, 2), codecs=[little]),
    )
    fixed(
        root, "outer_compressed", grid, chunks=(4, 4), compressors=GzipCodec(level=1), **shard((2, 2), codecs=[little])
    )
    for order in ["morton", "unordered", "lexicographic", "colexicographic"]:
        fixed(
            root, f"written_{order}", grid, chunks=(4, 8), **shard((2, 2), codecs=[little], subchunk_write_order=order)
        )
    sparse = np.full((8, 8), 3, "<u2")
    sparse[2:4, 2:4] = 9
    fixed(root, "sparse", sparse, fill=3, region=(slice(2, 4), slice(2, 4)), chunks=(2, 2), shards=(4, 4))
    array = fixed(root, "rewritten", grid, chunks=(2, 2), shards=(4, 4), compressors=ZstdCodec(level=1))
    array[1:4, 2:6] = 7
    del corpus.current["rewritten"]
    corpus.array("rewritten", array[...], fill=0, data_type="int32")
    corpus.groups()


def grids():
    root = begin("grids.zarr")
    grid = np.arange(60, dtype="<i4").reshape(6, 10)
    fixed(root, "rectilinear", grid, chunks=[[1, 2, 3], [4, 4, 2]])
    fixed(root, "rectilinear_and_regular", grid, chunks=[[5, 1], [3, 3, 3, 1]], compressors=ZstdCodec())
    fixed(root, "rectilinear_runs", np.arange(40, dtype="<u2"), chunks=[[4, 4, 4, 4, 4, 10, 10]])
    fixed(root, "rectilinear_line", np.arange(7, dtype="<f8"), chunks=[[1, 6]], fill=-1.0)
    sparse = np.full((6, 10), 9, "<i4")
    sparse[1:3, 4:8] = 1
    fixed(root, "rectilinear_sparse", sparse, fill=9, region=(slice(1, 3), slice(4, 8)), chunks=[[1, 2, 3], [4, 4, 2]])
    fixed(root, "rectilinear_shards", grid, chunks=(1, 2), shards=[[2, 4], [4, 6]])
    fixed(root, "rectilinear_transposed", grid, chunks=[[1, 2, 3], [4, 4, 2]], filters=TransposeCodec(order=(1, 0)))
    root.create_array("rectilinear_resized", shape=(4,), chunks=[[1, 3]], dtype="<i4", compressors=None, fill_value=-1)
    array = root["rectilinear_resized"]
    array[:] = np.arange(4)
    array.resize((6,))
    array[4:] = 7
    corpus.array("rectilinear_resized", array[:], fill=-1)
    fixed(root, "beyond", np.arange(6, dtype="<u2").reshape(2, 3), chunks=(5, 7), fill=9)
    fixed(root, "edge", grid, chunks=(4, 4), fill=-1)
    corpus.groups()


def nodes(name, zarr_format):
    root = begin(name, zarr_format)
    attributes = {
        "title": "café 🧊",
        "numbers": [1, 2.5, -3, 1e300, 2**53],
        "nested": {"a": {"b": [None, True]}},
        "": "",
    }
    root.attrs.update(attributes)
    root.create_group("a/b", attributes={"depth": 2})
    root.create_group("empty")
    root.create_group("café and space")
    v3 = zarr_format == 3
    names = dict(dimension_names=["y", None]) if v3 else {}
    fixed(root, "a/array", np.arange(6, dtype="<u2").reshape(2, 3), attributes={"units": "m"}, **names)
    fixed(
        root,
        "a/b/deep",
        np.arange(4, dtype="<i4"),
        attributes={"scale": 0.1},
        **(dict(dimension_names=["x"]) if v3 else {}),
    )
    fixed(root, "scalar", np.array(42, "<i8"), **(dict(dimension_names=[]) if v3 else {}))
    fixed(root, "scalar_compressed", np.array(-1.5, "<f4"), compressors=ZstdCodec() if v3 else numcodecs.Zstd())
    fixed(root, "empty_array", np.zeros((0,), "<f8"), chunks=(1,))
    fixed(root, "empty_matrix", np.zeros((3, 0), "<i4"), chunks=(2, 1))
    grid = np.arange(12, dtype="<i4").reshape(3, 4)
    for kind in ["default", "v2"] if v3 else ["v2"]:
        for separator, word in [("/", "slash"), (".", "dot")]:
            keys = {"name": kind, "separator": separator}
            fixed(root, f"keys_{kind}_{word}", grid, chunks=(2, 2), chunk_key_encoding=keys)
            fixed(root, f"keys_{kind}_{word}_scalar", np.array(5, "u1"), chunk_key_encoding=keys)
    zarr.consolidate_metadata(root.store)
    corpus.groups({"": attributes, "a/b": {"depth": 2}}, empty=["empty", "café and space"])


def odd_attributes():
    """Writes numbers of Python's JSON that JSON does not have; they are read as strings with the same names."""
    root = begin("odd.zarr")
    root.attrs.update({"nan": float("nan"), "inf": [float("inf"), float("-inf")]})
    fixed(root, "below", np.arange(3))
    corpus.groups({"": {"nan": "NaN", "inf": ["Infinity", "-Infinity"]}})


def version_2():
    root = begin("v2_types.zarr", 2)
    for kind in ["b1", "i1", "u1", "<i2", ">i4", "<i8", ">u2", "<u4", ">u8", "<f2", ">f4", "<f8", ">c8", "<c16"]:
        fixed(root, kind.strip("<>"), record.numbers(kind, 8), chunks=(8,), fill=record.numbers(kind, 2)[1])
    fixed(root, "S5", np.array([b"", b"abc", b"abcde"], "S5"), fill=b"ab")
    fixed(root, "U5", np.array(["", "café", "🧊"], ">U5"), fill="é")
    fixed(root, "V3", np.array([b"abc", b"\0\1\xff"], "V3"))
    fixed(root, "M8", np.array([0, -1, 12345], "<i8").view("<M8[10ms]"), fill=np.datetime64("NaT"))
    fixed(root, "m8", np.array([0, -1, 12345], ">i8").view(">m8[W]"), fill=np.timedelta64(3, "W"))
    record_type = [("a", ">i4"), ("b", "<f8"), ("c", "S2"), ("d", [("e", "u1"), ("f", ">U2")])]
    values = np.array([(1, 0.5, b"ab", (1, "é")), (-2, 1.5, b"c", (2, "xy"))], record_type)
    fixed(root, "struct", values)
    fixed(root, "struct_fill", np.array([values[0], values[1]]), fill=values[1], region=slice(0, 1), chunks=(1,))
    cube = np.arange(60, dtype=">i2").reshape(3, 4, 5)
    for order in "CF":
        fixed(root, f"cube_{order}", cube, chunks=(2, 4, 3), order=order)
        fixed(root, f"cube_{order}_blosc", cube, chunks=(2, 4, 3), order=order, compressors=numcodecs.Blosc())
    corpus.groups()

    root = begin("v2_codecs.zarr", 2)
    values = (np.arange(96, dtype="<i4") // 3).reshape(8, 12)
    for name, compressor in [
        ("zstd", numcodecs.Zstd(3)),
        ("zstd_checksum", numcodecs.Zstd(3, checksum=True)),
        ("gzip", numcodecs.GZip(5)),
        ("lz4", numcodecs.LZ4()),
        ("lzma", numcodecs.LZMA()),
        ("bz2", numcodecs.BZ2()),
        ("zlib", numcodecs.Zlib()),
        ("blosc", numcodecs.Blosc("zstd", 3, 2)),
        ("default", "auto"),
    ]:
        fixed(root, name, values, chunks=(5, 12), compressors=compressor)
    corpus.groups()

    root = begin("v2_variable.zarr", 2)
    for kind, dtype, values, fill in [
        ("utf8", VariableLengthUTF8(), TEXTS, "n/a"),
        ("bytes", VariableLengthBytes(), BLOBS, b"\0n"),
    ]:
        values = objects(values)
        varied(root, kind, values, kind, dtype)
        varied(root, kind + "_zstd", values, kind, dtype, compressors=numcodecs.Zstd())
        varied(root, kind + "_2d", values.reshape(2, 3), kind, dtype, chunks=(2, 2))
        varied(root, kind + "_columns", values.reshape(2, 3), kind, dtype, chunks=(2, 2), order="F")
        if kind == "utf8":  # zarr-python fails to write the other.
            varied(root, kind + "_scalar", np.array(values[3], object), kind, dtype)
        expected = objects([values[2], fill, fill])
        varied(root, kind + "_fill", expected, kind, dtype, region=slice(0, 1), chunks=(1,), fill_value=fill)
    corpus.groups()


def root_array():
    path = corpus.hierarchy("root_array.zarr")
    values = np.arange(6, dtype="<i4").reshape(2, 3)
    array = zarr.create_array(path, shape=(2, 3), chunks=(2, 2), dtype="<i4", attributes={"alone": True})
    array[...] = values
    corpus.array("", values, fill=0, attributes={"alone": True})


for make in [types, fills, structures, variable, codecs, sharded, grids, odd_attributes, version_2, root_array]:
    make()
nodes("nodes.zarr", 3)
nodes("v2_nodes.zarr", 2)
corpus.save()
