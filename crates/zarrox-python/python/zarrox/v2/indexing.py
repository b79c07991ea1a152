"""The helpers of zarr-python 2's ``zarr.indexing`` that other packages import, and the classes of ``z.oindex``,
``z.vindex`` and ``z.blocks``."""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import Any

import numpy as np

from zarrox.core.indexing import BlockIndex, OIndex, VIndex
from zarrox.errors import ArrayIndexError, BoundsCheckError

__all__ = [
    "BlockIndex",
    "OIndex",
    "PartialChunkIterator",
    "VIndex",
    "ceildiv",
    "ensure_tuple",
    "is_bool_array",
    "is_bool_list",
    "is_contiguous_selection",
    "is_integer",
    "is_integer_array",
    "is_integer_list",
    "is_scalar",
    "is_slice",
    "is_total_slice",
    "make_slice_selection",
    "normalize_integer_selection",
    "oindex",
    "oindex_set",
    "replace_ellipsis",
]


def is_integer(x: Any) -> bool:
    """Returns true for an integer that is not a boolean."""
    return isinstance(x, numbers.Integral) and not isinstance(x, (bool, np.bool_))


def is_integer_list(x: Any) -> bool:
    """Returns true for a list that begins with an integer."""
    return isinstance(x, list) and bool(x) and is_integer(x[0])


def is_integer_array(x: Any, ndim: int | None = None) -> bool:
    """Returns true for an array of integers, with the given number of dimensions if one is given."""
    return _is_array(x, "iu", ndim)


def is_bool_list(x: Any) -> bool:
    """Returns true for a list that begins with a boolean."""
    return isinstance(x, list) and bool(x) and isinstance(x[0], (bool, np.bool_))


def is_bool_array(x: Any, ndim: int | None = None) -> bool:
    """Returns true for an array of booleans, with the given number of dimensions if one is given."""
    return _is_array(x, "b", ndim)


def _is_array(x: Any, kinds: str, ndim: int | None) -> bool:
    if not (hasattr(x, "shape") and hasattr(x, "dtype")):
        return False
    return x.dtype.kind in kinds and ndim in (None, len(x.shape))


def is_scalar(value: Any, dtype: np.dtype[Any]) -> bool:
    """Returns true for a value that is a single element of a data type, such as a tuple for a structured data type."""
    if np.isscalar(value) or getattr(value, "shape", None) == ():
        return True
    return isinstance(value, tuple) and dtype.names is not None and len(value) == len(dtype.names)


def is_slice(s: Any) -> bool:
    """Returns true for a slice."""
    return isinstance(s, slice)


def is_contiguous_selection(selection: Any) -> bool:
    """Returns true if a selection consists only of integers, slices without steps and an ellipsis."""

    def is_contiguous(part: Any) -> bool:
        return is_integer(part) or part is Ellipsis or (is_slice(part) and part.step in (None, 1))

    return all(map(is_contiguous, ensure_tuple(selection)))


def is_total_slice(item: Any, shape: tuple[int, ...]) -> bool:
    """Returns true if a selection selects all of an array with the given shape.

    Parameters
    ----------
    item : slice, int, ellipsis or tuple of these
        The selection.
    shape : tuple of int
        The shape.

    Raises
    ------
    TypeError
        For a selection of another kind.

    Examples
    --------
    >>> is_total_slice((slice(0, 10), slice(None)), (10, 5)), is_total_slice(slice(0, 9), (10,))
    (True, False)
    """
    parts = ensure_tuple(item)
    if not all(isinstance(part, (slice, EllipsisType)) or is_integer(part) for part in parts):
        raise TypeError(f"expected a slice or a tuple of slices, found {item!r}")
    if parts == (Ellipsis,):
        return True
    return all(_is_total(part, length) for part, length in zip(replace_ellipsis(parts, shape), shape, strict=True))


def _is_total(part: Any, length: int) -> bool:
    if isinstance(part, slice):
        return part.indices(length) == (0, length, 1)
    return length == 1 and int(part) in (0, -1)


def ensure_tuple(v: Any) -> tuple[Any, ...]:
    """Returns a tuple unchanged, and any other value in a one-element tuple."""
    return v if isinstance(v, tuple) else (v,)


def ceildiv(a: int, b: int) -> int:
    """Returns the quotient of two integers, rounded up."""
    return -(-a // b)


def normalize_integer_selection(dim_sel: Any, dim_len: int) -> int:
    """Returns an index as a non-negative number.

    Raises
    ------
    BoundsCheckError
        If the index is outside the dimension.

    Examples
    --------
    >>> normalize_integer_selection(-1, 10)
    9
    """
    index = int(dim_sel)
    if not -dim_len <= index < dim_len:
        raise BoundsCheckError(f"index {index} is out of bounds for a dimension of length {dim_len}")
    return index % dim_len


def replace_ellipsis(selection: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Returns the selection with one item for each dimension.

    Raises
    ------
    IndexError
        If there is more than one ellipsis, or more parts than dimensions.

    Examples
    --------
    >>> replace_ellipsis((..., 1), (5, 5, 5))
    (slice(None, None, None), slice(None, None, None), 1)
    """
    parts = list(ensure_tuple(selection))
    ellipses = [index for index, part in enumerate(parts) if part is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    missing = len(shape) - (len(parts) - len(ellipses))
    if missing < 0:
        raise IndexError(f"too many indices for array; expected {len(shape)}, got {len(parts) - len(ellipses)}")
    at = ellipses[0] if ellipses else len(parts)
    parts[at : at + len(ellipses)] = [slice(None)] * missing
    return tuple(parts)


def make_slice_selection(selection: Sequence[Any]) -> list[slice]:
    """Returns the selection with slices in place of integers and one-element integer arrays.

    Raises
    ------
    ArrayIndexError
        For an array of several integers.

    Examples
    --------
    >>> make_slice_selection((3, slice(0, 2)))
    [slice(3, 4, 1), slice(0, 2, None)]
    """
    return [part if isinstance(part, slice) else _slice_of(part) for part in selection]


def _slice_of(part: Any) -> slice:
    if np.size(part) != 1:
        raise ArrayIndexError(f"expected a single integer, found {part!r}")
    index = int(np.asarray(part).flat[0])
    return slice(index, index + 1, 1)


def oindex(a: Any, selection: Any) -> Any:
    """Reads from a NumPy array along each dimension independently, as ``z.oindex[selection]`` does from a Zarr array.

    Examples
    --------
    >>> oindex(np.arange(9).reshape(3, 3), ([0, 2], [0, 2]))
    array([[0, 2],
           [6, 8]])
    """
    places, dropped = _orthogonal(selection, a.shape)
    return a[places].squeeze(axis=dropped)


def oindex_set(a: Any, selection: Any, value: Any) -> None:
    """Writes to a NumPy array along each dimension independently, as ``z.oindex[selection] = value`` does to a Zarr array."""
    places, dropped = _orthogonal(selection, a.shape)
    a[places] = value if np.isscalar(value) else np.expand_dims(value, dropped)


def _orthogonal(selection: Any, shape: tuple[int, ...]) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """Returns NumPy's form of an orthogonal selection, and the dimensions that integers drop."""
    parts = replace_ellipsis(selection, shape)
    dropped = tuple(axis for axis, part in enumerate(parts) if is_integer(part))
    lists = [_indices(part, length) for part, length in zip(parts, shape, strict=True)]
    return np.ix_(*lists), dropped


def _indices(part: Any, length: int) -> Any:
    if is_slice(part):
        return range(*part.indices(length))
    return [int(part)] if is_integer(part) else part


class PartialChunkIterator:
    """Iterates over the runs of contiguous elements that make up a selection from a chunk, in row-major order.

    Each item contains the offset of a run's first element in the chunk, the number of elements in the run, and its region in the chunk.

    Parameters
    ----------
    selection : sequence of slice or int
        A slice with a positive step or an integer for each dimension.
    arr_shape : tuple of int
        The shape of the chunk.

    Raises
    ------
    ValueError
        For a slice that goes backwards.

    Examples
    --------
    >>> list(PartialChunkIterator((slice(0, 2), slice(1, 3)), (4, 4)))
    [(1, 2, (slice(0, 1, 1), slice(1, 3, 1))), (5, 2, (slice(1, 2, 1), slice(1, 3, 1)))]
    """

    def __init__(self, selection: Sequence[Any], arr_shape: tuple[int, ...]) -> None:
        self.arr_shape = arr_shape
        parts = replace_ellipsis(tuple(selection), arr_shape)
        places = [_places(part, length) for part, length in zip(parts, arr_shape, strict=True)]
        if any(each.step < 1 for each in places):
            raise ValueError("slices that go backwards have no runs of elements")
        # A run covers the trailing dimensions that are selected completely, and the dimension before them.
        while len(places) > 1 and places[-1] == range(arr_shape[len(places) - 1]):
            places.pop()
        run = places.pop() if places and places[-1].step == 1 else None
        slices = [[slice(place, place + 1, 1) for place in each] for each in places]
        if run is not None:
            slices.append([slice(run.start, run.stop, 1)] if run else [])
        self.chunk_loc_slices = list(itertools.product(*slices))

    def __iter__(self) -> Iterator[tuple[int, int, tuple[slice, ...]]]:
        strides = [math.prod(self.arr_shape[axis + 1 :]) for axis in range(len(self.arr_shape))]
        for place in self.chunk_loc_slices:
            count = math.prod(part.stop - part.start for part in place) * math.prod(self.arr_shape[len(place) :])
            yield sum(part.start * stride for part, stride in zip(place, strides, strict=False)), count, place


def _places(part: Any, length: int) -> range:
    if is_slice(part):
        return range(*part.indices(length))
    index = normalize_integer_selection(part, length)
    return range(index, index + 1)
