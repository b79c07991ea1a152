"""Lazy views of arrays: elements are read only when a view is used."""

from __future__ import annotations

import operator
from types import EllipsisType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from zarrox.waiting import run

if TYPE_CHECKING:
    from zarrox.core.base import ArrayBase

__all__ = ["LazyArray"]

#: The positions of a view along a dimension of the array: evenly spaced ones, a list, or a single position, which drops the dimension.
_Places = range | npt.NDArray[np.intp] | int


class LazyArray:
    """A part of an array. Its elements are read only when it is used.

    Selections compose: slices, integers, and lists or masks along single dimensions, which select independently of each other
    (orthogonally). Assignments write through to the array.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> z = zarr.array(np.arange(100).reshape(10, 10), chunks=5)
    >>> view = z.lazy[2:8, ::-3][:, [0, 2]]
    >>> view.shape
    (6, 2)
    >>> np.asarray(view[-1])
    array([79, 73])
    >>> view[0] = 0
    >>> z[2]
    array([20, 21, 22,  0, 24, 25, 26, 27, 28,  0])
    """

    __slots__ = ("_array", "_places")

    def __init__(self, array: ArrayBase, places: tuple[_Places, ...] | None = None) -> None:
        self._array = array
        self._places = tuple(map(range, array.shape)) if places is None else places

    @property
    def array(self) -> ArrayBase:
        """The array of which this is a view."""
        return self._array

    @property
    def shape(self) -> tuple[int, ...]:
        """The length along each dimension."""
        return tuple(len(places) for places in self._places if not isinstance(places, int))

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type of the elements."""
        return self._array.dtype

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a view without dimensions has no length")
        return self.shape[0]

    def __getitem__(self, selection: Any) -> LazyArray:
        parts = iter(_for_each_dimension(selection, self.ndim))
        places = tuple(each if isinstance(each, int) else _part(each, next(parts)) for each in self._places)
        return LazyArray(self._array, places)

    def __setitem__(self, selection: Any, value: Any) -> None:
        places = self[selection]._places
        if any(isinstance(each, np.ndarray) for each in places):
            self._array.oindex[_listed(places)] = value
        else:
            self._array[_slices(places)] = value

    def read(self) -> Any:
        """Returns the elements: an array in memory, or a scalar if there are no dimensions.

        Examples
        --------
        >>> import zarrox as zarr
        >>> zarr.array([1, 2, 3]).lazy[1:].read()
        array([2, 3])
        """
        if any(isinstance(each, np.ndarray) for each in self._places):
            return self._array.oindex[_listed(self._places)]
        return self._array[_slices(self._places)]

    async def aread(self) -> Any:
        """Returns the elements, like `read`: a thread reads them while the caller awaits the result."""
        return await run(self.read)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("a stored array cannot become a NumPy array without a copy: leave copy=False out")
        values = np.asarray(self.read())
        return values if dtype is None else values.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"<LazyArray shape={self.shape} dtype={self.dtype} of {self._array!r}>"


def _for_each_dimension(selection: Any, ndim: int) -> list[Any]:
    """Returns the part of a selection for each dimension."""
    parts = list(selection) if isinstance(selection, tuple) else [selection]
    ellipses = [index for index, part in enumerate(parts) if isinstance(part, EllipsisType)]
    if len(ellipses) > 1:
        raise IndexError("a selection can only have one ellipsis ('...')")
    missing = ndim - (len(parts) - len(ellipses))
    if missing < 0:
        raise IndexError(f"too many indices: the view has {ndim} dimensions, but {len(parts) - len(ellipses)} were indexed")
    at = ellipses[0] if ellipses else len(parts)
    parts[at : at + len(ellipses)] = [slice(None)] * missing
    return parts


def _part(places: range | npt.NDArray[np.intp], selected: Any) -> _Places:
    if isinstance(selected, slice):
        return places[selected]
    if isinstance(selected, (list, np.ndarray)) and np.ndim(selected):
        return _list(places, np.asarray(selected))
    try:
        index = operator.index(selected)
    except TypeError:
        raise IndexError(
            f"{selected!r} cannot be selected lazily: use integers, slices, and lists or masks of one dimension"
        ) from None
    try:
        return int(places[index])
    except IndexError:
        raise IndexError(f"index {index} is out of bounds for a dimension of length {len(places)}") from None


def _list(places: range | npt.NDArray[np.intp], selected: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    if selected.ndim != 1:
        raise IndexError(f"a list or mask of {selected.ndim} dimensions cannot be selected lazily: use .vindex of the array")
    if selected.dtype == bool and len(selected) != len(places):
        raise IndexError(f"a mask of length {len(selected)} does not fit a dimension of length {len(places)}")
    if not selected.size:
        selected = selected.astype(np.intp)
    if selected.dtype.kind not in "biu":
        raise IndexError(f"a list of {selected.dtype} cannot be an index: use integers or booleans")
    chosen: npt.NDArray[np.intp] = np.asarray(places, dtype=np.intp)[selected]
    return chosen


def _slice(places: range) -> slice:
    stop = places.stop if places.stop >= 0 else None
    return slice(places.start, stop, places.step) if len(places) else slice(0, 0)


def _slices(places: tuple[_Places, ...]) -> tuple[int | slice, ...]:
    return tuple(_slice(each) if isinstance(each, range) else int(each) for each in places)


def _listed(places: tuple[_Places, ...]) -> tuple[Any, ...]:
    """Returns the positions for `Array.oindex`, with positive steps."""
    return tuple(
        (np.asarray(each, dtype=np.intp) if each.step < 0 else _slice(each)) if isinstance(each, range) else each
        for each in places
    )
