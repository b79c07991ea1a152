"""The data types for bytes."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ..common import HasLength, split_v3
from .common import NumPyType
from .string import VariableLength, length_bytes

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["NullTerminatedBytes", "RawBytes", "VariableLengthBytes"]

Scalar = TypeVar("Scalar", bound=Any)


class _BytesType(NumPyType[Any, Scalar]):
    """A base of data types whose values are base64 in JSON; v3 also allows lists of numbers."""

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (bytes, bytearray, memoryview, np.void))

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Scalar:
        return self._cast_scalar_unchecked(bytes_from_json(data))

    def to_json_scalar(self, data: object, *, zarr_format: int) -> str:
        return base64.b64encode(self.cast_scalar(data)).decode()


@dataclass(frozen=True, kw_only=True)
class _FixedLength(_BytesType[Scalar], HasLength):
    _numpy_letter: ClassVar[str]

    @classmethod
    def _parameters(cls, dtype: np.dtype[Any]) -> dict[str, Any]:
        return {"length": dtype.itemsize}

    @classmethod
    def _from_json_v2(cls, data: Any) -> Self:
        if isinstance(data, Mapping) and data.get("name") in ("|S", "|V", "<S", "<V", ">S", ">V"):
            raise cls._invalid_json(data)  # In NumPy, the length is 0 if none is given.
        return super()._from_json_v2(data)

    def _numpy_name(self) -> str:
        return f"{self._numpy_letter}{self.length}"

    def _configuration(self) -> dict[str, Any]:
        return {"length_bytes": self.length}

    @classmethod
    def _from_configuration(cls, configuration: dict[str, Any]) -> Self:
        return cls(length=length_bytes(cls._zarr_v3_name, configuration))


class NullTerminatedBytes(_FixedLength[np.bytes_]):
    """Bytes up to a maximum length; shorter values are padded with zeros, and zeros at the end are removed.

    Parameters
    ----------
    length : int
        The number of bytes.

    Examples
    --------
    >>> NullTerminatedBytes(length=5).to_json(zarr_format=2)
    {'name': '|S5', 'object_codec_id': None}
    """

    dtype_cls = np.dtypes.BytesDType
    _zarr_v3_name = "null_terminated_bytes"
    _numpy_letter = "S"

    def _check_scalar(self, data: object) -> bool:
        return super()._check_scalar(data) or isinstance(data, (str, int))

    def _cast_scalar_unchecked(self, data: Any) -> np.bytes_:
        data = str(data).encode() if isinstance(data, (str, int)) else bytes(data)
        return np.bytes_(data[: self.length].rstrip(b"\0"))

    def default_scalar(self) -> np.bytes_:
        return np.bytes_(b"")


class RawBytes(_FixedLength[np.void]):
    """A fixed number of opaque bytes.

    Parameters
    ----------
    length : int
        The number of bytes.

    Examples
    --------
    >>> RawBytes(length=3).to_json(zarr_format=3)
    {'name': 'raw_bytes', 'configuration': {'length_bytes': 3}}
    >>> RawBytes.from_json("r24", zarr_format=3)
    RawBytes(length=3)
    """

    dtype_cls = np.dtypes.VoidDType
    _zarr_v3_name = "raw_bytes"
    _numpy_letter = "V"

    @classmethod
    def _check_native_dtype(cls, dtype: np.dtype[Any]) -> bool:  # type: ignore[override]
        return type(dtype) is cls.dtype_cls and dtype.fields is None and dtype.subdtype is None

    @classmethod
    def _check_json_v3(cls, data: object) -> bool:
        return super()._check_json_v3(data) or _bits(data) is not None

    @classmethod
    def _from_json_v3(cls, data: Any) -> Self:
        bits = _bits(data)
        return super()._from_json_v3(data) if bits is None else cls(length=bits // 8)

    def _cast_scalar_unchecked(self, data: Any) -> np.void:
        return np.void(bytes(data)[: self.length].ljust(self.length, b"\0"))

    def default_scalar(self) -> np.void:
        return self._cast_scalar_unchecked(b"")


class VariableLengthBytes(_BytesType[bytes], VariableLength[bytes]):
    """Variable-length bytes, which are ``bytes`` objects in memory.

    Examples
    --------
    >>> VariableLengthBytes().to_json(zarr_format=2), VariableLengthBytes().to_json(zarr_format=3)
    ({'name': '|O', 'object_codec_id': 'vlen-bytes'}, 'variable_length_bytes')
    """

    dtype_cls = np.dtypes.ObjectDType
    _zarr_v3_name = "variable_length_bytes"
    object_codec_id: ClassVar[str] = "vlen-bytes"

    def to_native_dtype(self) -> Any:
        return np.dtype(object)

    @classmethod
    def _check_json_v3(cls, data: object) -> bool:
        # The second name is the one in the registry of extensions.
        return data in (cls._zarr_v3_name, "bytes")

    def _check_scalar(self, data: object) -> bool:
        return super()._check_scalar(data) or isinstance(data, str)

    def _cast_scalar_unchecked(self, data: Any) -> bytes:
        return data.encode() if isinstance(data, str) else bytes(data)

    def default_scalar(self) -> bytes:
        return b""


def bytes_from_json(data: Any) -> bytes:
    """Decodes base64, or a list of numbers, to bytes.

    Examples
    --------
    >>> bytes_from_json("AP8="), bytes_from_json([0, 255])
    (b'\\x00\\xff', b'\\x00\\xff')
    """
    try:
        return base64.b64decode(data, validate=True) if isinstance(data, str) else bytes(list(data))
    except (binascii.Error, TypeError, ValueError):
        raise TypeError(f"Invalid type: {data}. Expected a base64-encoded string.") from None


def _bits(data: object) -> int | None:
    """Returns the number of bits of the core type ``r<bits>`` of v3; ``None`` for other types."""
    named = split_v3(data)
    match = re.fullmatch(r"r([1-9][0-9]*)", named[0]) if named and not named[1] else None
    bits = int(match[1]) if match else 0
    return bits if bits and bits % 8 == 0 else None
