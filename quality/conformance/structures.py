"""Structured data types: how v2 and v3 metadata describe them, and their fill values.

A field is a name, a data type of v2 without a byte order (a list of fields for a structure), the shape if it is an array, and two
fill values, each for all elements of an array. Needs only Python's standard library.
"""

import base64
import struct

ARRAY = [2, 3]

FLAT = [
    ("id", "i2", [], -7, 513),
    ("x", "f8", [], "NaN", -0.5),
    ("alive", "b1", [], True, False),
    ("code", "S3", [], "YQBi", "/w=="),
    ("name", "U2", [], "é🧊", "b"),
    ("at", "M8[s]", [], "NaT", 86400),
]
NUMBERS = [("a", "u1", [], 200, 3), ("b", "i4", [], -5, 2**31 - 1), ("c", "f4", [], "Infinity", 1.5)]
NESTED = [
    ("id", "u2", [], 65535, 1),
    ("inner", [("z", "c8", [], ["NaN", -1.5], [0.5, 2.0]), ("deep", NUMBERS, [], None, None)], [], None, None),
    ("last", "f2", [], -0.5, "NaN"),
]
ARRAYS = [("k", "i8", [], 2**40, -1), ("m", "f4", ARRAY, 2.5, "NaN"), ("p", [NUMBERS[1], NUMBERS[0]], [2], None, None)]
# The layout of NumPy with `align=True`.
PADDED = [
    ("a", "i1", [], -3, 4),
    ("", "V7", [], None, None),
    ("b", "f8", [], -0.5, "NaN"),
    ("c", "i2", [], 300, -2),
    ("", "V6", [], None, None),
]

STRUCTURES = {"flat": FLAT, "numbers": NUMBERS, "nested": NESTED, "arrays": ARRAYS, "padded": PADDED}


def dtype(fields, endian):
    """Returns the fields in v2. Mixed byte orders alternate from field to field."""
    orders = {"little": "<<", "big": ">>", "mixed": "<>"}[endian]
    parts = []
    for index, (name, kind, shape, *_) in enumerate(fields):
        order = orders[index % 2]
        if isinstance(kind, list):
            kind = dtype(kind, endian)
        else:
            kind = ("|" if kind in ("i1", "u1", "b1") or kind[0] in "SV" else order) + kind
        parts.append([name, kind, shape] if shape else [name, kind])
    return parts


NAMES = {"b1": "bool", "c8": "complex64"}
LETTERS = {"i": "int", "u": "uint", "f": "float"}


def data_type(fields):
    """Returns the structure in v3; it has no arrays and no padding."""
    described = [{"name": name, "data_type": field_type(kind)} for name, kind, *_ in fields]
    return {"name": "struct", "configuration": {"fields": described}}


def field_type(kind):
    if isinstance(kind, list):
        return data_type(kind)
    if kind in NAMES:
        return NAMES[kind]
    if kind[0] in LETTERS:
        return f"{LETTERS[kind[0]]}{8 * int(kind[1:])}"
    if kind[0] == "M":
        return {"name": "numpy.datetime64", "configuration": {"unit": kind[3:-1], "scale_factor": 1}}
    name, size = {"S": ("null_terminated_bytes", 1), "U": ("fixed_length_utf32", 4)}[kind[0]]
    return {"name": name, "configuration": {"length_bytes": size * int(kind[1:])}}


ZEROS = {"S": "", "U": "", "b": False, "c": [0.0, 0.0], "f": 0.0}


def fill(fields, which):
    """Returns the fill value in v3: a value for each field."""
    values = {}
    for name, kind, _, special, negative in fields:
        if isinstance(kind, list):
            values[name] = fill(kind, which)
        elif name:
            zero = ZEROS.get(kind[0], 0)
            values[name] = {"zero": zero, "special": special, "negative": negative}[which]
    return values


def packed(dtype, values):
    """Returns the stored bytes of an element, in the byte orders of v2's fields."""
    out = b""
    for name, kind, *shape in dtype:
        count = 1
        for length in shape[0] if shape else []:
            count *= length
        if not name:
            out += bytes(int(kind[2:]))
        elif isinstance(kind, list):
            out += packed(kind, values[name]) * count
        else:
            out += scalar(kind, values[name]) * count
    return out


def scalar(kind, value):
    order, letter, size = kind[0].replace("|", "<"), kind[1], kind[2:]
    if letter == "S":
        return base64.b64decode(value).ljust(int(size), b"\0")
    if letter == "U":
        return value.encode("utf-32-le" if order == "<" else "utf-32-be").ljust(4 * int(size), b"\0")
    if letter == "M":
        return struct.pack(order + "q", -(2**63) if value == "NaT" else value)
    if letter == "c":
        return b"".join(struct.pack(order + "f", float(part)) for part in value)
    formats = {"b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "i8": "q", "f2": "e", "f4": "f", "f8": "d"}
    return struct.pack(order + formats[letter + size], float(value) if letter == "f" else value)


def size(fields):
    return len(packed(dtype(fields, "little"), fill(fields, "zero")))


def base64_fill(dtype, values):
    return base64.b64encode(packed(dtype, values)).decode()
