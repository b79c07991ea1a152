"""Methods of groups that create arrays and groups below them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from zarrox import _native, creation
from zarrox._native import Array as NativeArray
from zarrox._native import Group as NativeGroup
from zarrox._native import Store as NativeStore
from zarrox.argument_types import DTypeLike, ShapeLike
from zarrox.attrs import to_json
from zarrox.core import Array
from zarrox.core.dtype.resolve import native_dtype
from zarrox.core.settings import Settings
from zarrox.core.shapes import normalize_shape
from zarrox.errors import ContainsArrayError, ContainsGroupError
from zarrox.hierarchy import _nodes

if TYPE_CHECKING:
    from zarrox.hierarchy import Group
    from zarrox.storage import BaseStore


class Creation:
    """The methods of a group that create nodes; each corresponds to the function with the same name in ``zarrox.creation``.

    Names are paths relative to the group, or, with a leading slash, to the root of the store. Missing groups between are
    created.
    New nodes have the format, the stores and the synchronizer of the group.
    """

    _store: BaseStore
    _settings: Settings
    _native: NativeGroup

    if TYPE_CHECKING:

        @property
        def path(self) -> str: ...
        @property
        def zarr_format(self) -> int: ...
        @abstractmethod
        def _item_path(self, item: Any) -> str: ...
        @abstractmethod
        def _kind(self, path: str) -> _nodes.Kind | None: ...
        @abstractmethod
        def _native_store(self) -> NativeStore: ...
        @abstractmethod
        def _wrap(self, native: NativeArray | NativeGroup) -> Any: ...
        @abstractmethod
        def _writing(self, path: str) -> AbstractContextManager[Any]: ...

    def create_group(self, name: Any, overwrite: bool = False, *, attributes: Mapping[str, Any] | None = None) -> Group:
        """Create a group below this one.

        Parameters
        ----------
        name : str
            Name or path of the group.
        overwrite : bool, optional
            Whether an existing node is deleted first.
        attributes : dict, optional
            The attributes of the new group.

        Returns
        -------
        Group

        Raises
        ------
        ContainsGroupError, ContainsArrayError
            If a node exists and ``overwrite`` is false.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.create_group('foo/bar')
        <zarrox.hierarchy.Group '/foo/bar'>
        """
        path = self._item_path(name)
        with self._writing(path):
            return self._new_group(path, overwrite, attributes)

    def _new_group(self, path: str, overwrite: bool, attributes: Mapping[str, Any] | None = None) -> Group:
        text = to_json(attributes)
        group: Group = self._wrap(
            _native.create_group(self._native_store(), path, self._native.format, text, overwrite)
        )
        return group

    def create_groups(self, *names: Any, **kwargs: Any) -> tuple[Group, ...]:
        """Create several groups; further arguments are those of :meth:`create_group`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> len(zarr.group().create_groups('foo', 'bar'))
        2
        """
        return tuple(self.create_group(name, **kwargs) for name in names)

    def require_group(
        self, name: Any, overwrite: bool = False, *, attributes: Mapping[str, Any] | None = None
    ) -> Group:
        """Open a group below this one, or create it if there is none.

        Parameters
        ----------
        name : str
            Name or path of the group.
        overwrite : bool, optional
            Whether an existing array is replaced.
        attributes : dict, optional
            The attributes, should the group be created.

        Returns
        -------
        Group

        Raises
        ------
        ContainsArrayError
            If there is an array and ``overwrite`` is false.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.require_group('foo') == root.require_group('foo')
        True
        """
        path = self._item_path(name)
        with self._writing(path):
            if self._kind(path) != "group":
                try:
                    return self._new_group(path, False, attributes)
                except ContainsGroupError:
                    pass  # Another thread has just made it.
                except ContainsArrayError:
                    if not overwrite:
                        raise
                    return self._new_group(path, True, attributes)
            group: Group = self._wrap(_native.open_node(self._native_store(), path, "r+", self._native.format))
            return group

    def require_groups(self, *names: Any) -> tuple[Group, ...]:
        """Open or create several groups.

        Examples
        --------
        >>> import zarrox as zarr
        >>> [group.name for group in zarr.group().require_groups('foo', 'bar')]
        ['/foo', '/bar']
        """
        return tuple(self.require_group(name) for name in names)

    def create_hierarchy(
        self, nodes: Mapping[str, Any], *, overwrite: bool = False
    ) -> Iterator[tuple[str, Array | Group]]:
        """Create many nodes below this group at once.

        Parameters
        ----------
        nodes : dict
            The metadata of arrays and groups by their paths, as :func:`zarrox.create_hierarchy` takes them.
        overwrite : bool, optional
            Whether existing nodes are replaced.

        Returns
        -------
        iterator of (path, node)
            Paths are relative to this group; they include groups that were added.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.create_group({})
        >>> [path for path, group in root.create_hierarchy({'a/b': zarr.hierarchy.GroupMetadata()})]
        ['a', 'a/b']
        """
        with self._writing(self.path + "/"):
            created = _nodes.create_nodes(
                self._native_store(), nodes, prefix=self.path, format=str(self.zarr_format), overwrite=overwrite
            )
        return iter([(path, self._wrap(node)) for path, node in created])

    def create_dataset(self, name: Any, *, data: Any = None, **kwargs: Any) -> Array:
        """Create an array below this group; h5py calls arrays datasets.

        Parameters
        ----------
        name : str
            Name or path of the array.
        data : array_like, optional
            The values of the array.
        **kwargs
            As for :func:`zarrox.creation.create`: shape, chunks, dtype, compressor, fill_value, order, filters, overwrite …

        Returns
        -------
        zarrox.core.Array

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.create_dataset('foo/bar', shape=(100, 100), chunks=(10, 10), dtype='i4')
        <zarrox.core.Array '/foo/bar' (100, 100) int32>
        """
        if data is None:
            return self._new_array(creation.create, name, kwargs)
        return self._new_array(creation.array, name, kwargs, data)

    def require_dataset(self, name: Any, shape: ShapeLike, dtype: DTypeLike = None, exact: bool = False, **kwargs: Any) -> Array:
        """Open an array below this group, or create it if there is none.

        Parameters
        ----------
        name : str
            Name or path of the array.
        shape : int or tuple of int
            The required shape.
        dtype : str or dtype, optional
            The data type of values that must be stored safely.
        exact : bool, optional
            Whether the array must have exactly this data type.
        **kwargs
            As for :meth:`create_dataset`, should the array be created.

        Returns
        -------
        zarrox.core.Array

        Raises
        ------
        TypeError
            If an existing array has another shape, or an unsuitable data type.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.require_dataset('foo', shape=100, dtype='f8') == root.require_dataset('foo', shape=100, dtype='f4')
        True
        """
        path = self._item_path(name)
        if self._kind(path) != "array":
            try:
                return self.create_dataset(name, shape=shape, dtype=dtype, **kwargs)
            except ContainsArrayError:
                # Another thread may have just made it.
                if self._kind(path) != "array":
                    raise
        with self._writing(path):
            array: Array = self._wrap(_native.open_node(self._native_store(), path, "r+", self._native.format))
        _check_array(array, normalize_shape(shape), native_dtype(dtype), exact)
        return array

    def create_array(self, name: Any, **kwargs: Any) -> Array:
        """Create an array below this group with the arguments of zarr-python 3.

        Parameters
        ----------
        name : str
            Name or path of the array.
        **kwargs
            As for :func:`zarrox.create_array`: shape, dtype, data, chunks, shards, filters, compressors, serializer …

        Returns
        -------
        zarrox.core.Array

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.create_group({})
        >>> root.create_array('foo', shape=(100,), chunks=(10,), shards=(50,), dtype='int16').shards
        (50,)
        """
        path = self._item_path(name)
        with self._writing(path):
            return creation.create_array(self._store, name=path, **self._options(kwargs))

    def require_array(self, name: Any, *, shape: ShapeLike, dtype: DTypeLike = None, exact: bool = False, **kwargs: Any) -> Array:
        """Open an array, or create it as :meth:`create_array` does; checked as by :meth:`require_dataset`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.create_group({})
        >>> root.require_array('foo', shape=(10,), dtype='int8').shape
        (10,)
        """
        path = self._item_path(name)
        if self._kind(path) != "array":
            try:
                return self.create_array(name, shape=shape, dtype=np.float64 if dtype is None else dtype, **kwargs)
            except ContainsArrayError:
                # Another thread may have just made it.
                if self._kind(path) != "array":
                    raise
        return self.require_dataset(name, shape=shape, dtype=dtype, exact=exact)

    def create(self, name: Any, **kwargs: Any) -> Array:
        """Like :meth:`create_dataset`.

        Parameters
        ----------
        name : str
            Name or path of the array.
        **kwargs
            See :func:`zarrox.creation.create`.

        Returns
        -------
        zarrox.core.Array

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.create('foo', shape=10).name
        '/foo'
        """
        return self.create_dataset(name, **kwargs)

    def array(self, name: Any, data: Any, **kwargs: Any) -> Array:
        """Create an array with given data.

        Parameters
        ----------
        name : str
            Name or path of the array.
        data : array_like
            The values of the array.
        **kwargs
            As for :func:`zarrox.creation.array`.

        Returns
        -------
        zarrox.core.Array

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.array('foo', [1, 2, 3])[:]
        array([1, 2, 3])
        """
        return self._new_array(creation.array, name, kwargs, data)

    def empty(self, name: Any, **kwargs: Any) -> Array:
        """Create an array without a fill value.

        Parameters
        ----------
        name : str
            Name or path of the array.
        **kwargs
            As for :func:`zarrox.creation.empty`.

        Returns
        -------
        zarrox.core.Array

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.empty('foo', shape=10).fill_value is None
        True
        """
        return self._new_array(creation.empty, name, kwargs)

    def zeros(self, name: Any, **kwargs: Any) -> Array:
        """Create an array of zeros.

        Parameters
        ----------
        name : str
            Name or path of the array.
        **kwargs
            As for :func:`zarrox.creation.zeros`.

        Returns
        -------
        zarrox.core.Array

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.zeros('foo', shape=3)[:]
        array([0., 0., 0.])
        """
        return self._new_array(creation.zeros, name, kwargs)

    def ones(self, name: Any, **kwargs: Any) -> Array:
        """Create an array of ones.

        Parameters
        ----------
        name : str
            Name or path of the array.
        **kwargs
            As for :func:`zarrox.creation.ones`.

        Returns
        -------
        zarrox.core.Array

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.ones('foo', shape=3, dtype='i4')[:]
        array([1, 1, 1], dtype=int32)
        """
        return self._new_array(creation.ones, name, kwargs)

    def full(self, name: Any, fill_value: Any, **kwargs: Any) -> Array:
        """Create an array of one value.

        Parameters
        ----------
        name : str
            Name or path of the array.
        fill_value : object
            The value.
        **kwargs
            As for :func:`zarrox.creation.full`.

        Returns
        -------
        zarrox.core.Array

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.full('foo', 7, shape=3)[:]
        array([7., 7., 7.])
        """
        return self._new_array(creation.full, name, kwargs, fill_value=fill_value)

    def empty_like(self, name: Any, data: Any, **kwargs: Any) -> Array:
        """Create an array without a fill value, otherwise like another one.

        Parameters
        ----------
        name : str
            Name or path of the array.
        data : array_like
            The other one.
        **kwargs
            As for :func:`zarrox.creation.empty_like`.

        Returns
        -------
        zarrox.core.Array

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.empty_like('bar', root.zeros('foo', shape=3)).shape
        (3,)
        """
        return self._new_array(creation.empty_like, name, kwargs, data)

    def zeros_like(self, name: Any, data: Any, **kwargs: Any) -> Array:
        """Create an array of zeros, otherwise like another one.

        Parameters
        ----------
        name : str
            Name or path of the array.
        data : array_like
            The other one.
        **kwargs
            As for :func:`zarrox.creation.zeros_like`.

        Returns
        -------
        zarrox.core.Array

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.zeros_like('bar', root.ones('foo', shape=3))[:]
        array([0., 0., 0.])
        """
        return self._new_array(creation.zeros_like, name, kwargs, data)

    def ones_like(self, name: Any, data: Any, **kwargs: Any) -> Array:
        """Create an array of ones, otherwise like another one.

        Parameters
        ----------
        name : str
            Name or path of the array.
        data : array_like
            The other one.
        **kwargs
            As for :func:`zarrox.creation.ones_like`.

        Returns
        -------
        zarrox.core.Array

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.ones_like('bar', root.zeros('foo', shape=3))[:]
        array([1., 1., 1.])
        """
        return self._new_array(creation.ones_like, name, kwargs, data)

    def full_like(self, name: Any, data: Any, **kwargs: Any) -> Array:
        """Create an array of one value, otherwise like another one.

        Parameters
        ----------
        name : str
            Name or path of the array.
        data : array_like
            The other one.
        **kwargs
            As for :func:`zarrox.creation.full_like`.

        Returns
        -------
        zarrox.core.Array

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.full_like('bar', root.zeros('foo', shape=3), fill_value=7)[:]
        array([7., 7., 7.])
        """
        return self._new_array(creation.full_like, name, kwargs, data)

    def _new_array(self, create: Any, name: Any, kwargs: dict[str, Any], *args: Any, **further: Any) -> Array:
        path = self._item_path(name)
        with self._writing(path):
            array: Array = create(*args, store=self._store, path=path, **further, **self._options(kwargs))
        return array

    def _options(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a function that creates an array in the stores of this group."""
        format = self._native.format
        wanted = _nodes.format_name(kwargs.pop("zarr_format", None), kwargs.pop("zarr_version", None))
        if wanted not in (None, str(self.zarr_format), format):
            raise ValueError(f"what is in a group has its format, which is {format} here; found {wanted}")
        return {
            "chunk_store": self._settings.chunk_store,
            "synchronizer": self._settings.synchronizer,
            "cache_attrs": self._settings.cache_attrs,
            "zarr_format": format,
        } | kwargs


def _check_array(array: Array, shape: tuple[int, ...], dtype: np.dtype[Any], exact: bool) -> None:
    if array.shape != shape:
        raise TypeError(f"{array.name!r} exists with shape {array.shape}, not {shape}")
    if exact and array.dtype != dtype:
        raise TypeError(f"{array.name!r} exists with data type {array.dtype}, not {dtype}")
    if not np.can_cast(dtype, array.dtype):
        raise TypeError(f"{array.name!r} exists with data type {array.dtype}, which {dtype} cannot be cast to safely")
