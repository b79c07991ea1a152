"""The data types for integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, SupportsIndex, SupportsInt, TypeVar

import numpy as np

from ..common import HasEndianness
from .common import NumPyType

__all__ = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"]

Scalar = TypeVar("Scalar", bound=Any)


class BaseInt(NumPyType[Any, Scalar]):
    """An integer with a fixed number of bits.

    Examples
    --------
    >>> Int8().to_json_scalar(42, zarr_format=3), Int8().from_json_scalar(42, zarr_format=3)
    (42, np.int8(42))
    """

    @classmethod
    def _check_native_dtype(cls, dtype: np.dtype[Any]) -> bool:  # type: ignore[override]
        # C has several integer types of the same size. NumPy has a class for each of them; here they share a class.
        if not isinstance(dtype, np.dtype) or dtype.kind not in "iu":
            return False
        return dtype.newbyteorder("=") == np.dtype(cls._zarr_v3_name)

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (SupportsInt, SupportsIndex, bytes, str))

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Scalar:
        try:
            number = int(data)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"Invalid type: {data}. Expected an integer.") from None
        if isinstance(data, float) and number != data:
            raise TypeError(f"Invalid type: {data}. Expected an integer.")
        return self._cast_scalar_unchecked(number)

    def to_json_scalar(self, data: object, *, zarr_format: int) -> int:
        return int(self.cast_scalar(data))


@dataclass(frozen=True, kw_only=True)
class MultiByteInt(BaseInt[Scalar], HasEndianness):
    """An integer with more than one byte."""


class Int8(BaseInt[np.int8]):
    """A signed 8-bit integer."""

    dtype_cls = np.dtypes.Int8DType
    _zarr_v3_name = "int8"


class UInt8(BaseInt[np.uint8]):
    """An unsigned 8-bit integer."""

    dtype_cls = np.dtypes.UInt8DType
    _zarr_v3_name = "uint8"


class Int16(MultiByteInt[np.int16]):
    """A signed 16-bit integer."""

    dtype_cls = np.dtypes.Int16DType
    _zarr_v3_name = "int16"


class UInt16(MultiByteInt[np.uint16]):
    """An unsigned 16-bit integer."""

    dtype_cls = np.dtypes.UInt16DType
    _zarr_v3_name = "uint16"


class Int32(MultiByteInt[np.int32]):
    """A signed 32-bit integer."""

    dtype_cls = np.dtypes.Int32DType
    _zarr_v3_name = "int32"


class UInt32(MultiByteInt[np.uint32]):
    """An unsigned 32-bit integer."""

    dtype_cls = np.dtypes.UInt32DType
    _zarr_v3_name = "uint32"


class Int64(MultiByteInt[np.int64]):
    """A signed 64-bit integer."""

    dtype_cls = np.dtypes.Int64DType
    _zarr_v3_name = "int64"


class UInt64(MultiByteInt[np.uint64]):
    """An unsigned 64-bit integer."""

    dtype_cls = np.dtypes.UInt64DType
    _zarr_v3_name = "uint64"
