"""Writes filters.json: the results of numcodecs' filters for small arrays. See README.md.

    python filters.py [elements] [seed] > filters.json
"""

import json
import sys
import warnings

import numcodecs
import numpy as np

warnings.simplefilter("ignore")
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 7
RANDOM = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
INTEGERS = ["|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8"]
FLOATS = ["<f2", "<f4", "<f8"]
COMPLEX = ["<c8", "<c16"]
NUMBERS = INTEGERS + FLOATS + COMPLEX
CASES = []


def small(dtype, count, least, most):
    """Returns numbers that all types can represent, with fractions if this type has fractions."""
    values = RANDOM.integers(least, most + 1, count)
    if np.dtype(dtype).kind in "fc":
        values = values + RANDOM.integers(-3, 4, count) / 8
    if np.dtype(dtype).kind == "c":
        values = values + 1j * RANDOM.integers(-9, 10, count)
    return values.astype(dtype)


def wild(dtype, count):
    """Returns random numbers, and some extreme numbers."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return RANDOM.integers(0, 2, count).astype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = RANDOM.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
        special = [info.min, info.max, 0]
    else:
        part = {"c8": "f4", "c16": "f8"}.get(dtype.str[1:], dtype)
        info = np.finfo(part)
        values = RANDOM.standard_normal(count) * 10.0 ** RANDOM.integers(-6, 7, count)
        special = [np.nan, np.inf, -np.inf, info.max, -info.max, info.tiny, -0.0, 0.5, 2.5, -3.5]
        values = values.astype(dtype)
    places = RANDOM.permutation(count)[: count // 2]
    values[places] = RANDOM.choice(special, len(places)).astype(dtype)
    return values


def fits(values, dtype):
    """Returns true if the result of a cast does not depend on the machine."""
    dtype = np.dtype(dtype)
    if dtype.kind not in "iu" or values.dtype.kind not in "fc":
        return np.ones(len(values), bool)
    info, whole = np.iinfo(dtype), np.trunc(values.real.astype("f8"))
    return (whole >= float(info.min)) & (whole < float(info.max) + 1 - (info.bits < 53) * 0.0)


def overflows(codec, values, decoded):
    """Returns true if integers overflow in an operation that numcodecs accepts with at most a warning, and Zarrox rejects."""
    astype = np.dtype(getattr(codec, "astype", "f4"))
    if codec.codec_id == "delta":
        return values.dtype.kind in "iu" and not np.array_equal(values, decoded)
    if codec.codec_id != "fixedscaleoffset" or astype.kind not in "iu":
        return False
    scaled = np.around((values - codec.offset) * codec.scale)
    return [int(value) for value in scaled] != [int(value) for value in scaled.astype(astype)]


def case(config, values, decode=True):
    codec = numcodecs.get_codec(dict(config))
    encoded = codec.encode(values)
    decoded = codec.decode(np.asarray(encoded).tobytes()) if decode else values
    CASES.append({
        "codec": codec.get_config(),
        "dtype": values.dtype.str,
        "values": values.tobytes().hex(),
        "encoded": np.asarray(encoded).tobytes().hex(),
        "decoded": np.asarray(decoded).tobytes().hex(),
        "overflows": bool(overflows(codec, values, decoded)),
    })


for decoded in ["|b1", *NUMBERS]:
    for encoded in ["|b1", *NUMBERS]:
        values = wild(decoded, 2 * COUNT)
        values = values[fits(values, encoded)]
        values = values[fits(values.astype(encoded), decoded)][:COUNT]
        case({"id": "astype", "encode_dtype": encoded, "decode_dtype": decoded}, values)

for dtype in NUMBERS:
    for astype in NUMBERS:
        config = {"id": "delta", "dtype": dtype, "astype": astype}
        both = np.dtype(dtype).kind + np.dtype(astype).kind
        if set(both) <= set("iu"):
            # NumPy computes sums of int64 and uint64 in doubles, which loses digits.
            exact = np.result_type(dtype, astype).kind != "f"
            values = wild(dtype, COUNT) if exact else small(dtype, COUNT, 0, 100)
            if exact and np.dtype(astype).itemsize < np.dtype(dtype).itemsize:
                values = small(dtype, COUNT, 0, 50)
            if "u" in both:
                # NumPy rejects a first element that the other type cannot represent.
                values[0] = 7
            case(config, values, decode=exact)
        elif dtype == astype:
            case(config, wild(dtype, COUNT))
        else:
            values = small(dtype, COUNT, 0, 100)
            case(config, np.sort(values) if np.dtype(astype).kind == "u" else values)

for dtype in ["|b1", *INTEGERS, *FLOATS]:
    for astype in [*INTEGERS, *FLOATS]:
        for scale, offset in [(10, 3), (0.1, 1), (2.5, -0.5), (1, 0.25), (3, 100)]:
            values = small(dtype, COUNT, 0, 9)
            if np.dtype(dtype).kind in "iu" and offset == 100 and isinstance(scale, int):
                values = wild(dtype, COUNT)
                if np.dtype(astype).kind == "f":
                    continue
            scaled = np.around((values - offset) * scale)
            values = values[fits(scaled, astype)]
            codec = numcodecs.FixedScaleOffset(offset, scale, dtype, astype)
            if len(values) and not fits(codec.encode(values) / scale + offset, dtype).all():
                values = values[:0]
            if len(values):
                case(codec.get_config(), values)
for dtype in FLOATS:
    for scale, offset in [(10, 1000), (1e-3, 0.1)]:
        case({"id": "fixedscaleoffset", "scale": scale, "offset": offset, "dtype": dtype}, wild(dtype, COUNT))

for dtype in FLOATS:
    for astype in FLOATS:
        for digits in [-2, -1, 0, 1, 2, 3, 6]:
            case({"id": "quantize", "digits": digits, "dtype": dtype, "astype": astype}, wild(dtype, COUNT))
for digits in [-307, -20, 20, 307]:
    case({"id": "quantize", "digits": digits, "dtype": "<f8", "astype": "<f8"}, wild("<f8", COUNT))

for dtype, mantissa in [("<f2", 10), ("<f4", 23), ("<f8", 52)]:
    for keepbits in [1, 2, 5, mantissa - 1, mantissa]:
        case({"id": "bitround", "keepbits": keepbits}, wild(dtype, COUNT))

for count in [0, 1, 7, 8, 9, 16, 21]:
    case({"id": "packbits"}, wild("|b1", count))

sys.stdout.write("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in CASES) + "\n]\n")
