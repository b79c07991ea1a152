"""Views of the stored bytes of an array with different metadata.

A view is an array that has its metadata in memory and uses the chunks of another array. It is read and written like any other array.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from zarrox import _native
from zarrox.argument_types import ChunksLike, DTypeLike, ShapeLike
from zarrox.codecs.convert import codec_config
from zarrox.core.dtype.resolve import native_dtype
from zarrox.core.element_types import spec_dtype
from zarrox.core.fill import fill_json
from zarrox.core.metadata import is_v3
from zarrox.core.shapes import chunk_lengths, normalize_shape
from zarrox.errors import ChunkNotFoundError, NodeNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Complete", "Converted", "native_view"]


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
    """Returns an array that uses the same chunks, with different metadata.

    Parameters
    ----------
    native : _native.Array
        The original array.
    chunks_in : _native.Store
        The store of its chunks.
    shape, chunks, dtype, fill_value, filters : object
        The changes; ``None`` leaves the array's value.
    """
    zarr_format = 3 if is_v3(native) else 2
    new_shape = native.shape if shape is None else normalize_shape(shape)
    new_dtype = native.dtype if dtype is None else native_dtype(dtype)
    fill = _fill(native, new_dtype, fill_value)
    if fill is None and zarr_format == 3:
        fill = 0
    changes: dict[str, Any] = {"shape": new_shape, "fill_value": fill_json(fill, new_dtype, zarr_format)}
    if chunks is not None:
        changes["chunks"] = _lengths(chunks, new_shape)
    if dtype is not None:
        changes["dtype"] = spec_dtype(new_dtype, zarr_format)
    if filters is not None:
        changes["filters"] = [codec_config(codec, 2) for codec in filters] or None
    return native.view(chunks_in, json.dumps(changes))


def _fill(native: _native.Array, dtype: np.dtype[Any], fill_value: Any) -> Any:
    """Returns the fill value of a view: the fill value of the array, if the data type can represent it."""
    if fill_value is not None:
        return fill_value
    try:
        return np.array(native.fill_value, dtype=dtype)[()] if native.fill_value is not None else None
    except (TypeError, ValueError, OverflowError):
        return None


def _lengths(chunks: ChunksLike, shape: tuple[int, ...]) -> list[int]:
    lengths = chunk_lengths(chunks, shape)
    if isinstance(lengths, bool):
        lengths = [None] * len(shape)
    return [max(whole, 1) if length is None else length for length, whole in zip(lengths, shape, strict=True)]


class Complete:
    """A native array that raises an error for missing chunks."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Array) -> None:
        self._native = native.with_options(missing_chunks="error")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def get(self, selection: Any) -> Any:
        return self._found(self._native.get, selection)

    def select(self, *args: Any) -> Any:
        return self._found(self._native.select, *args)

    @staticmethod
    def _found(read: Callable[..., Any], *args: Any) -> Any:
        try:
            return read(*args)
        except NodeNotFoundError as error:
            raise ChunkNotFoundError(str(error)) from None


class Converted:
    """A native array that converts elements when they are read."""

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
