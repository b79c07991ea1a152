"""Fill values, as scalars and in the form of metadata."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from zarrox.argument_types import DTypeLike
from zarrox.core.dtype import parse_dtype
from zarrox.core.dtype.npy.common import float_to_json
from zarrox.core.dtype.resolve import native_dtype


def normalize_fill_value(fill_value: Any, dtype: np.dtype[Any]) -> Any:
    """Returns a fill value as a scalar of the array's data type. 0 stands for the zero of any data type.

    Raises
    ------
    ValueError
        If the type cannot hold the value.
    """
    if fill_value is None or dtype.hasobject:
        return fill_value
    if dtype.kind == "U" and isinstance(fill_value, bytes):
        raise ValueError(f"fill_value {fill_value!r} is not valid for dtype {dtype}; must be a unicode string")
    if _is_zero(fill_value) and not (_has_signed_zero(dtype) and _is_negative(fill_value)):
        return np.zeros((), dtype=dtype)[()]
    try:
        if isinstance(fill_value, bytes) and dtype.kind == "V":
            return np.array(fill_value, dtype=dtype.str).view(dtype)[()]
        return np.array(fill_value, dtype=dtype)[()]
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"fill_value {fill_value!r} is not valid for dtype {dtype}: {error}") from error


def _is_zero(value: object) -> bool:
    # NumPy treats timedelta64 as a subclass of signed integers.
    return isinstance(value, int | float | complex | np.number) and not isinstance(value, np.timedelta64) and value == 0


def _is_negative(zero: Any) -> bool:
    return bool(np.signbit(np.real(zero)) or np.signbit(np.imag(zero)))


def _has_signed_zero(dtype: np.dtype[Any]) -> bool:
    # NumPy treats the floats of ml_dtypes as void.
    return dtype.kind in "fc" or (dtype.kind == "V" and dtype.type is not np.void)


def fill_json(value: Any, dtype: DTypeLike, zarr_format: int = 2) -> Any:
    """Returns a fill value in the form of metadata.

    Parameters
    ----------
    value : object
        A value that an array of this type can hold; 0 means the zero of any type, and ``None`` no value.
    dtype : numpy.dtype
        The type of the array's elements; for version 3 anything that `zarrox.core.dtype.parse_dtype` takes.
    zarr_format : {2, 3}
        The format of the metadata.

    Returns
    -------
    object
        A JSON value.

    Raises
    ------
    ValueError
        If the type cannot hold the value.

    Examples
    --------
    >>> import numpy as np
    >>> from zarrox.v2.util import fill_json
    >>> fill_json(np.nan, np.dtype("f4")), fill_json(b"abc", np.dtype("S3"))
    ('NaN', 'YWJj')
    """
    if value is None:
        return None
    if zarr_format == 3:
        return _v3_fill_json(value, dtype)
    native = native_dtype(dtype)
    if native.hasobject or native.kind == "T":
        return _object_json(value)
    scalar = normalize_fill_value(value, native)
    if native.kind == "f":
        return float_to_json(scalar)
    if native.kind == "c":
        return [float_to_json(scalar.real), float_to_json(scalar.imag)]
    if native.kind in "mM":
        return int(scalar.view("i8"))
    if native.kind in "SV":
        return base64.standard_b64encode(_raw(scalar, native)).decode("ascii")
    return scalar.item() if isinstance(scalar, np.generic) else scalar


def _v3_fill_json(value: Any, dtype: DTypeLike) -> Any:
    """Returns a fill value in the form of v3 metadata, converted by its data type."""
    data_type = parse_dtype(dtype, zarr_format=3)
    native = data_type.to_native_dtype()
    if native.kind not in "OT":
        value = normalize_fill_value(value, native)
    elif _is_zero(value):
        value = data_type.default_scalar()
    return data_type.to_json_scalar(value, zarr_format=3)


def _raw(scalar: Any, dtype: np.dtype[Any]) -> bytes:
    # Bytes without trailing zeros, as zarr-python writes them.
    return bytes(scalar) if dtype.kind == "S" else np.asarray(scalar, dtype=dtype).tobytes()


def _object_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.standard_b64encode(value).decode("ascii")
    return value.item() if isinstance(value, np.generic) else value
