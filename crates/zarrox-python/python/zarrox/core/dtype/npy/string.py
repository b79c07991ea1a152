"""The data types for strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ..common import DataTypeValidationError, HasEndianness, HasLength, HasObjectCodec, check_dtype_spec_v2
from .common import NumPyType

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["FixedLengthUTF32", "VariableLengthUTF8"]

_BYTES_PER_CHARACTER = 4

Scalar = TypeVar("Scalar", bound=Any)


@dataclass(frozen=True, kw_only=True)
class FixedLengthUTF32(NumPyType[Any, np.str_], HasEndianness, HasLength):
    """A string with up to a maximum number of characters, each of which takes four bytes.

    Parameters
    ----------
    length : int
        The number of characters.
    endianness : {"little", "big"}
        The byte order in memory.

    Examples
    --------
    >>> FixedLengthUTF32(length=3).to_json(zarr_format=3)
    {'name': 'fixed_length_utf32', 'configuration': {'length_bytes': 12}}
    """

    dtype_cls = np.dtypes.StrDType
    _zarr_v3_name = "fixed_length_utf32"

    @classmethod
    def _parameters(cls, dtype: np.dtype[Any]) -> dict[str, Any]:
        return {**super()._parameters(dtype), "length": dtype.itemsize // _BYTES_PER_CHARACTER}

    def _numpy_name(self) -> str:
        return f"U{self.length}"

    def _configuration(self) -> dict[str, Any]:
        return {"length_bytes": self.length * _BYTES_PER_CHARACTER}

    @classmethod
    def _from_configuration(cls, configuration: dict[str, Any]) -> Self:
        length = length_bytes(cls._zarr_v3_name, configuration)
        if length % _BYTES_PER_CHARACTER:
            raise DataTypeValidationError(f"length_bytes of '{cls._zarr_v3_name}' must be a multiple of 4; got {length}.")
        return cls(length=length // _BYTES_PER_CHARACTER)

    def _check_scalar(self, data: object) -> bool:
        # Any object can be converted to a string.
        return True

    def _cast_scalar_unchecked(self, data: Any) -> np.str_:
        return np.str_(str(data)[: self.length])

    def default_scalar(self) -> np.str_:
        return np.str_("")

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> np.str_:
        if not isinstance(data, str):
            raise TypeError(f"Invalid type: {data}. Expected a string.")
        return self._cast_scalar_unchecked(data)

    def to_json_scalar(self, data: object, *, zarr_format: int) -> str:
        return str(self.cast_scalar(data))


class VariableLength(NumPyType[Any, Scalar], HasObjectCodec):
    """A base of data types of any length, which are objects with an object codec in v2."""

    @classmethod
    def _from_json_v2(cls, data: Any) -> Self:
        if not cls._check_json_v2(data):
            raise cls._invalid_json(data)
        return cls()

    @classmethod
    def _check_json_v2(cls, data: object) -> bool:
        return check_dtype_spec_v2(data) and data["name"] == "|O" and data["object_codec_id"] == cls.object_codec_id

    def to_json(self, zarr_format: int) -> Any:
        return super().to_json(3) if zarr_format != 2 else {"name": "|O", "object_codec_id": self.object_codec_id}


class VariableLengthUTF8(VariableLength[str]):
    """Variable-length strings.

    Examples
    --------
    >>> VariableLengthUTF8().to_json(zarr_format=2), VariableLengthUTF8().to_json(zarr_format=3)
    ({'name': '|O', 'object_codec_id': 'vlen-utf8'}, 'string')
    """

    dtype_cls = np.dtypes.StringDType
    _zarr_v3_name = "string"
    object_codec_id: ClassVar[str] = "vlen-utf8"

    def to_native_dtype(self) -> Any:
        return np.dtypes.StringDType()

    def _check_scalar(self, data: object) -> bool:
        return True

    def _cast_scalar_unchecked(self, data: Any) -> str:
        return str(data)

    def default_scalar(self) -> str:
        return ""

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> str:
        if not isinstance(data, (str, int, float)):
            raise TypeError(f"Invalid type: {data}. Expected a string or number.")
        return str(data)

    def to_json_scalar(self, data: object, *, zarr_format: int) -> str:
        return str(data)


def length_bytes(name: str, configuration: dict[str, Any]) -> int:
    """Returns the only member in the configuration of a fixed-length data type."""
    length = configuration.get("length_bytes")
    if configuration.keys() != {"length_bytes"} or not isinstance(length, int):
        raise DataTypeValidationError(f"'{name}' needs a configuration with only length_bytes; got {configuration}.")
    return length
