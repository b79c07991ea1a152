"""Converts ``dtype`` arguments in any form to data types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from zarrox.argument_types import DTypeLike

from .npy.bytes import VariableLengthBytes
from .npy.object import PythonObject
from .npy.string import VariableLengthUTF8
from .registry import data_type_registry
from .wrapper import ZDType

TEXT = (str, "str", "string", "unicode")
BYTES = (bytes, "bytes")
ARRAY = "array:"


def get_data_type_from_native_dtype(dtype: DTypeLike) -> ZDType[Any, Any]:
    """Returns the data type for a NumPy dtype, or for anything that NumPy converts to one.

    Parameters
    ----------
    dtype : numpy.dtype or dtype-like
        The native data type.

    Returns
    -------
    ZDType
        The only registered data type that accepts it.

    Raises
    ------
    ValueError
        If no data type, or more than one, accepts it.

    Examples
    --------
    >>> get_data_type_from_native_dtype("S10")
    NullTerminatedBytes(length=10)
    """
    return data_type_registry.match_dtype(native_dtype(dtype))


def get_data_type_from_json(dtype_spec: Any, *, zarr_format: int) -> ZDType[Any, Any]:
    """Returns the data type that JSON describes.

    Parameters
    ----------
    dtype_spec : JSON
        The result of :meth:`ZDType.to_json`.
    zarr_format : {2, 3}
        The format of the JSON.

    Returns
    -------
    ZDType
        The first registered data type that accepts it.

    Raises
    ------
    ValueError
        If no data type accepts it.

    Examples
    --------
    >>> get_data_type_from_json("float32", zarr_format=3)
    Float32(endianness='little')
    """
    return data_type_registry.match_json(dtype_spec, zarr_format=zarr_format)


def parse_dtype(dtype: DTypeLike, *, zarr_format: int) -> ZDType[Any, Any]:
    """Returns the data type for any ``dtype``.

    Parameters
    ----------
    dtype : ZDType, JSON, numpy.dtype, dtype-like, str or type
        ``str``, ``"str"`` and ``"string"`` are text of variable length, ``bytes`` are bytes of variable length, ``"array:<i4"`` are
        arrays of variable length.
    zarr_format : {2, 3}
        The format of the array. The forms are unambiguous, so each is accepted for both formats.

    Returns
    -------
    ZDType
        The data type.

    Raises
    ------
    ValueError, TypeError
        If no data type, or more than one, accepts it.

    Examples
    --------
    >>> parse_dtype("S10", zarr_format=2), parse_dtype(str, zarr_format=3)
    (NullTerminatedBytes(length=10), VariableLengthUTF8())
    """
    if isinstance(dtype, ZDType):
        return dtype
    if is_json(dtype):
        # v2 and v3 objects have different members.
        return get_data_type_from_json(dtype, zarr_format=2 if "object_codec_id" in dtype else 3)
    if isinstance(dtype, (str, type)):
        return parse_name(dtype)
    return get_data_type_from_native_dtype(dtype)


def parse_data_type(dtype_spec: Any, *, zarr_format: int) -> ZDType[Any, Any]:
    """Like :func:`parse_dtype`.

    Examples
    --------
    >>> parse_data_type("int32", zarr_format=2)
    Int32(endianness='little')
    """
    return parse_dtype(dtype_spec, zarr_format=zarr_format)


def parse_name(dtype: str | type) -> ZDType[Any, Any]:
    """Returns the data type with a name. v3 names take precedence over NumPy names. Only ``bytes`` has two meanings."""
    if is_one_of(dtype, TEXT):
        return VariableLengthUTF8()
    if is_one_of(dtype, BYTES):
        return VariableLengthBytes()
    if isinstance(dtype, type):
        return get_data_type_from_native_dtype(dtype)
    if dtype.startswith(ARRAY):
        return PythonObject(object_codec_id="vlen-array")
    try:
        return get_data_type_from_json(dtype, zarr_format=3)
    except ValueError:
        return get_data_type_from_native_dtype(dtype)


def known_only_in_v3(name: str) -> bool:
    try:
        np.dtype(name)
    except TypeError:
        return name in data_type_registry.contents and not is_one_of(name, TEXT)
    return False


def is_json(dtype: DTypeLike) -> TypeGuard[Mapping[str, Any]]:
    """Returns true if this is a data type in the form of metadata. NumPy also accepts mappings, with different members."""
    return isinstance(dtype, Mapping) and dtype.keys() <= {"name", "object_codec_id", "configuration"}


def native_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    if isinstance(dtype, list) and dtype and all(isinstance(field, Sequence) for field in dtype):
        # In JSON, fields are lists; NumPy requires tuples.
        dtype = [_field(field) for field in dtype]
    native: np.dtype[Any] = np.dtype(cast("npt.DTypeLike", dtype))
    return native


def _field(field: Any) -> Any:
    name, dtype, *shape = field
    name = tuple(name) if isinstance(name, list) else name
    return (name, native_dtype(dtype), *(tuple(s) if isinstance(s, list) else s for s in shape))


def is_one_of(dtype: DTypeLike, names: tuple[Any, ...]) -> bool:
    return isinstance(dtype, (str, type)) and dtype in names
