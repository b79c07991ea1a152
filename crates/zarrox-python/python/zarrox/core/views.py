"""Arrays that show the stored bytes of another one in a different way.

A view is an array whose metadata is kept in memory, over the chunks of the other array; reading and writing it is no different
from any other array.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from zarrox import _native
from zarrox.argument_types import ChunksLike, DTypeLike, ShapeLike
from zarrox.core.dtype.resolve import native_dtype
from zarrox.core.element_types import spec_dtype
from zarrox.core.fill import fill_json
from zarrox.core.metadata import document_key, is_v3
from zarrox.documents import json_dumps
from zarrox.errors import UnsupportedError
from zarrox.shapes import chunk_lengths, normalize_shape

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Converted", "native_view"]


def native_view(
    native: _native.Array,
    chunks_in: _native.Store,
    *,
    shape: ShapeLike | None = None,
    chunks: ChunksLike = None,
    dtype: DTypeLike = None,
    fill_value: Any = None,
    filters: Any = None,
) -> _native.Array:
    """An array over the same chunks with other metadata.

    Parameters
    ----------
    native : _native.Array
        The array that is looked at.
    chunks_in : _native.Store
        Where its chunks are.
    shape, chunks, dtype, fill_value, filters : object
        What is different; ``None`` for what is not.
    """
    if native.format.lstrip("v") not in ("2", "3"):
        raise UnsupportedError(f"views with other metadata need an array of version 2 or 3, not of format {native.format}")
    document = json.loads(native.document())
    new_shape = native.shape if shape is None else normalize_shape(shape)
    new_dtype = native.dtype if dtype is None else native_dtype(dtype)
    fill = _fill(native, new_dtype, fill_value)
    document["shape"] = new_shape
    if is_v3(native):
        _edit_v3(document, new_shape, chunks, dtype, filters)
        document["fill_value"] = fill_json(0 if fill is None else fill, new_dtype, 3)
    else:
        _edit_v2(document, new_shape, chunks, dtype, filters)
        document["fill_value"] = fill_json(fill, new_dtype, 2)
    documents = _native.Store.memory()
    documents.set(document_key(native), json_dumps(document))
    view = _native.open_node(documents.with_chunks(chunks_in), native.path)
    assert isinstance(view, _native.Array)
    return view


def _fill(native: _native.Array, dtype: np.dtype[Any], fill_value: Any) -> Any:
    """The fill value of a view: the array's, if its type can hold that."""
    if fill_value is not None:
        return fill_value
    try:
        return np.array(native.fill_value, dtype=dtype)[()] if native.fill_value is not None else None
    except (TypeError, ValueError, OverflowError):
        return None


def _edit_v2(document: dict[str, Any], shape: tuple[int, ...], chunks: ChunksLike, dtype: DTypeLike, filters: Any) -> None:
    from zarrox.codecs import codec_config
    if chunks is not None:
        document["chunks"] = _lengths(chunks, shape)
    if dtype is not None:
        document["dtype"] = spec_dtype(native_dtype(dtype), 2)
    if filters is not None:
        document["filters"] = [codec_config(codec, 2) for codec in filters] or None


def _edit_v3(document: dict[str, Any], shape: tuple[int, ...], chunks: ChunksLike, dtype: DTypeLike, filters: Any) -> None:
    if filters is not None:
        raise UnsupportedError("views with other filters need an array of version 2")
    if chunks is not None:
        document["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": _lengths(chunks, shape)}}
    if dtype is not None:
        document["data_type"] = spec_dtype(native_dtype(dtype), 3)


def _lengths(chunks: ChunksLike, shape: tuple[int, ...]) -> list[int]:
    lengths = chunk_lengths(chunks, shape)
    if isinstance(lengths, bool):
        lengths = [None] * len(shape)
    return [max(whole, 1) if length is None else length for length, whole in zip(lengths, shape, strict=True)]


class Converted:
    """A native array whose elements are converted when they are read."""

    __slots__ = ("_convert", "_dtype", "_native")

    def __init__(self, native: _native.Array, convert: Callable[[Any], Any], dtype: np.dtype[Any] | None = None) -> None:
        self._native = native
        self._convert = convert
        self._dtype = dtype

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype or self._native.dtype

    def get(self, selection: Any) -> Any:
        return self._convert(self._native.get(selection))

    def select(self, kind: Any, selection: Any, out: npt.NDArray[Any] | None = None, fields: Any = None) -> Any:
        values = self._convert(self._native.select(kind, selection, None, fields))
        if out is None:
            return values
        if out.shape != np.shape(values):
            raise ValueError(f"parameter 'out': expected array with shape {np.shape(values)}, got {out.shape}")
        out[...] = values
        return out
