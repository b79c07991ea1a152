"""Selections: the array methods that read and write parts of an array, and the shorthands ``oindex``, ``vindex`` and ``blocks``.

Native code interprets selections. This module only determines the kind of a selection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from zarrox.core.settings import Settings
from zarrox.errors import BoundsCheckError, ReadOnlyError, SelectionError, VindexInvalidSelectionError

if TYPE_CHECKING:
    from zarrox._native import Array as NativeArray

__all__ = ["BlockIndex", "OIndex", "Selectable", "VIndex", "split_fields"]

Kind = Literal["basic", "orthogonal", "coordinates", "mask", "blocks"]
Fields = str | Sequence[str] | None


def split_fields(selection: Any) -> tuple[str | list[str] | None, Any]:
    """Returns the names of fields in a selection, and the selection without them.

    Examples
    --------
    >>> from zarrox.core.indexing import split_fields
    >>> split_fields(("a", 3)), split_fields("a"), split_fields(3)
    (('a', (3,)), ('a', ()), (None, 3))
    """
    if isinstance(selection, str):
        return selection, ()
    if not isinstance(selection, tuple):
        return None, selection
    names = [item for item in selection if isinstance(item, str)]
    if not names:
        return None, selection
    return names[0] if len(names) == 1 else names, tuple(item for item in selection if not isinstance(item, str))


class Selectable:
    """The base class that provides the array methods for reading and writing selections.

    All methods that read accept ``out``, an array that is filled and returned instead of a new one. All methods accept ``fields``: the
    name of a field of a structured data type, or several names.
    """

    __slots__ = ()

    _native: NativeArray
    _settings: Settings

    def __getitem__(self, selection: Any) -> Any:
        """Read a part of the array, following NumPy's indexing rules.

        Parameters
        ----------
        selection : int, slice, list, array, mask, str, tuple of these
            The selection. Fields of structured types are given by name. Two or more lists beside slices are rejected, since NumPy
            and orthogonal indexing differ there: use `vindex` or `oindex`.

        Returns
        -------
        numpy.ndarray or scalar
            The elements; unwritten ones have the fill value.

        Raises
        ------
        IndexError
            If the selection does not fit the array.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> z = zarr.array(np.arange(100).reshape(10, 10))
        >>> z[2, :4], z[[1, 4], [1, 4]]
        (array([20, 21, 22, 23]), array([11, 44]))
        """
        if not self._settings.cache_metadata:
            self._native.refresh()
        return self._native.get(selection)

    def __setitem__(self, selection: Any, value: Any) -> None:
        """Write a part of the array, following NumPy's indexing rules.

        Parameters
        ----------
        selection : int, slice, list, array, mask, str, tuple of these
            The selection, as in `__getitem__`.
        value : scalar or array_like
            The values, which are broadcast to the shape of the selection.

        Raises
        ------
        ReadOnlyError
            If the array was opened for reading only.

        Examples
        --------
        >>> import zarrox as zarr
        >>> z = zarr.zeros((2, 3), dtype="i4")
        >>> z[0, 1:] = 42
        >>> z[...]
        array([[ 0, 42, 42],
               [ 0,  0,  0]], dtype=int32)
        """
        self._check_writable()
        self._native.set(selection, value)

    def get_basic_selection(self, selection: Any = Ellipsis, out: Any = None, fields: Fields = None) -> Any:
        """Read a selection by integers and slices.

        Parameters
        ----------
        selection : int, slice, Ellipsis or tuple of these
            The selection.
        out : numpy.ndarray, optional
            The destination, which may be another array of Zarr.
        fields : str or sequence of str, optional
            The fields of a structured type to read.

        Returns
        -------
        numpy.ndarray or scalar
            ``out``, if it was given.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> zarr.array(np.arange(100)).get_basic_selection(slice(5, 10, 2))
        array([5, 7, 9])
        """
        _check_basic(selection)
        return self._select("basic", selection, out, fields)

    def set_basic_selection(self, selection: Any, value: Any, fields: Fields = None) -> None:
        """Write a selection by integers and slices. See `get_basic_selection`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> z = zarr.zeros(5, dtype=int)
        >>> z.set_basic_selection(slice(2, 4), [1, 2])
        >>> z[...]
        array([0, 0, 1, 2, 0])
        """
        _check_basic(selection)
        self._assign("basic", selection, value, fields)

    def get_orthogonal_selection(self, selection: Any, out: Any = None, fields: Fields = None) -> Any:
        """Read a selection along each dimension independently.

        Parameters
        ----------
        selection : int, slice, list, array, mask or tuple of these
            The selection for each dimension; lists select rows and columns, not points.
        out : numpy.ndarray, optional
            The destination.
        fields : str or sequence of str, optional
            The fields of a structured type to read.

        Returns
        -------
        numpy.ndarray or scalar
            ``out``, if it was given.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> z = zarr.array(np.arange(100).reshape(10, 10))
        >>> z.get_orthogonal_selection(([1, 4], [1, 4]))
        array([[11, 14],
               [41, 44]])
        """
        return self._select("orthogonal", selection, out, fields)

    def set_orthogonal_selection(self, selection: Any, value: Any, fields: Fields = None) -> None:
        """Write a selection along each dimension independently. See `get_orthogonal_selection`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> z = zarr.zeros((3, 3), dtype=int)
        >>> z.set_orthogonal_selection(([0, 2], [0, 2]), 1)
        >>> z[...]
        array([[1, 0, 1],
               [0, 0, 0],
               [1, 0, 1]])
        """
        self._assign("orthogonal", selection, value, fields)

    def get_coordinate_selection(self, selection: Any, out: Any = None, fields: Fields = None) -> Any:
        """Read single elements, given by their coordinates.

        Parameters
        ----------
        selection : tuple of int, list or array
            The positions along each dimension; they are broadcast against each other.
        out : numpy.ndarray, optional
            The destination.
        fields : str or sequence of str, optional
            The fields of a structured type to read.

        Returns
        -------
        numpy.ndarray
            ``out``, if it was given.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> z = zarr.array(np.arange(100).reshape(10, 10))
        >>> z.get_coordinate_selection(([1, 4], [1, 4]))
        array([11, 44])
        """
        return self._select("coordinates", selection, out, fields)

    def set_coordinate_selection(self, selection: Any, value: Any, fields: Fields = None) -> None:
        """Write single elements, given by their coordinates. See `get_coordinate_selection`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> z = zarr.zeros((3, 3), dtype=int)
        >>> z.set_coordinate_selection(([0, 2], [0, 2]), [5, 6])
        >>> z[...]
        array([[5, 0, 0],
               [0, 0, 0],
               [0, 0, 6]])
        """
        self._assign("coordinates", selection, value, fields)

    def get_mask_selection(self, selection: Any, out: Any = None, fields: Fields = None) -> Any:
        """Read the elements that are selected by a mask with the shape of the array.

        Parameters
        ----------
        selection : array of bool
            True for the elements to select.
        out : numpy.ndarray, optional
            The destination.
        fields : str or sequence of str, optional
            The fields of a structured type to read.

        Returns
        -------
        numpy.ndarray
            ``out``, if it was given.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> z = zarr.array(np.arange(100).reshape(10, 10))
        >>> z.get_mask_selection(np.eye(10, dtype=bool))
        array([ 0, 11, 22, 33, 44, 55, 66, 77, 88, 99])
        """
        return self._select("mask", selection, out, fields)

    def set_mask_selection(self, selection: Any, value: Any, fields: Fields = None) -> None:
        """Write the elements that are selected by a mask with the shape of the array. See `get_mask_selection`.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> z = zarr.zeros((2, 2), dtype=int)
        >>> z.set_mask_selection(np.eye(2, dtype=bool), 1)
        >>> z[...]
        array([[1, 0],
               [0, 1]])
        """
        self._assign("mask", selection, value, fields)

    def get_block_selection(self, selection: Any = Ellipsis, out: Any = None, fields: Fields = None) -> Any:
        """Read whole chunks (or shards), given by their positions in the grid of stored objects.

        Parameters
        ----------
        selection : int, slice, Ellipsis or tuple of these
            The chunks to read.
        out : numpy.ndarray, optional
            The destination.
        fields : str or sequence of str, optional
            The fields of a structured type to read.

        Returns
        -------
        numpy.ndarray
            ``out``, if it was given.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> z = zarr.array(np.arange(10), chunks=3)
        >>> z.get_block_selection(1), z.blocks[2:]
        (array([3, 4, 5]), array([6, 7, 8, 9]))
        """
        return self._select("blocks", selection, out, fields)

    def set_block_selection(self, selection: Any, value: Any, fields: Fields = None) -> None:
        """Write whole chunks (or shards), given by their positions in the grid of stored objects. See `get_block_selection`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> z = zarr.zeros(10, chunks=3, dtype=int)
        >>> z.set_block_selection(1, 42)
        >>> z[...]
        array([ 0,  0,  0, 42, 42, 42,  0,  0,  0,  0])
        """
        self._assign("blocks", selection, value, fields)

    @property
    def oindex(self) -> OIndex:
        """``z.oindex[…]``: see `get_orthogonal_selection` and `set_orthogonal_selection`."""
        return OIndex(self)

    @property
    def vindex(self) -> VIndex:
        """``z.vindex[…]``: see `get_coordinate_selection`, `get_mask_selection` and the methods ``set_…``."""
        return VIndex(self)

    @property
    def blocks(self) -> BlockIndex:
        """``z.blocks[…]``: see `get_block_selection` and `set_block_selection`."""
        return BlockIndex(self)

    def _select(self, kind: Kind, selection: Any, out: Any, fields: Fields) -> Any:
        if not self._settings.cache_metadata:
            self._native.refresh()
        _check_unsigned(selection)
        if out is None or isinstance(out, np.ndarray):
            return self._native.select(kind, selection, out, _names(fields))
        out[...] = self._native.select(kind, selection, None, _names(fields))
        return out

    def _assign(self, kind: Kind, selection: Any, value: Any, fields: Fields) -> None:
        self._check_writable()
        _check_unsigned(selection)
        self._native.assign(kind, selection, value, _names(fields))

    def _check_writable(self) -> None:
        if self._settings.read_only:
            raise ReadOnlyError
        if not self._settings.cache_metadata:
            self._native.refresh()


def _check_unsigned(selection: Any) -> None:
    """Rejects positions that exceed the range of signed integers: they would become negative, and count from the end."""
    for item in selection if isinstance(selection, tuple) else (selection,):
        if isinstance(item, np.ndarray) and item.dtype == np.uint64 and item.size and int(item.max()) > _LAST:
            raise BoundsCheckError(f"index {int(item.max())} is out of bounds")


def _check_basic(selection: Any) -> None:
    """Rejects lists and masks, which other methods accept."""
    for item in selection if isinstance(selection, tuple) else (selection,):
        if isinstance(item, list) or (isinstance(item, np.ndarray) and item.ndim):
            raise SelectionError(f"unsupported selection item for basic indexing; expected integer or slice, got {type(item)!r}")


#: The largest position.
_LAST = 2**63 - 1


def _names(fields: Fields) -> str | list[str] | None:
    if fields is None or isinstance(fields, str):
        return fields
    if not isinstance(fields, list | tuple):
        raise IndexError(f"'fields' argument must be a string or list of strings; found {type(fields)!r}")
    return list(fields) or None


class _Index:
    """An array with a different kind of indexing."""

    __slots__ = ("array",)

    def __init__(self, array: Selectable) -> None:
        self.array = array


class OIndex(_Index):
    """Orthogonal indexing."""

    __slots__ = ()

    def __getitem__(self, selection: Any) -> Any:
        fields, selection = split_fields(selection)
        return self.array._select("orthogonal", selection, None, fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        fields, selection = split_fields(selection)
        self.array._assign("orthogonal", selection, value, fields)


class VIndex(_Index):
    """Indexing by coordinates or by a mask."""

    __slots__ = ()

    def __getitem__(self, selection: Any) -> Any:
        fields, selection = split_fields(selection)
        return self.array._select(_vectorized(selection), selection, None, fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        fields, selection = split_fields(selection)
        self.array._assign(_vectorized(selection), selection, value, fields)


class BlockIndex(_Index):
    """Indexing by chunks."""

    __slots__ = ()

    def __getitem__(self, selection: Any) -> Any:
        fields, selection = split_fields(selection)
        return self.array._select("blocks", selection, None, fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        fields, selection = split_fields(selection)
        self.array._assign("blocks", selection, value, fields)


def _vectorized(selection: Any) -> Literal["coordinates", "mask"]:
    items = selection if isinstance(selection, tuple) else (selection,)
    if any(item is None or item is Ellipsis or isinstance(item, slice) for item in items):
        raise VindexInvalidSelectionError(
            "vectorized indexing takes coordinates (a list of positions for each dimension) or a mask (an array of bool); "
            f"got {selection!r}"
        )
    return "mask" if len(items) == 1 and np.asarray(items[0]).dtype == bool else "coordinates"
