"""Encoding and decoding of version 2 documents.

Arrays and groups read and write their documents natively. The functions in this module are for programs that handle documents
themselves.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrox import _native
from zarrox.codecs.registry import get_codec
from zarrox.core.dtype.npy.common import float_to_json
from zarrox.errors import MetadataError
from zarrox.documents import json_dumps, json_loads

__all__ = [
    "ZARR_FORMAT",
    "Metadata2",
    "decode_array_metadata",
    "decode_dtype",
    "decode_fill_value",
    "decode_group_metadata",
    "encode_array_metadata",
    "encode_dtype",
    "encode_fill_value",
    "encode_group_metadata",
    "parse_metadata",
]

ZARR_FORMAT = 2
"""The format version of these documents."""

Document = Mapping[str, Any] | str | bytes
"""A document as stored, or parsed already."""


def parse_metadata(s: Document) -> dict[str, Any]:
    """Parses a document."""
    if isinstance(s, Mapping):
        return dict(s)
    found: dict[str, Any] = json_loads(s)
    return found


def _check_format(document: Mapping[str, Any]) -> None:
    found = document.get("zarr_format")
    if found != ZARR_FORMAT:
        raise MetadataError(f"the document has zarr_format {found!r}; only {ZARR_FORMAT} is supported")


def _object_codec(dtype: np.dtype[Any], filters: Any) -> Any:
    if not dtype.hasobject:
        return None
    return get_codec(filters[0])


def decode_array_metadata(s: Document) -> dict[str, Any]:
    """Reads an array's document.

    Parameters
    ----------
    s : Mapping, str or bytes
        The document ``.zarray``.

    Returns
    -------
    dict
        ``zarr_format``, ``shape``, ``chunks``, ``dtype``, ``compressor``, ``fill_value``, ``order``, ``filters``, and
        ``dimension_separator`` if present.

    Raises
    ------
    MetadataError
        If the document has another format, or lacks a member.

    Examples
    --------
    >>> from zarrox.meta import decode_array_metadata
    >>> document = {"zarr_format": 2, "shape": [3], "chunks": [2], "dtype": "<f4", "compressor": None,
    ...             "fill_value": "NaN", "order": "C", "filters": None}
    >>> decode_array_metadata(document)["dtype"]
    dtype('float32')
    """
    document = parse_metadata(s)
    _check_format(document)
    try:
        dtype = decode_dtype(document["dtype"])
        fill_value = decode_fill_value(
            document["fill_value"], dtype, _object_codec(dtype, document.get("filters"))
        )
        found = {
            "zarr_format": document["zarr_format"],
            "shape": tuple(document["shape"]),
            "chunks": tuple(document["chunks"]),
            "dtype": dtype,
            "compressor": document["compressor"],
            "fill_value": fill_value,
            "order": document["order"],
            "filters": document["filters"],
        }
    except Exception as error:
        raise MetadataError(f"invalid array metadata: {error!r}") from error
    separator = document.get("dimension_separator")
    return {**found, "dimension_separator": separator} if separator else found


def encode_array_metadata(meta: Mapping[str, Any]) -> bytes:
    """Returns the document of an array.

    Parameters
    ----------
    meta : Mapping
        The result of :func:`decode_array_metadata`. The shape of a data type is appended to the shape of the array.

    Returns
    -------
    bytes
        The document ``.zarray``, as zarr-python 2 writes it.
    """
    dtype: np.dtype[Any] = meta["dtype"]
    inner: tuple[int, ...] = ()
    if dtype.subdtype is not None:
        dtype, inner = dtype.subdtype
    document = {
        "zarr_format": ZARR_FORMAT,
        "shape": (*meta["shape"], *inner),
        "chunks": meta["chunks"],
        "dtype": encode_dtype(dtype),
        "compressor": meta["compressor"],
        "fill_value": encode_fill_value(meta["fill_value"], dtype, _object_codec(dtype, meta["filters"])),
        "order": meta["order"],
        "filters": meta["filters"],
    }
    if meta.get("dimension_separator"):
        document["dimension_separator"] = meta["dimension_separator"]
    return json_dumps(document)


def decode_group_metadata(s: Document) -> dict[str, Any]:
    """Reads a group's document.

    Raises
    ------
    MetadataError
        If the document has another format.
    """
    document = parse_metadata(s)
    _check_format(document)
    return {"zarr_format": ZARR_FORMAT}


def encode_group_metadata(meta: object = None) -> bytes:
    """Returns the document of a group.

    Examples
    --------
    >>> from zarrox.meta import encode_group_metadata
    >>> print(encode_group_metadata().decode())
    {
        "zarr_format": 2
    }
    """
    return json_dumps({"zarr_format": ZARR_FORMAT})


def encode_dtype(d: np.dtype[Any]) -> Any:
    """Returns a data type in the form of documents.

    Examples
    --------
    >>> import numpy as np
    >>> from zarrox.meta import encode_dtype
    >>> encode_dtype(np.dtype("int32")), encode_dtype(np.dtype([("a", "i1")]))
    ('<i4', [('a', '|i1')])
    """
    # Metadata that programs such as h5py attach to a type is dropped.
    return d.str if d.fields is None else np.lib.format.drop_metadata(d).descr


def decode_dtype(d: Any) -> np.dtype[Any]:
    """Returns a data type from a document."""
    found: np.dtype[Any] = np.dtype(_fields(d))
    return found


def _fields(d: Any) -> Any:
    """Converts JSON lists to the tuples that NumPy requires."""
    if not isinstance(d, (list, tuple)):
        return d
    return [(field[0], _fields(field[1]), *(tuple(shape) for shape in field[2:])) for field in d]


def decode_fill_value(v: Any, dtype: npt.DTypeLike, object_codec: Any = None) -> Any:
    """Returns a fill value from a document.

    Parameters
    ----------
    v : object
        JSON.
    dtype : dtype
        The array's data type.
    object_codec : Codec, optional
        The object codec.

    Returns
    -------
    object
        A NumPy scalar; text unchanged; ``None`` without a fill value.

    Raises
    ------
    ValueError
        If the type has object fields, and no codec for them is given.
    """
    dtype = np.dtype(dtype)
    if v is None or dtype.kind == "O":
        return v
    if dtype.hasobject:
        return np.array(_needed(object_codec).decode(base64.standard_b64decode(v)), dtype)[()]
    document = {
        "zarr_format": ZARR_FORMAT,
        "shape": [1],
        "chunks": [1],
        "dtype": encode_dtype(dtype),
        "compressor": None,
        "fill_value": v,
        "order": "C",
        "filters": None,
    }
    store = _native.Store.memory()
    store.set(".zarray", json_dumps(document))
    array = _native.open_node(store)
    assert isinstance(array, _native.Array)
    return array.fill_value


def _needed(object_codec: Any) -> Any:
    if object_codec is None:
        raise ValueError("the data type has object fields: its fill value needs an object_codec")
    return object_codec


def encode_fill_value(v: Any, dtype: npt.DTypeLike, object_codec: Any = None) -> Any:
    """Returns a fill value in the form of documents.

    Parameters
    ----------
    v : object
        The fill value.
    dtype : dtype
        The array's data type.
    object_codec : Codec, optional
        The object codec.

    Returns
    -------
    object
        JSON.

    Raises
    ------
    ValueError
        If the type has object fields, and no codec for them is given.

    Examples
    --------
    >>> import numpy as np
    >>> from zarrox.meta import encode_fill_value
    >>> encode_fill_value(np.inf, np.dtype("f8")), encode_fill_value(b"ab", np.dtype("S2"))
    ('Infinity', 'YWI=')
    """
    if v is None:
        return None
    dtype = np.dtype(dtype)
    if dtype.kind == "V" and dtype.hasobject:
        return base64.standard_b64encode(_needed(object_codec).encode(v)).decode("ascii")
    if dtype.kind == "f":
        return float_to_json(v)
    if dtype.kind in "ui":
        return int(v)
    if dtype.kind == "b":
        return bool(v)
    if dtype.kind == "c":
        return (float_to_json(v.real), float_to_json(v.imag))
    if dtype.kind in "SV":
        return base64.standard_b64encode(v).decode("ascii")
    if dtype.kind in "mM":
        return int(v.view("i8"))
    return v


class Metadata2:
    """The functions of this module as class methods, for stores."""

    ZARR_FORMAT = ZARR_FORMAT
    parse_metadata = staticmethod(parse_metadata)
    decode_array_metadata = staticmethod(decode_array_metadata)
    encode_array_metadata = staticmethod(encode_array_metadata)
    decode_group_metadata = staticmethod(decode_group_metadata)
    encode_group_metadata = staticmethod(encode_group_metadata)
    encode_dtype = staticmethod(encode_dtype)
    decode_dtype = staticmethod(decode_dtype)
    encode_fill_value = staticmethod(encode_fill_value)
    decode_fill_value = staticmethod(decode_fill_value)
