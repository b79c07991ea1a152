"""Groups: mappings from names to arrays and groups."""

from __future__ import annotations

import json
import keyword
import warnings
from collections.abc import Callable, ItemsView, Iterator, Mapping, MutableMapping, ValuesView
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any, Literal, NoReturn

import numpy as np

from zarrox import _native
from zarrox._native import Array as NativeArray
from zarrox._native import Group as NativeGroup
from zarrox._native import Store as NativeStore
from zarrox.argument_types import StoreArgument
from zarrox.attrs import Attributes
from zarrox.core import Array
from zarrox.core.formats import format_of_new
from zarrox.core.html import group_html
from zarrox.core.metadata import is_v3
from zarrox.core.settings import Settings
from zarrox.errors import ReadOnlyError, ZarrUserWarning
from zarrox.hierarchy import _nodes
from zarrox.hierarchy._create import Creation
from zarrox.shown.info import InfoReporter
from zarrox.shown.page import Shown
from zarrox.shown.tree import TreeViewer
from zarrox.storage import (
    BaseStore,
    MemoryStore,
    StorePath,
    native_store,
    normalize_storage_path,
    normalize_store_arg,
)
from zarrox.storage.functions import consolidated_store

# Nodes are created and deleted by one at a time: all who do so hold the lock of this key, under which nothing is stored, since
# native code enters the lock of whatever it stores.
_LOCK_KEY = ".zgroup.change"


class Group(Creation, Shown[NativeGroup], MutableMapping[str, "Array | Group"]):
    """A group of arrays and groups, which is there already; :func:`zarrox.group` and others create one.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        Where the group is stored. It is closed when the group is left as a context manager.
    path : str, optional
        Where in the store.
    read_only : bool, optional
        Whether nothing may be changed through the group.
    chunk_store : BaseStore or MutableMapping, optional
        Where chunks are stored, if elsewhere.
    cache_attrs : bool, optional
        Whether attributes are read once (the default), or whenever they are asked for.
    synchronizer : object, optional
        Locks by key, for several threads or processes that write.
    zarr_version : {2, 3}, optional
        The format; found out if not given.
    meta_array : array_like, optional
        An array that says which kind of arrays reading gives; NumPy's is the only one.

    Raises
    ------
    ContainsArrayError
        If an array is stored there.
    GroupNotFoundError
        If nothing is stored there.

    Examples
    --------
    >>> import zarrox as zarr
    >>> root = zarr.group()
    >>> array = root.create_dataset('foo/bar', shape=100, chunks=10)
    >>> root['foo']
    <zarrox.hierarchy.Group '/foo'>
    >>> root['foo/bar']
    <zarrox.core.Array '/foo/bar' (100,) float64>
    >>> list(root), 'foo/bar' in root, root.foo.bar == array
    (['foo'], True, True)
    """

    _native: NativeGroup
    _attrs: Attributes | None

    def __init__(
        self,
        store: StoreArgument,
        path: str | None = None,
        read_only: bool = False,
        chunk_store: StoreArgument = None,
        cache_attrs: bool = True,
        synchronizer: Any = None,
        zarr_version: int | None = None,
        meta_array: Any = None,
    ) -> None:
        store = normalize_store_arg(store)
        chunk_store = None if chunk_store is None else normalize_store_arg(chunk_store)
        native = _nodes.open_group_node(
            native_store(store, chunk_store, synchronizer),
            normalize_storage_path(path),
            "r" if read_only else "r+",
            _nodes.format_name(zarr_version),
            False,
        )
        settings = Settings(
            chunk_store=chunk_store, synchronizer=synchronizer, read_only=bool(read_only), cache_attrs=cache_attrs
        )
        self._fill(native, store, settings)

    @classmethod
    def _of(cls, native: NativeGroup, store: BaseStore, settings: Settings) -> Group:
        """The group that is open natively."""
        group = cls.__new__(cls)
        group._fill(native, store, settings)
        return group

    def _fill(self, native: NativeGroup, store: BaseStore, settings: Settings) -> None:
        self._native = native
        self._path = native.path
        self._store = store
        self._settings = settings if settings.read_only is not None else settings.with_(read_only=native.read_only)
        self._attrs = None

    @classmethod
    def from_store(
        cls,
        store: StoreArgument,
        *,
        attributes: Mapping[str, Any] | None = None,
        zarr_format: int | None = None,
        overwrite: bool = False,
    ) -> Group:
        """Create a group at the root of a store, as :func:`zarrox.create_group` does."""
        mode, format = "w" if overwrite else "w-", _nodes.format_name(zarr_format)
        return cls._open(store, mode, format=format, attributes=attributes, default=3)

    @classmethod
    def open(cls, store: StoreArgument, zarr_format: int | None = None) -> Group:
        """Open the group at the root of a store for reading and writing."""
        return cls._open(store, "r+", format=_nodes.format_name(zarr_format))

    @classmethod
    def _open(
        cls,
        store: StoreArgument,
        mode: str,
        *,
        path: str | None = None,
        chunk_store: StoreArgument = None,
        synchronizer: Any = None,
        cache_attrs: bool = True,
        format: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        use_consolidated: bool | str | None = None,
        storage_options: dict[str, Any] | None = None,
        sync: bool | None = None,
        default: int | None = None,
    ) -> Group:
        """Open or create a group, as the mode says; at a root of the default format."""
        if isinstance(use_consolidated, str):
            store, elements = consolidated_store(store, use_consolidated, mode, storage_options)
            use_consolidated = True if elements is None else None
            chunk_store = elements if chunk_store is None else chunk_store
        elif store is None:
            store = MemoryStore()
        else:
            store = normalize_store_arg(store, storage_options=storage_options, mode=mode, sync=sync)
        if chunk_store is not None:
            chunk_store = normalize_store_arg(chunk_store, storage_options=storage_options, mode=mode, sync=sync)
        at = normalize_storage_path(path)
        native = _nodes.open_or_create_group(
            native_store(store, chunk_store, synchronizer),
            at,
            mode,
            format,
            new_format=lambda: format_of_new(store, at, format, default=default),
            attributes=attributes,
            consolidated=use_consolidated,
        )
        settings = Settings(
            chunk_store=chunk_store,
            synchronizer=synchronizer,
            read_only=mode == "r",
            cache_attrs=cache_attrs,
            consolidated=use_consolidated is True,
        )
        return cls._of(native, store, settings)

    # What the group is

    @property
    def store(self) -> BaseStore:
        """Where the group is stored."""
        return self._store

    @property
    def chunk_store(self) -> BaseStore:
        """Where the chunks of its arrays are stored."""
        return self._store if self._settings.chunk_store is None else self._settings.chunk_store

    @property
    def synchronizer(self) -> Any:
        """The locks that writing uses, or ``None``."""
        return self._settings.synchronizer

    @property
    def path(self) -> str:
        """The path in the store, without slashes around it."""
        return self._path

    @property
    def name(self) -> str:
        """The path with a leading slash, as h5py has it."""
        return "/" + self._path

    @property
    def basename(self) -> str:
        """The last part of the name."""
        return self._path.rpartition("/")[2]

    @property
    def store_path(self) -> StorePath:
        """The store and the path in it."""
        return StorePath(self._store, self._path)

    @property
    def read_only(self) -> bool:
        """True if nothing may be changed through this group."""
        return bool(self._settings.read_only)

    @property
    def meta_array(self) -> np.ndarray[Any, Any]:
        """An empty array of the kind that reading gives."""
        return np.empty(())

    @property
    def zarr_format(self) -> int:
        """2 or 3: what its children are written as (N5 counts as 2, as in zarr-python)."""
        return 3 if is_v3(self._native) else 2

    @property
    def attrs(self) -> Attributes:
        """The attributes of the user: a mapping to whatever JSON can say."""
        if self._attrs is None:
            read_only = self._settings.read_only or self._settings.consolidated
            self._attrs = Attributes(self._native, read_only=read_only, cache=self._settings.cache_attrs)
        return self._attrs

    @property
    def metadata(self) -> _nodes.GroupMetadata:
        """The metadata in the documents of the group."""
        document = json.loads(self._native.document())
        document |= {"attributes": self.attrs.asdict(), "zarr_format": self.zarr_format}
        return _nodes.GroupMetadata.from_dict(document)

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Group:
        """Set some of the attributes, and keep the others; returns the group.

        Examples
        --------
        >>> import zarrox as zarr
        >>> zarr.group().update_attributes({'answer': 42}).attrs['answer']
        42
        """
        self.attrs.update(new_attributes)
        return self

    @property
    def info(self) -> InfoReporter:
        """A small table about the group.

        Examples
        --------
        >>> import zarrox as zarr
        >>> zarr.group().info
        Name        : /
        Type        : zarrox.hierarchy.Group
        Read-only   : False
        Store type  : zarrox.storage.MemoryStore
        No. members : 0
        No. arrays  : 0
        No. groups  : 0
        <BLANKLINE>
        """
        return InfoReporter(self)

    def info_complete(self) -> InfoReporter:
        """Like :attr:`info`, which leaves nothing out."""
        return self.info

    def info_items(self) -> list[tuple[str, Any]]:
        """The lines of :attr:`info`."""
        names = self._native.names()
        arrays = [name for name, kind in names if kind == "array"]
        groups = [name for name, kind in names if kind == "group"]
        items: list[tuple[str, Any]] = [
            ("Name", self.name),
            ("Type", _type_name(self)),
            ("Read-only", str(self.read_only)),
        ]
        if self._settings.synchronizer is not None:
            items.append(("Synchronizer type", _type_name(self._settings.synchronizer)))
        items.append(("Store type", _type_name(self._store)))
        if self._settings.chunk_store is not None:
            items.append(("Chunk store type", _type_name(self._settings.chunk_store)))
        items += [("No. members", len(names)), ("No. arrays", len(arrays)), ("No. groups", len(groups))]
        if arrays:
            items.append(("Arrays", ", ".join(arrays)))
        if groups:
            items.append(("Groups", ", ".join(groups)))
        return items

    def __repr__(self) -> str:
        if is_v3(self._native):
            return f"<Group {self.store_path}>"
        read_only = " read-only" if self._settings.read_only else ""
        return f"<{_type_name(self)} {self.name!r}{read_only}>"

    def _repr_html_(self) -> str:
        return self._html_tree(None)

    def _html_tree(self, level: int | None) -> str:
        return group_html(self) if level is None else group_html(self, level)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Group)
            and self._path == other._path
            and self._settings.read_only == other._settings.read_only
            and self._store == other._store
        )

    def __enter__(self) -> Group:
        """The group itself; its store is closed at the end."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._store.close()

    def __getstate__(self) -> tuple[Any, ...]:
        return (self._store, self._settings, self._path)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        store, settings, path = state
        stores = native_store(store, settings.chunk_store, settings.synchronizer)
        mode: Literal["r", "r+"] = "r" if settings.read_only else "r+"
        self._fill(_nodes.open_group_node(stores, path, mode, None, settings.consolidated), store, settings)

    # A mapping

    def __getitem__(self, item: Any) -> Any:
        """The array or group of a name or a path.

        Raises
        ------
        KeyError
            If there is none.
        """
        path = self._item_path(item)
        inner = self._inner(path)
        if inner:
            return self._wrap(self._native.open(inner))
        if inner is not None:
            return self._wrap(self._native)
        mode: Literal["r", "r+"] = "r" if self._settings.read_only else "r+"
        return self._wrap(_native.open_node(self._native_store(), path, mode, self._native.format))

    def __setitem__(self, item: Any, value: Any) -> None:
        """Stores an array; one that is there is replaced."""
        self.array(item, value, overwrite=True)

    def __delitem__(self, item: Any) -> None:
        """Deletes an array, or a group with all that is below it."""
        path = self._item_path(item)
        with self._writing(path):
            if not self._contains(path):
                raise KeyError(item)
            _native.delete_node(self._native_store(), path)

    def __contains__(self, item: Any) -> bool:
        """Returns true if there is an array or a group of this name or path."""
        return self._contains(self._item_path(item))

    def __iter__(self) -> Iterator[str]:
        """The names of the arrays and groups directly below, sorted."""
        return iter(self._native.child_names())

    def __len__(self) -> int:
        """The number of arrays and groups directly below."""
        return len(self._native.child_names())

    def values(self) -> ValuesView[Array | Group]:
        """The arrays and groups directly below; those that cannot be opened are left out with a warning."""
        return _Values(self)

    def items(self) -> ItemsView[str, Array | Group]:
        """Names with their arrays and groups; those that cannot be opened are left out with a warning."""
        return _Items(self)

    def __getattr__(self, item: str) -> Any:
        # An object that is being unpickled has no fields yet, and Python asks for many names with underscores.
        if item.startswith("__") or "_native" not in self.__dict__:
            raise AttributeError(item)
        try:
            return self[item]
        except KeyError:
            raise AttributeError(f"{_type_name(self)} {self.name!r} has no attribute and no member {item!r}") from None

    def __dir__(self) -> list[str]:
        members = (name for name in self if name.isidentifier() and not keyword.iskeyword(name))
        return sorted({*super().__dir__(), *members})

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def get_array(self, path: str) -> Array:
        """The array of a name or path; a group there is an error (``TypeError``)."""
        node = self[path]
        return node if isinstance(node, Array) else _refuse(node, "array")

    def get_group(self, path: str) -> Group:
        """The group of a name or path; an array there is an error (``TypeError``)."""
        node = self[path]
        return node if isinstance(node, Group) else _refuse(node, "group")

    # What is below

    def group_keys(self) -> Iterator[str]:
        """The names of the groups directly below.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> groups = root.create_groups('foo', 'bar')
        >>> list(root.group_keys())
        ['bar', 'foo']
        """
        return (name for name, kind in self._native.kinds() if kind == "group")

    def groups(self) -> Iterator[tuple[str, Group]]:
        """The groups directly below, with their names.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> groups = root.create_groups('foo', 'bar')
        >>> list(root.groups())
        [('bar', <zarrox.hierarchy.Group '/bar'>), ('foo', <zarrox.hierarchy.Group '/foo'>)]
        """
        return ((name, node) for name, node in self._openable() if isinstance(node, Group))

    def group_values(self) -> Iterator[Group]:
        """The groups directly below."""
        return (group for _, group in self.groups())

    def array_keys(self, recurse: bool = False) -> Iterator[str]:
        """The names of the arrays directly below, or, with ``recurse``, of all arrays below.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> arrays = root.zeros('foo/bar', shape=10), root.zeros('baz', shape=10)
        >>> list(root.array_keys()), list(root.array_keys(recurse=True))
        (['baz'], ['baz', 'bar'])
        """
        if recurse:
            return (name for name, _ in self.arrays(recurse=True))
        return (name for name, kind in self._native.kinds() if kind == "array")

    def arrays(self, recurse: bool = False) -> Iterator[tuple[str, Array]]:
        """The arrays directly below, or, with ``recurse``, all arrays below, with their names (not their paths).

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> array = root.zeros('foo/bar', shape=10)
        >>> list(root.arrays())
        []
        >>> list(root.arrays(recurse=True))
        [('bar', <zarrox.core.Array '/foo/bar' (10,) float64>)]
        """
        below = self._walk(None if recurse else 0)
        return ((path.rpartition("/")[2], node) for path, node in below if isinstance(node, Array))

    def array_values(self) -> Iterator[Array]:
        """The arrays directly below."""
        return (array for _, array in self.arrays())

    def members(
        self, max_depth: int | None = 0, *, use_consolidated_for_children: bool = True
    ) -> tuple[tuple[str, Array | Group], ...]:
        """The arrays and groups below, with their paths.

        Parameters
        ----------
        max_depth : int or None, optional
            How many levels of groups are entered; ``None`` enters all.
        use_consolidated_for_children : bool, optional
            Whether consolidated metadata does for what is below, if this group was opened by it.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> array = root.zeros('foo/bar', shape=10)
        >>> [path for path, _ in root.members(max_depth=None)]
        ['foo', 'foo/bar']
        """
        if max_depth is not None and max_depth < 0:
            raise ValueError(f"max_depth must be None or at least 0, found {max_depth}")
        if self._settings.consolidated and not use_consolidated_for_children:
            mode: Literal["r", "r+"] = "r" if self._settings.read_only else "r+"
            native = _nodes.open_group_node(self._native_store(), self._path, mode, self._native.format, False)
            return tuple(Group._of(native, self._store, self._settings.with_(consolidated=False))._walk(max_depth))
        return tuple(self._walk(max_depth))

    def nmembers(self, max_depth: int | None = 0) -> int:
        """The number of arrays and groups below; see :meth:`members`."""
        return len(self) if max_depth == 0 else len(self.members(max_depth))

    def visitvalues(self, func: Callable[[Any], Any]) -> Any:
        """Call ``func`` with each array and group below, until it returns something.

        Parameters
        ----------
        func : callable
            Called with the array or group; whatever it returns except ``None`` ends the visit.

        Returns
        -------
        object
            What ``func`` returned last.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> groups = root.create_groups('foo', 'bar/baz')
        >>> root.visitvalues(print)
        <zarrox.hierarchy.Group '/bar'>
        <zarrox.hierarchy.Group '/bar/baz'>
        <zarrox.hierarchy.Group '/foo'>
        """
        return self.visititems(lambda _, node: func(node))

    def visit(self, func: Callable[[str], Any]) -> Any:
        """Call ``func`` with the path of each array and group below, until it returns something.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> groups = root.create_groups('foo', 'bar/baz')
        >>> root.visit(print)
        bar
        bar/baz
        foo
        """
        return self.visititems(lambda path, _: func(path))

    def visitkeys(self, func: Callable[[str], Any]) -> Any:
        """Like :meth:`visit`."""
        return self.visit(func)

    def visititems(self, func: Callable[[str, Any], Any]) -> Any:
        """Call ``func`` with path and object of each array and group below, until it returns something.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> groups = root.create_groups('foo', 'bar/baz')
        >>> root.visititems(lambda path, node: node if path == 'bar/baz' else None)
        <zarrox.hierarchy.Group '/bar/baz'>
        """
        results = (func(path, node) for path, node in self._walk(None))
        return next((result for result in results if result is not None), None)

    def tree(self, expand: bool = False, level: int | None = None) -> TreeViewer:
        """The hierarchy below, to be printed.

        Parameters
        ----------
        expand : bool, optional
            Whether the tree is unfolded in notebooks.
        level : int, optional
            How many levels are shown; all if not given.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> array = root.zeros('foo/bar', shape=100, chunks=10)
        >>> root.tree()
        /
         └── foo
             └── bar (100,) float64
        """
        return TreeViewer(self, expand=expand, level=level)

    def move(self, source: str, dest: str) -> None:
        """Move an array, or a group with all that is below it.

        Parameters
        ----------
        source, dest : str
            Names or paths relative to this group, or, with a leading slash, to the root of the store.

        Raises
        ------
        ValueError
            If there is no source, or something at the destination.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> array = root.zeros('foo', shape=10)
        >>> root.move('foo', 'bar/baz')
        >>> list(root), list(root['bar'])
        (['bar'], ['baz'])
        """
        from_path, to_path = self._item_path(source), self._item_path(dest)
        with self._writing(from_path):
            if not self._contains(from_path):
                raise ValueError(f"there is nothing to move at {'/' + from_path!r}")
            if self._contains(to_path):
                raise ValueError(f"{'/' + to_path!r} exists already; delete it, or move to another name")
            inner_from, inner_to = self._inner(from_path), self._inner(to_path)
            if inner_from and inner_to:
                return self._native.move(inner_from, inner_to)
            root = _nodes.open_group_node(self._native_store(), "", "r+", self._native.format, False)
            root.move(from_path, to_path)

    # Shared by all of these

    def _native_store(self) -> NativeStore:
        return native_store(self._store, self._settings.chunk_store, self._settings.synchronizer)

    def _wrap(self, native: NativeArray | NativeGroup) -> Array | Group:
        if isinstance(native, _native.Array):
            return Array._of(native, self._store, self._settings)
        return Group._of(native, self._store, self._settings)

    def _item_path(self, item: Any) -> str:
        path = normalize_storage_path(item)
        if not self._path or (isinstance(item, str) and item.startswith("/")):
            return path
        return f"{self._path}/{path}" if path else self._path

    def _inner(self, path: str) -> str | None:
        """A path of the store relative to this group; ``None`` for one that is not below."""
        if not self._path:
            return path
        if path == self._path:
            return ""
        prefix = self._path + "/"
        return path[len(prefix) :] if path.startswith(prefix) else None

    def _kind(self, path: str) -> _nodes.Kind | None:
        inner = self._inner(path)
        if inner:
            return self._native.kind(inner)
        return _native.node_kind(self._native_store(), path, self._native.format)

    def _contains(self, path: str) -> bool:
        inner = self._inner(path)
        return self._native.contains(inner) if inner else self._kind(path) is not None

    def _writing(self, path: str) -> AbstractContextManager[Any]:
        """The lock to hold while the node at ``path`` is created, replaced or deleted."""
        if self._settings.read_only:
            raise ReadOnlyError(f"group {self.name!r} is read-only; open it with mode 'r+' or 'a' to change it")
        if self._settings.consolidated:
            raise ReadOnlyError(
                f"group {self.name!r} was opened by consolidated metadata, through which no metadata is changed;"
                " open it without"
            )
        if self._settings.synchronizer is None or not path:
            return nullcontext()
        lock: AbstractContextManager[Any] = self._settings.synchronizer[_LOCK_KEY]
        return lock

    def _children(self) -> Iterator[tuple[str, Array | Group | str]]:
        """The nodes directly below, sorted; text says why a node cannot be opened."""
        for name, child in self._native.children():
            yield name, child if isinstance(child, str) else self._wrap(child)

    def _openable(self) -> Iterator[tuple[str, Array | Group]]:
        for name, child in self._children():
            if isinstance(child, str):
                message = f"{name!r} in group {self.name!r} is left out, since it cannot be opened: {child}"
                warnings.warn(message, ZarrUserWarning, stacklevel=3)
            else:
                yield name, child

    def _walk(self, max_depth: int | None) -> Iterator[tuple[str, Array | Group]]:
        """All nodes below with their relative paths, parents first, sorted by name; so many levels of groups are entered."""
        # A stack, since the nesting of groups has no bound and that of Python's calls has.
        pending = [("", 0, self._openable())]
        while pending:
            prefix, depth, nodes = pending[-1]
            for name, node in nodes:
                yield prefix + name, node
                if isinstance(node, Group) and (max_depth is None or depth < max_depth):
                    pending.append((f"{prefix}{name}/", depth + 1, node._openable()))
                    break
            else:
                pending.pop()


class _Values(ValuesView["Array | Group"]):
    _mapping: Group

    def __iter__(self) -> Iterator[Array | Group]:
        return (node for _, node in self._mapping._openable())


class _Items(ItemsView[str, "Array | Group"]):
    _mapping: Group

    def __iter__(self) -> Iterator[tuple[str, Array | Group]]:
        return self._mapping._openable()


def _type_name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _refuse(node: Any, wanted: str) -> NoReturn:
    raise TypeError(f"{node!r} is not the {wanted} that was asked for")
