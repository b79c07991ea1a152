"""Conversion of everything that users write as ``dtype`` to data types and to metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...meta import encode_dtype
from . import data_type_registry
from .common import unpack_dtype_json
from .npy.bytes import VariableLengthBytes
from .npy.object import PythonObject
from .npy.string import VariableLengthUTF8
from .wrapper import ZDType

if TYPE_CHECKING:
    from ...codecs.abc import Codec

_TEXT = (str, "str", "string", "unicode")
_BYTES = (bytes, "bytes")
_ARRAY = "array:"


def get_data_type_from_native_dtype(dtype: Any) -> ZDType[Any, Any]:
    """The data type of a NumPy data type, or of what NumPy takes as one.

    Parameters
    ----------
    dtype : numpy.dtype or dtype-like
        The native data type.

    Returns
    -------
    ZDType
        The only registered data type that takes it.

    Raises
    ------
    ValueError
        If there is none, or more than one.

    Examples
    --------
    >>> get_data_type_from_native_dtype("S10")
    NullTerminatedBytes(length=10)
    """
    return data_type_registry.match_dtype(_native(dtype))


def get_data_type_from_json(dtype_spec: Any, *, zarr_format: int) -> ZDType[Any, Any]:
    """The data type of JSON.

    Parameters
    ----------
    dtype_spec : JSON
        As :meth:`ZDType.to_json` gives it.
    zarr_format : {2, 3}
        The format that it is of.

    Returns
    -------
    ZDType
        The first registered data type that takes it.

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> get_data_type_from_json("float32", zarr_format=3)
    Float32(endianness='little')
    """
    return data_type_registry.match_json(dtype_spec, zarr_format=zarr_format)


def parse_dtype(dtype: Any, *, zarr_format: int) -> ZDType[Any, Any]:
    """The data type of anything that can be written as ``dtype``.

    Parameters
    ----------
    dtype : ZDType, JSON, numpy.dtype, dtype-like, str or type
        ``str``, ``"str"`` and ``"string"`` are text of any length, ``bytes`` are bytes of any number, ``"array:<i4"`` are arrays
        of any length.
    zarr_format : {2, 3}
        The format of the array. What is written says by itself what it is, so that any of it can be given for both.

    Returns
    -------
    ZDType
        The data type.

    Raises
    ------
    ValueError, TypeError
        If there is none, or more than one.

    Examples
    --------
    >>> parse_dtype("S10", zarr_format=2), parse_dtype(str, zarr_format=3)
    (NullTerminatedBytes(length=10), VariableLengthUTF8())
    """
    if isinstance(dtype, ZDType):
        return dtype
    if _is_json(dtype):
        # Objects of v2 and of v3 have members that the others lack.
        return get_data_type_from_json(dtype, zarr_format=2 if "object_codec_id" in dtype else 3)
    if isinstance(dtype, (str, type)):
        return _parse_name(dtype)
    return get_data_type_from_native_dtype(dtype)


def parse_data_type(dtype_spec: Any, *, zarr_format: int) -> ZDType[Any, Any]:
    """Like :func:`parse_dtype`.

    Examples
    --------
    >>> parse_data_type("int32", zarr_format=2)
    Int32(endianness='little')
    """
    return parse_dtype(dtype_spec, zarr_format=zarr_format)


def normalize_dtype(dtype: Any, object_codec: Codec | None = None) -> tuple[np.dtype[Any], Any]:
    """Converts a ``dtype`` of zarr-python 2 to a NumPy data type and the codec of objects.

    Parameters
    ----------
    dtype : ZDType, numpy.dtype, dtype-like, str or type
        Text, bytes and arrays of any length are stored as objects.
    object_codec : Codec, optional
        Takes the place of the codec that belongs to the data type.

    Returns
    -------
    dtype : numpy.dtype
        NumPy's data type, which can have a shape of its own.
    object_codec : Codec or None
        The codec that stores the objects, as far as it is known.

    Raises
    ------
    ValueError
        For times without a unit.

    Examples
    --------
    >>> normalize_dtype("array:<i4")
    (dtype('O'), VLenArray(dtype='<i4'))
    """
    from ... import codecs

    if _is_json(dtype):
        dtype = parse_dtype(dtype, zarr_format=2)
    if isinstance(dtype, str) and dtype.startswith(_ARRAY):
        return np.dtype(object), object_codec or codecs.VLenArray(dtype[len(_ARRAY) :])
    if _is_text(dtype):
        return np.dtype(object), object_codec or codecs.VLenUTF8()
    if isinstance(dtype, VariableLengthBytes) or _is_one_of(dtype, _BYTES):
        return np.dtype(object), object_codec or codecs.VLenBytes()
    if isinstance(dtype, PythonObject):
        return np.dtype(object), object_codec or codecs.get_codec({"id": dtype.object_codec_id})
    native = dtype.to_native_dtype() if isinstance(dtype, ZDType) else _native(dtype)
    if native == np.dtype("M8") or native == np.dtype("m8"):
        raise ValueError(
            "datetime64 and timedelta64 dtypes with generic units are not supported, please specify units (e.g., \"M8[ns]\")"
        )
    return native, object_codec


def spec_dtype(dtype: Any, zarr_format: int | str, object_codec: Any = None) -> Any:
    """The data type as the metadata of a new array says it.

    Parameters
    ----------
    dtype : ZDType, JSON, numpy.dtype, dtype-like, str or type
        Anything that :func:`parse_dtype` takes, and every data type of NumPy that v2 can store.
    zarr_format : int or str
        1 and 2 have NumPy's names, all others those of v3.
    object_codec : Codec, dict, optional
        What stores objects.

    Returns
    -------
    JSON
        v2's ``dtype`` or v3's ``data_type``.

    Raises
    ------
    ValueError, TypeError
        If the format has no name for it.

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


def _spec_v2(dtype: Any) -> Any:
    if isinstance(dtype, str) and _known_only_in_v3(dtype):
        dtype = _parse_name(dtype)
    if _is_json(dtype):
        dtype = parse_dtype(dtype, zarr_format=2)
    if not isinstance(dtype, ZDType):
        dtype = normalize_dtype(dtype)[0].base
        if dtype.fields is not None:
            return _lists(encode_dtype(dtype))
        if type(dtype).__module__ == np.dtypes.__name__:
            return dtype.str
        # To NumPy, types of other packages are bytes that nothing is known of.
        dtype = get_data_type_from_native_dtype(dtype)
    return unpack_dtype_json(dtype.to_json(zarr_format=2))


def _lists(data: Any) -> Any:
    return [_lists(item) for item in data] if isinstance(data, (list, tuple)) else data


def type_of_objects(object_codec: Any) -> ZDType[Any, Any]:
    """The data type of objects that a codec stores."""
    codec_id = (object_codec if isinstance(object_codec, Mapping) else object_codec.get_config())["id"]
    if codec_id in ("vlen-utf8", "categorize"):
        return VariableLengthUTF8()
    return VariableLengthBytes() if codec_id == "vlen-bytes" else PythonObject(object_codec_id=codec_id)


def _parse_name(dtype: str | type) -> ZDType[Any, Any]:
    """Names of v3 come first, then those of NumPy; nothing is both and means two things but ``bytes``."""
    if _is_one_of(dtype, _TEXT):
        return VariableLengthUTF8()
    if _is_one_of(dtype, _BYTES):
        return VariableLengthBytes()
    if isinstance(dtype, type):
        return get_data_type_from_native_dtype(dtype)
    if dtype.startswith(_ARRAY):
        return PythonObject(object_codec_id="vlen-array")
    try:
        return get_data_type_from_json(dtype, zarr_format=3)
    except ValueError:
        return get_data_type_from_native_dtype(dtype)


def _known_only_in_v3(name: str) -> bool:
    try:
        np.dtype(name)
    except TypeError:
        return name in data_type_registry.contents and not _is_one_of(name, _TEXT)
    return False


def _is_json(dtype: Any) -> bool:
    """Returns true if this is a data type as metadata has it: NumPy, too, takes mappings, with other members."""
    return isinstance(dtype, Mapping) and dtype.keys() <= {"name", "object_codec_id", "configuration"}


def _native(dtype: Any) -> np.dtype[Any]:
    if isinstance(dtype, list) and dtype and all(isinstance(field, Sequence) for field in dtype):
        # Fields of JSON are lists, where NumPy wants tuples.
        dtype = [_field(field) for field in dtype]
    native: np.dtype[Any] = np.dtype(dtype)
    return native


def _field(field: Any) -> Any:
    name, dtype, *shape = field
    name = tuple(name) if isinstance(name, list) else name
    return (name, _native(dtype), *(tuple(s) if isinstance(s, list) else s for s in shape))


def _is_text(dtype: Any) -> bool:
    if isinstance(dtype, (VariableLengthUTF8, np.dtypes.StringDType)):
        return True
    return dtype is np.dtypes.StringDType or _is_one_of(dtype, _TEXT)


def _is_one_of(dtype: Any, names: tuple[Any, ...]) -> bool:
    return isinstance(dtype, (str, type)) and dtype in names
