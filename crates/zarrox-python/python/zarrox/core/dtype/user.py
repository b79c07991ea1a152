"""Functions that native code calls for user-defined data types, since it knows only their names.

Each function receives the ``data_type`` member of v3 metadata as JSON.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .registry import data_type_registry
from .wrapper import ZDType

__all__ = ["default_bytes", "fill_bytes", "fill_json", "native_dtype"]


def _of(data_type: str) -> ZDType[Any, Any]:
    return data_type_registry.match_json(json.loads(data_type), zarr_format=3)


def _bytes(data_type: ZDType[Any, Any], scalar: Any) -> bytes:
    return np.array(scalar, dtype=data_type.to_native_dtype()).tobytes()


def native_dtype(data_type: str) -> np.dtype[Any]:
    """Returns NumPy's data type for elements in memory."""
    native: np.dtype[Any] = np.dtype(_of(data_type).to_native_dtype())
    return native


def default_bytes(data_type: str, _: None) -> bytes:
    """Returns the default fill value."""
    known = _of(data_type)
    return _bytes(known, known.default_scalar())


def fill_bytes(data_type: str, fill: str) -> bytes:
    """Returns the element for a fill value in metadata."""
    known = _of(data_type)
    return _bytes(known, known.from_json_scalar(json.loads(fill), zarr_format=3))


def fill_json(data_type: str, element: bytes) -> str:
    """Returns the fill value for an element, in the form of metadata."""
    known = _of(data_type)
    scalar = np.frombuffer(element, dtype=known.to_native_dtype())[0]
    return json.dumps(known.to_json_scalar(scalar, zarr_format=3))
