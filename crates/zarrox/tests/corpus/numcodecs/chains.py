"""Arrays with the compressors and filters of numcodecs, alone and in chains, for the scripts in the folders beside this one.

A case is a name, values, filters, a compressor, and options of `create`. Codecs are given by their configurations in the form of
format 2, so that one list fits all versions of numcodecs. Cases that a version does not support, or does not read back itself,
are left out and reported. Runs with Python 3.6 or newer.
"""

import collections
import json
import os
import shutil
import sys
import tempfile

import numcodecs
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import record  # noqa: E402

Case = collections.namedtuple("Case", "name values filters compressor options lossy")

ALONE, RAW, XZ = 2, 3, 1
DELTA, X86, ARM, LZMA2, LZMA1 = 3, 4, 7, 33, 0x4000000000000001
LZMA2_PARAMETERS = {"id": LZMA2, "dict_size": 65536, "lc": 0, "lp": 2, "pb": 1, "mode": 1, "nice_len": 32, "mf": 3}


def codec(id, **configuration):
    return dict(configuration, id=id)


def walk(dtype, count=48):
    """Returns numbers that go up and down in small steps."""
    index = np.arange(count)
    steps = np.array([3, -1, 4, 1, -5, 9, -2, 6, -5, 3])[index * index // 3 % 10]
    values = np.cumsum(steps)
    dtype = np.dtype(dtype)
    return (values / 8.0 if dtype.kind in "fc" else values + (128 if dtype.kind == "u" else 0)).astype(dtype)


def grid(dtype):
    return walk(dtype, 70).reshape(7, 10)


def noise(count):
    return np.random.RandomState(42).randint(0, 256, count).astype("u1")


def case(name, values, filters=None, compressor=None, lossy=False, **options):
    filters = [filters] if isinstance(filters, dict) else filters
    return Case(name, values, filters, compressor, options, lossy)


def compressors():
    """Yields every compressor, with different levels, checks and formats."""
    plain = [
        ("zlib_0", codec("zlib", level=0)),
        ("zlib_1", codec("zlib", level=1)),
        ("zlib_9", codec("zlib", level=9)),
        ("gzip_0", codec("gzip", level=0)),
        ("gzip_1", codec("gzip", level=1)),
        ("gzip_9", codec("gzip", level=9)),
        ("bz2_1", codec("bz2", level=1)),
        ("bz2_9", codec("bz2", level=9)),
        ("lz4", codec("lz4", acceleration=1)),
        ("lz4_fast", codec("lz4", acceleration=12)),
        ("zstd", codec("zstd", level=0)),
        ("zstd_1", codec("zstd", level=1)),
        ("zstd_22", codec("zstd", level=22)),
        ("zstd_negative", codec("zstd", level=-7)),
        ("zstd_checksum", codec("zstd", level=3, checksum=True)),
        ("lzma", codec("lzma", format=XZ, check=-1, preset=None, filters=None)),
        ("lzma_preset_0", codec("lzma", format=XZ, check=-1, preset=0, filters=None)),
        ("lzma_preset_9_extreme", codec("lzma", format=XZ, check=-1, preset=9 | 1 << 31, filters=None)),
        ("lzma_crc32", codec("lzma", format=XZ, check=1, preset=None, filters=None)),
        ("lzma_crc64", codec("lzma", format=XZ, check=4, preset=None, filters=None)),
        ("lzma_sha256", codec("lzma", format=XZ, check=10, preset=None, filters=None)),
        ("lzma_no_check", codec("lzma", format=XZ, check=0, preset=None, filters=None)),
        ("lzma_alone", codec("lzma", format=ALONE, check=-1, preset=None, filters=None)),
        ("lzma_alone_preset", codec("lzma", format=ALONE, check=-1, preset=2, filters=None)),
        ("lzma_raw", lzma({"id": LZMA2, "preset": 6})),
        ("lzma_raw_delta", lzma({"id": DELTA, "dist": 4}, {"id": LZMA2, "preset": 9})),
        ("lzma_raw_one", lzma({"id": LZMA1, "preset": 3})),
        ("lzma_raw_arm", lzma({"id": ARM}, {"id": LZMA2, "preset": 0})),
        ("lzma_raw_x86", lzma({"id": X86}, {"id": LZMA2, "preset": 6})),
        ("lzma_raw_two_deltas", lzma({"id": DELTA, "dist": 4}, {"id": DELTA, "dist": 1}, {"id": LZMA2, "preset": 6})),
        ("lzma_raw_parameters", lzma(LZMA2_PARAMETERS)),
    ]
    for name, compressor in plain:
        yield case(name, grid("<i4"), compressor=compressor, chunks=(4, 10))
    for name in ["zlib", "gzip", "bz2", "lz4", "zstd", "lzma"]:
        yield case("noise_" + name, noise(200), compressor=codec(name), chunks=(200,))
        yield case("columns_" + name, grid(">f8"), compressor=codec(name), chunks=(4, 6), order="F")
    long = (np.arange(5000, dtype="<u4") // 100).astype("<u2")
    for name in ["gzip", "bz2", "lz4", "zstd", "lzma"]:
        yield case("long_" + name, long, compressor=codec(name), chunks=(5000,))


def lzma(*filters):
    """Returns a raw stream with filters: numcodecs cannot decode streams of other formats that it has encoded with filters."""
    return codec("lzma", format=RAW, check=-1, preset=None, filters=list(filters))


def blosc(cname="lz4", clevel=5, shuffle=1, blocksize=0):
    return codec("blosc", cname=cname, clevel=clevel, shuffle=shuffle, blocksize=blocksize)


def bloscs():
    """Yields every compressor of Blosc with every shuffle, and with several sizes of elements and blocks."""
    words = [(-1, "auto"), (0, "plain"), (1, "bytes"), (2, "bits")]
    for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy"]:
        for shuffle, word in words:
            yield case("%s_%s" % (cname, word), walk("<i2", 150), compressor=blosc(cname, 5, shuffle), chunks=(100,))
    structure = [("a", "<i4"), ("b", ">f8")]
    odd = np.array([(i, i / 4) for i in range(40)], structure)
    texts = np.array(["abcdefghijklmnopqrstuvwxyz"[i % 5 : i % 5 + i % 7] for i in range(80)])
    sizes = [
        ("u1", walk("u1", 300)),
        ("f2", walk(">f2", 150)),
        ("f4", walk("<f4", 100)),
        ("f8", walk("<f8", 100)),
        ("c16", walk("<c16", 50)),
        ("S3", texts.astype("S3")),
        ("U6", texts.astype("<U6")),
        ("M8", walk("<i8", 60).view("<M8[s]")),
        ("bool", walk("i1", 300) > 10),
        ("struct", odd),
    ]
    for word, values in sizes:
        for shuffle, how in words:
            yield case("of_%s_%s" % (word, how), values, compressor=blosc("zstd", 3, shuffle), chunks=values.shape)
    for blocksize in [1, 128, 500, 4096]:
        for cname in ["lz4", "zstd"]:
            compressor = blosc(cname, 5, 1, blocksize)
            yield case("blocks_of_%d_%s" % (blocksize, cname), walk("<f8", 1200), compressor=compressor, chunks=(1200,))
    for clevel in [0, 1, 9]:
        yield case("level_%d" % clevel, walk("<i4", 200), compressor=blosc("lz4", clevel, 1), chunks=(200,))
        yield case("level_%d_bits" % clevel, walk("<i4", 200), compressor=blosc("zstd", clevel, 2), chunks=(200,))
    yield case("copied", noise(300), compressor=blosc("lz4", 9, 1), chunks=(300,))
    yield case("copied_words", noise(800).view("<u4"), compressor=blosc("zstd", 9, 2), chunks=(200,))
    yield case("tiny", walk("<i4", 3), compressor=blosc(), chunks=(1,))
    yield case("not_whole_blocks", walk("<i4", 1001), compressor=blosc("lz4", 5, 2, 256), chunks=(1001,))
    for cname, count in [("lz4", 17001), ("zstd", 9001)]:
        many = (np.arange(count, dtype="<u8") // 9 % 251).astype("<f4")
        yield case("many_blocks_" + cname, many, compressor=blosc(cname, 1, 1), chunks=(count,))
    yield case("columns", grid(">i4"), compressor=blosc("lz4", 5, 2), chunks=(4, 6), order="F")


def delta(dtype, astype=None):
    return codec("delta", dtype=dtype, **({"astype": astype} if astype else {}))


def scaled(offset, scale, dtype, astype):
    return codec("fixedscaleoffset", offset=offset, scale=scale, dtype=dtype, astype=astype)


def filters():
    """Yields every filter alone, uncompressed: the bytes of a chunk are the output of the filter."""
    for dtype in ["|i1", "|u1", "<i2", ">u2", "<i4", ">i4", "<u4", "<i8", ">u8", "<f4", ">f4", "<f8"]:
        yield case("delta_" + word(dtype), grid(dtype), delta(dtype), chunks=(4, 10), lossy=dtype[1] == "f")
    for dtype in ["<i4", "<u2", "<i8"]:
        yield case("delta_wrapping_" + word(dtype), record.numbers(dtype, 9), delta(dtype), chunks=(9,))
    for dtype, astype in [("<i4", "<i2"), ("<i8", "|i1"), (">i4", ">i2"), ("<i4", ">i2"), ("<u2", "<i2"), ("|u1", "<i4")]:
        yield case("delta_%s_as_%s" % (word(dtype), word(astype)), grid(dtype), delta(dtype, astype), chunks=(4, 10))
    for dtype, astype in [("<f8", "<f4"), (">f8", "<f4"), ("<f4", "<i2")]:
        filter = delta(dtype, astype)
        yield case("delta_%s_as_%s" % (word(dtype), word(astype)), grid(dtype), filter, chunks=(4, 10), lossy=True)
    times = walk("<i8", 20)
    yield case("delta_times", times.view("<M8[ns]"), delta("<i8"), chunks=(12,))
    yield case("delta_times_big", times.astype(">i8").view(">M8[D]"), delta(">i8"), chunks=(12,))
    yield case("delta_spans", times.view("<m8[s]"), delta("<i8", "<i4"), chunks=(12,))
    yield case("delta_other_order", grid("<i4"), delta("<i4", ">i4"), chunks=(4, 10))
    yield case("delta_of_other_type", grid("<i4"), delta("<i2"), chunks=(4, 10))
    yield case("delta_columns", grid(">i2"), delta(">i2"), chunks=(4, 6), order="F")
    yield case("delta_little_columns", grid("<i2"), delta("<i2"), chunks=(4, 6), order="F")
    yield case("delta_one", walk("<i4", 3), delta("<i4"), chunks=(1,))
    yield case("delta_scalar", np.array(-7, "<i4"), delta("<i4"))

    for decoded, encoded in [("<i4", "<i2"), ("<i8", "|i1"), (">i4", "<i2"), ("<i4", ">i8"), ("<f8", "<f4"), ("<f4", "<f8"), ("<i4", "<f8"), ("<f8", "<i2"), ("<u2", "<u4")]:
        filter = codec("astype", encode_dtype=encoded, decode_dtype=decoded)
        yield case("astype_%s_as_%s" % (word(decoded), word(encoded)), grid(decoded), filter, chunks=(4, 10), lossy=True)
    yield case("astype_columns", grid("<f8"), codec("astype", encode_dtype=">f4", decode_dtype="<f8"), chunks=(4, 6), order="F")
    yield case("astype_bool", walk("i1", 20) > 5, codec("astype", encode_dtype="<i2", decode_dtype="|b1"), chunks=(20,))

    for dtype, astype, offset, scale in [
        ("<f8", "|u1", -20, 1),
        ("<f8", "<i2", 1000, 10),
        ("<f4", "<i4", 0.5, 8),
        (">f8", ">i2", -1.25, 100),
        ("<f8", ">u2", -50, 2.5),
        ("<f8", "<f4", 3, 0.1),
        ("<i4", "<i2", 10, 1),
        ("<i2", "|i1", 60, 1),
        ("<u2", "|u1", 100, 0.5),
        ("<f4", "<f4", 2, 10),
    ]:
        name = "scaled_%s_as_%s" % (word(dtype), word(astype))
        yield case(name, grid(dtype), scaled(offset, scale, dtype, astype), chunks=(4, 10), lossy=True)
    halves = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 0.0, -0.0])
    yield case("scaled_halves", halves, scaled(0, 1, "<f8", "<i2"), chunks=(9,), lossy=True)
    yield case("scaled_columns", grid("<f8"), scaled(1, 10, "<f8", "<i2"), chunks=(4, 6), order="F", lossy=True)
    yield case("scaled_same_type", grid("<f8"), codec("fixedscaleoffset", offset=1, scale=10, dtype="<f8"), chunks=(4, 10), lossy=True)

    for digits in [-1, 0, 1, 2, 5]:
        filter = codec("quantize", digits=digits, dtype="<f8")
        yield case("quantize_%d" % digits, grid("<f8") * (10 if digits < 0 else 1) / 3, filter, chunks=(4, 10), lossy=True)
    for dtype, astype in [("<f4", "<f4"), ("<f8", "<f4"), (">f8", ">f8"), (">f4", "<f4"), ("<f8", "<f2")]:
        filter = codec("quantize", digits=2, dtype=dtype, astype=astype)
        values = (walk("<f8", 70) / 7).astype(dtype).reshape(7, 10)
        yield case("quantize_%s_as_%s" % (word(dtype), word(astype)), values, filter, chunks=(4, 10), lossy=True)
    special = record.numbers("<f8", 9)
    yield case("quantize_special", special, codec("quantize", digits=1, dtype="<f8"), chunks=(9,), lossy=True)

    for dtype, bits in [("<f2", 3), ("<f4", 0), ("<f4", 5), ("<f4", 23), ("<f8", 1), ("<f8", 12), ("<f8", 52)]:
        values = (walk("<f8", 70) / 7).astype(dtype).reshape(7, 10)
        yield case("bitround_%s_%d" % (word(dtype), bits), values, codec("bitround", keepbits=bits), chunks=(4, 10), lossy=True)
    for dtype in ["<f2", "<f4", "<f8"]:
        values = record.numbers(dtype, 9)
        yield case("bitround_special_" + word(dtype), values, codec("bitround", keepbits=4), chunks=(9,), lossy=True)

    for shape, chunks in [((1,), (1,)), ((8,), (8,)), ((13,), (13,)), ((3, 7), (2, 7)), ((20,), (9,))]:
        count = int(np.prod(shape))
        bits = (walk("i1", count) % 3 == 0).reshape(shape)
        yield case("packbits_" + "x".join(map(str, shape)), bits, codec("packbits"), chunks=chunks)
    bits = grid("i1") % 2 == 0
    yield case("packbits_columns", bits, codec("packbits"), chunks=(4, 6), order="F")
    yield case("packbits_scalar", np.array(True), codec("packbits"))

    for dtype, size in [("<i4", 4), ("<f8", 8), (">i2", 2), ("<i4", 2), ("<i8", 4), ("<c16", 16), ("|S3", 3), ("|u1", 1), ("<i4", 8)]:
        values = walk("i8", 60).astype(dtype).reshape(6, 10)
        yield case("shuffle_%s_%d" % (word(dtype), size), values, codec("shuffle", elementsize=size), chunks=(4, 10))
    yield case("shuffle_columns", grid("<i4"), codec("shuffle", elementsize=4), chunks=(4, 6), order="F")
    for dtype in ["|u1", "<i4", ">f8"]:
        yield case("base64_" + word(dtype), grid(dtype), codec("base64"), chunks=(4, 10))
    yield case("base64_1", np.array([1, 2, 3], "u1"), codec("base64"), chunks=(1,))
    labels = np.array(["b", "a", "", "c", "b", "?"], "<U3")
    yield case("categorize", labels, codec("categorize", labels=["a", "b", "c"], dtype="<U3", astype="|u1"), chunks=(4,), lossy=True)
    yield case("categorize_i4", labels, codec("categorize", labels=["a", "b", "c"], dtype="<U3", astype=">i4"), chunks=(4,), lossy=True)
    yield case("none_as_list", grid("<i4"), [], chunks=(4, 10))


def word(dtype):
    """Returns a data type as a part of a name."""
    return dtype.replace("|", "").replace("<", "").replace(">", "big_").replace("[", "_").replace("]", "")


def checksums():
    for name in ["crc32", "adler32", "crc32c", "fletcher32", "jenkins_lookup3"]:
        yield case(name, grid("<i4"), codec(name), chunks=(4, 10))
        yield case(name + "_big", grid(">f8"), codec(name), chunks=(4, 6), order="F")
        yield case(name + "_bytes", walk("u1", 35), codec(name), chunks=(12,))
        yield case(name + "_zlib", grid("<i2"), codec(name), codec("zlib", level=1), chunks=(4, 10))
        yield case(name + "_outside", grid("<i2"), [codec("zlib", level=1), codec(name)], chunks=(4, 10))
        yield case(name + "_compressor", walk("u1"), None, codec(name), chunks=(20,))
    for name in ["crc32", "adler32", "crc32c"]:
        for location in ["start", "end"]:
            yield case("%s_at_%s" % (name, location), grid("<i4"), codec(name, location=location), chunks=(4, 10))
    yield case("jenkins_initval", grid("<i4"), codec("jenkins_lookup3", initval=0xDEADBEEF), chunks=(4, 10))
    yield case("fletcher32_noise", noise(3001), codec("fletcher32"), chunks=(3001,))
    yield case("fletcher32_ones", np.full(1001, 255, "u1"), codec("fletcher32"), chunks=(1001,))
    yield case("fletcher32_zeros", np.zeros(6, "u1"), codec("fletcher32"), chunks=(6,), fill_value=None)


def combined():
    """Yields common chains, and chains that are valid but unusual."""
    i4, f8, shuffle4 = grid("<i4"), grid("<f8"), codec("shuffle", elementsize=4)
    zlib, zstd = codec("zlib", level=1), codec("zstd", level=1)
    yield case("delta_shuffle_zlib", i4, [delta("<i4"), shuffle4], zlib, chunks=(4, 10))
    yield case("delta_blosc", i4, [delta("<i4")], blosc("zstd", 1, 1), chunks=(4, 10))
    yield case("delta_i2_shuffle_zstd", i4, [delta("<i4", "<i2"), codec("shuffle", elementsize=2)], zstd, chunks=(4, 10))
    yield case("delta_delta", i4, [delta("<i4"), delta("<i4")], zlib, chunks=(4, 10))
    yield case("scaled_delta_zstd", f8, [scaled(1, 8, "<f8", "<i4"), delta("<i4")], zstd, chunks=(4, 10), lossy=True)
    narrower = codec("astype", encode_dtype="<i2", decode_dtype="<i4")
    yield case("scaled_astype_blosc", f8, [scaled(1, 8, "<f8", "<i4"), narrower], blosc("lz4", 5, 2), chunks=(4, 10), lossy=True)
    halves = codec("astype", encode_dtype="<f4", decode_dtype="<f8")
    yield case("astype_bitround_blosc", f8, [halves, codec("bitround", keepbits=6)], blosc("zstd", 5, 2), chunks=(4, 10), lossy=True)
    yield case("bitround_shuffle_gzip", grid("<f4"), [codec("bitround", keepbits=6), shuffle4], codec("gzip", level=5), chunks=(4, 10), lossy=True)
    yield case("quantize_zlib", f8, [codec("quantize", digits=1, dtype="<f8", astype="<f4")], zlib, chunks=(4, 10), lossy=True)
    yield case("quantize_delta", f8, [codec("quantize", digits=1, dtype="<f8"), delta("<f8")], zstd, chunks=(4, 10), lossy=True)
    yield case("columns_delta_shuffle_zlib", grid(">i4"), [delta(">i4"), shuffle4], zlib, chunks=(4, 6), order="F")
    yield case("columns_little", grid("<i4"), [delta("<i4"), shuffle4], zlib, chunks=(4, 6), order="F")
    yield case("columns_scaled_delta", grid(">f8"), [scaled(1, 8, ">f8", ">i4"), delta(">i4")], zstd, chunks=(4, 6), order="F", lossy=True)
    yield case("cube_columns", np.arange(60, dtype=">i2").reshape(3, 4, 5), [delta(">i2")], zlib, chunks=(2, 4, 3), order="F")
    yield case("packbits_zlib", i4 % 3 == 0, [codec("packbits")], zlib, chunks=(4, 10))
    yield case("packbits_blosc", i4 % 3 == 0, [codec("packbits")], blosc("lz4", 5, 1), chunks=(4, 10))
    yield case("packbits_delta", i4 % 3 == 0, [codec("packbits"), delta("|u1")], zlib, chunks=(4, 10))
    yield case("shuffle_delta", i4, [shuffle4, delta("|u1")], zlib, chunks=(4, 10))
    yield case("shuffle_delta_i4", i4, [shuffle4, delta("<i4")], None, chunks=(4, 10))
    yield case("crc32_delta", i4, [codec("crc32"), delta("|u1")], None, chunks=(4, 10))
    yield case("zlib_delta", i4, [codec("zlib", level=1), delta("|u1")], None, chunks=(4, 10))
    yield case("zlib_blosc", i4, [codec("zlib", level=1)], blosc(), chunks=(4, 10))
    yield case("blosc_inside", i4, [blosc(), codec("crc32")], codec("lz4", acceleration=1), chunks=(4, 10))
    yield case("delta_zlib_base64_crc32", i4, [delta("<i4"), zlib, codec("base64"), codec("crc32")], None, chunks=(4, 10))
    yield case("three_checksums", i4, [codec("crc32"), codec("adler32"), codec("crc32")], None, chunks=(4, 10))
    yield case("compressor_is_shuffle", i4, None, shuffle4, chunks=(4, 10))
    yield case("compressor_is_delta", i4, None, delta("<i4"), chunks=(4, 10))
    yield case("compressor_is_base64", i4, [delta("<i4")], codec("base64"), chunks=(4, 10))
    labels = np.array([["b", "a"], ["", "c"], ["b", "b"]], "<U3")
    categorize = codec("categorize", labels=["a", "b", "c"], dtype="<U3", astype="|u1")
    yield case("categorize_delta_zlib", labels, [categorize, delta("|u1")], zlib, chunks=(2, 2), lossy=True)
    yield case("categorize_columns", labels, [categorize], zlib, chunks=(2, 2), order="F", lossy=True)
    times = walk("<i8", 30).view("<M8[s]")
    yield case("times_delta_shuffle_zstd", times, [delta("<i8"), codec("shuffle", elementsize=8)], zstd, chunks=(20,))
    yield case("structure_shuffle", np.array([(i, i / 4) for i in range(20)], [("a", "<i2"), ("b", ">f8")]), [codec("shuffle", elementsize=10)], zlib, chunks=(12,))
    missing = np.full(20, -9, "<i4")
    missing[:5] = [1, 2, 3, 4, 5]
    yield case("fill_value", missing, [delta("<i4")], zlib, chunks=(5,), fill_value=-9, region=slice(0, 5))


def objects():
    """Yields arrays with an object codec, followed by filters."""
    texts = np.array(["", "a", "café", "🧊日本語", "x" * 40, "line\nbreak"], object)
    blobs = np.array([b"", b"a", b"\0\xff\0", bytes(range(256))], object)
    ragged = np.empty(3, object)
    ragged[:] = [np.arange(2, dtype="<i4"), np.arange(0, dtype="<i4"), np.arange(4, dtype="<i4")]
    things = np.empty(8, object)
    things[:] = ["text", 7, -1.5, True, None, [1, [2, "x"], {}], {"a": {"b": [None, False]}, "é": 0}, ""]
    behind = [("", [], None), ("_zlib", [], codec("zlib", level=1)), ("_crc32", [codec("crc32")], None), ("_base64_zstd", [codec("base64")], codec("zstd", level=1)), ("_blosc", [], blosc())]
    for word, filters, compressor in behind:
        yield case("utf8" + word, ("utf8", texts), [codec("vlen-utf8")] + filters, compressor, chunks=(4,))
        yield case("bytes" + word, ("bytes", blobs), [codec("vlen-bytes")] + filters, compressor, chunks=(3,))
        yield case("ragged" + word, ("numbers", ragged), [codec("vlen-array", dtype="<i4")] + filters, compressor, chunks=(2,))
        yield case("json2" + word, ("object", things), [codec("json2")] + filters, compressor, chunks=(5,))
        yield case("msgpack2" + word, ("object", things), [codec("msgpack2")] + filters, compressor, chunks=(5,))
        categorize = codec("categorize", labels=["a", "café"], dtype="|O", astype="|u1")
        yield case("categorize" + word, ("utf8", texts[:3]), [categorize] + filters, compressor, chunks=(2,))


def pcodec(**options):
    return codec("pcodec", **options)


def numeric():
    """Yields arrays with pcodec and zfpy, which compress numbers and not bytes."""
    for dtype in ["<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<f4", "<f8"]:
        yield case("pcodec_" + word(dtype), grid(dtype), None, pcodec(), chunks=(4, 10))
    for dtype in ["<i4", "<f4", "<f8", "<u8", "<f2"]:
        yield case("pcodec_special_" + word(dtype), record.numbers(dtype, 30), None, pcodec(), chunks=(30,))
    long = (np.arange(3000) * 7 % 1000 / 100).astype("<f8")
    for name, options in [
        ("level_0", {"level": 0}),
        ("level_12", {"level": 12}),
        ("classic", {"mode_spec": "classic"}),
        ("no_delta", {"delta_spec": "none"}),
        ("consecutive", {"delta_spec": "try_consecutive", "delta_encoding_order": 2}),
        ("lookback", {"delta_spec": "try_lookback"}),
        ("pages", {"equal_pages_up_to": 500}),
    ]:
        yield case("pcodec_" + name, long, None, pcodec(**options), chunks=(3000,))
    yield case("pcodec_behind_delta", grid("<i4"), [delta("<i4")], pcodec(), chunks=(4, 10))
    yield case("pcodec_columns", grid("<i4"), None, pcodec(), chunks=(4, 6), order="F")
    yield case("pcodec_constant", np.full(100, 7, "<i8"), None, pcodec(), chunks=(100,))
    yield case("pcodec_one", walk("<i4", 2), None, pcodec(), chunks=(1,))
    waves = np.sin(np.arange(120) / 9) * 100
    for dtype in ["<f4", "<f8"]:
        for name, options in [
            ("accuracy", {"mode": 4, "tolerance": 0.01}),
            ("rate", {"mode": 2, "rate": 12}),
            ("precision", {"mode": 3, "precision": 16}),
            ("reversible", {"mode": 4, "tolerance": -1}),
        ]:
            values = waves.astype(dtype)
            for shape in [(120,), (10, 12), (4, 5, 6), (2, 3, 4, 5)]:
                full = "zfpy_%s_%s_%dd" % (name, word(dtype), len(shape))
                yield case(full, values.reshape(shape), None, codec("zfpy", **options), chunks=shape, lossy=True)
    for dtype in ["<i4", "<i8"]:
        yield case("zfpy_" + word(dtype), grid(dtype), None, codec("zfpy", mode=4, tolerance=-1), chunks=(4, 10), lossy=True)
        yield case("zfpy_precision_" + word(dtype), grid(dtype) * 100000, None, codec("zfpy", mode=3, precision=8 * np.dtype(dtype).itemsize - 10), chunks=(4, 10), lossy=True)
    yield case("zfpy_parts", waves.reshape(10, 12), None, codec("zfpy", mode=4, tolerance=0.001), chunks=(6, 5), lossy=True)
    yield case("zfpy_crc32", waves, [codec("zfpy", mode=4, tolerance=0.001)], codec("crc32"), chunks=(120,), lossy=True)


HIERARCHIES = [
    ("compressors.zarr", compressors),
    ("blosc.zarr", bloscs),
    ("filters.zarr", filters),
    ("checksums.zarr", checksums),
    ("combined.zarr", combined),
    ("objects.zarr", objects),
    ("numeric.zarr", numeric),
]


class Maker:
    """Writes the cases with one version of the programs. `create(path, name, case, filters, compressor)` creates an
    array without elements, and returns it; `reopen(path, name)` opens it again."""

    def __init__(self, corpus, root, create, reopen, prefix=""):
        self.corpus, self.root, self.create, self.reopen, self.prefix = corpus, root, create, reopen, prefix
        self.left_out = collections.OrderedDict()

    def run(self, without=()):
        for name, cases in HIERARCHIES:
            if name in without:
                continue
            name = self.prefix + name
            path = self.corpus.hierarchy(name)
            self.root(path)
            for case in cases():
                try:
                    self.write(path, case)
                except Exception as error:  # Cases that this version does not support are left out.
                    shutil.rmtree(os.path.join(path, case.name), ignore_errors=True)
                    reason = (name, "%s: %s" % (type(error).__name__, str(error).split("\n")[0][:80]))
                    self.left_out.setdefault(reason, []).append(case.name)
            self.corpus.groups()
        for (name, reason), cases in self.left_out.items():
            print("left out of %s: %s: %s" % (name, reason, ", ".join(cases)))

    def write(self, path, case):
        kind, values = case.values if isinstance(case.values, tuple) else (None, case.values)
        filters = case.filters and [numcodecs.get_codec(dict(filter)) for filter in case.filters]
        compressor = case.compressor and numcodecs.get_codec(dict(case.compressor))
        options = dict(case.options)
        region = options.pop("region", Ellipsis)
        array = self.create(path, case, values, filters, compressor, options)
        array[region] = values[region]
        array = self.reopen(path, case.name)
        read = array[...]
        if kind is not None:
            for one, two in zip(read.reshape(-1), values.reshape(-1)):
                equal = record.same(one, two) if isinstance(two, np.ndarray) else one == two
                assert type(one) is type(two) and equal, "it reads %r instead of %r" % (one, two)
            self.corpus.objects(case.name, values, kind)
            return
        assert read.dtype.kind == values.dtype.kind, "the type differs"
        read = np.asarray(read, values.dtype)
        assert record.same(read, values) or case.lossy and near(read, values), "it does not read what was written"
        fill = options.get("fill_value")
        lossy = case.lossy and ("stable" if self.is_stable(path, case, read, filters, compressor) else True)
        self.corpus.array(case.name, read, fill=fill, lossy=lossy)

    def is_stable(self, path, case, read, filters, compressor):
        """Returns true if writing the elements that were read gives the same bytes."""
        elsewhere = tempfile.mkdtemp()
        try:
            again = os.path.join(elsewhere, "again")
            self.root(again)
            options = {key: value for key, value in case.options.items() if key != "region"}
            array = self.create(again, case, read, filters, compressor, options)
            array[...] = read
            return record.same_chunks(
                os.path.join(path, case.name), os.path.join(again, case.name), array.shape, array.chunks
            )
        except Exception:  # What was read may be more than the filter takes.
            return False
        finally:
            shutil.rmtree(elsewhere)


def near(read, values):
    """Returns true if the elements that were read may be the result of a lossy filter."""
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        return True
    atol = 0.35 * np.abs(values.astype("f8")).max()
    return np.allclose(read.astype("f8"), values.astype("f8"), rtol=0.1, atol=atol)


def with_zarr_2(script):
    """Writes all cases that zarr-python 2 can write with this version of numcodecs."""
    import zarr

    corpus = record.Corpus(
        script, "zarr-python %s, numcodecs %s, NumPy %s" % (zarr.__version__, numcodecs.__version__, np.__version__)
    )

    def root(path):
        zarr.group(zarr.DirectoryStore(path))

    def create(path, case, values, filters, compressor, options):
        group = zarr.open_group(path, mode="r+")
        options.setdefault("fill_value", None)
        return group.create_dataset(
            case.name, shape=values.shape, dtype=values.dtype, filters=filters, compressor=compressor, **options
        )

    def reopen(path, name):
        return zarr.open_group(path, mode="r")[name]

    Maker(corpus, root, create, reopen).run()
    corpus.save()


ARRAY_TO_ARRAY = ["delta", "bitround", "fixedscaleoffset", "quantize", "packbits", "astype"]
ARRAY_TO_BYTES = ["pcodec", "zfpy"]
NOT_IN_3 = ["base64", "categorize"]
CLASSES = {
    "bitround": "BitRound", "fixedscaleoffset": "FixedScaleOffset", "packbits": "PackBits", "astype": "AsType",
    "pcodec": "PCodec", "zfpy": "ZFPY", "lz4": "LZ4", "gzip": "GZip", "bz2": "BZ2", "lzma": "LZMA", "crc32": "CRC32",
    "crc32c": "CRC32C", "jenkins_lookup3": "JenkinsLookup3",
}


def with_zarr_3(script, formats=(3,)):
    """Writes all cases that zarr-python 3 can write with this version of numcodecs."""
    import warnings

    import zarr

    warnings.simplefilter("ignore")
    corpus = record.Corpus(
        script, "zarr-python %s, numcodecs %s, NumPy %s" % (zarr.__version__, numcodecs.__version__, np.__version__)
    )
    try:
        from zarr.codecs import numcodecs as classes
    except ImportError:
        from numcodecs import zarr3 as classes

    def reopen(path, name):
        return zarr.open_group(path, mode="r")[name]

    def create_2(path, case, values, filters, compressor, options):
        options["filters"], options["compressors"] = filters, compressor
        return zarr.open_group(path).create_array(case.name, shape=values.shape, dtype=values.dtype, **options)

    def create_3(path, case, values, filters, compressor, options):
        codecs = list(case.filters or []) + ([case.compressor] if case.compressor else [])
        assert not set(NOT_IN_3) & {codec["id"] for codec in codecs}, "format 3 has no such codec"
        made = []
        for codec in codecs:
            configuration = {key: value for key, value in codec.items() if key != "id"}
            made.append(getattr(classes, CLASSES.get(codec["id"], codec["id"].capitalize()))(**configuration))
        kinds = [kind_of(codec) for codec in codecs]
        endian = "big" if values.dtype.byteorder == ">" else "little"
        assert kinds == sorted(kinds), "format 3 has no such order"
        options["filters"] = [codec for codec, kind in zip(made, kinds) if kind == 0] or None
        options["compressors"] = [codec for codec, kind in zip(made, kinds) if kind == 2] or None
        serializer = next((codec for codec, kind in zip(made, kinds) if kind == 1), None)
        options["serializer"] = serializer or (zarr.codecs.BytesCodec(endian=endian) if options["filters"] else "auto")
        if options.pop("order", "C") == "F":
            transpose = zarr.codecs.TransposeCodec(order=tuple(range(values.ndim))[::-1])
            options["filters"] = [transpose] + (options["filters"] or [])
        return zarr.open_group(path).create_array(case.name, shape=values.shape, dtype=values.dtype, **options)

    for zarr_format in formats:
        create = {2: create_2, 3: create_3}[zarr_format]

        def root(path):
            zarr.open_group(path, mode="w", zarr_format=zarr_format)

        Maker(corpus, root, create, reopen, "v%d_" % zarr_format).run(without=["objects.zarr"])
    corpus.save()


def kind_of(codec):
    """Returns 0 for codecs from arrays to arrays, 1 for codecs from arrays to bytes, and 2 for codecs from bytes to bytes."""
    return 0 if codec["id"] in ARRAY_TO_ARRAY else 1 if codec["id"] in ARRAY_TO_BYTES else 2
