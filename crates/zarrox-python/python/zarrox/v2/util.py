"""The names in zarr-python 2's ``zarr.util`` that programs use. Each is defined in another module."""

from __future__ import annotations

import json
from keyword import iskeyword
from typing import Any

import numpy as np

from zarrox import _native
from zarrox.argument_types import ChunksLike
from zarrox.core.element_types import normalize_dtype
from zarrox.core.fill import fill_json, normalize_fill_value
from zarrox.core.progress import progress_reporter
from zarrox.core.shapes import (
    chunk_lengths,
    normalize_dimension_separator,
    normalize_order,
    normalize_resize_args,
    normalize_shape,
)
from zarrox.v2.indexing import is_total_slice
from zarrox.shown.info import InfoReporter, human_readable_size, info_html_report, info_text_report
from zarrox.shown.tree import TreeViewer
from zarrox.storage import normalize_storage_path
from zarrox.documents import json_dumps, json_loads

__all__ = [
    "InfoReporter",
    "TreeViewer",
    "buffer_size",
    "chunk_lengths",
    "fill_json",
    "guess_chunks",
    "human_readable_size",
    "info_html_report",
    "info_text_report",
    "is_total_slice",
    "is_valid_python_name",
    "json_dumps",
    "json_loads",
    "normalize_chunks",
    "normalize_dimension_separator",
    "normalize_dtype",
    "normalize_fill_value",
    "normalize_order",
    "normalize_resize_args",
    "normalize_shape",
    "normalize_storage_path",
    "progress_reporter",
]


def is_valid_python_name(name: str) -> bool:
    """Returns true if a member with this name can be accessed as an attribute."""
    return name.isidentifier() and not iskeyword(name)


def normalize_chunks(chunks: ChunksLike, shape: tuple[int, ...], typesize: int) -> tuple[int, ...]:
    """Returns the chunk shape of an array for a ``chunks`` argument.

    Parameters
    ----------
    chunks : bool, int, sequence or None
        See `chunk_lengths`.
    shape : tuple of int
        The shape of the array.
    typesize : int
        The size of an element in bytes, on which a guessed chunk shape depends.

    Examples
    --------
    >>> from zarrox.v2.util import normalize_chunks
    >>> normalize_chunks((None, 10), (100, 100), 8)
    (100, 10)
    """
    try:
        lengths = chunk_lengths(chunks, shape)
    except TypeError as error:
        raise ValueError(str(error)) from error
    spec = {"format": "2", "shape": shape, "dtype": f"|V{typesize}", "chunks": lengths}
    return _native.create_array(_native.Store.memory(), "", json.dumps(spec)).chunks


def guess_chunks(shape: tuple[int, ...], typesize: int) -> tuple[int, ...]:
    """Returns the default chunk shape.

    Examples
    --------
    >>> from zarrox.v2.util import guess_chunks
    >>> guess_chunks((10000, 10000), 4)
    (625, 625)
    """
    return normalize_chunks(True, shape, typesize)


def buffer_size(v: Any) -> int:
    """Returns the number of bytes of an object that supports the buffer protocol.

    Examples
    --------
    >>> from zarrox.v2.util import buffer_size
    >>> buffer_size(b"abc")
    3
    """
    return v.nbytes if isinstance(v, np.ndarray) else memoryview(v).nbytes
