"""The class of arrays."""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from zarrox import _native
from zarrox._native import Array as NativeArray
from zarrox.argument_types import ChunksLike, PathArgument, ShapeLike, StoreArgument
from zarrox.core.batches import Batches
from zarrox.core.fill import fill_json, normalize_fill_value
from zarrox.core.indexing import Selectable
from zarrox.core.lazy import LazyArray
from zarrox.core.metadata import document_key, is_v3
from zarrox.core.properties import Described
from zarrox.core.settings import Settings
from zarrox.core.shapes import normalize_resize_args
from zarrox.core.views import Converted, native_view
from zarrox.core.waiting import run
from zarrox.errors import ArrayNotFoundError, ContainsGroupError, NodeNotFoundError, ReadOnlyError, UnsupportedError
from zarrox.shown.page import Shown
from zarrox.storage import BaseStore, native_store, normalize_storage_path, normalize_store_arg
from zarrox.storage.documents import json_dumps, json_loads

if TYPE_CHECKING:
    from typing_extensions import Self

    from zarrox.attrs import Attributes

__all__ = ["Array"]

#: The settings of arrays that say nothing else.
_USUAL = Settings()

#: Of the arguments of `Array`, in order; the store has none.
_DEFAULTS = (..., None, False, None, None, True, True, False, False, None, None)


class Array(Selectable, Described, Shown[NativeArray]):
    """An array that is stored in chunks.

    Functions such as `zarrox.zeros`, `zarrox.array` and `zarrox.open_array` create arrays; this class opens a stored one.

    Parameters
    ----------
    store : MutableMapping or str
        The place of the array.
    path : str, optional
        Its path in the store.
    read_only : bool, optional
        Whether writing is refused.
    chunk_store : MutableMapping, optional
        The store of the chunks, if it differs from that of the metadata.
    synchronizer : object, optional
        The locks of writers: ``synchronizer[key]`` is a lock.
    cache_metadata : bool, optional
        Whether metadata is read once, instead of before each access.
    cache_attrs : bool, optional
        Whether attributes are read once, instead of before each access.
    partial_decompress : bool, optional
        Has no effect: parts of a chunk are always read alone if its codecs allow it.
    write_empty_chunks : bool, optional
        Whether chunks are stored that hold only the fill value.
    zarr_version : int, optional
        The format; detected if not given.
    meta_array : array_like, optional
        An array of the kind that reads return; NumPy's if not given.

    Raises
    ------
    ArrayNotFoundError
        If there is no array.
    ContainsGroupError
        If there is a group.

    Examples
    --------
    >>> import zarrox as zarr
    >>> store = zarr.KVStore({})
    >>> z = zarr.zeros((3, 4), store=store, path="a", dtype="i4")
    >>> zarr.Array(store, path="a")
    <zarrox.core.Array '/a' (3, 4) int32>
    """

    __slots__ = ("__weakref__",)

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
        write_empty_chunks: bool = False,
        zarr_version: int | None = None,
        meta_array: Any = None,
    ) -> None:
        store = normalize_store_arg(store)
        chunk_store = None if chunk_store is None else normalize_store_arg(chunk_store)
        keys = native_store(store, chunk_store, synchronizer)
        native = open_native(keys, normalize_storage_path(path), None if zarr_version is None else str(zarr_version))
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
    def _of(cls, native: NativeArray, store: BaseStore, settings: Settings = _USUAL) -> Self:
        """The array for a native one."""
        array = cls.__new__(cls)
        array._set(native, store, settings)
        return array

    def _set(self, native: NativeArray, store: BaseStore, settings: Settings) -> None:
        if settings.read_only is None:
            settings = settings.with_(read_only=native.read_only)
        self._native = native.with_options(write_empty_chunks=True) if settings.write_empty_chunks else native
        self._store = store
        self._settings = settings
        self._attrs: Attributes | None = None
        self._codecs = None
        self._document = None
        self._view = None
        kind = settings.meta_array
        if kind is not None and type(kind) is not np.ndarray:
            self._convert(lambda values: np.asanyarray(values, like=kind))

    def _convert(self, convert: Callable[[Any], Any], dtype: np.dtype[Any] | None = None) -> None:
        self._native = Converted(self._native, convert, dtype)  # type: ignore[assignment]

    @classmethod
    def open(cls, store: StoreArgument, *, path: str = "", zarr_format: int | None = None) -> Self:
        """Open an existing array, as zarr-python 3 does.

        Examples
        --------
        >>> import zarrox as zarr
        >>> store = zarr.create_array({}, shape=(3,), dtype="i4").store
        >>> zarr.Array.open(store).shape
        (3,)
        """
        return cls(store, path, zarr_version=zarr_format)

    @property
    def read_only(self) -> bool:
        """True if writing is refused. It can be changed."""
        return bool(self._settings.read_only)

    @read_only.setter
    def read_only(self, value: bool) -> None:
        self._settings = self._settings.with_(read_only=bool(value))
        self._attrs = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension. Assigning another shape resizes the array."""
        return self._fresh.shape

    @shape.setter
    def shape(self, value: Any) -> None:
        self.resize(value)

    @property
    def fill_value(self) -> Any:
        """The value of elements that were never written; ``None`` if undefined. Assigning another one rewrites the metadata."""
        return self._native.fill_value

    @fill_value.setter
    def fill_value(self, value: Any) -> None:
        self._check_changeable()
        native = self._native
        if native.format == "n5":
            raise UnsupportedError("arrays of N5 have no fill value but 0")
        fill = fill_json(normalize_fill_value(value, native.dtype), native.dtype, 3 if is_v3(native) else 2)
        native.set_fill_value(json.dumps(fill))

    def resize(self, *args: Any, new_shape: ShapeLike | None = None) -> None:
        """Change the lengths of dimensions.

        No data moves: chunks outside of the new shape are deleted, and new elements have the fill value.

        Parameters
        ----------
        *args : int or tuple of int
            The new shape, as one tuple or as several numbers; ``None`` keeps a length.

        Raises
        ------
        PermissionError
            If the array is a view, or read-only.

        Examples
        --------
        >>> import zarrox as zarr
        >>> z = zarr.zeros(shape=(10000, 10000), chunks=(1000, 1000))
        >>> z.resize(20000, 10000)
        >>> z.shape
        (20000, 10000)
        """
        self._check_changeable()
        self._native.resize(normalize_resize_args(self._native.shape, *(args if new_shape is None else (new_shape,))))

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
        # Text and the like become objects where the array's elements are objects.
        values = np.asanyarray(data, dtype=object if self._native.dtype.hasobject and not hasattr(data, "dtype") else None)
        number = operator.index(axis)
        if number < -self.ndim:
            raise ValueError(f"there is no axis {axis}: the array has {self.ndim} dimensions")
        return self._native.append(values, number + self.ndim if number < 0 else number)

    def view(
        self,
        shape: ShapeLike | None = None,
        chunks: ChunksLike = None,
        dtype: npt.DTypeLike | None = None,
        fill_value: Any = None,
        filters: Any = None,
        read_only: bool | None = None,
        synchronizer: Any = None,
    ) -> Self:
        """A view of the same chunks with other metadata.

        Nothing is checked: the bytes of chunks are interpreted with the metadata of the view.

        Parameters
        ----------
        shape, chunks : int or tuple of int, optional
            Another shape of the array or of its chunks; both, if the size of elements changes.
        dtype : dtype, optional
            Another data type.
        fill_value : object, optional
            Another fill value.
        filters : sequence of Codec, optional
            Other filters; ``[]`` for none.
        read_only : bool, optional
            Whether writing is refused.
        synchronizer : object, optional
            What synchronizes writers.

        Returns
        -------
        Array
            The view, which cannot be resized.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> z = zarr.array(np.arange(10000, dtype="u2"), chunks=1000)
        >>> z.view(dtype="u1", shape=20000, chunks=2000)[:6]
        array([0, 0, 1, 0, 2, 0], dtype=uint8)
        """
        changes = {"shape": shape, "chunks": chunks, "dtype": dtype, "fill_value": fill_value, "filters": filters}
        changes = {name: value for name, value in changes.items() if value is not None}
        synchronizer = self._settings.synchronizer if synchronizer is None else synchronizer
        native = self._native
        if changes:
            native = native_view(native, native_store(self._store, self._settings.chunk_store, synchronizer), **changes)
        before = {name: value for name, value in (self._view or {}).items() if not changes or name != "casts"}
        return self._viewed(native, {**before, **changes}, read_only, synchronizer)

    def astype(self, dtype: npt.DTypeLike) -> Self:
        """A view with another data type: elements are cast when they are read.

        Parameters
        ----------
        dtype : dtype
            The other data type.

        Returns
        -------
        Array
            The view, which is read-only.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> zarr.array(np.arange(3, dtype="u1")).astype("f4")[:]
        array([0., 1., 2.], dtype=float32)
        """
        shown, before = np.dtype(dtype), self._view or {}
        casts = (*before.get("casts", ()), (self._native.dtype, shown))
        view = self._viewed(self._native, {**before, "casts": casts}, True, self._settings.synchronizer)
        view._convert(lambda values: values.astype(shown), shown)
        return view

    def _viewed(self, native: NativeArray, changes: dict[str, Any], read_only: bool | None, synchronizer: Any) -> Self:
        settings = self._settings.with_(synchronizer=synchronizer, cache_metadata=True, meta_array=None)
        if read_only is not None:
            settings = settings.with_(read_only=read_only)
        view = self._of(native, self._store, settings)
        view._view = changes
        view._attrs = self.attrs
        return view

    def update_attributes(self, new_attributes: dict[str, Any]) -> Self:
        """Change several attributes at once, and return the array, as zarr-python 3 does.

        Examples
        --------
        >>> import zarrox as zarr
        >>> zarr.zeros(3).update_attributes({"unit": "K"}).attrs.asdict()
        {'unit': 'K'}
        """
        self.attrs.update(new_attributes)
        return self

    def digest(self, hashname: str = "sha1") -> bytes:
        """A checksum of the stored data: of all chunks in order, of the metadata and of the attributes.

        The same data, written with the same codecs, has the same checksum in zarr-python 2.

        Parameters
        ----------
        hashname : str
            Any algorithm of `hashlib`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> zarr.zeros(shape=(10000, 10000), chunks=(1000, 1000)).hexdigest()
        '7162d416d26a68063b66ed1f30e0a866e4abed60'
        """
        native = self._fresh
        checksum = hashlib.new(hashname)
        native.visit_encoded_chunks(checksum.update)
        # Through the store, since stores of N5 show their documents as those of version 2.
        for key in dict.fromkeys((document_key(native), self.attrs.key)):
            # In the form that zarr-python 2 writes, whoever has written it.
            checksum.update(json_dumps(json_loads(self._store[key])) if key in self._store else b"")
        return checksum.digest()

    def hexdigest(self, hashname: str = "sha1") -> str:
        """The checksum of `digest` as hexadecimal text.

        Examples
        --------
        >>> import zarrox as zarr
        >>> zarr.empty(shape=(10000, 10000), chunks=(1000, 1000)).hexdigest()
        '041f90bc7a571452af4f850a8ca2c6cddfa8a1ac'
        """
        return self.digest(hashname).hex()

    def islice(self, start: int | None = None, end: int | None = None) -> Iterator[Any]:
        """Iterate over a part of the first dimension; each chunk is read once.

        Parameters
        ----------
        start, end : int, optional
            The start, and the exclusive end; all if not given.

        Raises
        ------
        TypeError
            If the array has no dimensions.
        ValueError
            If they are not integers, or negative.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> [int(value) for value in zarr.array(np.arange(100)).islice(25, 28)]
        [25, 26, 27]
        """
        shape = self.shape
        if not shape:
            raise TypeError("iteration over a 0-d array")
        for name, value in (("start", start), ("end", end)):
            if value is not None and (not isinstance(value, int) or value < 0):
                raise ValueError(f"{name} must be a nonnegative integer, not {value!r}")
        stop = shape[0] if end is None else min(end, shape[0])
        return self._rows(start or 0, stop, (self.shards or self.chunks)[0])

    def _rows(self, start: int, stop: int, step: int) -> Iterator[Any]:
        while start < stop:
            border = min((start // step + 1) * step, stop)
            yield from self[start:border]
            start = border

    def __iter__(self) -> Iterator[Any]:
        return self.islice()

    def __len__(self) -> int:
        if self.shape:
            return self.shape[0]
        raise TypeError("len() of unsized object")

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("what is stored cannot be an array in memory without a copy: leave copy=False out")
        values = np.asarray(self[...])
        return values if dtype is None else values.astype(dtype, copy=False)

    @property
    def lazy(self) -> LazyArray:
        """A view that reads nothing before it is used; its selections compose.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> part = zarr.array(np.arange(10)).lazy[2:8][::2]
        >>> part.shape, np.sum(part)
        ((3,), np.int64(12))
        """
        return LazyArray(self)

    async def aread(self, selection: Any = ...) -> Any:
        """Reads elements as ``z[selection]`` does, awaited; the event loop does other things meanwhile.

        Parameters
        ----------
        selection : object, optional
            Any selection that `Array` takes; all elements by default.

        Examples
        --------
        >>> import asyncio
        >>> import zarrox as zarr
        >>> asyncio.run(zarr.array([1, 2, 3]).aread(slice(1, None)))
        array([2, 3])
        """
        return await run(self.__getitem__, selection)

    async def awrite(self, selection: Any, value: Any) -> None:
        """Writes elements as ``z[selection] = value`` does, awaited.

        Parameters
        ----------
        selection : object
            Any selection that `Array` takes.
        value : array_like
            The elements.

        Examples
        --------
        >>> import asyncio
        >>> import zarrox as zarr
        >>> z = zarr.zeros(3)
        >>> asyncio.run(z.awrite(1, 5))
        >>> z[:]
        array([0., 5., 0.])
        """
        await run(self.__setitem__, selection, value)

    def batches(
        self, indices: npt.ArrayLike, size: int, *, prefetch: int = 4, drop_last: bool = False
    ) -> Batches:
        """Batches of rows in any order, which are read ahead in the background: see `zarrox.core.batches.Batches`.

        Parameters
        ----------
        indices : array_like of int
            The numbers of the rows, in the order in which they are wanted.
        size : int
            The number of rows of a batch.
        prefetch : int, optional
            The number of batches that are read at a time.
        drop_last : bool, optional
            Whether a last batch that is not full is left out.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> z = zarr.array(np.arange(10), chunks=4)
        >>> order = np.random.default_rng(0).permutation(10)
        >>> [len(np.from_dlpack(batch)) for batch in z.batches(order, 4)]
        [4, 4, 2]
        """
        return Batches(self, indices, size, prefetch=prefetch, drop_last=drop_last)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Array)
            and self.path == other.path
            and self._settings.read_only == other._settings.read_only
            and self._store == other._store
            and not self.is_view
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if is_v3(self._native):
            return f"<Array {self.store_path} shape={self.shape} dtype={self.dtype}>"
        name = f" {self.name!r}" if self.name else ""
        read_only = " read-only" if self._settings.read_only else ""
        return f"<{type(self).__module__}.{type(self).__name__}{name} {self.shape} {self.dtype}{read_only}>"

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
        # Arguments at the end that have their defaults are left out: arrays are pickled often, and should be small.
        given = max(index for index, (value, default) in enumerate(zip(options, _DEFAULTS, strict=True)) if value is not default)
        options = options[: given + 1]
        return (type(self), options) if self._view is None else (_unpickled, (type(self), options, self._view))

    def _check_changeable(self) -> None:
        """Refuses changes of the metadata of views and read-only arrays."""
        self._check_writable()
        if self.is_view:
            raise PermissionError("operation not permitted for views")
        self._document = None

    def _keys(self) -> _native.Store:
        """The keys of the metadata and the chunks."""
        return native_store(self._store, self._settings.chunk_store, self._settings.synchronizer)

    def _chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """The key of a chunk; existing programs use it."""
        return self._native.chunk_key(tuple(chunk_coords[: len(self._native.grid_shape)]))


Array.__module__ = "zarrox.core"


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
    raise ContainsGroupError(f"a group, and no array, is at path {path!r} in {keys.location}")


def _unpickled(cls: type[Array], options: tuple[Any, ...], view: dict[str, Any] | None) -> Array:
    array = cls(*options)
    if view is None:
        return array
    array = array.view(**{name: value for name, value in view.items() if name != "casts"})
    for _, shown in view.get("casts", ()):
        array = array.astype(shown)
    return array
