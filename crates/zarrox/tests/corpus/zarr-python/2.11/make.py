"""Writes the hierarchies of zarr-python 2.11, and their expected values. README.md has the commands."""

import collections
import os
import sys

import numcodecs
import numpy as np
import zarr

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import record  # noqa: E402

corpus = record.Corpus(
    __file__, "zarr-python %s, numcodecs %s, NumPy %s" % (zarr.__version__, numcodecs.__version__, np.__version__)
)

STEP = collections.OrderedDict([("<", "little"), (">", "big")])


def begin(name, store=zarr.DirectoryStore):
    return zarr.group(store(corpus.hierarchy(name)))


def end(root):
    """Records the groups with their children and attributes."""

    def visit(group):
        corpus.group(group.path, list(group.keys()), group.attrs.asdict())
        for _, child in group.groups():
            visit(child)

    visit(root)


def create(root, name, shape, dtype, **options):
    options.setdefault("chunks", tuple(max(1, (n + 1) // 2) for n in shape) or True)
    options.setdefault("compressor", None)
    options.setdefault("fill_value", None)
    return root.create_dataset(name, shape=shape, dtype=dtype, **options)


def fixed(root, name, values, attributes=None, fill=None, expected=None, region=Ellipsis, **options):
    """Writes an array of elements of one size, reads it again, compares the elements, and records them."""
    values = np.asarray(values)
    array = create(root, name, values.shape, options.pop("dtype", values.dtype), fill_value=fill, **options)
    array[region] = values[region]
    if attributes:
        array.attrs.update(attributes)
    again = zarr.open(array.store, mode="r", path=array.path)
    read = again[...]
    if expected is None:
        expected = values
        assert record.same(read, expected) or fill is None and region is not Ellipsis, (name, read, values)
    else:
        assert record.same(read, expected), (name, read, expected)
    corpus.array(array.path, expected, fill=again.fill_value, attributes=attributes)
    return array


def filled(root, name, value, dtype, **options):
    """Writes an array of two chunks: one has an element that is not the fill value, and the other is missing."""
    dtype = np.dtype(dtype)
    stored = options.pop("stored")
    array = create(root, name, (2,), dtype, chunks=(1,), fill_value=value, **options)
    array[:1] = np.array([stored], dtype)
    again = zarr.open(array.store, mode="r", path=array.path)
    # An undefined fill value is read as zero, or as "not a time".
    expected = np.full(2, "NaT", dtype) if dtype.kind in "Mm" else np.zeros(2, dtype)
    expected[0] = np.array([stored], dtype)[0]
    if value is not None:
        expected[1] = np.array([value], dtype)[0]
        assert record.same(again[...], expected), (name, again[...], expected)
    corpus.array(array.path, expected, fill=None if value is None else expected[1])


def types():
    root = begin("types.zarr")
    fixed(root, "b1", record.numbers("?", 5))
    for kind in ["i1", "u1"]:
        fixed(root, kind, record.numbers(kind, 5))
    for kind in ["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]:
        for order, word in STEP.items():
            fixed(root, "%s_%s" % (kind, word), record.numbers(order + kind, 9))
    # The payload and the sign of NaN are data as well.
    payloads = np.array([0x7FC00001, 0xFFC00000, 0x7F800001, 0xFFFFFFFF], "<u4")
    fixed(root, "nan_payloads", payloads.view("<f4"))
    end(root)


def times():
    root = begin("times.zarr")
    units = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]
    counts = np.array([0, 1, -1, 12345, np.iinfo("i8").min], "<i8")
    for unit in units:
        fixed(root, "M8_" + unit, counts.view("<M8[%s]" % unit), chunks=(5,))
        fixed(root, "d8_" + unit, counts.view("<m8[%s]" % unit), chunks=(5,))
    for unit in ["25s", "10ms", "6h", "100ns"]:
        fixed(root, "M8_" + unit, counts.view("<M8[%s]" % unit), chunks=(5,))
        fixed(root, "d8_" + unit, counts.view("<m8[%s]" % unit), chunks=(5,))
    fixed(root, "M8_big", counts.astype(">i8").view(">M8[D]"))
    fixed(root, "d8_big", counts.astype(">i8").view(">m8[15m]"))
    filled(root, "fill_point", np.datetime64("2022-02-22T22:22", "s"), "<M8[s]", stored=np.datetime64(7, "s"))
    filled(root, "fill_span", np.timedelta64(-5, "m"), ">m8[m]", stored=np.timedelta64(7, "m"))
    filled(root, "fill_not_a_time", np.datetime64("NaT", "ns"), "<M8[ns]", stored=np.datetime64(7, "ns"))
    filled(root, "fill_undefined", None, "<M8[ns]", stored=np.datetime64(7, "ns"))
    end(root)


def strings():
    root = begin("strings.zarr")
    fixed(root, "S1", np.array([b"a", b"", b"\xff"], "S1"))
    fixed(root, "S7", np.array([b"", b"seven77", b"a\0b", b"\xc3\xa9"], "S7"))
    text = ["", "caf\u00e9", "\U0001f9ca\u65e5\u672c", "abcde"]
    for order, word in STEP.items():
        fixed(root, "U5_" + word, np.array(text, order + "U5"))
    fixed(root, "U1", np.array(["x", "", "\U0001f9ca"], "<U1"))
    fixed(root, "V1", np.array([b"\0", b"\x80"], "V1"))
    fixed(root, "V3", np.array([b"abc", b"\0\0\0", b"\xff\0\x01"], "V3"))
    fixed(root, "V20", np.frombuffer(bytes(bytearray(range(60))), "V20"))
    fixed(root, "U2_columns", np.array([["a", "bc", "d"], ["ef", "\u00e9", ""]], "<U2"), order="F")
    filled(root, "fill_S", b"ab", "S5", stored=b"hello")
    filled(root, "fill_S_full", b"abcde", "S5", stored=b"x")
    filled(root, "fill_S_empty", b"", "S5", stored=b"hello")
    filled(root, "fill_U", "\u00e9!", "<U4", stored="text")
    filled(root, "fill_U_big", "\u00e9!", ">U4", stored="text")
    filled(root, "fill_U_empty", "", "<U4", stored="text")
    filled(root, "fill_V", b"\0\x01\xff", "V3", stored=np.void(b"abc"))
    for kind in ["S5", "<U4", "V3"]:
        stored = {"S5": b"x", "<U4": "x", "V3": np.void(b"xyz")}[kind]
        filled(root, "fill_undefined_%s" % kind.strip("<"), None, kind, stored=stored)
    end(root)


def fills():
    root = begin("fills.zarr")
    inf, nan = float("inf"), float("nan")
    values = [
        ("b1_true", "?", True, False),
        ("b1_false", "?", False, True),
        ("i1", "i1", -128, 1),
        ("i8", "<i8", -(2**63), 1),
        ("u8", ">u8", 2**64 - 1, 1),
        ("u8_exact", "<u8", 2**53 + 1, 1),
        ("i4_zero", "<i4", 0, 1),
        ("f2_nan", "<f2", nan, 1),
        ("f4_nan", ">f4", nan, 1),
        ("f8_nan", "<f8", nan, 1),
        ("f2_inf", "<f2", inf, 1),
        ("f4_inf", "<f4", inf, 1),
        ("f8_neg_inf", "<f8", -inf, 1),
        ("f4_tenth", "<f4", 0.1, 1),
        ("f8_tenth", "<f8", 0.1, 1),
        ("f8_large", ">f8", 1e300, 1),
        ("f8_whole", "<f8", 42, 1),
        ("f8_smallest", "<f8", 5e-324, 1),
        ("c8", "<c8", 1.5 - 2j, 1),
        ("c16", ">c16", -0.1 + 1e100j, 1),
        ("c16_nan", "<c16", complex(nan, -inf), 1),
    ]
    for name, dtype, value, stored in values:
        filled(root, name, value, dtype, stored=stored)
    for dtype in ["?", "i4", "f8", "c16"]:
        filled(root, "undefined_" + dtype.replace("?", "b1"), None, dtype, stored=1)
    end(root)


def structures():
    root = begin("structured.zarr")
    simple = np.array(
        [(1, 1.5, b"abc"), (-2, float("nan"), b""), (3, -0.0, b"z")], [("a", "<i4"), ("b", "<f8"), ("c", "S3")]
    )
    fixed(root, "simple", simple)
    fixed(root, "rgb", np.array([(1, 2, 3), (255, 0, 7)], [("r", "u1"), ("g", "u1"), ("b", "u1")]))
    fixed(root, "one_field", np.array([(1.5,), (2.5,)], [("x", ">f4")]))
    mixed = [
        ("big", ">i4"),
        ("little", "<u2"),
        ("flag", "?"),
        ("text", ">U2"),
        ("when", ">M8[s]"),
        ("z", ">c8"),
        ("raw", "V2"),
    ]
    fixed(
        root,
        "mixed_endian",
        np.array(
            [(1, 2, True, "\u00e9b", 5, 1 - 2j, b"\x01\x02"), (-(2**31), 65535, False, "", -7, 3j, b"\xff\0")], mixed
        ),
    )
    inner = [("x", ">i2"), ("y", [("p", "<f4"), ("q", "S2")])]
    fixed(root, "nested", np.array([(1, (2, (0.5, b"ab"))), (3, (4, (1.5, b"c")))], [("id", "<u4"), ("inner", inner)]))
    array_fields = [("label", "S4"), ("vector", "<f4", (3,)), ("matrix", ">i2", (2, 2))]
    fixed(
        root,
        "array_fields",
        np.array([(b"one", [1, 2, 3], [[1, 2], [3, 4]]), (b"two", [4, 5, 6], [[-1, -2], [-3, -4]])], array_fields),
    )
    records = [("pairs", [("a", "u1"), ("b", "<i4")], (2,)), ("tail", "u1")]
    fixed(root, "array_of_records", np.array([([(1, 2), (3, 4)], 5), ([(6, 7), (8, 9)], 10)], records))
    aligned = np.dtype([("a", "u1"), ("b", "<i4"), ("c", "u1"), ("d", "<f8"), ("e", "u1")], align=True)
    padded(root, "aligned", np.array([(1, -2, 3, 0.5, 4), (5, -6, 7, 1.5, 8)], aligned))
    deep = np.dtype([("a", "u1"), ("s", np.dtype([("b", "u1"), ("c", "<i4")], align=True))], align=True)
    padded(root, "aligned_nested", np.array([(1, (2, 3)), (4, (5, 6))], deep))
    grid = np.array([[(i * 4 + j, i - j / 8) for j in range(5)] for i in range(3)], [("n", "<i2"), ("v", ">f4")])
    fixed(root, "rows", grid, chunks=(2, 2))
    fixed(root, "columns", grid, chunks=(2, 2), order="F")
    fixed(root, "blosc", grid, chunks=(3, 3), compressor=numcodecs.Blosc())
    fixed(root, "scalar", np.array((7, 0.25), grid.dtype))
    filled(root, "fill", (-1, 2.5, b"xy"), simple.dtype, stored=(1, 1.0, b"abc"))
    filled(root, "fill_mixed", (1, 2, True, "ab", 3, 4j, b"56"), mixed, stored=tuple(np.zeros(1, mixed)[0]))
    filled(root, "fill_undefined", None, simple.dtype, stored=(1, 1.0, b"abc"))
    end(root)


def padded(root, name, values):
    """Writes structures with padding, which zarr-python reads back as a field. So only the bytes are compared."""
    array = create(root, name, values.shape, values.dtype, chunks=values.shape)
    array[...] = np.frombuffer(values.tobytes(), array.dtype)
    with open(os.path.join(root.store.path, name, "0"), "rb") as file:
        assert file.read() == values.tobytes()
    corpus.array(array.path, values)


def folded():
    """Writes an array whose dtype is an array itself: the shape of the dtype becomes dimensions of the array."""
    root = begin("folded.zarr")
    for name, dtype, shape in [
        ("matrix", "(2,2)f4", (3, 2, 2)),
        ("vector", "3i2", (4, 3)),
        ("times", "2M8[s]", (2, 2)),
    ]:
        values = np.arange(int(np.prod(shape))).reshape(shape).astype(np.dtype(dtype).base)
        array = root.create_dataset(name, shape=shape[:1], chunks=(2,), dtype=dtype, compressor=None, fill_value=None)
        array[...] = values
        assert array.shape == shape and record.same(array[...], values)
        corpus.array(name, values)
    end(root)


def orders():
    root = begin("orders.zarr")
    for shape, chunks in [((5, 7), (2, 3)), ((3, 4, 5), (2, 2, 3)), ((2, 3, 2, 3), (1, 2, 2, 2))]:
        values = np.arange(int(np.prod(shape)), dtype=">i2").reshape(shape)
        for order in "CF":
            for word, compressor in [("raw", None), ("zlib", numcodecs.Zlib(1)), ("blosc", numcodecs.Blosc())][
                : 2 + (len(shape) == 2)
            ]:
                name = "%s_%dd_%s" % (order, len(shape), word)
                fixed(root, name, values, chunks=chunks, order=order, compressor=compressor)
    small = np.arange(6, dtype="<u2").reshape(2, 3)
    fixed(root, "chunk_beyond_the_edge", small, chunks=(5, 7), fill=9)
    fixed(root, "chunk_beyond_the_edge_columns", small, chunks=(5, 7), order="F", fill=9)
    fixed(root, "one_chunk", small, chunks=False)
    sparse = np.full((4, 6), -1, "<i4")
    sparse[1:3, 2:4] = [[1, 2], [3, 4]]
    fixed(root, "sparse", sparse, region=(slice(1, 3), slice(2, 4)), chunks=(2, 2), fill=-1, order="F")
    fixed(root, "no_empty_chunks", np.zeros((4,), "<i4"), chunks=(2,), fill=0, write_empty_chunks=False)
    fixed(root, "never_written", np.full((3, 3), 7, "u1"), region=(slice(0, 0),), chunks=(2, 2), fill=7)
    end(root)


def compressors():
    root = begin("compressors.zarr")
    values = (np.arange(96, dtype="<i4") // 3).reshape(8, 12)
    raw = [{"id": 3, "dist": 4}, {"id": 33, "preset": 6}]
    plain = [
        ("none", None),
        ("zlib_1", numcodecs.Zlib()),
        ("zlib_9", numcodecs.Zlib(9)),
        ("zlib_0", numcodecs.Zlib(0)),
        ("gzip", numcodecs.GZip()),
        ("gzip_9", numcodecs.GZip(9)),
        ("bz2", numcodecs.BZ2()),
        ("bz2_9", numcodecs.BZ2(9)),
        ("lzma", numcodecs.LZMA()),
        ("lzma_preset", numcodecs.LZMA(preset=6)),
        ("lzma_crc32", numcodecs.LZMA(check=1)),
        ("lzma_sha256", numcodecs.LZMA(check=10)),
        ("lzma_no_check", numcodecs.LZMA(check=0)),
        ("lzma_alone", numcodecs.LZMA(format=2)),
        ("lzma_raw", numcodecs.LZMA(format=3, filters=raw)),
        ("lz4", numcodecs.LZ4()),
        ("lz4_fast", numcodecs.LZ4(acceleration=10)),
        ("zstd", numcodecs.Zstd()),
        ("zstd_19", numcodecs.Zstd(19)),
        ("default", "default"),
    ]
    for name, compressor in plain:
        fixed(root, name, values, chunks=(5, 12), compressor=compressor)
    for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
        for shuffle, word in [(0, "plain"), (1, "bytes"), (2, "bits"), (-1, "auto")]:
            fixed(
                root,
                "blosc_%s_%s" % (cname, word),
                values,
                chunks=(8, 12),
                compressor=numcodecs.Blosc(cname, 5, shuffle),
            )
    fixed(root, "blosc_auto_u1", values.astype("u1"), chunks=(8, 12), compressor=numcodecs.Blosc("lz4", 5, -1))
    fixed(
        root, "blosc_blocks", np.arange(600, dtype="<i8"), chunks=(600,), compressor=numcodecs.Blosc("zstd", 9, 1, 512)
    )
    fixed(root, "blosc_level_0", values, chunks=(8, 12), compressor=numcodecs.Blosc("lz4", 0, 1))
    noise = np.random.RandomState(42).randint(0, 256, 200).astype("u1")
    for name, compressor in [
        ("zlib", numcodecs.Zlib()),
        ("lz4", numcodecs.LZ4()),
        ("zstd", numcodecs.Zstd()),
        ("blosc", numcodecs.Blosc()),
    ]:
        fixed(root, "noise_" + name, noise, chunks=(200,), compressor=compressor)
    end(root)


def varied(root, name, values, kind, codec, expected=None, attributes=None, region=Ellipsis, **options):
    """Writes an array of objects."""
    values = objects(values) if isinstance(values, list) else values
    fill = options.pop("fill", None)
    read_back = options.pop("read_back", True)
    array = create(root, name, values.shape, object, fill_value=fill, object_codec=codec, **options)
    array[region] = values[region]
    if attributes:
        array.attrs.update(attributes)
    if expected is None:
        expected = values
        read = array[...] if read_back else values
        for one, two in zip(read.reshape(-1), values.reshape(-1)):
            equal = record.same(one, two) if isinstance(two, np.ndarray) else one == two
            assert type(one) is type(two) and equal, (name, one, two)
    corpus.objects(array.path, expected, kind, attributes=attributes)


def objects(values):
    array = np.empty(len(values), object)
    for index, value in enumerate(values):
        array[index] = value
    return array


def grid_of(values, shape):
    return objects([values[i % len(values)] for i in range(int(np.prod(shape)))]).reshape(shape)


TEXTS = ["", "a", "caf\u00e9", "\U0001f9ca\u65e5\u672c\u8a9e", "with \0 inside", "x" * 40, "line\nbreak"]


def object_arrays():
    root = begin("text.zarr")
    utf8 = numcodecs.VLenUTF8()
    varied(root, "utf8", TEXTS, "utf8", utf8, attributes={"unit": "none"})
    for name, compressor in [
        ("zlib", numcodecs.Zlib()),
        ("blosc", numcodecs.Blosc()),
        ("zstd", numcodecs.Zstd()),
        ("lz4", numcodecs.LZ4()),
    ]:
        varied(root, "utf8_" + name, TEXTS, "utf8", utf8, compressor=compressor)
    varied(root, "utf8_2d", grid_of(TEXTS, (3, 5)), "utf8", utf8, chunks=(2, 2))
    varied(root, "utf8_columns", grid_of(TEXTS, (3, 5)), "utf8", utf8, chunks=(2, 2), order="F")
    varied(root, "utf8_scalar", np.array("only one", object), "utf8", utf8)
    varied(root, "utf8_empty", objects([]), "utf8", utf8, chunks=(1,))
    # Elements of a missing chunk have the fill value if it is text; otherwise they are empty.
    for name, fill, shown in [("text", "n/a", "n/a"), ("empty", "", ""), ("zero", 0, ""), ("null", None, "")]:
        values, expected = objects(["x", "y", shown, shown]), objects(["x", "y", shown, shown])
        varied(
            root,
            "utf8_fill_" + name,
            values,
            "utf8",
            utf8,
            expected=expected,
            region=slice(0, 2),
            chunks=(2,),
            fill=fill,
        )
    # The result of zarr.create(dtype=str).
    array = root.create_dataset("utf8_by_dtype", shape=7, chunks=4, dtype=str, compressor=None)
    array[...] = objects(TEXTS)
    corpus.objects("utf8_by_dtype", objects(TEXTS), "utf8")
    end(root)

    root = begin("bytes.zarr")
    vlen_bytes = numcodecs.VLenBytes()
    blobs = [b"", b"a", b"\0\xff\0", bytes(bytearray(range(256))), b"zz"]
    varied(root, "bytes", blobs, "bytes", vlen_bytes)
    varied(root, "bytes_blosc", blobs, "bytes", vlen_bytes, compressor=numcodecs.Blosc())
    varied(root, "bytes_columns", grid_of(blobs, (2, 3)), "bytes", vlen_bytes, chunks=(2, 2), order="F")
    varied(root, "bytes_scalar", np.array(b"only one", object), "bytes", vlen_bytes)
    for name, fill, shown in [("zero", 0, b""), ("null", None, b"")]:
        values = objects([b"x", b"y", shown])
        varied(
            root,
            "bytes_fill_" + name,
            values,
            "bytes",
            vlen_bytes,
            expected=values,
            region=slice(0, 2),
            chunks=(2,),
            fill=fill,
        )
    end(root)

    root = begin("ragged.zarr")
    for dtype in [
        "?",
        "i1",
        "u1",
        "<i2",
        "<u2",
        "<i4",
        "<u4",
        "<i8",
        "<u8",
        "<f2",
        "<f4",
        "<f8",
        "<c8",
        ">i4",
        ">f8",
        "<M8[D]",
    ]:
        base = np.arange(6).astype(dtype) if dtype != "?" else np.array([True, False, True, True, False, True])
        ragged = [base[:2], base[:0], base, base[3:4]]
        name = dtype.replace("<", "").replace(">", "big_").replace("?", "b1").replace("[", "_").replace("]", "")
        varied(root, name, ragged, "numbers", numcodecs.VLenArray(dtype), chunks=(3,))
    base = np.arange(5, dtype="<i4")
    varied(
        root,
        "zlib_2d_columns",
        grid_of([base[:i] for i in range(5)], (2, 3)),
        "numbers",
        numcodecs.VLenArray("<i4"),
        chunks=(2, 2),
        order="F",
        compressor=numcodecs.Zlib(),
    )
    values = objects([base[:2], base[:0]])
    varied(
        root,
        "fill_null",
        values,
        "numbers",
        numcodecs.VLenArray("<i4"),
        expected=values,
        region=slice(0, 1),
        chunks=(1,),
    )
    end(root)

    root = begin("objects.zarr")
    things = ["text", 7, -1.5, True, None, [1, [2, "x"], {}], {"a": {"b": [None, False]}, "\u00e9": 0}, 2**53, ""]
    for name, codec in [
        ("json2", numcodecs.JSON()),
        ("json2_ascii", numcodecs.JSON(encoding="ascii")),
        ("json2_indented", numcodecs.JSON(indent=2)),
        ("msgpack2", numcodecs.MsgPack()),
        ("msgpack2_single", numcodecs.MsgPack(use_single_float=True)),
    ]:
        varied(root, name, things, "object", codec, chunks=(4,))
        varied(root, name + "_2d", grid_of(things, (2, 5)), "object", codec, chunks=(2, 3), compressor=numcodecs.Zlib())
        # The stored lists are nested as the values were written; zarr-python reads them back in another order.
        varied(
            root,
            name + "_2d_columns",
            grid_of(things, (2, 5)),
            "object",
            codec,
            chunks=(2, 3),
            order="F",
            read_back=False,
        )
    varied(
        root,
        "msgpack2_bytes",
        [b"\0\xff", "text", [b"a"], -(2**63), 2**64 - 1, 300, 70000],
        "object",
        numcodecs.MsgPack(),
    )
    varied(root, "msgpack2_raw", ["text", 1], "object", numcodecs.MsgPack(use_bin_type=False))
    varied(root, "json2_texts", TEXTS, "object", numcodecs.JSON(), chunks=(3,))
    varied(root, "msgpack2_texts", TEXTS, "object", numcodecs.MsgPack(), chunks=(3,))
    for name, codec in [("json2", numcodecs.JSON()), ("msgpack2", numcodecs.MsgPack())]:
        values = objects(["x", 5])
        varied(root, name + "_fill", values, "object", codec, region=slice(0, 1), chunks=(1,), fill=5)
        values = objects(["x", 0])
        varied(root, name + "_fill_zero", values, "object", codec, region=slice(0, 1), chunks=(1,), fill=0)
        values = objects(["x", None])
        varied(root, name + "_fill_null", values, "object", codec, expected=values, region=slice(0, 1), chunks=(1,))
    end(root)

    root = begin("categories.zarr")
    labels = ["female", "male", "caf\u00e9"]
    values = ["male", "female", "male", "caf\u00e9", ""]
    varied(root, "objects", values, "utf8", numcodecs.Categorize(labels, dtype=object), chunks=(3,))
    varied(
        root,
        "objects_zlib_i2",
        values,
        "utf8",
        numcodecs.Categorize(labels, dtype=object, astype="<i2"),
        chunks=(3,),
        compressor=numcodecs.Zlib(),
    )
    fixed(root, "U6", np.array(values, "<U6"), filters=[numcodecs.Categorize(labels, dtype="<U6")])
    fixed(
        root,
        "U6_columns",
        np.array(values + ["male"], ">U6").reshape(2, 3),
        order="F",
        filters=[numcodecs.Categorize(labels, dtype=">U6", astype=">u2")],
    )
    values = np.array(["male", "other", "female"], "<U6")
    fixed(
        root,
        "unknown_label",
        values,
        expected=np.array(["male", "", "female"], "<U6"),
        filters=[numcodecs.Categorize(labels, dtype="<U6")],
    )
    end(root)


def pickles():
    """Writes pickles, which must not be opened: unpickling runs code of the writer."""
    root = begin("unsafe.zarr")
    create(root, "object_codec", (2,), object, object_codec=numcodecs.Pickle())[...] = objects([1, "x"])
    create(root, "among_filters", (2,), "<i4", filters=[numcodecs.Delta("<i4"), numcodecs.Pickle()])[...] = 1
    create(root, "compressor", (2,), "<i4", compressor=numcodecs.Pickle())[...] = 1
    create(
        root,
        "compressor_of_objects",
        (2,),
        object,
        object_codec=None,
        filters=[numcodecs.Pickle()],
        compressor=numcodecs.Zlib(),
    )[...] = objects([1, "x"])
    for name in root.keys():
        corpus.refused(name, "pickle")
    end(root)


def nodes():
    root = begin("nodes.zarr")
    root.attrs.update(
        {
            "title": "caf\u00e9 \U0001f9ca",
            "numbers": [1, 2.5, -3, 1e300, 2**53],
            "nested": {"a": {"b": [None, True]}},
            "": "",
        }
    )
    a = root.create_group("a")
    b = a.create_group("b")
    b.attrs["depth"] = 2
    root.create_group("empty")
    root.create_group("UPPER and space")
    root.create_group("caf\u00e9").attrs["unicode"] = True
    fixed(b, "deep", np.arange(4, dtype="<i4"), attributes={"units": "m", "scale": 0.1})
    fixed(a, "array", np.arange(6, dtype=">u2").reshape(2, 3), attributes={"_ARRAY_DIMENSIONS": ["y", "x"]})
    fixed(root, "scalar", np.array(42, "<i8"))
    fixed(root, "scalar_zlib", np.array(-1.5, ">f4"), compressor=numcodecs.Zlib())
    scalar = create(root, "scalar_never_written", (), "<i2", fill_value=7)
    assert scalar[()] == 7
    corpus.array("scalar_never_written", np.array(7, "<i2"), fill=7)
    fixed(root, "empty_array", np.zeros((0,), "<f8"), chunks=(1,), fill=0)
    fixed(root, "empty_matrix", np.zeros((3, 0), "<i4"), chunks=(2, 1), fill=0)
    fixed(root, "empty_by_default", np.zeros((0, 4), "<i4"), chunks=True, fill=0)
    fixed(root, "slashes", np.arange(12, dtype="<i4").reshape(3, 4), chunks=(2, 2), dimension_separator="/")
    fixed(root, "dots", np.arange(12, dtype="<i4").reshape(3, 4), chunks=(2, 2), dimension_separator=".")
    fixed(
        root,
        "slashes_columns",
        np.arange(12, dtype="<i4").reshape(3, 4),
        chunks=(2, 2),
        dimension_separator="/",
        order="F",
    )
    # Python's JSON has numbers that JSON does not have; they become strings with the same names.
    odd = root.create_group("odd")
    odd.attrs.update({"nan": float("nan"), "inf": [float("inf"), float("-inf")]})
    zarr.consolidate_metadata(root.store)
    end(root)
    corpus.current["odd"]["attributes"] = {"nan": "NaN", "inf": ["Infinity", "-Infinity"]}


def other_stores():
    root = begin("nested_directory.zarr", zarr.NestedDirectoryStore)
    fixed(root, "a", np.arange(12, dtype="<i4").reshape(3, 4), chunks=(2, 2))
    fixed(root, "line", np.arange(4, dtype="<i4"), chunks=(2,))
    end(root)
    # An array may be the root itself.
    store = zarr.DirectoryStore(corpus.hierarchy("root_array.zarr"))
    values = np.arange(6, dtype="<i4").reshape(2, 3)
    array = zarr.create(shape=(2, 3), chunks=(2, 2), dtype="<i4", store=store, compressor=None)
    array[...] = values
    array.attrs["alone"] = True
    corpus.array("", values, fill=0, attributes={"alone": True})


for make in [
    types,
    times,
    strings,
    fills,
    structures,
    folded,
    orders,
    compressors,
    object_arrays,
    pickles,
    nodes,
    other_stores,
]:
    make()
corpus.save()
