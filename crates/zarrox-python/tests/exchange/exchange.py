"""Values of every type, for the tests of exchange with zarr-python 2 and 3."""

from __future__ import annotations

from typing import Any

import numpy as np

Values = np.ndarray[Any, np.dtype[Any]]

SHAPE = (7, 10)
CHUNKS = (3, 4)

NUMBERS = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
TIMES = ["M8[s]", "M8[ns]", "M8[D]", "m8[ms]", "m8[25us]"]
TEXTS = ["S5", "U7"]
STRUCTURES = [[("a", "<i4"), ("b", "<f8")], [("name", "S3"), ("point", [("x", "<f4"), ("y", "<f4")])]]


def name(value: Any) -> str:
    """Returns a short name for a parameter."""
    return str(value).replace(" ", "")[:40]


def values(dtype: Any, seed: int = 1) -> Values:
    """Returns random values of a type, including its special values."""
    dtype = np.dtype(dtype)
    random = np.random.default_rng(seed)
    size = int(np.prod(SHAPE))
    if dtype.kind == "b":
        made = random.integers(0, 2, size).astype(dtype)
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)
        made = random.integers(limits.min, limits.max, size, dtype=dtype.newbyteorder("="), endpoint=True).astype(dtype)
    elif dtype.kind == "f":
        made = random.normal(size=size).astype(dtype)
        made[:4] = [np.nan, np.inf, -np.inf, -0.0]
    elif dtype.kind == "c":
        made = (random.normal(size=size) + 1j * random.normal(size=size)).astype(dtype)
        made[0] = complex(np.nan, -np.inf)
    elif dtype.kind in "mM":
        made = random.integers(-(10**9), 10**9, size).astype(dtype)
        made[1] = "NaT"
    elif dtype.kind == "S":
        made = np.array([f"{n:x}".encode() for n in random.integers(0, 2**16, size)], dtype=dtype)
    elif dtype.kind == "U":
        made = np.array([f"{n:x}é€" for n in random.integers(0, 2**16, size)], dtype=dtype)
    else:
        made = np.zeros(size, dtype)
        for field in dtype.names or ():
            made[field] = values(dtype[field], seed + 1).ravel()
    return made.reshape(SHAPE)


def texts() -> Values:
    """Returns text of variable length."""
    made = np.empty(SHAPE, dtype=object)
    for index in np.ndindex(SHAPE):
        made[index] = "é" * (index[0] * index[1] % 13)
    return made


def same(found: Any, expected: Any) -> None:
    """Compares values and types. NaN equals NaN, also inside of objects."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if expected.dtype.names:
        for field in expected.dtype.names:
            same(found[field], expected[field])
    else:
        np.testing.assert_array_equal(found, expected)
