"""Element types with interesting elements, and the comparison of arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrox import v2

Values = npt.NDArray[Any]

#: The formats, by their names in `zarr_format=`; the store determines N5.
V1, V2, V3, N5 = "1", "2", "3", "n5"
EXPERIMENTAL, DRAFT = "v3-experimental", "v3-draft"

_ALL_FORMATS = (V1, V2, V3, EXPERIMENTAL, DRAFT)


@dataclass(frozen=True)
class Kind:
    """A type of elements.

    Attributes
    ----------
    name : str
        The name in scripts.
    dtype : object
        The argument ``dtype``.
    pool : numpy.ndarray
        Elements, in the type of arrays in memory. The first one is the default fill value.
    formats : tuple of str
        The formats that support the type.
    object_codec : callable, optional
        Creates the codec that objects require.
    """

    name: str
    dtype: Any
    pool: Values
    formats: tuple[str, ...]
    object_codec: Callable[[], Any] | None = None

    def native(self, zarr_format: str) -> np.dtype[Any]:
        """Returns the type in memory for an array of a format: in version 3 and its drafts, it has the machine's byte
        order."""
        if zarr_format not in (V3, EXPERIMENTAL, DRAFT):
            return self.pool.dtype
        return np.dtypes.StringDType() if self.name == "text" else self.pool.dtype.newbyteorder("=")

    def default(self) -> Any:
        """Returns the default fill value."""
        return np.array("NaT", self.pool.dtype)[()] if self.pool.dtype.kind in "mM" else self.pool[0]

    def zero(self) -> Any:
        """Returns the element for the value 0."""
        return {"json": 0, "msgpack": 0, "ragged": np.zeros(1, "<i4")}.get(self.name, self.pool[0])

    def is_plain(self) -> bool:
        """Returns true if elements are numbers that NumPy can calculate with."""
        return self.pool.dtype.kind in "iufc" and self.pool.dtype.isbuiltin == 1


def _numbers(dtype: np.dtype[Any]) -> Values:
    if dtype.kind == "b":
        return np.array([False, True], dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.array([0, 1, limits.min, limits.max, 42, limits.max // 3], dtype)
    limits = np.finfo(dtype)
    reals = np.array([0, 1.5, -2.25, np.inf, -np.inf, np.nan, limits.tiny, limits.max, -0.0], limits.dtype)
    if dtype.kind == "f":
        return reals.astype(dtype)
    pool = np.zeros(len(reals), dtype)
    pool.real, pool.imag = reals, np.roll(reals, 4)
    pool[0] = 0
    return pool


def _times(dtype: np.dtype[Any]) -> Values:
    return np.array([0, 1, -1, 17_000, np.iinfo("i8").min, 2**40]).view(dtype.newbyteorder("=")).astype(dtype)


def _objects(*elements: Any) -> Values:
    pool = np.empty(len(elements), object)
    for index, element in enumerate(elements):
        pool[index] = element
    return pool


def _records(dtype: np.dtype[Any]) -> Values:
    assert dtype.names is not None
    pool = np.zeros(5, dtype)
    for offset, name in enumerate(dtype.names):
        base, shape = dtype[name].base, dtype[name].shape
        elements = _pool(base)[(np.arange(4 * max(1, int(np.prod(shape)))) + offset + 1) % len(_pool(base))]
        pool[name][1:] = elements.reshape(4, *shape)
    return pool


def _pool(dtype: np.dtype[Any]) -> Values:
    if dtype.names is not None:
        return _records(dtype)
    if dtype.kind in "mM":
        return _times(dtype)
    if dtype.kind == "S":
        return np.array([b"", b"a", b"abc", b"\xff\0b"], dtype)
    if dtype.kind == "U":
        return np.array(["", "a", "\N{LATIN SMALL LETTER A WITH DIAERESIS}b", "\N{GRINNING FACE}"], dtype)
    if dtype.kind == "V":
        return np.repeat(np.array([0, 1, 128, 255], "u1"), dtype.itemsize).view(dtype)
    return _numbers(dtype)


def _fixed(name: str, dtype: Any, *formats: str) -> Kind:
    return Kind(name, dtype, _pool(np.dtype(dtype)), formats or _ALL_FORMATS)


def _small() -> list[Kind]:
    """Returns the types of the package ``ml_dtypes``."""
    import ml_dtypes

    floats = [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
    integers = [ml_dtypes.int4, ml_dtypes.uint4]
    numbers = [np.array([0, 1, 3, 7]), np.array([0, 1.5, -2, 0.25, np.nan])]
    pools = [numbers[dtype in floats].astype(dtype) for dtype in (*floats, *integers)]
    return [Kind(pool.dtype.name, pool.dtype, pool, (V3,)) for pool in pools]


_PAIR = np.dtype([("a", "<i4"), ("b", "S3")])
_NESTED = np.dtype([("p", [("x", "<f4"), ("y", "<i2")]), ("t", "<M8[s]")])
_BLOCK = np.dtype([("p", "<f4", (2,)), ("q", ">i2")])
_UTF8 = ("", "a", "\N{LATIN SMALL LETTER A WITH DIAERESIS}" * 9, "nan", "\0x")
_JSON = (None, 1, "a", [1, 2.5], {"k": [True, None]})

_ALL = [
    *(_fixed(code, code) for code in ("?", "<f2", ">f4", "<c8", "<c16", ">c16", ">i2", ">u4", ">i8", ">f8")),
    *(_fixed(code, code, *_ALL_FORMATS, N5) for code in ("|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")),
    *(_fixed(code, code) for code in ("<M8[ns]", "<M8[D]", ">M8[s]", "<m8[ms]")),
    *(_fixed(code, code, V1, V2, V3, EXPERIMENTAL) for code in ("S3", "<U3", ">U2", "V4")),
    _fixed("pair", _PAIR, V1, V2, V3, EXPERIMENTAL),
    _fixed("nested", _NESTED, V1, V2, V3, EXPERIMENTAL),
    _fixed("block", _BLOCK, V1, V2),
    Kind("text", str, _objects(*_UTF8), (V2, V3)),
    Kind("bytes", bytes, _objects(b"", b"a", b"\0\xff" * 9), (V2, V3)),
    Kind("json", object, _objects(*_JSON), (V2,), lambda: v2.JSON()),
    Kind("msgpack", object, _objects(*_JSON), (V2,), lambda: v2.MsgPack()),
    Kind("ragged", "array:<i4", _objects(*(np.arange(length, dtype="<i4") for length in (0, 1, 3, 7))), (V2,)),
    *_small(),
]

KINDS = {kind.name: kind for kind in _ALL}


def of(name: str) -> dict[str, Any]:
    """Returns the arguments that create an array of a type."""
    kind = KINDS[name]
    codec = {} if kind.object_codec is None else {"object_codec": kind.object_codec()}
    return {"dtype": kind.dtype, **codec}


def element(name: str, index: int) -> Any:
    """Returns one element of a type."""
    return KINDS[name].pool[index]


def values(name: str, shape: tuple[int, ...], seed: int) -> Values:
    """Returns random elements of a type; for some seeds, all are equal."""
    rng, pool = np.random.default_rng(seed), KINDS[name].pool
    if seed % 4 == 0:
        return pool[np.full(shape, rng.integers(len(pool)))]
    return pool[rng.integers(len(pool), size=shape)]


def same(found: Any, expected: Any) -> bool:
    """Returns true if two results are the same to the bit, apart from padding in structures."""
    found, expected = _scalar(found), _scalar(expected)
    if not isinstance(expected, np.ndarray | np.generic):
        return _same_object(found, expected)
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return False
    if found.dtype.names is not None:
        return all(same(found[name], expected[name]) for name in found.dtype.names)
    if found.dtype.kind == "O":
        return all(map(_same_object, found.flat, expected.flat))
    if found.dtype.kind == "T" or found.dtype.name == "int4":
        return bool((found == expected).all())  # The unused high bits of a small negative number are undefined.
    return found.tobytes() == expected.tobytes()


def _scalar(result: Any) -> Any:
    """Converts an array without dimensions to a scalar: both kinds that NumPy returns are accepted."""
    return result[()] if isinstance(result, np.ndarray) and not result.shape else result


def _same_object(found: Any, expected: Any) -> bool:
    if isinstance(expected, np.ndarray):
        return isinstance(found, np.ndarray) and same(found, expected)
    return type(found) is type(expected) and bool(found == expected)
