"""The common parts of NumPy's data types."""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from ..common import (
    DataTypeValidationError,
    EndiannessStr,
    HasEndianness,
    HasItemSize,
    check_dtype_spec_no_object_codec_v2,
    split_v3,
)
from ..wrapper import ZDType, check_format

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["NumPyType", "endianness_from_numpy_str", "endianness_to_numpy_str", "get_endianness_from_numpy_dtype"]

DType = TypeVar("DType", bound=Any)
Scalar = TypeVar("Scalar", bound=Any)

_ENDIANNESS: dict[str, EndiannessStr] = {"=": sys.byteorder, "<": "little", ">": "big"}
_SPECIAL_FLOATS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def endianness_from_numpy_str(endianness: str) -> EndiannessStr:
    """Returns ``little`` or ``big`` for NumPy's character.

    Examples
    --------
    >>> endianness_from_numpy_str(">")
    'big'
    """
    if endianness not in _ENDIANNESS:
        raise ValueError(f"Invalid endianness: {endianness!r}. Expected one of {tuple(_ENDIANNESS)}")
    return _ENDIANNESS[endianness]


def endianness_to_numpy_str(endianness: EndiannessStr) -> Literal["<", ">"]:
    """Returns NumPy's character for ``little`` or ``big``.

    Examples
    --------
    >>> endianness_to_numpy_str("big")
    '>'
    """
    if endianness not in ("little", "big"):
        raise ValueError(f"Invalid endianness: {endianness!r}. Expected one of ('little', 'big')")
    return "<" if endianness == "little" else ">"


def get_endianness_from_numpy_dtype(dtype: np.dtype[Any]) -> EndiannessStr:
    """Returns the byte order of a data type that has one.

    Examples
    --------
    >>> import numpy as np
    >>> get_endianness_from_numpy_dtype(np.dtype(">i4"))
    'big'
    """
    return endianness_from_numpy_str(dtype.byteorder)


class NumPyType(ZDType[DType, Scalar], HasItemSize):
    """A data type that has NumPy's name in v2.

    In v3 it has a name and, if :meth:`_configuration` is not empty, a configuration.
    """

    @classmethod
    def _parameters(cls, dtype: np.dtype[Any]) -> dict[str, Any]:
        """Returns the arguments of the constructor for a native data type."""
        return {"endianness": get_endianness_from_numpy_dtype(dtype)} if issubclass(cls, HasEndianness) else {}

    @classmethod
    def _from_configuration(cls, configuration: dict[str, Any]) -> Self:
        if configuration:
            raise DataTypeValidationError(f"'{cls._zarr_v3_name}' has no configuration; got {configuration}.")
        return cls()

    def _configuration(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_native_dtype(cls, dtype: np.dtype[Any]) -> Self:
        if not cls._check_native_dtype(dtype):
            raise DataTypeValidationError(f"Invalid data type: {dtype}. Expected an instance of {cls.dtype_cls}")
        return cls(**cls._parameters(dtype))

    def to_native_dtype(self) -> DType:
        native: DType = np.dtype(self._numpy_name())  # type: ignore[assignment]
        if isinstance(self, HasEndianness):
            native = native.newbyteorder(endianness_to_numpy_str(self.endianness))
        return native

    def _numpy_name(self) -> str:
        return self._zarr_v3_name

    @classmethod
    def _check_json_v2(cls, data: object) -> bool:
        native = _named_in_v2(data)
        return native is not None and cls._check_native_dtype(native)

    @classmethod
    def _check_json_v3(cls, data: object) -> bool:
        named = split_v3(data)
        return named is not None and named[0] == cls._zarr_v3_name

    @classmethod
    def _from_json_v2(cls, data: Any) -> Self:
        native = _named_in_v2(data)
        if native is None or not cls._check_native_dtype(native):
            raise cls._invalid_json(data)
        return cls.from_native_dtype(native)

    @classmethod
    def _from_json_v3(cls, data: Any) -> Self:
        named = split_v3(data)
        if named is None or not cls._check_json_v3(data):
            raise cls._invalid_json(data)
        return cls._from_configuration(named[1])

    @classmethod
    def _invalid_json(cls, data: object) -> DataTypeValidationError:
        return DataTypeValidationError(f"Invalid JSON representation of {cls.__name__}: {data!r}.")

    def to_json(self, zarr_format: int) -> Any:
        check_format(zarr_format)
        if zarr_format == 2:
            return {"name": self.to_native_dtype().str, "object_codec_id": None}
        configuration = self._configuration()
        return {"name": self._zarr_v3_name, "configuration": configuration} if configuration else self._zarr_v3_name

    def _cast_scalar_unchecked(self, data: Any) -> Scalar:
        return self.to_native_dtype().type(data)  # type: ignore[no-any-return]

    def cast_scalar(self, data: object) -> Scalar:
        if not self._check_scalar(data):
            raise self._cannot_cast(data)
        return self._cast_scalar_unchecked(data)

    def default_scalar(self) -> Scalar:
        return self._cast_scalar_unchecked(0)

    @property
    def item_size(self) -> int:
        """The size of an element in bytes."""
        return int(self.to_native_dtype().itemsize)


def _named_in_v2(data: object) -> np.dtype[Any] | None:
    """Returns the NumPy dtype for a v2 name. The name includes a byte order if the data type needs one."""
    if not check_dtype_spec_no_object_codec_v2(data) or not isinstance(data["name"], str):
        return None
    name = data["name"]
    try:
        native = np.dtype(name)
    except TypeError:
        return None
    return native if name[:1] in ("<", ">", "|") and native.str[0] in (name[0], "|") else None


def float_from_json(data: object, zarr_format: int, sizes: tuple[int, ...] = (2, 4, 8)) -> float:
    """Returns a floating-point number from JSON: a number, ``NaN``, ``Infinity``, a decimal string or, in v3, the bits in hexadecimal.

    Examples
    --------
    >>> float_from_json("-Infinity", 2), float_from_json("0x3c00", 3)
    (-inf, 1.0)
    """
    if isinstance(data, (int, float)):
        return float(data)
    if not isinstance(data, str):
        raise TypeError(f"Invalid type: {data}. Expected a float or a special string encoding of a float.")
    if data in _SPECIAL_FLOATS:
        return _SPECIAL_FLOATS[data]
    if zarr_format == 3 and data.startswith("0x"):
        return _float_from_hexadecimal(data, sizes)
    try:
        return float(data)
    except ValueError:
        message = f"Invalid type: {data}. Expected a float or a special string encoding of a float."
        raise TypeError(message) from None


def _float_from_hexadecimal(data: str, sizes: tuple[int, ...]) -> float:
    digits = data[2:]
    code = {4: ">e", 8: ">f", 16: ">d"}.get(len(digits)) if len(digits) // 2 in sizes else None
    try:
        return float(struct.unpack(code or "", bytes.fromhex(digits))[0])
    except (struct.error, ValueError):
        message = f"Invalid hexadecimal float value: {data!r}. Expected '0x' and 4, 8 or 16 hexadecimal digits."
        raise ValueError(message) from None


def float_to_json(value: Any) -> float | str:
    """Returns a floating-point number in the form of metadata.

    Examples
    --------
    >>> float_to_json(0.5), float_to_json(float("nan"))
    (0.5, 'NaN')
    """
    number = float(value)
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    return number
