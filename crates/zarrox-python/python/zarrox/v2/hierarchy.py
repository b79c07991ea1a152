"""Groups with the interface of zarr-python 2."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from zarrox._native import Group as NativeGroup
from zarrox.argument_types import DTypeLike, PathArgument, ShapeLike, StoreArgument
from zarrox.core.base import ArrayBase
from zarrox.core.formats import one_format
from zarrox.core.settings import Settings
from zarrox.elsewhere import OF_3
from zarrox.hierarchy._base import GroupBase
from zarrox.hierarchy._modes import check_mode
from zarrox.shown.info import InfoReporter, type_name
from zarrox.shown.tree import TreeViewer
from zarrox.storage import BaseStore
from zarrox.v2 import creation
from zarrox.v2.core import Array
from zarrox.v2.internals import Internals
from zarrox.v2.storage import MemoryStore

__all__ = ["Group", "group", "open_group"]


class Group(GroupBase, Internals):
    __doc__ = (
        (GroupBase.__doc__ or "")
        + """
    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> root = zarr.group()
    >>> array = root.create_dataset('foo/bar', shape=100, chunks=10)
    >>> root['foo']
    <zarrox.v2.hierarchy.Group '/foo'>
    >>> root['foo/bar']
    <zarrox.v2.core.Array '/foo/bar' (100,) float64>
    >>> list(root), 'foo/bar' in root, root.foo.bar == array
    (['foo'], True, True)
    """
    )

    _array: ClassVar[type[ArrayBase]] = Array
    _creation: ClassVar[Any] = creation

    @classmethod
    def _new_store(cls) -> BaseStore:
        return MemoryStore()

    def _fill(self, native: NativeGroup, store: BaseStore, settings: Settings) -> None:
        super()._fill(native, store, settings.with_(write_empty_chunks=True))

    def _options(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        return {"meta_array": self._settings.meta_array, **super()._options(kwargs)}

    def info_items(self) -> list[tuple[str, Any]]:
        """Returns the lines of :attr:`info`."""
        names = self._native.names()
        arrays = [name for name, kind in names if kind == "array"]
        groups = [name for name, kind in names if kind == "group"]
        items: list[tuple[str, Any]] = [
            ("Name", self.name),
            ("Type", type_name(self)),
            ("Read-only", str(self.read_only)),
        ]
        if self._settings.synchronizer is not None:
            items.append(("Synchronizer type", type_name(self._settings.synchronizer)))
        items.append(("Store type", type_name(self._store)))
        if self._settings.chunk_store is not None:
            items.append(("Chunk store type", type_name(self._settings.chunk_store)))
        items += [("No. members", len(names)), ("No. arrays", len(arrays)), ("No. groups", len(groups))]
        if arrays:
            items.append(("Arrays", ", ".join(arrays)))
        if groups:
            items.append(("Groups", ", ".join(groups)))
        return items

    def visitvalues(self, func: Callable[[Any], Any]) -> Any:
        """Call ``func`` with each array and group below, until it returns a value other than ``None``, and return this value.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> root = zarr.group()
        >>> groups = root.create_groups('foo', 'bar/baz')
        >>> root.visitvalues(print)
        <zarrox.v2.hierarchy.Group '/bar'>
        <zarrox.v2.hierarchy.Group '/bar/baz'>
        <zarrox.v2.hierarchy.Group '/foo'>
        """
        return self.visititems(lambda _, node: func(node))

    def visit(self, func: Callable[[str], Any]) -> Any:
        """Call ``func`` with the path of each array and group below, until it returns a value other than ``None``.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> root = zarr.group()
        >>> groups = root.create_groups('foo', 'bar/baz')
        >>> root.visit(print)
        bar
        bar/baz
        foo
        """
        return self.visititems(lambda path, _: func(path))

    visitkeys = visit

    def visititems(self, func: Callable[[str, Any], Any]) -> Any:
        """Call ``func`` with the path and the object of each array and group below, until it returns a value other than
        ``None``.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> root = zarr.group()
        >>> groups = root.create_groups('foo', 'bar/baz')
        >>> root.visititems(lambda path, node: node if path == 'bar/baz' else None)
        <zarrox.v2.hierarchy.Group '/bar/baz'>
        """
        results = (func(path, node) for path, node in self._walk(None))
        return next((result for result in results if result is not None), None)

    def tree(self, expand: bool = False, level: int | None = None) -> TreeViewer:
        """Returns the hierarchy below as a tree, which prints itself.

        Parameters
        ----------
        expand : bool, optional
            Whether the tree is unfolded in notebooks.
        level : int, optional
            The number of levels to show; by default all.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> root = zarr.group()
        >>> array = root.zeros('foo/bar', shape=100, chunks=10)
        >>> root.tree()
        /
         └── foo
             └── bar (100,) float64
        """
        return TreeViewer(self, expand=expand, level=level)

    def __dir__(self) -> list[str]:
        members = (name for name in self if name.isidentifier() and not keyword.iskeyword(name))
        return sorted({*super().__dir__(), *members})

    @property
    def info(self) -> InfoReporter:
        """A small table about the group.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> zarr.group().info
        Name        : /
        Type        : zarrox.v2.hierarchy.Group
        Read-only   : False
        Store type  : zarrox.v2.storage.MemoryStore
        No. members : 0
        No. arrays  : 0
        No. groups  : 0
        <BLANKLINE>
        """
        return InfoReporter(self)

    def array_keys(self, recurse: bool = False) -> Iterator[str]:
        """Yields the names of the arrays directly below or, with ``recurse``, of all arrays below.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> root = zarr.group()
        >>> arrays = root.zeros('foo/bar', shape=10), root.zeros('baz', shape=10)
        >>> list(root.array_keys()), list(root.array_keys(recurse=True))
        (['baz'], ['baz', 'bar'])
        """
        return (name for name, _ in self.arrays(recurse=True)) if recurse else super().array_keys()

    def arrays(self, recurse: bool = False) -> Iterator[tuple[str, Array]]:
        """Yields the arrays directly below or, with ``recurse``, all arrays below, with their names (not their paths).

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> root = zarr.group()
        >>> array = root.zeros('foo/bar', shape=10)
        >>> list(root.arrays())
        []
        >>> list(root.arrays(recurse=True))
        [('bar', <zarrox.v2.core.Array '/foo/bar' (10,) float64>)]
        """
        below = self._walk(None if recurse else 0)
        return ((path.rpartition("/")[2], node) for path, node in below if isinstance(node, Array))

    def create_group(self, name: Any, overwrite: bool = False) -> Group:
        """Create a group below this one.

        Parameters
        ----------
        name : str
            Name or path of the group.
        overwrite : bool, optional
            Whether an existing node is deleted first.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> root = zarr.group()
        >>> root.create_group('foo/bar')
        <zarrox.v2.hierarchy.Group '/foo/bar'>
        """
        group: Group = self._create_group(name, overwrite)
        return group

    def require_group(self, name: Any, overwrite: bool = False) -> Group:
        """Open a group below this one, or create it if it does not exist.

        Parameters
        ----------
        name : str
            Name or path of the group.
        overwrite : bool, optional
            Whether an existing array is replaced.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> root = zarr.group()
        >>> root.require_group('foo') == root.require_group('foo')
        True
        """
        group: Group = self._require_group(name, overwrite)
        return group

    def create_groups(self, *names: Any, **kwargs: Any) -> tuple[Group, ...]:
        """Create several groups. See :meth:`create_group` for the other arguments.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> len(zarr.group().create_groups('foo', 'bar'))
        2
        """
        return tuple(self.create_group(name, **kwargs) for name in names)

    def create_dataset(self, name: Any, *, data: Any = None, **kwargs: Any) -> Array:
        """Create an array below this group. h5py calls arrays datasets.

        Parameters
        ----------
        name : str
            Name or path of the array.
        data : array_like, optional
            The values of the array.
        **kwargs
            See :func:`zarrox.v2.create`: shape, chunks, dtype, compressor, fill_value, order, filters, overwrite …

        Returns
        -------
        zarrox.v2.core.Array

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> root = zarr.group()
        >>> root.create_dataset('foo/bar', shape=(100, 100), chunks=(10, 10), dtype='i4')
        <zarrox.v2.core.Array '/foo/bar' (100, 100) int32>
        """
        given = () if data is None else (data,)
        array: Array = self._new_array(creation.create if data is None else creation.array, name, kwargs, *given)
        return array

    #: An alias, with the name of the function.
    create = create_dataset

    def array(self, name: Any, data: Any, **kwargs: Any) -> Array:
        """Create an array with given data.

        Parameters
        ----------
        name : str
            Name or path of the array.
        data : array_like
            The values of the array.
        **kwargs
            See :func:`zarrox.v2.array`.

        Returns
        -------
        zarrox.v2.core.Array

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> root = zarr.group()
        >>> root.array('foo', [1, 2, 3])[:]
        array([1, 2, 3])
        """
        array: Array = self._new_array(creation.array, name, kwargs, data)
        return array

    def require_dataset(self, name: Any, shape: ShapeLike, dtype: DTypeLike = None, exact: bool = False, **kwargs: Any) -> Array:
        """Open an array below this group, or create it if it does not exist.

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
            See :meth:`create_dataset`; used if the array is created.

        Returns
        -------
        zarrox.v2.core.Array

        Raises
        ------
        TypeError
            If an existing array has another shape, or an unsuitable data type.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> root = zarr.group()
        >>> root.require_dataset('foo', shape=100, dtype='f8') == root.require_dataset('foo', shape=100, dtype='f4')
        True
        """
        array: Array = self._require_array(name, self.create_dataset, shape, dtype, exact, kwargs)
        return array

    def _not_shown(self, *_: Any, **__: Any) -> None:
        """Returns ``None``, for which notebooks show the result of ``repr``.

        Notebooks look up all these methods. Without them, each lookup would search the store for a member with the name of the method,
        and a tree would list the whole store.
        """

    _repr_html_ = _repr_json_ = _repr_javascript_ = _repr_markdown_ = _repr_svg_ = _not_shown
    _repr_png_ = _repr_jpeg_ = _repr_latex_ = _repr_pdf_ = _repr_mimebundle_ = _not_shown

    def __repr__(self) -> str:
        read_only = " read-only" if self._settings.read_only else ""
        return f"<{type_name(self)} {self.name!r}{read_only}>"

    def __getattr__(self, item: str) -> Any:
        # An object that is being unpickled has no fields yet, and Python looks up many names that begin with underscores.
        if item.startswith("__") or "_native" not in self.__dict__:
            raise AttributeError(item)
        try:
            return self[item]
        except KeyError:
            pass
        OF_3.refuse("Group", item, type_name(self))


def group(
    store: StoreArgument = None,
    overwrite: bool = False,
    chunk_store: StoreArgument = None,
    cache_attrs: bool = True,
    synchronizer: Any = None,
    path: PathArgument = None,
    *,
    zarr_version: Any = None,
    zarr_format: Any = None,
    meta_array: Any = None,
    storage_options: dict[str, Any] | None = None,
    sync: bool | None = None,
) -> Group:
    """Open a group, or create it if it does not exist.

    Parameters
    ----------
    overwrite : bool, optional
        Whether an existing node is deleted first.
    store, chunk_store, cache_attrs, synchronizer, path, zarr_version, zarr_format, meta_array, storage_options, sync
        See `open_group`.

    Returns
    -------
    Group

    Raises
    ------
    ContainsArrayError
        If there is an array, and ``overwrite`` is false.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> zarr.group()
    <zarrox.v2.hierarchy.Group '/'>
    """
    return open_group(
        store,
        "w" if overwrite else "a",
        cache_attrs,
        synchronizer,
        path,
        chunk_store,
        storage_options,
        zarr_version=zarr_version,
        zarr_format=zarr_format,
        meta_array=meta_array,
        sync=sync,
    )


def open_group(
    store: StoreArgument = None,
    mode: str = "a",
    cache_attrs: bool = True,
    synchronizer: Any = None,
    path: PathArgument = None,
    chunk_store: StoreArgument = None,
    storage_options: dict[str, Any] | None = None,
    *,
    zarr_version: Any = None,
    zarr_format: Any = None,
    meta_array: Any = None,
    sync: bool | None = None,
) -> Group:
    """Open a group with a mode like a file's. See :func:`zarrox.open_group` for the arguments.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike, optional
        The location of the group; in memory if not given.
    mode : {'r', 'r+', 'a', 'w', 'w-'}, optional
        'r': read only, must exist; 'r+': read and write, must exist; 'a': created if missing; 'w': created, replaces an
        existing group; 'w-' (or 'x'): created, must not exist.
    cache_attrs : bool, optional
        Whether attributes are read once (the default), or before each access.
    synchronizer : object, optional
        Locks by key, for concurrent writers.
    path : str, optional
        The path in the store.
    chunk_store : BaseStore, MutableMapping, str or PathLike, optional
        The store of chunks, if it differs from the store of the metadata.
    storage_options : dict, optional
        Options for the store of a URL, or for a directory, such as ``follow_links``.
    zarr_version, zarr_format : {2, 3}, optional
        The format. By default the format of the parent group, or 2 without a parent group.
    meta_array : array_like, optional
        An array of the class that reading returns; a NumPy array by default.
    sync : bool, optional
        Whether writes to a path are flushed to the disk before a call returns, so that they survive a power failure.

    Returns
    -------
    Group

    Raises
    ------
    GroupNotFoundError
        If the group must exist but does not.
    ContainsArrayError, ContainsGroupError
        If another node exists.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> root = zarr.open_group('data/example.zarr', mode='w')
    >>> foo = root.create_group('foo')
    >>> zarr.open_group('data/example.zarr', mode='r')
    <zarrox.v2.hierarchy.Group '/' read-only>
    """
    check_mode(mode)
    opened = Group._open(
        store,
        mode,
        path=path,
        chunk_store=chunk_store,
        synchronizer=synchronizer,
        cache_attrs=cache_attrs,
        format=one_format(zarr_format, zarr_version),
        use_consolidated=False,
        storage_options=storage_options,
        sync=sync,
    )
    if meta_array is not None:
        opened._settings = opened._settings.with_(meta_array=meta_array)
    return opened
