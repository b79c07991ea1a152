"""The cells of the matrix about codecs: each codec alone and in a few chains, with data that it preserves exactly.

A case is a name, a data type, the number of bits of its numbers, and a codec chain. In the matrix, floats with so few bits have
integer values. A cell lists the names of the codecs that it needs: `rules.py` lists the implementations that have them.
"""

# Integers of few bits, so that casts, scales and differences of them are exact in all types of the cases.
BITS = 9


def codec(name, **configuration):
    return {"name": name, "configuration": configuration} if configuration else {"name": name}


def v2(id, **configuration):
    return {"id": id, **configuration}


ZLIB = v2("zlib", level=1)
SHUFFLE = v2("shuffle", elementsize=4)
BLOSC = v2("blosc", cname="lz4", clevel=5, shuffle=2, blocksize=0)


def delta(dtype, astype=None):
    return v2("delta", dtype=dtype, astype=astype or dtype)


def scaled(offset, scale, dtype, astype):
    return v2("fixedscaleoffset", scale=scale, offset=offset, dtype=dtype, astype=astype)


def astype(decoded, encoded):
    return v2("astype", encode_dtype=encoded, decode_dtype=decoded)


def quantize(dtype, astype):
    return v2("quantize", digits=1, dtype=dtype, astype=astype)


def zfpy(mode=4, **options):
    limits = {"tolerance": -1, "rate": -1, "precision": -1} | options
    return v2("zfpy", mode=mode, compression_kwargs={"tolerance": limits["tolerance"]}, **limits)


PCODEC = v2(
    "pcodec", level=8, mode_spec="auto", delta_spec="auto", paging_spec="equal_pages_up_to", delta_encoding_order=None,
    equal_pages_up_to=262144,
)
JENKINS = v2("jenkins_lookup3", initval=7, prefix=None)

# Name, type, endianness, filters, compressor.
V2_CASES = [
    ("delta i4", "int32", "little", [delta("<i4")], None),
    ("delta i2 big", "int16", "big", [delta(">i2")], ZLIB),
    ("delta u1", "uint8", "little", [delta("|u1")], None),
    ("delta u8", "uint64", "little", [delta("<u8")], None),
    ("delta as i2", "int64", "little", [delta("<i8", "<i2")], ZLIB),
    ("delta f8", "float64", "little", [delta("<f8")], None),
    ("delta f4 as i2", "float32", "little", [delta("<f4", "<i2")], None),
    ("astype i4 as i2", "int32", "little", [astype("<i4", "<i2")], None),
    ("astype f8 as f4", "float64", "little", [astype("<f8", "<f4")], ZLIB),
    ("astype i2 as big f8", "int16", "little", [astype("<i2", ">f8")], None),
    ("fixedscaleoffset f8", "float64", "little", [scaled(10, 2, "<f8", "<i2")], None),
    ("fixedscaleoffset big f4", "float32", "big", [scaled(-1, 4, ">f4", ">i4")], ZLIB),
    ("fixedscaleoffset i4", "int32", "little", [scaled(3, 1, "<i4", "<i2")], None),
    ("quantize f8", "float64", "little", [quantize("<f8", "<f4")], ZLIB),
    ("quantize f4", "float32", "little", [quantize("<f4", "<f4")], None),
    ("bitround f4", "float32", "little", [v2("bitround", keepbits=12)], BLOSC),
    ("bitround f8", "float64", "little", [v2("bitround", keepbits=52)], None),
    ("packbits", "bool", "little", [v2("packbits")], None),
    ("packbits, zlib", "bool", "little", [v2("packbits")], ZLIB),
    ("shuffle", "int32", "little", [SHUFFLE], None),
    ("shuffle c16", "complex128", "big", [v2("shuffle", elementsize=16)], ZLIB),
    ("base64", "int32", "little", [v2("base64")], None),
    ("base64 c8", "complex64", "little", [v2("base64")], ZLIB),
    ("crc32", "int32", "little", [v2("crc32")], None),
    ("crc32 at end", "uint8", "little", [v2("crc32", location="end")], None),
    ("adler32", "int32", "big", [v2("adler32")], ZLIB),
    ("adler32 at end", "float64", "little", [v2("adler32", location="end")], None),
    ("crc32c at start", "int32", "little", [v2("crc32c", location="start")], None),
    ("fletcher32", "int16", "little", [v2("fletcher32")], None),
    ("fletcher32, zlib", "float64", "little", [v2("fletcher32")], ZLIB),
    ("jenkins_lookup3", "int32", "little", [JENKINS], None),
    ("zlib, jenkins_lookup3", "int32", "little", [ZLIB, JENKINS], None),
    ("pcodec i4", "int32", "little", None, PCODEC),
    ("pcodec f8", "float64", "little", None, PCODEC),
    ("delta, pcodec", "uint64", "little", [delta("<u8")], PCODEC),
    ("zfpy f8", "float64", "little", None, zfpy()),
    ("zfpy f4", "float32", "little", None, zfpy()),
    ("delta, shuffle, zlib", "int32", "little", [delta("<i4"), SHUFFLE], ZLIB),
    ("fixedscaleoffset, astype, blosc", "float64", "little", [scaled(1, 2, "<f8", "<i4"), astype("<i4", "<i2")], BLOSC),
    ("fixedscaleoffset, delta, zlib", "float64", "big", [scaled(1, 2, ">f8", ">i4"), delta(">i4")], ZLIB),
    ("delta, delta", "int32", "little", [delta("<i4"), delta("<i4")], None),
    ("delta, base64, crc32", "int32", "little", [delta("<i4"), v2("base64"), v2("crc32")], None),
    ("packbits, delta", "bool", "little", [v2("packbits"), delta("|u1")], BLOSC),
]
V2_LAYOUTS = ["C", "F"]

LITTLE, PLAIN = codec("bytes", endian="little"), codec("bytes")
BIG = codec("bytes", endian="big")
GZIP, CRC32C = codec("gzip", level=1), codec("crc32c")


def numcodecs(v2):
    """Returns a codec of v2 with its name in v3."""
    return codec("numcodecs." + v2["id"], **{key: value for key, value in v2.items() if key != "id"})


def packbits(padding="none", **bits):
    return codec("packbits", padding_encoding=padding, **bits)


CAST = codec("cast_value", data_type="int16", rounding="nearest-even")
SCALE = codec("scale_offset", offset=1, scale=2)


def vlen(**options):
    configuration = {"data_codecs": [PLAIN], "index_codecs": [LITTLE], "index_data_type": "uint32", "index_location": "start"}
    return codec("zarrs.vlen", **configuration | options)


def shards(*codecs):
    """Returns the sharding codec with inner chunks of shape 2 × 3."""
    return codec(
        "sharding_indexed", chunk_shape=[2, 3], codecs=list(codecs), index_codecs=[LITTLE, CRC32C], index_location="end")


# Name, type, codecs.
V3_CASES = [
    ("numcodecs.delta i4", "int32", [numcodecs(delta("<i4")), LITTLE]),
    ("numcodecs.delta as i2", "int64", [numcodecs(delta("<i8", "<i2")), LITTLE, GZIP]),
    ("numcodecs.delta f8", "float64", [numcodecs(delta("<f8")), LITTLE]),
    ("numcodecs.astype", "int32", [numcodecs(astype("<i4", "<i2")), LITTLE]),
    ("numcodecs.astype f8", "float64", [numcodecs(astype("<f8", "<f4")), LITTLE]),
    ("numcodecs.fixedscaleoffset", "float64", [numcodecs(scaled(10, 2, "<f8", "<i2")), LITTLE]),
    ("numcodecs.quantize", "float32", [numcodecs(quantize("<f4", "<f4")), LITTLE]),
    ("numcodecs.packbits", "bool", [numcodecs(v2("packbits")), PLAIN]),
    ("numcodecs.shuffle", "int32", [LITTLE, numcodecs(SHUFFLE)]),
    ("numcodecs.shuffle, gzip", "float64", [LITTLE, codec("numcodecs.shuffle", elementsize=8), GZIP]),
    ("numcodecs.crc32", "int32", [LITTLE, codec("numcodecs.crc32")]),
    ("numcodecs.adler32", "int32", [LITTLE, codec("numcodecs.adler32")]),
    ("numcodecs.fletcher32", "int16", [LITTLE, codec("numcodecs.fletcher32")]),
    ("numcodecs.jenkins_lookup3", "int32", [LITTLE, codec("numcodecs.jenkins_lookup3", initval=7)]),
    ("numcodecs.pcodec i4", "int32", [numcodecs(PCODEC)]),
    ("numcodecs.pcodec f8", "float64", [numcodecs(PCODEC)]),
    ("numcodecs.zfpy", "float64", [codec("numcodecs.zfpy", mode=4, tolerance=-1)]),
    ("numcodecs.delta, shuffle, zlib", "int32", [numcodecs(delta("<i4")), LITTLE, numcodecs(SHUFFLE), numcodecs(ZLIB)]),
    ("numcodecs.delta in shards", "int32", [shards(numcodecs(delta("<i4")), LITTLE, GZIP)]),
    ("bitround f4", "float32", [codec("bitround", keepbits=12), LITTLE]),
    ("bitround f8", "float64", [codec("bitround", keepbits=52), BIG]),
    ("cast_value f8", "float64", [CAST, LITTLE]),
    ("cast_value i4", "int32", [CAST, BIG, GZIP]),
    ("scale_offset f8", "float64", [SCALE, LITTLE]),
    ("scale_offset i4", "int32", [SCALE, LITTLE]),
    ("scale_offset, cast_value", "float32", [SCALE, CAST, LITTLE]),
    ("scale_offset, cast_value in shards", "float32", [shards(SCALE, CAST, LITTLE, GZIP)]),
    ("packbits bool", "bool", [packbits()]),
    ("packbits bool, first byte", "bool", [packbits("first_byte"), GZIP]),
    ("packbits bool, last byte", "bool", [packbits("last_byte")]),
    ("packbits u2", "uint16", [packbits(last_bit=11)]),
    ("packbits i4", "int32", [packbits()]),
    ("packbits in shards", "bool", [shards(packbits())]),
    ("reshape", "int32", [codec("reshape", shape=[[0, 1]]), BIG]),
    ("reshape to more", "float64", [codec("reshape", shape=[[0], 2, -1]), LITTLE, GZIP]),
    ("zarrs.squeeze", "int32", [codec("zarrs.squeeze"), LITTLE]),
    ("zarrs.gdeflate", "int32", [LITTLE, codec("zarrs.gdeflate", level=6)]),
    ("zarrs.gdeflate, crc32c", "float64", [BIG, codec("zarrs.gdeflate", level=12), CRC32C]),
    ("zfp f8", "float64", [codec("zfp", mode="reversible")]),
    ("zfp f4", "float32", [codec("zfp", mode="reversible"), GZIP]),
    ("zfp i4", "int32", [codec("zfp", mode="reversible")]),
    ("text with zarrs.vlen", "text", [vlen()]),
    ("text with zarrs.vlen, at end", "text", [vlen(index_location="end", index_data_type="uint64", data_codecs=[PLAIN, GZIP])]),
    ("text with zarrs.vlen_v2", "text", [codec("zarrs.vlen_v2"), GZIP]),
    ("bytes with zarrs.vlen", "bytes", [vlen(index_codecs=[BIG, CRC32C])]),
    ("bytes with zarrs.vlen_v2", "bytes", [codec("zarrs.vlen_v2")]),
]

SHAPE, CHUNKS = [7, 10], [4, 6]


def rows():
    """Yields the rows of cells: format, type, endianness, the chain, and values of the other axes in turn."""
    number = 0
    for name, data_type, endian, filters, compressor in V2_CASES:
        for layout in V2_LAYOUTS:
            number += 1
            needs = [each["id"] for each in [*(filters or []), compressor] if each]
            yield number, 2, name, data_type, endian, needs, {"order": layout, "filters": filters, "compressor": compressor}
    for name, data_type, codecs in V3_CASES:
        number += 1
        yield number, 3, name, data_type, "little", sorted(names(codecs)), {"codecs": codecs}


def names(codecs):
    """Returns the names of codecs, and of all codecs inside them."""
    inner = [members for each in codecs for members in each.get("configuration", {}).values()]
    inside = [member for members in inner if isinstance(members, list) for member in members if isinstance(member, dict)]
    return {each["name"] for each in codecs} | (names(inside) if inside else set())


STEPS = ["whole", "overwrite", "strided", "parts"]
UPDATES = ["part", "strided", "grow", "attributes"]
