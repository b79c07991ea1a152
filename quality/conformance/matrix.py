"""Designs the matrix of arrays that the implementations exchange, and writes it as JSON.

    python matrix.py target/conformance/matrix.json target/conformance/codecs.json

A cell is one array: how it is created, what is written to it (`steps`), and how another implementation changes it later
(`update`). Every data type is combined with every codec chain, extension types with only a few. The values of the remaining axes
are chosen so that any two values of any two axes occur together in some cell. Needs only Python's standard library, and is
deterministic.
"""

import base64
import itertools
import json
import math
import sys
from pathlib import Path

import codec_cases
import rules
import structures

# Data types by their name in v3; `r40` is five raw bytes, `|V5` in v2.
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
DATA_TYPES = ["bool", *INTEGERS, *FLOATS, *COMPLEX, "r40"]

SIZES = {"bool": 1, "r40": 5} | {name: int(name.lstrip("uintfloacmpex")) // 8 for name in DATA_TYPES[1:-1]}


def extension(name, **configuration):
    return {"name": name, "configuration": configuration}


# Extension types, by our own names: the v3 metadata, NumPy's name, and the size of an element.
EXTENSIONS = {
    "null_terminated_bytes": (extension("null_terminated_bytes", length_bytes=5), "S5", 5),
    "raw_bytes": (extension("raw_bytes", length_bytes=5), "V5", 5),
    "fixed_length_utf32": (extension("fixed_length_utf32", length_bytes=12), "U3", 12),
    "datetime64_ns": (extension("numpy.datetime64", unit="ns", scale_factor=1), "M8[ns]", 8),
    "datetime64_25s": (extension("numpy.datetime64", unit="s", scale_factor=25), "M8[25s]", 8),
    "timedelta64_s": (extension("numpy.timedelta64", unit="s", scale_factor=1), "m8[s]", 8),
}
# Bit patterns of the small floats' fill values: NaN, or the largest value if there is none, and -0.5.
SMALL_FLOATS = {
    "bfloat16": (0x7FC0, 0xBF00),
    "float8_e3m4": (0x78, 0xA0),
    "float8_e4m3fn": (0x7F, 0xB0),
    "float8_e5m2": (0x7E, 0xB8),
    "float8_e4m3b11fnuz": (0x80, 0xD0),
    "float8_e4m3fnuz": (0x80, 0xB8),
    "float8_e5m2fnuz": (0x80, 0xBC),
    "float4_e2m1fn": (0x07, 0x09),
    # This type has no zero and no sign: its values are 2^-127, NaN and 4.
    "float8_e8m0fnu": (0xFF, 0x81),
}
SMALL_INTEGERS = ["int2", "int4"]

JSON2 = {
    "id": "json2", "encoding": "utf-8", "skipkeys": False, "ensure_ascii": True, "check_circular": True, "allow_nan": True,
    "indent": None, "separators": [",", ":"], "sort_keys": True, "strict": True,
}
MSGPACK2 = {"id": "msgpack2", "raw": False, "use_single_float": False, "use_bin_type": True}
LABELS = ["né", "🧊", "a longer label"]
CATEGORIZE = {"id": "categorize", "labels": LABELS, "dtype": "|O", "astype": "|u1"}
# Types of variable length, by our own names: the kind of elements (see `variable.py`), the name in v3 (for types without one, the
# library's), and the codecs that serialize them in v2 and in v3.
VARIABLE = {
    "text": ({"elements": "text"}, "string", {"id": "vlen-utf8"}, "vlen-utf8"),
    "bytes": ({"elements": "bytes"}, "variable_length_bytes", {"id": "vlen-bytes"}, "vlen-bytes"),
    "json2": ({"elements": "json"}, "object", JSON2, None),
    "msgpack2": ({"elements": "json"}, "object", MSGPACK2, None),
    "vlen-array i4": ({"elements": "array", "item": "i4"}, "array:i4", {"id": "vlen-array", "dtype": "<i4"}, None),
    "vlen-array f8": ({"elements": "array", "item": "f8"}, "array:f8", {"id": "vlen-array", "dtype": ">f8"}, None),
    "categorize": ({"elements": "labels", "labels": LABELS}, "string", CATEGORIZE, None),
}
SIZES |= {name: size for name, (_, _, size) in EXTENSIONS.items()}
SIZES |= {name: 2 if name == "bfloat16" else 1 for name in [*SMALL_FLOATS, *SMALL_INTEGERS]}
SIZES |= {name: structures.size(fields) for name, fields in structures.STRUCTURES.items()}
SIZES |= dict.fromkeys(VARIABLE, 1)
NUMPY = {"r40": "V5"} | {name: numpy for name, (_, numpy, _) in EXTENSIONS.items()}

# Types of bytes that are not numbers.
BYTES = ["r40", "null_terminated_bytes", "raw_bytes"]
# The number of significant bits of a number, for types that do not use all bits of their bytes.
BITS = {"bool": 1, "float4_e2m1fn": 4}
# In small integers the upper bits repeat the sign.
SIGNED_BITS = {"int2": 2, "int4": 4}


def with_endians(data_types):
    """Yields the byte orders of a type: only elements of more than one byte have an endianness."""
    for name in data_types:
        for endian in ["little"] if SIZES[name] == 1 or name in BYTES else ["little", "big"]:
            yield name, endian


TYPES = list(with_endians(DATA_TYPES))

# Shape and (inner) chunk shape. All but one have chunks that extend beyond the edge.
SHAPES = {
    "0-d": ([], []),
    "1-d": ([23], [5]),
    "1-d long": ([1000], [300]),
    "2-d": ([7, 10], [3, 4]),
    "2-d large": ([70, 50], [32, 17]),
    "3-d": ([5, 4, 6], [2, 3, 4]),
    "4-d": ([2, 3, 4, 3], [1, 2, 3, 2]),
    "length 0": ([0, 5], [2, 3]),
    "length 1": ([1, 9, 1], [1, 4, 1]),
    "one chunk": ([3, 4], [8, 8]),
    "even": ([8, 6], [4, 3]),
}

# The chunk lengths along each dimension of rectilinear grids, or one length for all chunks, by the name of a shape. They are
# enough for the array to grow. The lengths of shards are multiples of the lengths of inner chunks.
GRIDS = {
    "1-d": [[5, 1, 7, 7, 3, 3, 10]],
    "2-d": [[3, 3, 1, 4, 4], 4],
    "3-d": [2, [1, 1, 6], [4, 4, 4]],
}
SHARD_GRIDS = {
    "1-d": [[5, 10, 5, 15]],
    "2-d": [[6, 3, 6], [4, 8, 4]],
    "3-d": [[4, 2, 2], 6, [8, 4]],
}

BLOSC = [(cname, shuffle) for cname in ("lz4", "lz4hc", "blosclz", "zstd", "zlib", "snappy") for shuffle in (0, 1, 2)]
SHUFFLES = ["noshuffle", "shuffle", "bitshuffle"]


def v3_codec(name, **configuration):
    return {"name": name, "configuration": configuration} if configuration else {"name": name}


CRC32C = v3_codec("crc32c")
V3_CHAINS = {
    "none": [],
    "gzip 1": [v3_codec("gzip", level=1)],
    "gzip 9": [v3_codec("gzip", level=9)],
    "zstd": [v3_codec("zstd", level=3, checksum=False)],
    "zstd with checksum": [v3_codec("zstd", level=1, checksum=True)],
    "zstd negative": [v3_codec("zstd", level=-5, checksum=False)],
    "crc32c": [CRC32C],
    "gzip, crc32c": [v3_codec("gzip", level=5), CRC32C],
    "crc32c, zstd": [CRC32C, v3_codec("zstd", level=0, checksum=False)],
    "numcodecs.zlib": [v3_codec("numcodecs.zlib", level=1)],
    "numcodecs.lz4": [v3_codec("numcodecs.lz4", acceleration=1)],
    "numcodecs.bz2": [v3_codec("numcodecs.bz2", level=1)],
    "numcodecs.lzma": [v3_codec("numcodecs.lzma", format=1, check=-1, preset=1, filters=None)],
} | {
    f"blosc {cname} {SHUFFLES[shuffle]}": [("blosc", cname, shuffle)] for cname, shuffle in BLOSC
}

# v2: filters and compressor.
V2_CHAINS = {
    "none": (None, None),
    "zlib 1": (None, {"id": "zlib", "level": 1}),
    "zlib 9": (None, {"id": "zlib", "level": 9}),
    "gzip": (None, {"id": "gzip", "level": 5}),
    "zstd": (None, {"id": "zstd", "level": 3}),
    "bz2": (None, {"id": "bz2", "level": 1}),
    "lzma": (None, {"id": "lzma", "format": 1, "check": -1, "preset": 1, "filters": None}),
    "lz4": (None, {"id": "lz4", "acceleration": 1}),
    "crc32c": ([{"id": "crc32c"}], None),
    "crc32c, zlib": ([{"id": "crc32c"}], {"id": "zlib", "level": 5}),
} | {
    f"blosc {cname} {SHUFFLES[shuffle]}": (
        None,
        {"id": "blosc", "cname": cname, "clevel": 5, "shuffle": shuffle, "blocksize": 0},
    )
    for cname, shuffle in BLOSC
}

# The codec chains for extension types.
FEW_CHAINS = ["none", "gzip 1", "zstd", "zlib 1", "blosc lz4 shuffle", "blosc zstd bitshuffle"]

V1_CHAINS = ["none", "zlib 1", "bz2", "lzma", "blosc lz4 shuffle", "blosc zstd bitshuffle"]

# N5: the value of `compression`, and the equivalents in numcodecs and in v3.
N5_CHAINS = {
    "raw": ({"type": "raw"}, None, []),
    "gzip": ({"type": "gzip", "level": 5, "useZlib": False}, {"id": "gzip", "level": 5}, [v3_codec("gzip", level=5)]),
    "zlib": (
        {"type": "gzip", "level": 1, "useZlib": True},
        {"id": "zlib", "level": 1},
        [v3_codec("numcodecs.zlib", level=1)],
    ),
    "bzip2": ({"type": "bzip2", "blockSize": 2}, {"id": "bz2", "level": 2}, [v3_codec("numcodecs.bz2", level=2)]),
    "xz": (
        {"type": "xz", "preset": 1},
        {"id": "lzma", "format": 1, "check": -1, "preset": 1, "filters": None},
        [v3_codec("numcodecs.lzma", format=1, check=-1, preset=1, filters=None)],
    ),
    "zstd": ({"type": "zstd", "level": 3}, {"id": "zstd", "level": 3}, [v3_codec("zstd", level=3, checksum=False)]),
} | {
    f"blosc {cname} {SHUFFLES[shuffle]}": (
        {"type": "blosc", "cname": cname, "clevel": 5, "shuffle": shuffle, "blocksize": 0},
        {"id": "blosc", "cname": cname, "clevel": 5, "shuffle": shuffle, "blocksize": 0},
        [("blosc", cname, shuffle)],
    )
    for cname, shuffle in BLOSC
    if cname in ("lz4", "zstd")
}

# The number that stands for N5 among the formats. The names of N5 cells begin with `n5`.
N5 = 5

# How a chunk is serialized. Shards have 2 or 3 inner chunks along each dimension.
V3_LAYOUTS = [
    "C",
    "F",
    "rotated",
    "shards, index at end",
    "shards, index at start",
    "shards, index without checksum",
    "shards in shards",
    "shards, inner chunks transposed",
    "shards, transposed",
    "shards, compressed",
]
V2_LAYOUTS = ["C", "F"]
EXPERIMENTAL_LAYOUTS = ["C", "F", "shards", "shards, F"]

V3_KEYS = [("default", "/"), ("default", "."), ("v2", "."), ("v2", "/")]
V2_KEYS = [("v2", "."), ("v2", "/")]
EXPERIMENTAL_KEYS = [("draft", "."), ("draft", "/")]

# The writes before another implementation reads the array, and the later changes by that implementation.
STEPS = ["whole", "parts", "strided", "nothing", "fill value", "overwrite", "grow", "shrink", "points"]
UPDATES = ["part", "strided", "grow", "erase", "attributes"]

FILLS = ["zero", "special", "negative"]
ATTRIBUTES = ["none", "rich"]
NAMES = ["none", "all", "some"]

RICH = {
    "title": "Grüße, 世界 🧊",
    "number": -1.5e-300,
    "integers": [0, -1, 9007199254740993],
    "nothing": None,
    "nested": {"a": [], "b": {}, "quote\"d": [True, False]},
}

V3_AXES = {
    "type": TYPES,
    "chain": list(V3_CHAINS),
    "layout": V3_LAYOUTS,
    "shape": list(SHAPES),
    "keys": V3_KEYS,
    "steps": STEPS,
    "update": UPDATES,
    "fill": FILLS,
    "attributes": ATTRIBUTES,
    "names": NAMES,
}
V2_AXES = V3_AXES | {
    "chain": list(V2_CHAINS),
    "layout": V2_LAYOUTS,
    "keys": V2_KEYS,
    "fill": [*FILLS, "null"],
    "names": ["none"],
}
V3_EXTENSION_AXES = V3_AXES | {
    "type": list(with_endians([*EXTENSIONS, *SMALL_FLOATS, *SMALL_INTEGERS])),
    "chain": [name for name in V3_CHAINS if name in FEW_CHAINS],
}
V2_EXTENSION_AXES = V2_AXES | {
    # Raw bytes are `r40` in v2.
    "type": list(with_endians(name for name in EXTENSIONS if name != "raw_bytes")),
    "chain": [name for name in V2_CHAINS if name in FEW_CHAINS],
}
# v1 has one kind of chunk keys and no fill value `null`; no implementation changes its arrays.
V1_AXES = V2_AXES | {"chain": V1_CHAINS, "keys": [("v2", ".")], "fill": FILLS, "update": ["attributes"]}
# N5 has numbers in one byte order, and zero as its only fill value.
N5_AXES = V2_AXES | {
    "type": [(name, "big") for name in INTEGERS + FLOATS[1:]],
    "chain": list(N5_CHAINS),
    "layout": ["C"],
    "keys": [("n5", "/")],
    "fill": ["zero"],
}

# zarr-python 2's experimental v3 has the metadata of v2, in other documents and with shards. It does not support multiples of a
# unit.
EXPERIMENTAL_AXES = V2_AXES | {
    "type": [*TYPES, *with_endians(["null_terminated_bytes", "fixed_length_utf32", "datetime64_ns", "timedelta64_s"])],
    "chain": [name for name in V2_CHAINS if not name.startswith("blosc") or name in FEW_CHAINS],
    "layout": EXPERIMENTAL_LAYOUTS,
    "keys": EXPERIMENTAL_KEYS,
}
EXPERIMENTAL = "3-experimental"

# The additional data types are combined with fewer values of the axes.
FEW_SHAPES = ["0-d", "1-d", "2-d", "3-d", "length 0"]
FEW = {"shape": FEW_SHAPES, "attributes": ["none"], "names": ["none"]}
V3_VARIABLE_AXES = V3_AXES | FEW | {
    "type": [("text", "little"), ("bytes", "little")],
    "chain": ["none", "gzip 1", "zstd with checksum", "crc32c", "blosc lz4 shuffle"],
    "keys": [("default", "/")],
}
V2_VARIABLE_AXES = V2_AXES | FEW | {
    "type": [("text", "little"), ("bytes", "little")],
    "chain": ["none", "zlib 1", "zstd", "blosc lz4 shuffle"],
    "keys": [("v2", ".")],
}
V2_OBJECT_AXES = V2_VARIABLE_AXES | {
    "type": [(name, "little") for name in ("json2", "msgpack2", "categorize")],
    "chain": ["none", "zlib 1"],
    # NumPy cannot distinguish an array as the element of an array without dimensions from the outer array.
    "shape": FEW_SHAPES[1:],
}
# Metadata does not support a fill value that is an array.
V2_ARRAY_AXES = V2_OBJECT_AXES | {
    "type": [("vlen-array i4", "little"), ("vlen-array f8", "little")],
    "chain": ["zlib 1"],
    "steps": ["whole", "overwrite"],
    "update": ["part", "strided", "attributes"],
    "fill": ["null"],
}
EXPERIMENTAL_VARIABLE_AXES = EXPERIMENTAL_AXES | FEW | {
    "type": [(name, "little") for name in ("text", "bytes", "json2", "categorize")],
    "chain": ["none", "zlib 1"],
    "shape": FEW_SHAPES[1:],
    "keys": [("draft", "/")],
}
V2_STRUCTURE_AXES = V2_VARIABLE_AXES | {
    "type": [
        ("flat", "little"),
        ("flat", "mixed"),
        ("numbers", "little"),
        ("numbers", "mixed"),
        ("nested", "big"),
        ("nested", "mixed"),
        ("arrays", "mixed"),
        ("padded", "little"),
        ("padded", "mixed"),
    ],
    "chain": ["none", "zlib 1", "blosc lz4 shuffle"],
}
V3_STRUCTURE_AXES = V3_VARIABLE_AXES | {
    "type": [("flat", "little"), ("numbers", "little"), ("numbers", "big"), ("nested", "big")],
    "chain": ["none", "gzip 1", "blosc zstd bitshuffle"],
}
V3_GRID_AXES = V3_VARIABLE_AXES | {
    "type": [("int32", "big"), ("text", "little")],
    "chain": ["none", "gzip 1"],
    "layout": ["C", "F", "shards, index at end"],
    "shape": ["1-d", "2-d", "3-d"],
    "grid": ["rectilinear"],
}
EXPERIMENTAL_STRUCTURE_AXES = EXPERIMENTAL_VARIABLE_AXES | {
    "type": [("flat", "mixed"), ("nested", "mixed"), ("arrays", "big")],
    "chain": ["none"],
}

TABLES = [
    (2, V2_AXES),
    (3, V3_AXES),
    (2, V2_EXTENSION_AXES),
    (3, V3_EXTENSION_AXES),
    (1, V1_AXES),
    (EXPERIMENTAL, EXPERIMENTAL_AXES),
    (N5, N5_AXES),
    (3, V3_VARIABLE_AXES),
    (2, V2_VARIABLE_AXES),
    (2, V2_OBJECT_AXES),
    (2, V2_ARRAY_AXES),
    (EXPERIMENTAL, EXPERIMENTAL_VARIABLE_AXES),
    (3, V3_STRUCTURE_AXES),
    (2, V2_STRUCTURE_AXES),
    (3, V3_GRID_AXES),
    (EXPERIMENTAL, EXPERIMENTAL_STRUCTURE_AXES),
]


def sensible(a, x, b, y):
    """Returns true if a cell may have value `x` of axis `a` and value `y` of axis `b`."""
    values = {a: x, b: y}
    shape, layout = values.get("shape"), values.get("layout", "")
    if shape == "0-d":
        # A single element cannot be divided, transposed or grown.
        return not (
            layout not in ("", "C", "F")
            or values.get("steps") in ("parts", "strided", "grow", "shrink")
            or values.get("update") in ("part", "strided", "grow")
            or values.get("names") in ("all", "some")
        )
    if values.get("fill") == "null":
        # Without a fill value, elements that were never written are undefined. So all elements are written.
        return values.get("steps", "whole") in ("whole", "overwrite") and values.get("update") not in ("grow", "erase")
    if values.get("steps") == "shrink" and values.get("update") == "grow":
        # Elements outside a smaller shape may reappear when the array grows: the formats leave this open.
        return False
    if shape == "length 0":
        return values.get("update") not in ("part", "strided")
    return True


def rows(axes):
    """Returns a row for each type with each chain. The values of other axes are chosen greedily, by the missing pairs."""
    names = list(axes)
    missing = {
        (a, x, b, y)
        for a, b in itertools.combinations(names, 2)
        for x in map(freeze, axes[a])
        for y in map(freeze, axes[b])
        if sensible(a, x, b, y)
    }
    used = {(name, freeze(value)): 0 for name in names for value in axes[name]}

    def complete(row):
        for name in names:
            if name in row:
                continue
            best = None
            for value in map(freeze, axes[name]):
                if not all(sensible(a, x, name, value) for a, x in row.items()):
                    continue
                gain = sum(pair(a, x, name, value, names) in missing for a, x in row.items())
                score = (gain, -used[name, value])
                if best is None or score > best[0]:
                    best = (score, value)
            row[name] = best[1]
        for name, value in row.items():
            used[name, value] += 1
        missing.difference_update(itertools.starmap(
            lambda a, b: pair(a[0], a[1], b[0], b[1], names), itertools.combinations(row.items(), 2)))
        return row

    table = [complete({"type": t, "chain": c}) for t in axes["type"] for c in axes["chain"]]
    while missing:
        a, x, b, y = min(missing, key=str)
        table.append(complete({a: x, b: y}))
    return table


def pair(a, x, b, y, names):
    return (a, x, b, y) if names.index(a) < names.index(b) else (b, y, a, x)


def freeze(value):
    return tuple(value) if isinstance(value, list) else value


def fill_value(data_type, kind):
    """Returns a fill value in the form of v3 metadata: numbers, strings for values that JSON lacks, pairs, bytes, base64."""
    if kind == "null" or data_type in structures.STRUCTURES:
        return None
    if data_type in VARIABLE:
        return variable_fill_value(VARIABLE[data_type][0]["elements"], kind)
    if data_type == "bool":
        return kind != "zero"
    if data_type == "r40":
        return {"zero": [0] * 5, "special": [255, 0, 1, 128, 0], "negative": [0, 0, 0, 0, 7]}[kind]
    if data_type in ("null_terminated_bytes", "raw_bytes"):
        return base64.b64encode(bytes(fill_element(data_type, kind))).decode()
    if data_type == "fixed_length_utf32":
        return {"zero": "", "special": "né🧊", "negative": "ß"}[kind]
    if data_type in EXTENSIONS:
        return {"zero": 0, "special": "NaT", "negative": -7}[kind]
    if data_type == "float8_e8m0fnu":
        return {"zero": 2.0**-127, "special": "NaN", "negative": 4.0}[kind]
    if data_type in SMALL_FLOATS:
        return {"zero": 0.0, "special": 6.0 if data_type == "float4_e2m1fn" else "NaN", "negative": -0.5}[kind]
    if data_type in FLOATS:
        return {"zero": 0.0, "special": "NaN", "negative": "-Infinity" if data_type == "float32" else -0.5}[kind]
    if data_type in COMPLEX:
        return {"zero": [0.0, 0.0], "special": ["NaN", "Infinity"], "negative": [-1.5, 2.0]}[kind]
    bits = SIGNED_BITS.get(data_type, SIZES[data_type] * 8)
    if data_type.startswith("u"):
        return {"zero": 0, "special": 2**bits - 1, "negative": 2 ** (bits - 1)}[kind]
    return {"zero": 0, "special": 2 ** (bits - 1) - 1, "negative": -(2 ** (bits - 1))}[kind]


def variable_fill_value(elements, kind):
    """Returns the fill value of elements of variable length; for bytes it is the base64 of v3."""
    return {
        "text": {"zero": "", "special": "né🧊", "negative": "NaN"},
        "bytes": {"zero": "", "special": base64.b64encode(b"\0\xff").decode(), "negative": "AA=="},
        "json": {"zero": "", "special": {"né": [1, None]}, "negative": -5},
        "labels": {"zero": "", "special": "né", "negative": "🧊"},
    }[elements][kind]


def fill_element(data_type, kind):
    """Returns the bytes of a fill value, in little-endian order and without zeros at the end, if metadata encodes them."""
    if data_type == "null_terminated_bytes":
        return {"zero": [], "special": [255, 0, 1, 128, 7], "negative": [97, 0, 98], "null": []}[kind]
    if data_type == "raw_bytes":
        return {"zero": [0] * 5, "special": [255, 0, 1, 128, 0], "negative": [0, 0, 0, 0, 7]}[kind]
    if data_type == "bytes" and kind != "null":
        return list(base64.b64decode(variable_fill_value("bytes", kind)))
    if data_type in SMALL_FLOATS:
        special, negative = SMALL_FLOATS[data_type]
        return list({"zero": 0, "special": special, "negative": negative}[kind].to_bytes(SIZES[data_type], "little"))
    return None


def write(shape, seed, region=None):
    region = region or [[0, n, 1] for n in shape]
    return {"op": "write", "region": region, "seed": seed}


def erase(shape, region):
    return {"op": "fill", "region": region or [[0, n, 1] for n in shape]}


def block(shape, low, high, step=1):
    """Returns the region between two fractions (in sixths) of each dimension."""
    return [[n * low // 6, max(n * low // 6, math.ceil(n * high / 6)), step] for n in shape]


def steps(kind, base, chunks, seed):
    """Returns the shape at creation, and the steps that follow."""
    if kind == "nothing":
        return base, []
    if kind == "parts":
        return base, [write(base, seed, block(base, 0, 2)), write(base, seed + 1, block(base, 3, 5))]
    if kind == "strided":
        return base, [write(base, seed, block(base, 1, 6, 2)), write(base, seed + 1, block(base, 0, 6, 3))]
    if kind == "fill value":
        return base, [write(base, seed), erase(base, block(base, 0, 3))]
    if kind == "overwrite":
        return base, [write(base, seed), write(base, seed + 1, block(base, 1, 4))]
    if kind == "grow":
        small = [max(n - chunk - 1, 0) for n, chunk in zip(base, chunks)]
        return small, [write(small, seed), resize(base), write(base, seed + 1, block(base, 5, 6))]
    if kind == "shrink":
        large = [n + chunk + 1 for n, chunk in zip(base, chunks)]
        return large, [write(large, seed), resize(base)]
    if kind == "points":
        points = [[0] * len(base), [n // 2 for n in base], [n - 1 for n in base]]
        inside = [point for point in points if all(0 <= p < n for p, n in zip(point, base))]
        return base, [write(base, seed + k, [[p, p + 1, 1] for p in point]) for k, point in enumerate(inside)]
    return base, [write(base, seed)]


def resize(shape):
    return {"op": "resize", "shape": shape}


def update(kind, base, chunks, seed):
    if kind == "part":
        return [write(base, seed, block(base, 1, 3)), write(base, seed + 1, block(base, 5, 6))]
    if kind == "strided":
        return [write(base, seed, block(base, 0, 5, 2))]
    if kind == "grow":
        grown = [n + chunk + 1 for n, chunk in zip(base, chunks)]
        tail = [[0, m, 1] if axis else [n, m, 1] for axis, (n, m) in enumerate(zip(base, grown))]
        return [resize(grown), write(grown, seed, tail)]
    if kind == "erase":
        return [erase(base, None)]
    return [{"op": "attributes", "value": {"updated": True, "by": ["another", 1]}}]


def cell(number, format, row):
    data_type, endian = row["type"]
    base, chunks = SHAPES[row["shape"]]
    if format == 1 and not row["chain"].startswith("blosc"):
        # zarr-python 1 stored rows for layout "F": no implementation writes this any more.
        row = row | {"layout": "C"}
    seed = number * 16 + 1
    shape, first = steps(row["steps"], base, chunks, seed)
    kind, separator = row["keys"]
    common = {
        "id": f"{'n' if format == N5 else 'v'}{format}/{data_type.replace(' ', '-')}/{number:04}",
        "axes": {name: " ".join(value) if isinstance(value, tuple) else value for name, value in row.items()},
        "format": format,
        "data_type": EXTENSIONS[data_type][0] if data_type in EXTENSIONS else data_type,
        "numpy": NUMPY.get(data_type, data_type),
        "bits": BITS.get(data_type) or SIGNED_BITS.get(data_type, 64),
        "endian": endian,
        "shape": shape,
        "chunks": chunks,
        "fill_value": fill_value(data_type, row["fill"]),
        "fill_element": fill_element(data_type, row["fill"]),
        "attributes": RICH if row["attributes"] == "rich" else {},
        "dimension_names": dimension_names(row["names"], len(base)),
        "key_encoding": {"name": kind, "separator": separator},
        "steps": first,
        "update": update(row["update"], base, chunks, seed + 8),
    }
    if data_type in VARIABLE:
        common |= VARIABLE[data_type][0] | {"data_type": VARIABLE[data_type][1], "numpy": "O"}
    if data_type in structures.STRUCTURES:
        common |= structure(data_type, endian, row["fill"], format)
    if format == EXPERIMENTAL:
        return common | {"format": 2, "experimental": True} | experimental_codecs(row, chunks)
    if "grid" in row:
        return common | v3_codecs(row, data_type, endian, chunks) | grid(row, data_type, number)
    if format == N5:
        return common | n5_codecs(row, data_type, endian)
    return common | (v3_codecs(row, data_type, endian, chunks) if format == 3 else v2_codecs(row))


def codec_cell(number, format, name, data_type, endian, needs, chain):
    """Returns a cell about a codec, which preserves its values exactly."""
    steps_kind, update_kind = codec_cases.STEPS[number % 4], codec_cases.UPDATES[number // 4 % 4]
    row = {
        "type": (data_type, endian),
        "chain": "none",
        "layout": chain.get("order", "C"),
        "shape": "2-d",
        "keys": V2_KEYS[0] if format == 2 else V3_KEYS[0],
        "steps": steps_kind,
        "update": update_kind,
        "fill": "zero",
        "attributes": "none",
        "names": "none",
    }
    made = cell(number, format, row)
    base, seed = codec_cases.SHAPE, number * 16 + 1
    shape, first = steps(steps_kind, base, codec_cases.CHUNKS, seed)
    made |= {"shape": shape, "chunks": codec_cases.CHUNKS, "steps": first}
    made |= {"update": update(update_kind, base, codec_cases.CHUNKS, seed + 8)}
    made |= {"id": f"v{format}/codecs/{number:04}", "needs": needs, **chain}
    made["axes"] |= {"chain": name}
    if data_type not in ("bool", "complex64", "complex128", *VARIABLE):
        made |= {"bits": min(codec_cases.BITS, 8 * SIZES[data_type]), "whole": data_type in FLOATS}
    if "zarrs.squeeze" in needs:
        made["chunks"] = [1, codec_cases.CHUNKS[1]]
    return made


def grid(row, data_type, number):
    """Returns the members of a cell with chunks of several shapes: the chunk lengths, or one length for all chunks, and the longest length."""
    lengths = (SHARD_GRIDS if row["layout"].startswith("shards") else GRIDS)[row["shape"]]
    longest = [max(each) if isinstance(each, list) else each for each in lengths]
    return {"id": f"v3/rectilinear-{data_type}/{number:04}", "grid": lengths, "chunks": longest}


def structure(name, endian, kind, format):
    """Returns the members of a cell with a structured type: the fields in v2, the type in v3, and the fill value in both."""
    fields = structures.STRUCTURES[name]
    dtype = structures.dtype(fields, endian)
    known = {"dtype": dtype, "data_type": structures.data_type(fields) if format == 3 else name}
    if kind == "null":
        return known
    values = structures.fill(fields, kind)
    fill = values if format == 3 else structures.base64_fill(dtype, values)
    return known | {"fill_fields": values, "fill_value": fill}


def dimension_names(kind, ndim):
    if kind == "none":
        return None
    return [f"dim {axis}" if kind == "all" or axis % 2 else None for axis in range(ndim)]


def v2_codecs(row):
    filters, compressor = V2_CHAINS[row["chain"]]
    data_type, _ = row["type"]
    if data_type in VARIABLE:
        filters = [VARIABLE[data_type][2], *(filters or [])]
    return {"order": row["layout"], "filters": filters, "compressor": compressor}


def experimental_codecs(row, chunks):
    layout = row["layout"]
    codecs = v2_codecs(row) | {"order": "F" if "F" in layout else "C"}
    if not layout.startswith("shards"):
        return codecs
    per_shard = [2 + axis % 2 for axis in range(len(chunks))]
    outer = [chunk * count for chunk, count in zip(chunks, per_shard)]
    return codecs | {"chunks": outer, "inner_chunks": chunks}


def n5_codecs(row, data_type, endian):
    compression, compressor, chain = N5_CHAINS[row["chain"]]
    to_bytes = [blosc(codec, data_type) if isinstance(codec, tuple) else codec for codec in chain]
    inner = [bytes_codec(data_type, endian), *to_bytes]
    codecs = [v3_codec("n5_default", codecs=inner)]
    return {"order": "C", "compression": compression, "compressor": compressor, "codecs": codecs}


def v3_codecs(row, data_type, endian, chunks):
    layout, ndim = row["layout"], len(chunks)
    to_bytes = [blosc(codec, data_type) if isinstance(codec, tuple) else codec for codec in V3_CHAINS[row["chain"]]]
    plain = [bytes_codec(data_type, endian)]
    if layout == "C":
        return {"codecs": plain + to_bytes}
    if layout in ("F", "rotated"):
        return {"codecs": [transpose(layout, ndim), *plain, *to_bytes]}
    outer = [chunk * (2 + axis % 2) for axis, chunk in enumerate(chunks)]
    inner = plain + to_bytes
    if layout == "shards in shards":
        inner = [sharding(chunks, inner, "start")]
        chunks, outer = outer, [chunk * 2 for chunk in outer]
    elif layout == "shards, inner chunks transposed":
        inner = [transpose("F", ndim), *inner]
    location = "start" if layout == "shards, index at start" else "end"
    if layout == "shards, transposed":
        # The shard is the output of the transposition: its inner chunks are transposed, too.
        return {"chunks": outer, "codecs": [transpose("F", ndim), sharding(chunks[::-1], inner, location)]}
    shards = sharding(chunks, inner, location, checksum=layout != "shards, index without checksum")
    after = [v3_codec("gzip", level=1)] if layout == "shards, compressed" else []
    return {"chunks": outer, "codecs": [shards, *after]}


def sharding(chunks, codecs, location, checksum=True):
    index = [bytes_codec("uint64", "little")] + ([CRC32C] if checksum else [])
    return v3_codec("sharding_indexed", chunk_shape=chunks, codecs=codecs, index_codecs=index, index_location=location)


def bytes_codec(data_type, endian):
    if data_type in VARIABLE:
        return v3_codec(VARIABLE[data_type][3])
    return v3_codec("bytes", endian=endian) if SIZES[data_type] > 1 and data_type not in BYTES else v3_codec("bytes")


def transpose(layout, ndim):
    axes = list(range(ndim))
    return {"name": "transpose", "configuration": {"order": axes[::-1] if layout == "F" else axes[1:] + axes[:1]}}


def blosc(codec, data_type):
    _, cname, shuffle = codec
    return v3_codec(
        "blosc", cname=cname, clevel=5, shuffle=SHUFFLES[shuffle], typesize=SIZES[data_type], blocksize=0)


def groups(cells):
    """Returns the groups above the arrays, with attributes and the names of their members; v1 has none."""
    members, first = {}, {}
    for cell in (cell for cell in cells if cell["format"] > 1):
        parts = cell["id"].split("/")
        first.setdefault(parts[0], cell)
        for depth in range(1, len(parts)):
            members.setdefault("/".join(parts[:depth]), set()).add(parts[depth])
    return [
        {
            "id": path,
            "format": first[path.split("/")[0]]["format"],
            "experimental": first[path.split("/")[0]].get("experimental", False),
            "group": True,
            "attributes": {"path": path} | RICH,
            "members": sorted(names),
            "update": [{"op": "attributes", "value": {"path": path, "updated": [1, 2.5, None]}}],
        }
        for path, names in sorted(members.items())
    ]


def matrix(known):
    """Returns all cells; `known` are the codecs that Zarrox supports."""
    cells = []
    for format, axes in TABLES:
        cells += [cell(number, format, row) for number, row in enumerate(rows(axes))]
    cells += [codec_cell(*row) for row in codec_cases.rows()]
    cells = groups(cells) + cells
    for each in cells:
        each["not_applicable"] = rules.not_applicable(each) | rules.unknown_codecs(each, known)
    return cells


def main():
    path, known = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(matrix(known), indent=1))


if __name__ == "__main__":
    main()
