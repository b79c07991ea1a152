"""Converts data types to their forms in memory and in metadata, with their object codecs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zarrox.codecs import of_numcodecs as codecs
from zarrox.argument_types import DTypeLike
from zarrox.codecs.abc import Codec
from zarrox.core.dtype import PythonObject, VariableLengthBytes, VariableLengthUTF8, ZDType, parse_dtype
from zarrox.core.dtype.common import unpack_dtype_json
from zarrox.core.dtype.resolve import (
    ARRAY,
    BYTES,
    TEXT,
    get_data_type_from_native_dtype,
    is_json,
    is_one_of,
    known_only_in_v3,
    native_dtype,
    parse_name,
)
from zarrox.meta import encode_dtype


def normalize_dtype(dtype: DTypeLike, object_codec: Codec | None = None) -> tuple[np.dtype[Any], Any]:
    """Converts a zarr-python 2 ``dtype`` to a NumPy dtype and an object codec.

    Parameters
    ----------
    dtype : ZDType, numpy.dtype, dtype-like, str or type
        Text, bytes and arrays of variable length are stored as objects.
    object_codec : Codec, optional
        Replaces the codec that belongs to the data type.

    Returns
    -------
    dtype : numpy.dtype
        NumPy's data type, which may have a shape.
    object_codec : Codec or None
        The codec that stores the objects, if it is known.

    Raises
    ------
    ValueError
        For times without a unit.

    Examples
    --------
    >>> normalize_dtype("array:<i4")
    (dtype('O'), VLenArray(dtype='<i4'))
    """
    if is_json(dtype):
        dtype = parse_dtype(dtype, zarr_format=2)
    if isinstance(dtype, str) and dtype.startswith(ARRAY):
        return np.dtype(object), object_codec or codecs.VLenArray(dtype[len(ARRAY) :])
    if _is_text(dtype):
        return np.dtype(object), object_codec or codecs.VLenUTF8()
    if isinstance(dtype, VariableLengthBytes) or is_one_of(dtype, BYTES):
        return np.dtype(object), object_codec or codecs.VLenBytes()
    if isinstance(dtype, PythonObject):
        return np.dtype(object), object_codec or codecs.get_codec({"id": dtype.object_codec_id})
    native = dtype.to_native_dtype() if isinstance(dtype, ZDType) else native_dtype(dtype)
    if native == np.dtype("M8") or native == np.dtype("m8"):
        raise ValueError(
            "datetime64 and timedelta64 dtypes with generic units are not supported, please specify units (e.g., \"M8[ns]\")"
        )
    return native, object_codec


def spec_dtype(dtype: DTypeLike, zarr_format: int | str, object_codec: Any = None) -> Any:
    """Returns the data type in the form of metadata.

    Parameters
    ----------
    dtype : ZDType, JSON, numpy.dtype, dtype-like, str or type
        Any argument of :func:`parse_dtype`, and every NumPy data type that v2 can store.
    zarr_format : int or str
        1 and 2 use NumPy's names, all others the names of v3.
    object_codec : Codec, dict, optional
        The object codec.

    Returns
    -------
    JSON
        v2's ``dtype`` or v3's ``data_type``.

    Raises
    ------
    ValueError, TypeError
        If the format does not have the data type.

    Examples
    --------
    >>> spec_dtype([("a", "f8"), ("b", "i2", (3,))], 2)
    [['a', '<f8'], ['b', '<i2', [3]]]
    >>> spec_dtype("M8[ns]", 3)
    {'name': 'numpy.datetime64', 'configuration': {'unit': 'ns', 'scale_factor': 1}}
    """
    if str(zarr_format) in ("1", "2"):
        return _spec_v2(dtype)
    if object_codec is not None and not isinstance(dtype, (ZDType, Mapping)):
        native, object_codec = normalize_dtype(dtype, object_codec)
        if native.hasobject:
            return type_of_objects(object_codec).to_json(zarr_format=3)
    return parse_dtype(dtype, zarr_format=3).to_json(zarr_format=3)


def _spec_v2(dtype: DTypeLike) -> Any:
    if isinstance(dtype, str) and known_only_in_v3(dtype):
        dtype = parse_name(dtype)
    if is_json(dtype):
        dtype = parse_dtype(dtype, zarr_format=2)
    if not isinstance(dtype, ZDType):
        dtype = normalize_dtype(dtype)[0].base
        if dtype.fields is not None:
            return _lists(encode_dtype(dtype))
        if type(dtype).__module__ == np.dtypes.__name__:
            return dtype.str
        # NumPy treats the dtypes of other packages as raw bytes.
        dtype = get_data_type_from_native_dtype(dtype)
    return unpack_dtype_json(dtype.to_json(zarr_format=2))


def _lists(data: Any) -> Any:
    return [_lists(item) for item in data] if isinstance(data, (list, tuple)) else data


def type_of_objects(object_codec: Any) -> ZDType[Any, Any]:
    """Returns the data type of the objects that a codec stores."""
    codec_id = (object_codec if isinstance(object_codec, Mapping) else object_codec.get_config())["id"]
    if codec_id in ("vlen-utf8", "categorize"):
        return VariableLengthUTF8()
    return VariableLengthBytes() if codec_id == "vlen-bytes" else PythonObject(object_codec_id=codec_id)


def _is_text(dtype: DTypeLike) -> bool:
    if isinstance(dtype, (VariableLengthUTF8, np.dtypes.StringDType)):
        return True
    return dtype is np.dtypes.StringDType or is_one_of(dtype, TEXT)
