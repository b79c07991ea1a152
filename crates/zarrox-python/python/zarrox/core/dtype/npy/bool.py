"""The boolean type."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import NumPyType

__all__ = ["Bool"]


class Bool(NumPyType[Any, np.bool_]):
    """True or false; a byte in memory.

    Examples
    --------
    >>> Bool().to_json(zarr_format=3), Bool().default_scalar()
    ('bool', np.False_)
    """

    dtype_cls = np.dtypes.BoolDType
    _zarr_v3_name = "bool"

    def _check_scalar(self, data: object) -> bool:
        # NumPy converts any object to a boolean.
        return True

    def _cast_scalar_unchecked(self, data: Any) -> np.bool_:
        return np.bool_(data)

    def to_json_scalar(self, data: object, *, zarr_format: int) -> bool:
        return bool(data)

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> np.bool_:
        return np.bool_(data)
