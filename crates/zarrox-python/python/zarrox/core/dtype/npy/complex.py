"""The data types for complex numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsComplex, SupportsFloat, SupportsIndex, TypeVar

import numpy as np

from ..common import HasEndianness
from .common import NumPyType, float_from_json, float_to_json

__all__ = ["Complex64", "Complex128"]

Scalar = TypeVar("Scalar", bound=Any)


@dataclass(frozen=True, kw_only=True)
class BaseComplex(NumPyType[Any, Scalar], HasEndianness):
    """A complex number that consists of two floating-point numbers.

    Examples
    --------
    >>> Complex64().to_json_scalar(1 + 2j, zarr_format=2)
    (1.0, 2.0)
    """

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (complex, SupportsComplex, SupportsFloat, SupportsIndex, bytes, str))

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Scalar:
        if isinstance(data, str) or not isinstance(data, Sequence) or len(data) != 2:
            raise TypeError(f"Invalid type: {data}. Expected a list of two floats.")
        real, imaginary = (float_from_json(part, zarr_format) for part in data)
        return self._cast_scalar_unchecked(complex(real, imaginary))

    def to_json_scalar(self, data: object, *, zarr_format: int) -> tuple[float | str, float | str]:
        value = self.cast_scalar(data)
        return float_to_json(value.real), float_to_json(value.imag)


class Complex64(BaseComplex[np.complex64]):
    """A complex number that consists of two 32-bit floating-point numbers."""

    dtype_cls = np.dtypes.Complex64DType
    _zarr_v3_name = "complex64"


class Complex128(BaseComplex[np.complex128]):
    """A complex number that consists of two 64-bit floating-point numbers."""

    dtype_cls = np.dtypes.Complex128DType
    _zarr_v3_name = "complex128"
