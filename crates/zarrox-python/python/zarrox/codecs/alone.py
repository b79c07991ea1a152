"""Standalone use of codecs that need the shape of an array: the data is the only chunk of an array in memory."""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np

from zarrox import _native

from .abc import NativeCodec, as_array, config_json

__all__ = ["decode_alone", "encode_alone", "fill"]


def encode_alone(codec: NativeCodec, elements: np.ndarray[Any, Any]) -> bytes:
    """Returns the bytes of an array."""
    if elements.size == 0:
        return b""
    array = _array(codec, elements.dtype, elements.shape)
    array.set(..., elements)
    return array.encoded_chunk((0,) * elements.ndim) or b""


def decode_alone(codec: NativeCodec, stored: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Returns the array that these bytes encode."""
    if 0 in shape:
        return np.empty(shape, dtype)
    array = _array(codec, dtype, shape)
    array.set_encoded_chunk((0,) * len(shape), stored)
    elements: np.ndarray[Any, Any] = array.get(...)
    return elements


def _array(codec: NativeCodec, dtype: np.dtype[Any], shape: tuple[int, ...]) -> _native.Array:
    spec = {
        "format": "2",
        "shape": shape,
        "chunks": False,
        "dtype": dtype.str,
        "fill_value": None,
        "compressor": None,
        "filters": [json.loads(config_json(codec.get_config()))],
    }
    array = _native.create_array(_native.Store.memory(), "", json.dumps(spec))
    return array.with_options(write_empty_chunks=True)


def fill(out: Any, elements: np.ndarray[Any, Any]) -> Any:
    """Copies elements into the caller's memory, whatever its data type, if the size fits."""
    target = as_array(out)
    elements = elements if target.dtype.hasobject else elements.view(target.dtype)
    order: Literal["C", "F"] = "F" if target.flags.f_contiguous and not target.flags.c_contiguous else "C"
    np.copyto(target, elements.reshape(target.shape, order=order), casting="no")
    return out
