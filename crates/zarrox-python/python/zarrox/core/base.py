"""The common parts of the arrays of all interfaces."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from zarrox import _native
from zarrox._native import Array as NativeArray
from zarrox.argument_types import PathArgument, StoreArgument
from zarrox.core.formats import format_of_existing
from zarrox.core.indexing import Selectable
from zarrox.core.properties import Described
from zarrox.core.settings import Settings
from zarrox.core.shapes import normalize_resize_args
from zarrox.core.views import Complete, Converted
from zarrox.errors import ArrayNotFoundError, ContainsGroupError, NodeNotFoundError
from zarrox.storage import BaseStore, native_store, normalize_storage_path

if TYPE_CHECKING:
    from typing_extensions import Self

    from zarrox.attrs import Attributes

__all__ = ["ArrayBase", "open_native"]

#: The default settings of arrays.
_USUAL = Settings()


class ArrayBase(Selectable, Described):
    """An array that is stored in chunks.

    Functions such as `zarrox.zeros`, `zarrox.array` and `zarrox.open_array` create arrays; this class opens a stored one.

    Parameters
    ----------
    store : MutableMapping or str
        The location of the array.
    path : str, optional
        The path of the array in the store.
    read_only : bool, optional
        Whether writing is rejected.
    chunk_store : MutableMapping, optional
        The store of the chunks, if it differs from the store of the metadata.
    synchronizer : object, optional
        The locks of writers: ``synchronizer[key]`` is a lock.
    cache_metadata : bool, optional
        Whether metadata is read once, instead of before each access.
    cache_attrs : bool, optional
        Whether attributes are read once, instead of before each access.
    partial_decompress : bool, optional
        No effect: parts of a chunk are always read separately if its codecs allow it.
    write_empty_chunks : bool, optional
        Whether chunks that hold only the fill value are stored.
    zarr_version : int, optional
        The format; detected if not given.
    meta_array : array_like, optional
        An array of the class that reads return; by default NumPy's.

    Raises
    ------
    ArrayNotFoundError
        If there is no array.
    ContainsGroupError
        If there is a group.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> store = zarr.MemoryStore()
    >>> z = zarr.zeros((3, 4), store=store, path="a", dtype="i4")
    >>> zarr.Array(store, path="a").shape
    (3, 4)
    """

    __slots__ = ("__weakref__",)

    #: The default values of the constructor's arguments, in the order of the arguments. ``...`` stands for the store, which has no
    #: default.
    _defaults: ClassVar[tuple[Any, ...]] = (..., None, False, None, None, True, True, False, True, None, None)

    def __init__(
        self,
        store: StoreArgument,
        path: PathArgument = None,
        read_only: bool = False,
        chunk_store: StoreArgument = None,
        synchronizer: Any = None,
        cache_metadata: bool = True,
        cache_attrs: bool = True,
        partial_decompress: bool = False,
        write_empty_chunks: bool = True,
        zarr_version: int | None = None,
        meta_array: Any = None,
    ) -> None:
        store = self._open_store(store)
        chunk_store = None if chunk_store is None else self._open_store(chunk_store)
        keys = native_store(store, chunk_store, synchronizer)
        native = open_native(keys, normalize_storage_path(path), format_of_existing(store, zarr_version))
        settings = Settings(
            chunk_store=chunk_store,
            synchronizer=synchronizer,
            read_only=bool(read_only),
            cache_metadata=cache_metadata,
            cache_attrs=cache_attrs,
            write_empty_chunks=write_empty_chunks,
            partial_decompress=partial_decompress,
            meta_array=meta_array,
        )
        self._set(native, store, settings)

    @classmethod
    @abstractmethod
    def _open_store(
        cls,
        store: StoreArgument,
        *,
        mode: str = "r+",
        storage_options: dict[str, Any] | None = None,
        sync: bool | None = None,
    ) -> BaseStore:
        """Returns the store for an argument, in the class that the interface uses for it."""

    @classmethod
    @abstractmethod
    def _default_format(cls) -> int:
        """Returns the default format of arrays without a parent group."""

    @classmethod
    @abstractmethod
    def _default_compressor(cls) -> Any:
        """Returns the default compressor of version 2 arrays."""

    @classmethod
    def _of(cls, native: NativeArray, store: BaseStore, settings: Settings = _USUAL) -> Self:
        """Returns the array that wraps a native array."""
        array = cls.__new__(cls)
        array._set(native, store, settings)
        return array

    def _set(self, native: NativeArray, store: BaseStore, settings: Settings) -> None:
        if settings.read_only is None:
            settings = settings.with_(read_only=native.read_only)
        # The array that converts elements wraps an array with this option.
        is_plain = settings.write_empty_chunks and isinstance(native, NativeArray)
        self._native = native.with_options(write_empty_chunks=True) if is_plain else native
        self._store = store
        self._settings = settings
        self._attrs: Attributes | None = None
        self._codecs = None
        self._document = None
        self._view = None
        if not settings.read_missing_chunks:
            self._native = Complete(self._native)  # type: ignore[assignment]
        dtype = native.dtype
        if dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic":
            # New NumPy arrays lose the byte order and the factor of such data types.
            self._convert(lambda values: np.asarray(values).view(dtype)[()])
        if settings.order == "F":
            self._convert(lambda values: np.asfortranarray(values) if np.ndim(values) > 1 else values)
        kind = settings.meta_array
        if kind is not None and type(kind) is not np.ndarray:
            self._convert(lambda values: _alike(values, kind))

    def _convert(self, convert: Callable[[Any], Any], dtype: np.dtype[Any] | None = None) -> None:
        self._native = Converted(self._native, convert, dtype)  # type: ignore[assignment]

    @property
    @abstractmethod
    def name(self) -> str | None:
        """The path with a leading slash."""

    @property
    def read_only(self) -> bool:
        """True if writing is rejected."""
        return bool(self._settings.read_only)

    def _set_read_only(self, value: bool) -> None:
        self._settings = self._settings.with_(read_only=bool(value))
        self._attrs = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The length along each dimension. Assigning another shape resizes the array."""
        return self._fresh.shape

    @shape.setter
    def shape(self, value: Any) -> None:
        self._resize(value)

    def _resize(self, *lengths: Any) -> None:
        self._check_changeable()
        self._native.resize(normalize_resize_args(self._native.shape, *lengths))

    def append(self, data: npt.ArrayLike, axis: int = 0) -> tuple[int, ...]:
        """Append data along an axis.

        Parameters
        ----------
        data : array_like
            The data. All other dimensions have the array's length.
        axis : int
            The axis that grows; negative ones count from the last.

        Returns
        -------
        tuple of int
            The new shape.

        Raises
        ------
        ValueError
            If the data does not fit, or if there is no such axis.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> z = zarr.array(np.zeros((10, 5)))
        >>> z.append(np.ones((2, 5)))
        (12, 5)
        """
        self._check_changeable()
        # Strings become objects if the array's elements are objects.
        values = np.asanyarray(data, dtype=object if self._native.dtype.hasobject and not hasattr(data, "dtype") else None)
        number = operator.index(axis)
        if number < -self.ndim:
            raise ValueError(f"there is no axis {axis}: the array has {self.ndim} dimensions")
        return self._native.append(values, number + self.ndim if number < 0 else number)

    def _rows(self, start: int, stop: int, step: int) -> Iterator[Any]:
        while start < stop:
            border = min((start // step + 1) * step, stop)
            yield from self[start:border]
            start = border

    def __iter__(self) -> Iterator[Any]:
        shape = self.shape
        if not shape:
            raise TypeError("iteration over a 0-d array")
        return self._rows(0, shape[0], (self._native.shards or self.chunks)[0])

    def __len__(self) -> int:
        if self.shape:
            return self.shape[0]
        raise TypeError("len() of unsized object")

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("stored data cannot become an array in memory without a copy: omit copy=False")
        values = np.asarray(self[...])
        return values if dtype is None else values.astype(dtype, copy=False)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ArrayBase)
            and self.path == other.path
            and self._settings.read_only == other._settings.read_only
            and self._store == other._store
            and self._view is None
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        settings = self._settings
        options: tuple[Any, ...] = (
            self._store,
            self.path or None,
            settings.read_only,
            settings.chunk_store,
            settings.synchronizer,
            settings.cache_metadata,
            settings.cache_attrs,
            settings.partial_decompress,
            settings.write_empty_chunks,
            None,
            settings.meta_array,
        )
        # Trailing arguments with default values are dropped: arrays are pickled often and should be small.
        given = max(index for index, (value, default) in enumerate(zip(options, self._defaults, strict=True)) if value is not default)
        options = options[: given + 1]
        return type(self), options

    def _check_changeable(self) -> None:
        """Rejects changes of the metadata of views and read-only arrays."""
        self._check_writable()
        if self._view is not None:
            raise PermissionError("operation not permitted for views")
        self._document = None

    def _keys(self) -> _native.Store:
        """Returns the keys of the metadata and the chunks."""
        return native_store(self._store, self._settings.chunk_store, self._settings.synchronizer)

    def _chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """Returns the key of a chunk. Existing programs use this method."""
        return self._native.chunk_key(tuple(chunk_coords[: len(self._native.grid_shape)]))


def _alike(values: Any, kind: Any) -> Any:
    """Converts elements to an array class. For subclasses of NumPy's array, the result is a view."""
    if isinstance(kind, np.ndarray):
        return values.view(type(kind)) if isinstance(values, np.ndarray) else values
    return np.asanyarray(values, like=kind)


def open_native(keys: _native.Store, path: str, zarr_format: str | None = None) -> NativeArray:
    """Open an array natively.

    Raises
    ------
    ArrayNotFoundError
        If there is no array.
    ContainsGroupError
        If there is a group.
    """
    try:
        node = _native.open_node(keys, path, "r+", zarr_format)
    except NodeNotFoundError as error:
        raise ArrayNotFoundError(f"no array at path {path!r} in {keys.location}") from error
    if isinstance(node, NativeArray):
        return node
    raise ContainsGroupError(f"{path!r} in {keys.location} is a group, not an array")
