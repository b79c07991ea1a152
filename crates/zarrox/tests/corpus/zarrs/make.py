"""Writes hierarchies of zarrs, and their expected values. README.md has the commands."""

import base64
import json
import os
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
CONFORMANCE = os.path.join(HERE, "..", "..", "..", "..", "..", "quality", "conformance")
sys.path[:0] = [os.path.join(HERE, ".."), CONFORMANCE]
import record  # noqa: E402
import zarrs_client  # noqa: E402

corpus = record.Corpus(__file__, "zarrs 0.23.14")
zarrs = zarrs_client.Zarrs(sys.argv[1])


def codec(name, **configuration):
    return {"name": name, "configuration": configuration}


LITTLE, BIG, PLAIN = codec("bytes", endian="little"), codec("bytes", endian="big"), codec("bytes")
CRC = codec("crc32c")
GZIP = codec("gzip", level=1)
TRANSPOSE = codec("transpose", order=[1, 0])


def begin(name):
    path = corpus.hierarchy(name)
    zarrs.call("create_group", path, attributes={})
    return path


def create(root, name, shape, data_type, codecs, fill, chunks, keys=("default", "/")):
    metadata = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": data_type,
        "chunk_grid": codec("regular", chunk_shape=list(chunks or [max(1, (n + 1) // 2) for n in shape])),
        "chunk_key_encoding": codec(keys[0], separator=keys[1]),
        "fill_value": fill,
        "codecs": codecs,
        "attributes": {},
    }
    zarrs.create(root, "/" + name, metadata)


def raw(root, name, shape, item, data, data_type, codecs, fill=0, chunks=None, lossy=False, read_back=True, **options):
    """Writes an array of elements of one size, given as bytes, and records the values that zarrs reads back."""
    create(root, name, shape, data_type, codecs, fill, chunks, **options)
    start = [0] * len(shape)
    zarrs.write(root, "/" + name, start, shape, zarrs_client.fixed(data))
    read = base64.b64decode(zarrs.read(root, "/" + name, start, shape)["bytes"]) if read_back else data
    assert lossy or read == data, name
    data_type = OTHER_NAMES.get(name, data_type)
    if lossy and is_stable(root, name, shape, read):
        lossy = "stable"
    corpus.raw_array(name, shape, item, read, data_type, None, lossy=lossy)


def is_stable(root, name, shape, read):
    """Returns true if writing the elements that were read gives the same bytes."""
    with tempfile.TemporaryDirectory() as again:
        with open(os.path.join(root, name, "zarr.json")) as document:
            metadata = json.load(document)
        zarrs.create(again, "/" + name, metadata)
        zarrs.write(again, "/" + name, [0] * len(shape), shape, zarrs_client.fixed(read))
        chunks = metadata["chunk_grid"]["configuration"]["chunk_shape"]
        return record.same_chunks(os.path.join(root, name), os.path.join(again, name), shape, chunks)


def array(root, name, values, codecs, data_type=None, **options):
    values = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"))
    data_type = data_type or values.dtype.name
    raw(root, name, values.shape, values.dtype.itemsize, values.tobytes(), data_type, codecs, **options)


def varied(root, name, values, kind, codecs, chunks=None, shape=None, fill=None):
    """Writes an array of text or bytes."""
    shape = shape or [len(values)]
    data_type = {"utf8": "string", "bytes": "bytes"}[kind]
    create(root, name, shape, data_type, codecs, ("" if kind == "utf8" else []) if fill is None else fill, chunks)
    elements = [value.encode() if kind == "utf8" else value for value in values]
    zarrs.write(root, "/" + name, [0] * len(shape), shape, zarrs_client.varied(elements))
    read = zarrs.read(root, "/" + name, [0] * len(shape), shape)
    assert read == zarrs_client.varied(elements), name
    corpus.objects(name, np.array(values, object), kind, shape=shape)


def walk(dtype, count=48):
    index = np.arange(count)
    steps = np.array([3, -1, 4, 1, -5, 9, -2, 6, -5, 3])[index * index // 3 % 10]
    values = np.cumsum(steps)
    dtype = np.dtype(dtype)
    return (values / 8.0 if dtype.kind in "fc" else values + (128 if dtype.kind == "u" else 0)).astype(dtype)


def grid(dtype):
    return walk(dtype, 70).reshape(7, 10)


def types():
    root = begin("types.zarr")
    for kind in ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]:
        values = record.numbers(kind, 9)
        fill = {"b": False, "c": [0.0, 0.0]}.get(values.dtype.kind, 0)
        for word, endian in [("", LITTLE), ("_big", BIG)] if values.itemsize > 1 else [("", PLAIN)]:
            array(root, values.dtype.name + word, values, [endian], fill=fill)
    for name, bits in [("int2", 2), ("int4", 4)]:
        values = np.arange(-(2 ** (bits - 1)), 2 ** (bits - 1)).astype("i1")
        array(root, name, values, [PLAIN], name)
        array(root, "u" + name, np.arange(2**bits).astype("u1"), [PLAIN], "u" + name)
    for name in SMALL_FLOATS:
        count = 2 ** min(8, int(name[5]) if name[5] != "8" else 8)
        data = np.arange(count, dtype="u1")
        raw(root, name, [count], 1, data.tobytes(), name, [PLAIN], fill=1.0)
        raw(root, "complex_" + name, [count // 2], 2, data.tobytes(), "complex_" + name, [PLAIN], fill=[1.0, 1.0])
    halves = (np.arange(64, dtype="<u2") * 1021).tobytes()
    raw(root, "bfloat16", [64], 2, halves, "bfloat16", [LITTLE])
    raw(root, "bfloat16_big", [64], 2, halves, "bfloat16", [BIG])
    raw(root, "complex_bfloat16", [32], 4, halves, "complex_bfloat16", [LITTLE], fill=[0, 0])
    raw(root, "complex_float16", [32], 4, halves, "complex_float16", [BIG], fill=[0, 0])
    array(root, "complex_float32", walk("c8", 9), [LITTLE], "complex_float32", fill=[0, 0])
    array(root, "complex_float64", walk("c16", 9), [LITTLE], "complex_float64", fill=[0, 0])
    for size in [1, 3, 8]:
        data = (np.arange(5 * size) * 37 % 256).astype("u1").tobytes()
        raw(root, f"r{8 * size}", [5], size, data, f"r{8 * size}", [PLAIN], fill=[0] * size)
    for kind, name in [("M", "numpy.datetime64"), ("m", "numpy.timedelta64")]:
        data_type = codec(name, unit="ms", scale_factor=10)
        array(root, name, record.numbers("i8", 5), [LITTLE], data_type, fill="NaT")
    data_type = codec("fixed_length_utf32", length_bytes=12)
    texts = np.array(["", "abc", "é🧊"], "<U3")
    raw(root, "fixed_length_utf32", [3], 12, texts.tobytes(), data_type, [LITTLE], fill="x")
    corpus.groups()


OTHER_NAMES = {"complex_float32": "complex64", "complex_float64": "complex128"}
SMALL_FLOATS = [
    "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz",
    "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
]


def compressors():
    root = begin("compressors.zarr")
    values = grid("i4")
    chains = [
        ("gzip_9", codec("gzip", level=9)),
        ("zstd", codec("zstd", level=3, checksum=False)),
        ("zstd_checksum", codec("zstd", level=-5, checksum=True)),
        ("zlib", codec("numcodecs.zlib", level=9)),
        ("bz2", codec("numcodecs.bz2", level=1)),
        ("crc32c", CRC),
        ("adler32", codec("numcodecs.adler32")),
        ("adler32_start", codec("numcodecs.adler32", location="start")),
        ("adler32_end", codec("numcodecs.adler32", location="end")),
        ("fletcher32", codec("numcodecs.fletcher32")),
        ("shuffle_4", codec("numcodecs.shuffle", elementsize=4)),
        ("shuffle_8", codec("numcodecs.shuffle", elementsize=8)),
        ("gdeflate_0", codec("zarrs.gdeflate", level=0)),
        ("gdeflate_1", codec("zarrs.gdeflate", level=1)),
        ("gdeflate_9", codec("zarrs.gdeflate", level=9)),
        ("gdeflate_12", codec("zarrs.gdeflate", level=12)),
    ]
    for name, chain in chains:
        array(root, name, values, [LITTLE, chain], chunks=[4, 10])
    for cname in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]:
        for shuffle in ["noshuffle", "shuffle", "bitshuffle"]:
            blosc = codec("blosc", cname=cname, clevel=5, shuffle=shuffle, typesize=4, blocksize=0)
            array(root, f"blosc_{cname}_{shuffle}", walk("i4", 100), [BIG, blosc], chunks=[100])
    # A tile of GDeflate has 64 KiB. zarrs panics when it reads more than one.
    tiles = (np.arange(70000) // 7 % 251).astype("u1")
    array(root, "gdeflate_tiles", tiles, [PLAIN, codec("zarrs.gdeflate", level=6)], chunks=[70000], read_back=False)
    noise = np.random.RandomState(42).randint(0, 256, 300).astype("u1")
    array(root, "gdeflate_noise", noise, [PLAIN, codec("zarrs.gdeflate", level=12)], chunks=[300])
    chain = [LITTLE, codec("numcodecs.shuffle", elementsize=4), codec("zarrs.gdeflate", level=5), CRC]
    array(root, "shuffle_gdeflate_crc32c", values, chain, chunks=[4, 10])
    array(root, "fletcher32_zlib", values, [BIG, codec("numcodecs.fletcher32"), codec("numcodecs.zlib", level=1)])
    corpus.groups()


def filters():
    root = begin("filters.zarr")
    for kind, keepbits in [("f2", 4), ("f4", 5), ("f4", 23), ("f8", 12), ("u1", 3), ("i2", 5), ("i4", 4), ("u8", 6), ("c8", 5)]:
        fill = [0, 0] if kind[0] == "c" else 0
        values = (walk("f8", 70) * 7.3).astype(kind).reshape(7, 10)
        array(root, f"bitround_{kind}_{keepbits}", values, [codec("bitround", keepbits=keepbits), endian(kind)], fill=fill, lossy=True)
    special = record.numbers("f4", 9)
    array(root, "bitround_special", special, [codec("bitround", keepbits=4), LITTLE], lossy=True)
    for kind, astype, offset, scale in [("<f8", "<i2", 1000, 10), ("<f4", "u1", -20, 4), ("<i4", "<i2", 10, 1), ("<f4", None, 2, 10)]:
        options = {"astype": astype} if astype else {}
        scaled = codec("numcodecs.fixedscaleoffset", offset=offset, scale=scale, dtype=kind, **options)
        array(root, f"fixedscaleoffset_{kind[1:]}_{astype and astype.strip("<")}", grid(kind), [scaled, LITTLE], lossy=True)
    reshapes = [
        ("flat", [-1]),
        ("kept", [[0], [1]]),
        ("merged", [[0, 1]]),
        ("split", [[0], -1, 2]),
        ("numbers", [5, 8]),
        ("more", [[0], 2, 5]),
    ]
    for name, shape in reshapes:
        array(root, f"reshape_{name}", grid("i4"), [codec("reshape", shape=shape), BIG], chunks=[4, 10])
    cube = np.arange(60, dtype="i2").reshape(3, 4, 5)
    array(root, "reshape_cube", cube, [codec("reshape", shape=[[0, 1], [2]]), TRANSPOSE, LITTLE], chunks=[2, 2, 5])
    array(root, "transpose_reshape", grid("i4"), [TRANSPOSE, codec("reshape", shape=[-1]), LITTLE], chunks=[4, 6])
    array(root, "squeeze", cube, [codec("zarrs.squeeze"), LITTLE], chunks=[1, 4, 5])
    array(root, "squeeze_two", cube, [codec("zarrs.squeeze"), LITTLE], chunks=[1, 4, 1])
    array(root, "squeeze_all", cube, [codec("zarrs.squeeze"), LITTLE], chunks=[1, 1, 1])
    array(root, "squeeze_none", cube, [codec("zarrs.squeeze"), LITTLE], chunks=[2, 4, 5])
    array(root, "squeeze_transpose", cube, [codec("zarrs.squeeze"), TRANSPOSE, LITTLE], chunks=[1, 4, 5])
    array(root, "transpose", cube, [codec("transpose", order=[2, 0, 1]), BIG], chunks=[2, 4, 3])
    corpus.groups()


def endian(kind):
    return PLAIN if np.dtype(kind).itemsize == 1 else LITTLE


def packbits():
    root = begin("packbits.zarr")
    bits = (walk("i1", 20) % 3 == 0).reshape(4, 5)
    for padding in ["none", "first_byte", "last_byte"]:
        array(root, f"bool_{padding}", bits, [codec("packbits", padding_encoding=padding)], chunks=[3, 5], fill=False)
    array(root, "bool_whole_bytes", np.arange(16) % 3 == 0, [codec("packbits", padding_encoding="first_byte")], chunks=[16], fill=False)
    array(root, "bool_default", bits, [codec("packbits")], chunks=[3, 5], fill=False)
    for name, bits in [("int2", 2), ("int4", 4)]:
        values = np.arange(-(2 ** (bits - 1)), 2 ** (bits - 1)).astype("i1")
        array(root, name, values, [codec("packbits")], name, chunks=[len(values) - 1])
        array(root, "u" + name, np.arange(2**bits).astype("u1"), [codec("packbits", padding_encoding="last_byte")], "u" + name, chunks=[2**bits - 1])
    for name in SMALL_FLOATS:
        count = 2 ** min(8, int(name[5]))
        data = np.arange(count, dtype="u1").tobytes()
        raw(root, name, [count], 1, data, name, [codec("packbits")], fill=1.0, chunks=[count])
    raw(root, "complex_float6_e2m3fn", [16], 2, bytes(range(32)), "complex_float6_e2m3fn", [codec("packbits")], fill=[0, 0], chunks=[7])
    for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8"]:
        fill = [0, 0] if kind[0] == "c" else 0
        array(root, kind, record.numbers(kind, 9), [codec("packbits")], chunks=[9], fill=fill)
    for kind, first, last in [("i4", 0, 9), ("i2", 0, 11), ("u2", 0, 8), ("u1", 1, 5), ("i8", 2, 20), ("u4", 3, 3), ("u8", 5, 40)]:
        values = walk(kind, 20)
        if kind[0] == "u":
            values = values & np.array(sum(1 << bit for bit in range(first, last + 1)), kind)
        elif first:
            values = values << first
        chain = [codec("packbits", padding_encoding="first_byte", first_bit=first, last_bit=last)]
        array(root, f"{kind}_bits_{first}_to_{last}", values, chain, chunks=[20])
    array(root, "transposed", grid("i2"), [TRANSPOSE, codec("packbits", last_bit=10), GZIP], chunks=[4, 6])
    corpus.groups()


def numeric():
    root = begin("numeric.zarr")
    pcodec = {"level": 8, "mode_spec": "auto", "delta_spec": "auto", "paging_spec": "equal_pages_up_to", "equal_pages_up_to": 262144}
    for kind in ["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]:
        fill = [0, 0] if kind[0] == "c" else 0
        array(root, "pcodec_" + kind, grid(kind), [codec("numcodecs.pcodec", **pcodec)], fill=fill, chunks=[4, 10])
        array(root, "pcodec_special_" + kind, record.numbers(kind, 20), [codec("numcodecs.pcodec", **pcodec)], fill=fill, chunks=[20])
    waves = np.sin(np.arange(120) / 9) * 100
    modes = [
        ("reversible", {"mode": "reversible"}),
        ("rate", {"mode": "fixed_rate", "rate": 10.5}),
        ("precision", {"mode": "fixed_precision", "precision": 19}),
        ("accuracy", {"mode": "fixed_accuracy", "tolerance": 0.05}),
        ("expert", {"mode": "expert", "minbits": 1, "maxbits": 200, "maxprec": 32, "minexp": -20}),
    ]
    for name, mode in modes:
        for kind in ["f4", "f8"]:
            for shape in [(120,), (10, 12), (4, 5, 6), (2, 3, 4, 5)]:
                values = waves.astype(kind).reshape(shape)
                array(root, f"zfp_{name}_{kind}_{len(shape)}d", values, [codec("zfp", **mode)], chunks=shape, lossy=name != "reversible")
    for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
        values = grid(kind)
        array(root, f"zfp_reversible_{kind}", values, [codec("zfp", mode="reversible")], chunks=[4, 10])
        array(root, f"zfp_precision_{kind}", values, [codec("zfp", mode="fixed_precision", precision=14)], chunks=[4, 10], lossy=True)
    array(root, "zfp_special", record.numbers("f8", 12), [codec("zfp", mode="reversible")], chunks=[12])
    array(root, "zfp_parts", waves.reshape(10, 12), [codec("zfp", mode="reversible"), CRC], chunks=[6, 5])
    array(root, "zfp_transposed", waves.reshape(10, 12), [TRANSPOSE, codec("zfp", mode="reversible")], chunks=[10, 12])
    for name, mode in [("rate", {"mode": 2, "rate": 12}), ("precision", {"mode": 3, "precision": 16}), ("accuracy", {"mode": 4, "tolerance": 0.01})]:
        for kind in ["f4", "f8"]:
            for shape in [(120,), (10, 12), (4, 5, 6)]:
                values = waves.astype(kind).reshape(shape)
                array(root, f"zfpy_{name}_{kind}_{len(shape)}d", values, [codec("numcodecs.zfpy", **mode)], chunks=shape, lossy=True)
    corpus.groups()


def vlen(data=(PLAIN,), index=(LITTLE,), **options):
    return codec("zarrs.vlen", data_codecs=list(data), index_codecs=list(index), **options)


def variable():
    root = begin("variable.zarr")
    texts = ["", "a", "café", "🧊日本語", "x" * 40, "line\nbreak"]
    blobs = [b"", b"a", b"\0\xff\0", bytes(range(256)), b"", b"z" * 30]
    for kind, values, legacy in [("utf8", texts, "vlen-utf8"), ("bytes", blobs, "vlen-bytes")]:
        varied(root, kind, values, kind, [codec(legacy)])
        varied(root, kind + "_zstd", values, kind, [codec(legacy), codec("zstd", level=1, checksum=False)])
        varied(root, kind + "_vlen_v2", values, kind, [codec("zarrs.vlen_v2")])
        varied(root, kind + "_vlen_v2_gzip", values, kind, [codec("zarrs.vlen_v2"), GZIP])
        varied(root, kind + "_transposed", values, kind, [TRANSPOSE, codec("zarrs.vlen_v2")], shape=[2, 3], chunks=[2, 2])
        for size in ["uint32", "uint64"]:
            varied(root, f"{kind}_vlen_{size}", values, kind, [vlen(index_data_type=size)])
            for location in ["start", "end"]:
                chain = vlen(index_data_type=size, index_location=location)
                varied(root, f"{kind}_vlen_{size}_{location}", values, kind, [chain])
        packed = vlen([PLAIN, GZIP], [BIG, codec("zstd", level=1, checksum=True), CRC], index_data_type="uint32", index_location="end")
        varied(root, kind + "_vlen_compressed", values, kind, [packed])
        varied(root, kind + "_vlen_squared", values, kind, [packed, GZIP], shape=[2, 3], chunks=[2, 2])
        shards = sharding([2], [codec(legacy)])
        varied(root, kind + "_shards", values, kind, [shards], chunks=[4])
        varied(root, kind + "_vlen_shards", values, kind, [sharding([2], [packed])], chunks=[4])
    corpus.groups()


def sharding(chunks, codecs, index=(LITTLE, CRC), location="end"):
    return codec("sharding_indexed", chunk_shape=list(chunks), codecs=list(codecs), index_codecs=list(index), index_location=location)


def sharded():
    root = begin("sharded.zarr")
    values = grid("i4")
    for location in ["start", "end"]:
        array(root, f"index_{location}", values, [sharding([2, 5], [LITTLE, GZIP], location=location)], chunks=[4, 10])
        nested = sharding([4, 4], [sharding([2, 2], [BIG], location=location)], location=location)
        array(root, f"nested_{location}", values, [nested], chunks=[8, 8])
    array(root, "index_big", values, [sharding([2, 5], [LITTLE], index=[BIG])], chunks=[4, 10])
    array(root, "transposed", values, [TRANSPOSE, sharding([5, 2], [LITTLE])], chunks=[4, 10])
    array(root, "inner_transposed", values, [sharding([2, 5], [TRANSPOSE, LITTLE])], chunks=[4, 10])
    array(root, "compressed", values, [sharding([2, 5], [LITTLE]), codec("zstd", level=1, checksum=False)], chunks=[4, 10])
    array(root, "packbits", values % 2 == 0, [sharding([2, 5], [codec("packbits")])], chunks=[4, 10], fill=False)
    array(root, "reshaped", values, [sharding([2, 5], [codec("reshape", shape=[-1]), LITTLE])], chunks=[4, 10])
    array(root, "gdeflate", values, [sharding([2, 5], [LITTLE, codec("zarrs.gdeflate", level=3)])], chunks=[4, 10])
    sparse = np.full((8, 8), 3, "i4")
    sparse[2:4, 2:4] = 9
    array(root, "sparse", sparse, [sharding([2, 2], [LITTLE])], chunks=[4, 4], fill=3)
    corpus.groups()


def optional():
    root = begin("optional.zarr")

    def missing(name, inner, item, data, mask, data_codecs, mask_codecs=(PLAIN,), fill=None, chunks=None):
        """Writes an array of elements that may be missing, and records each as null or base64."""
        data_type = {"name": "zarrs.optional", "configuration": inner}
        chain = [codec("zarrs.optional", mask_codecs=list(mask_codecs), data_codecs=list(data_codecs))]
        create(root, name, [len(mask)], data_type, chain, fill, chunks)
        if item is None:
            values, elements = zarrs_client.varied(data), data
        else:
            values, elements = zarrs_client.fixed(data), [data[at : at + item] for at in range(0, len(data), item)]
        zarrs.write(root, "/" + name, [0], [len(mask)], zarrs_client.optional(mask, values))
        read = zarrs.read(root, "/" + name, [0], [len(mask)])
        assert base64.b64decode(read["mask"]) == bytes(mask), name
        kept = [record.text64(element) if there else None for element, there in zip(elements, mask)]
        corpus.objects(name, np.array(kept, object), "object", data_type=data_type)

    mask = [1, 0, 1, 1, 0, 1, 0]
    int32, text = codec("int32"), codec("string")
    values = np.arange(1, 8, dtype="<i4").tobytes()
    missing("int32", int32, 4, values, mask, [LITTLE])
    missing("int32_packed", int32, 4, values, mask, [BIG, GZIP], [codec("packbits", padding_encoding="first_byte"), CRC])
    missing("int32_fill", int32, 4, values, mask, [LITTLE], fill=[7], chunks=[2])
    missing("uint8_none", codec("uint8"), 1, bytes(7), [0] * 6 + [1], [PLAIN], chunks=[3])
    missing("text", text, None, [b"a", b"", "é".encode(), b"", b"", b"long text", b""], mask, [codec("vlen-utf8")])
    missing("text_vlen", text, None, [b"a", b"", b"b", b"", b"", b"long text", b""], mask, [vlen(index_data_type="uint32")])
    corpus.groups()


for make in [types, compressors, filters, packbits, numeric, variable, sharded, optional]:
    make()
corpus.save()
