"""The methods of groups that create arrays and groups below them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zarrox import _native
from zarrox._native import Array as NativeArray
from zarrox._native import Group as NativeGroup
from zarrox._native import Store as NativeStore
from zarrox.argument_types import DTypeLike, ShapeLike
from zarrox.attrs import to_json
from zarrox.core import creating
from zarrox.core.base import ArrayBase
from zarrox.core.dtype.resolve import native_dtype
from zarrox.core.formats import one_format
from zarrox.core.settings import Settings
from zarrox.core.shapes import normalize_shape
from zarrox.errors import ContainsArrayError, ContainsGroupError
from zarrox.hierarchy import _nodes

if TYPE_CHECKING:
    from zarrox.storage import BaseStore


class Creation:
    """The methods of a group that create nodes. Each corresponds to the interface's function of the same name.

    Names are paths relative to the group, or, with a leading slash, to the root of the store. Missing parent groups are created. New
    nodes have the same format, stores and synchronizer as the group.
    """

    _store: BaseStore
    _settings: Settings
    _native: NativeGroup

    #: The class of the arrays in the group.
    _array: ClassVar[type[ArrayBase]]

    #: The functions of the interface that create arrays.
    _creation: ClassVar[Any]

    if TYPE_CHECKING:

        @property
        def path(self) -> str: ...
        @property
        def _zarr_format(self) -> int: ...
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

    def _create_group(self, name: Any, overwrite: bool, attributes: Mapping[str, Any] | None = None) -> Any:
        path = self._item_path(name)
        with self._writing(path):
            return self._new_group(path, overwrite, attributes)

    def _new_group(self, path: str, overwrite: bool, attributes: Mapping[str, Any] | None = None) -> Any:
        text = to_json(attributes)
        return self._wrap(_native.create_group(self._native_store(), path, self._native.format, text, overwrite))

    def _require_group(self, name: Any, overwrite: bool = False, attributes: Mapping[str, Any] | None = None) -> Any:
        path = self._item_path(name)
        with self._writing(path):
            if self._kind(path) != "group":
                try:
                    return self._new_group(path, False, attributes)
                except ContainsGroupError:
                    pass  # Another thread has just created it.
                except ContainsArrayError:
                    if not overwrite:
                        raise
                    return self._new_group(path, True, attributes)
            return self._wrap(_native.open_node(self._native_store(), path, "r+", self._native.format))

    def require_groups(self, *names: Any) -> tuple[Any, ...]:
        """Open or create several groups.

        Examples
        --------
        >>> import zarrox as zarr
        >>> [group.name for group in zarr.group().require_groups('foo', 'bar')]
        ['/foo', '/bar']
        """
        return tuple(self._require_group(name) for name in names)

    def empty(self, name: Any, **kwargs: Any) -> Any:
        """Create an array without a fill value.

        Parameters
        ----------
        name : str
            Name or path of the array.
        **kwargs
            See :func:`zarrox.empty`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.empty('foo', shape=10).shape
        (10,)
        """
        return self._new_array(self._creation.empty, name, kwargs)

    def zeros(self, name: Any, **kwargs: Any) -> Any:
        """Create an array of zeros.

        Parameters
        ----------
        name : str
            Name or path of the array.
        **kwargs
            See :func:`zarrox.zeros`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.zeros('foo', shape=3)[:]
        array([0., 0., 0.])
        """
        return self._new_array(self._creation.zeros, name, kwargs)

    def ones(self, name: Any, **kwargs: Any) -> Any:
        """Create an array of ones.

        Parameters
        ----------
        name : str
            Name or path of the array.
        **kwargs
            See :func:`zarrox.ones`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.ones('foo', shape=3, dtype='i4')[:]
        array([1, 1, 1], dtype=int32)
        """
        return self._new_array(self._creation.ones, name, kwargs)

    def full(self, name: Any, fill_value: Any, **kwargs: Any) -> Any:
        """Create an array whose unwritten elements have a given value.

        Parameters
        ----------
        name : str
            Name or path of the array.
        fill_value : object
            The value.
        **kwargs
            See :func:`zarrox.full`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.full('foo', 7, shape=3)[:]
        array([7., 7., 7.])
        """
        return self._new_array(self._creation.full, name, kwargs, fill_value=fill_value)

    def empty_like(self, name: Any, data: Any, **kwargs: Any) -> Any:
        """Create an array without a fill value that is otherwise like another array.

        Parameters
        ----------
        name : str
            Name or path of the array.
        data : array_like
            The other array.
        **kwargs
            See :func:`zarrox.empty_like`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.empty_like('bar', root.zeros('foo', shape=3)).shape
        (3,)
        """
        return self._new_array(self._creation.empty_like, name, kwargs, data)

    def zeros_like(self, name: Any, data: Any, **kwargs: Any) -> Any:
        """Create an array of zeros that is otherwise like another array.

        Parameters
        ----------
        name : str
            Name or path of the array.
        data : array_like
            The other array.
        **kwargs
            See :func:`zarrox.zeros_like`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.zeros_like('bar', root.ones('foo', shape=3))[:]
        array([0., 0., 0.])
        """
        return self._new_array(self._creation.zeros_like, name, kwargs, data)

    def ones_like(self, name: Any, data: Any, **kwargs: Any) -> Any:
        """Create an array of ones that is otherwise like another array.

        Parameters
        ----------
        name : str
            Name or path of the array.
        data : array_like
            The other array.
        **kwargs
            See :func:`zarrox.ones_like`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.ones_like('bar', root.zeros('foo', shape=3))[:]
        array([1., 1., 1.])
        """
        return self._new_array(self._creation.ones_like, name, kwargs, data)

    def full_like(self, name: Any, data: Any, **kwargs: Any) -> Any:
        """Create an array of one value, otherwise like another one.

        Parameters
        ----------
        name : str
            Name or path of the array.
        data : array_like
            The other array.
        **kwargs
            See :func:`zarrox.full_like`.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.full_like('bar', root.zeros('foo', shape=3), fill_value=7)[:]
        array([7., 7., 7.])
        """
        return self._new_array(self._creation.full_like, name, kwargs, data)

    def _new_array(self, create: Any, name: Any, kwargs: dict[str, Any], *args: Any, **further: Any) -> Any:
        path = self._item_path(name)
        with self._writing(path):
            array = create(*args, store=self._store, path=path, **further, **self._options(kwargs))
        return array

    def _require_array(
        self, name: Any, create: Any, shape: ShapeLike, dtype: DTypeLike, exact: bool, kwargs: dict[str, Any]
    ) -> Any:
        path = self._item_path(name)
        if self._kind(path) != "array":
            try:
                return create(name, shape=shape, dtype=dtype, **kwargs)
            except ContainsArrayError:
                # Another thread may have just created it.
                if self._kind(path) != "array":
                    raise
        with self._writing(path):
            array = self._wrap(_native.open_node(self._native_store(), path, "r+", self._native.format))
        check_array(array, normalize_shape(shape), native_dtype(dtype), exact)
        return array

    def _create_array(self, name: Any, kwargs: dict[str, Any]) -> Any:
        """Creates an array with the arguments of the internal functions."""
        path = self._item_path(name)
        with self._writing(path):
            return creating.create(self._array, store=self._store, path=path, **self._options(kwargs))

    def _options(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Returns the arguments of a function that creates an array in the stores of this group."""
        format = self._native.format
        wanted = one_format(kwargs.pop("zarr_format", None), kwargs.pop("zarr_version", None))
        if wanted is not None and str(wanted) not in (str(self._zarr_format), format):
            raise ValueError(f"nodes in a group have its format, which is {format}; found {wanted}")
        return {
            "chunk_store": self._settings.chunk_store,
            "synchronizer": self._settings.synchronizer,
            "cache_attrs": self._settings.cache_attrs,
            "zarr_format": format,
        } | kwargs


def check_array(array: ArrayBase, shape: tuple[int, ...], dtype: np.dtype[Any], exact: bool) -> None:
    if array.shape != shape:
        raise TypeError(f"{array.name!r} exists with shape {array.shape}, not {shape}")
    if exact and array.dtype != dtype:
        raise TypeError(f"{array.name!r} exists with data type {array.dtype}, not {dtype}")
    if not np.can_cast(dtype, array.dtype):
        raise TypeError(f"{array.name!r} exists with data type {array.dtype}, which {dtype} cannot be cast to safely")
