"""Converts pickled objects, and structures with object fields, to and from NumPy arrays. Rust calls these functions if pickles are
allowed."""

from __future__ import annotations

import base64
import json
import pickle
from typing import Any

import numpy as np

from zarrox.meta import decode_dtype

__all__ = ["default_fill", "dumps", "fill_from_json", "fill_to_json", "loads"]

_PROTOCOL = 5


def _dtype(text: str) -> np.dtype[Any]:
    return decode_dtype(json.loads(text))


def default_fill(dtype: str) -> bytes:
    """Returns the pickle of an unwritten element: that of ``None``, or of a structure of zeros."""
    of = _dtype(dtype)
    return pickle.dumps(np.zeros((), of).item() if of.names else None, _PROTOCOL)


def fill_from_json(dtype: str, text: str) -> bytes:
    """Returns the pickle of a fill value in metadata, which is any JSON value or, for a structure, its pickle in base64."""
    value = json.loads(text)
    of = _dtype(dtype)
    if of.names is None:
        return pickle.dumps(value, _PROTOCOL)
    if not isinstance(value, str):
        raise ValueError(f"a structure with objects must be in base64, not {text}")
    element = pickle.loads(base64.standard_b64decode(value))
    return pickle.dumps(np.asarray(element, dtype=of).item(), _PROTOCOL)


def fill_to_json(dtype: str, element: bytes) -> str:
    """Returns the fill value for a pickle, in the form of metadata."""
    value = pickle.loads(element)
    of = _dtype(dtype)
    if of.names is None:
        return json.dumps(value)
    encoded = pickle.dumps(np.array(value, dtype=of)[()], _PROTOCOL)
    return json.dumps(base64.standard_b64encode(encoded).decode("ascii"))


def dumps(dtype: str, elements: list[bytes], shape: tuple[int, ...], protocol: int) -> bytes:
    """Returns the pickle of an array, given the pickles of its elements in order."""
    array = np.empty(len(elements), dtype=_dtype(dtype))
    for index, element in enumerate(elements):
        array[index] = pickle.loads(element) if element else None
    return pickle.dumps(array.reshape(shape), protocol)


def loads(dtype: str, encoded: bytes, shape: tuple[int, ...], region: list[tuple[int, int, int]]) -> list[bytes]:
    """Returns the pickles of some elements of a pickled array.

    Parameters
    ----------
    dtype : str
        The type in JSON.
    encoded : bytes
        The pickle of the array.
    shape : tuple of int
        The shape of the array.
    region : list of tuple of int
        The first index along each dimension, the step, and the number of indices.
    """
    # A column-major array is stored as its transpose, which has this shape.
    flat = np.asarray(pickle.loads(encoded), dtype=_dtype(dtype)).reshape(-1, order="A")
    ends = [slice(start, start + step * count, step) for start, step, count in region]
    return [pickle.dumps(element, _PROTOCOL) for element in flat.reshape(shape)[tuple(ends)].reshape(-1).tolist()]
