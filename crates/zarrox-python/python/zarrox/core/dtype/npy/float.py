"""The data types for floating-point numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, SupportsFloat, SupportsIndex, TypeVar

import numpy as np

from ..common import HasEndianness
from .common import NumPyType, float_from_json, float_to_json

__all__ = ["Float16", "Float32", "Float64"]

Scalar = TypeVar("Scalar", bound=Any)


@dataclass(frozen=True, kw_only=True)
class BaseFloat(NumPyType[Any, Scalar], HasEndianness):
    """An IEEE 754 floating-point number.

    Examples
    --------
    >>> Float32().to_json_scalar(float("nan"), zarr_format=3), Float32().from_json_scalar("0x7fc00000", zarr_format=3)
    ('NaN', np.float32(nan))
    """

    def _check_scalar(self, data: object) -> bool:
        if not isinstance(data, str):
            return isinstance(data, (SupportsFloat, SupportsIndex, bytes))
        try:
            float(data)
        except ValueError:
            return False
        return True

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Scalar:
        return self._cast_scalar_unchecked(float_from_json(data, zarr_format))

    def to_json_scalar(self, data: object, *, zarr_format: int) -> float | str:
        return float_to_json(self.cast_scalar(data))


class Float16(BaseFloat[np.float16]):
    """A 16-bit floating-point number."""

    dtype_cls = np.dtypes.Float16DType
    _zarr_v3_name = "float16"


class Float32(BaseFloat[np.float32]):
    """A 32-bit floating-point number."""

    dtype_cls = np.dtypes.Float32DType
    _zarr_v3_name = "float32"


class Float64(BaseFloat[np.float64]):
    """A 64-bit floating-point number."""

    dtype_cls = np.dtypes.Float64DType
    _zarr_v3_name = "float64"
