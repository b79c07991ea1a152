"""Small number types for machine learning, as in the package ``ml_dtypes``. Only v3 supports them.

Without that package, and for data types that it lacks, elements are raw bytes in memory.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...errors import UnsupportedError
from .common import DataTypeValidationError
from .npy.common import NumPyType, float_from_json, float_to_json
from .wrapper import check_format

if TYPE_CHECKING:
    from typing_extensions import Self

_FLOATS = {
    "bfloat16": 2,
    "float8_e3m4": 1,
    "float8_e4m3": 1,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "float8_e4m3b11fnuz": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1,
    "float6_e2m3fn": 1,
    "float6_e3m2fn": 1,
    "float4_e2m1fn": 1,
}
_COMPLEX = {"complex_float16": "complex32", "complex_bfloat16": "bcomplex32"}


@dataclass(frozen=True, kw_only=True)
class SmallNumber(NumPyType[Any, Any]):
    """A number type that NumPy itself does not have.

    Examples
    --------
    >>> from zarrox.core.dtype import parse_dtype
    >>> parse_dtype("bfloat16", zarr_format=3)
    BFloat16()
    """

    _size: ClassVar[int]
    _ml_name: ClassVar[str]

    @classmethod
    def _check_native_dtype(cls, dtype: np.dtype[Any]) -> bool:  # type: ignore[override]
        # A dtype from `ml_dtypes` exists only after that package is imported, and is defined outside NumPy.
        if type(dtype).__module__ == np.dtypes.__name__:
            return False
        scalar = getattr(sys.modules.get("ml_dtypes"), cls._ml_name, None)
        return scalar is not None and dtype == np.dtype(scalar)

    def to_native_dtype(self) -> np.dtype[Any]:
        scalar = getattr(_ml_dtypes(), self._ml_name, None)
        return np.dtype(f"V{self._size}" if scalar is None else scalar)

    @classmethod
    def _check_json_v2(cls, data: object) -> bool:
        return False

    @classmethod
    def _from_json_v2(cls, data: Any) -> Self:
        raise DataTypeValidationError(f"v2 has no name for '{cls._zarr_v3_name}'.")

    def to_json(self, zarr_format: int) -> Any:
        check_format(zarr_format)
        if zarr_format == 2:
            raise UnsupportedError(f"Zarr v2 has no name for the data type '{self._zarr_v3_name}'; use zarr_format=3")
        return self._zarr_v3_name

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (int, float, complex, np.generic))

    def _cast_scalar_unchecked(self, data: Any) -> Any:
        native = self.to_native_dtype()
        if native.type is np.void and not isinstance(data, np.void):
            raise UnsupportedError(f"values of '{self._zarr_v3_name}' need a version of the package ml_dtypes that supports them")
        return np.asarray(data).astype(native)[()]

    def _of_pattern(self, digits: str) -> Any:
        """Returns the number with these bits, given in hexadecimal."""
        return np.frombuffer(bytes.fromhex(digits)[:: 1 if sys.byteorder == "big" else -1], self.to_native_dtype())[0]

    def default_scalar(self) -> Any:
        return np.zeros((), self.to_native_dtype())[()]


class _SmallInteger(SmallNumber):
    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Any:
        if not isinstance(data, (int, float)) or data != int(data):
            raise TypeError(f"Invalid type: {data}. Expected an integer.")
        value = self._cast_scalar_unchecked(int(data))
        if int(value) != data:
            raise OverflowError(f"{data} is out of bounds for {self._zarr_v3_name}")
        return value

    def to_json_scalar(self, data: object, *, zarr_format: int) -> int:
        return int(self.cast_scalar(data))


class _SmallFloat(SmallNumber):
    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Any:
        if isinstance(data, str) and data.startswith("0x") and len(data) == 2 + 2 * self._size:
            return self._of_pattern(data[2:])
        return self._cast_scalar_unchecked(float_from_json(data, zarr_format, sizes=()))

    def to_json_scalar(self, data: object, *, zarr_format: int) -> float | str:
        return float_to_json(self.cast_scalar(data))


class _SmallComplex(SmallNumber):
    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Any:
        if isinstance(data, str) or not isinstance(data, Sequence) or len(data) != 2:
            raise TypeError(f"Invalid type: {data}. Expected a list of two floats.")
        real, imaginary = (float_from_json(part, zarr_format, sizes=(self._size // 2,)) for part in data)
        return self._cast_scalar_unchecked(complex(real, imaginary))

    def to_json_scalar(self, data: object, *, zarr_format: int) -> tuple[float | str, float | str]:
        value = complex(self.cast_scalar(data))
        return float_to_json(value.real), float_to_json(value.imag)


def _ml_dtypes() -> Any:
    try:
        import ml_dtypes
    except ImportError:
        return None
    return ml_dtypes


def _class_name(name: str) -> str:
    """``BFloat16``, ``Float8E4M3FN``, ``UInt4``, ``ComplexFloat16`` …"""
    words = name.split("_")
    first = {"bfloat16": "BFloat16"}.get(words[0], words[0].replace("uint", "UInt"))
    if words[0] == "complex":
        return "Complex" + _class_name("_".join(words[1:]))
    return first[0].upper() + first[1:] + "".join(words[1:]).upper()


def _make(kind: type[SmallNumber], name: str, size: int, ml_name: str) -> type[SmallNumber]:
    members = {
        "__module__": __name__,
        "__doc__": f"Elements of v3's ``{name}``, each of {size} bytes in memory.",
        "_zarr_v3_name": name,
        "_size": size,
        "_ml_name": ml_name,
        "dtype_cls": np.dtype,
    }
    return type(_class_name(name), (kind,), members)


SMALL_NUMBERS: tuple[type[SmallNumber], ...] = (
    *(_make(_SmallInteger, name, 1, name) for name in ("int2", "int4", "uint2", "uint4")),
    *(_make(_SmallFloat, name, size, name) for name, size in _FLOATS.items()),
    *(
        _make(_SmallComplex, f"complex_{part}", 2 * size, _COMPLEX.get(f"complex_{part}", ""))
        for part, size in {"float16": 2, **_FLOATS}.items()
    ),
)
globals().update({cls.__name__: cls for cls in SMALL_NUMBERS})
