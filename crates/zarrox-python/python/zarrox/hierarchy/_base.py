"""The common parts of the groups of all interfaces. Groups are mappings from names to arrays and groups."""

from __future__ import annotations

import warnings
from collections.abc import ItemsView, Iterator, Mapping, MutableMapping, ValuesView
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from zarrox import _native
from zarrox._native import Array as NativeArray
from zarrox._native import Group as NativeGroup
from zarrox._native import Store as NativeStore
from zarrox.argument_types import PathArgument, StoreArgument
from zarrox.attrs import Attributes
from zarrox.core.base import ArrayBase
from zarrox.core.formats import format_of_existing, format_of_new
from zarrox.core.metadata import is_v3
from zarrox.core.settings import Settings
from zarrox.errors import ReadOnlyError, ZarrUserWarning
from zarrox.hierarchy import _nodes
from zarrox.hierarchy._create import Creation
from zarrox.storage import BaseStore, MemoryStore, native_store, normalize_storage_path
from zarrox.storage.functions import consolidated_store
from zarrox.storage.store_path import place_of

if TYPE_CHECKING:
    from typing_extensions import Self

# The lock of this key serializes the creation and deletion of nodes. Nothing is stored under the key, since native code acquires the
# lock of each key that it stores.
_LOCK_KEY = ".zgroup.change"


class GroupBase(Creation, MutableMapping[str, Any]):
    """An existing group of arrays and groups. Functions such as :func:`zarrox.group` create groups.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store of the group. It is closed when the group exits as a context manager.
    path : str, optional
        The path in the store.
    read_only : bool, optional
        Whether the group is read-only.
    chunk_store : BaseStore or MutableMapping, optional
        The store of chunks, if it differs from the store of the metadata.
    cache_attrs : bool, optional
        Whether attributes are read once (the default), or before each access.
    synchronizer : object, optional
        Locks by key, for concurrent writers.
    zarr_version : {2, 3}, optional
        The format; detected if not given.
    meta_array : array_like, optional
        An array of the class that reads return; by default NumPy's.

    Raises
    ------
    ContainsArrayError
        If an array exists there.
    GroupNotFoundError
        If no group exists there.
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
        store = self._array._open_store(store)
        chunk_store = None if chunk_store is None else self._array._open_store(chunk_store)
        native = _nodes.open_group_node(
            native_store(store, chunk_store, synchronizer),
            normalize_storage_path(path),
            "r" if read_only else "r+",
            format_of_existing(store, zarr_version),
            False,
        )
        settings = Settings(
            chunk_store=chunk_store,
            synchronizer=synchronizer,
            read_only=bool(read_only),
            cache_attrs=cache_attrs,
            meta_array=meta_array,
        )
        self._fill(native, store, settings)

    @classmethod
    def _of(cls, native: NativeGroup, store: BaseStore, settings: Settings) -> Self:
        """Returns the group that wraps a native group."""
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
    def _new_store(cls) -> BaseStore:
        """Returns the default store of groups."""
        return MemoryStore()

    @classmethod
    def _open(
        cls,
        store: StoreArgument,
        mode: str,
        *,
        path: PathArgument = None,
        chunk_store: StoreArgument = None,
        synchronizer: Any = None,
        cache_attrs: bool = True,
        format: Any = None,
        attributes: Mapping[str, Any] | None = None,
        use_consolidated: bool | str | None = None,
        storage_options: dict[str, Any] | None = None,
        sync: bool | None = None,
    ) -> Self:
        """Open or create a group, according to the mode. A new root has the default format."""
        store, at = place_of(store, path, chunk_store)
        if isinstance(use_consolidated, str):
            opened = cls._array._open_store(store, storage_options=storage_options, mode=mode)
            store, elements = consolidated_store(opened, use_consolidated, mode)
            use_consolidated = True if elements is None else None
            chunk_store = elements if chunk_store is None else chunk_store
        elif store is None:
            store = cls._new_store()
        else:
            store = cls._array._open_store(store, storage_options=storage_options, mode=mode, sync=sync)
        if chunk_store is not None:
            chunk_store = cls._array._open_store(chunk_store, storage_options=storage_options, mode=mode, sync=sync)
        if use_consolidated is True and not getattr(store, "supports_consolidated_metadata", True):
            raise ValueError(f"{type(store).__name__} doesn't support consolidated metadata: leave use_consolidated=True out")
        native = _nodes.open_or_create_group(
            native_store(store, chunk_store, synchronizer),
            at,
            mode,
            format_of_existing(store, format),
            new_format=lambda: format_of_new(store, at, format, default=cls._array._default_format()),
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

    # Properties of the group

    @property
    def store(self) -> BaseStore:
        """The store of the group."""
        return getattr(self._store, "given", self._store)

    @property
    def synchronizer(self) -> Any:
        """The locks that writers use, or ``None``."""
        return self._settings.synchronizer

    @property
    def path(self) -> str:
        """The path in the store, without leading and trailing slashes."""
        return self._path

    @property
    def name(self) -> str:
        """The path with a leading slash, as in h5py."""
        return "/" + self._path

    @property
    def basename(self) -> str:
        """The last part of the name."""
        return self._path.rpartition("/")[2]

    @property
    def read_only(self) -> bool:
        """True if the group is read-only."""
        return bool(self._settings.read_only)

    @property
    def _zarr_format(self) -> int:
        """The format of its children, 2 or 3 (N5 counts as 2, as in zarr-python)."""
        return 3 if is_v3(self._native) else 2

    @property
    def attrs(self) -> Attributes:
        """The user attributes: a mapping from names to JSON values."""
        if self._attrs is None:
            read_only = self._settings.read_only or self._settings.consolidated
            self._attrs = Attributes(self._native, read_only=read_only, cache=self._settings.cache_attrs)
        return self._attrs

    def _html_tree(self, level: int | None) -> str:
        from zarrox.core.html import group_html

        return group_html(self) if level is None else group_html(self, level)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GroupBase)
            and self._path == other._path
            and self._settings.read_only == other._settings.read_only
            and self._store == other._store
        )

    def __enter__(self) -> Self:
        """Returns the group itself. Its store is closed on exit."""
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
        """Returns the array or group with the given name or path.

        Raises
        ------
        KeyError
            If the node does not exist.
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
        """Stores an array, replacing an existing one."""
        self._new_array(self._creation.array, item, {"overwrite": True}, value)

    def __delitem__(self, item: Any) -> None:
        """Deletes an array, or a group with all nodes below it."""
        path = self._item_path(item)
        with self._writing(path):
            if not self._contains(path):
                raise KeyError(item)
            _native.delete_node(self._native_store(), path)

    def __contains__(self, item: Any) -> bool:
        """Returns true if an array or a group with this name or path exists."""
        return self._contains(self._item_path(item))

    def __iter__(self) -> Iterator[str]:
        """Yields the names of the arrays and groups directly below, sorted."""
        return iter(self._native.child_names())

    def __len__(self) -> int:
        """Returns the number of arrays and groups directly below."""
        return len(self._native.child_names())

    def values(self) -> ValuesView[Any]:
        """Returns the arrays and groups directly below. Nodes that cannot be opened are skipped with a warning."""
        return _Values(self)

    def items(self) -> ItemsView[str, Any]:
        """Returns the arrays and groups directly below, with their names. Nodes that cannot be opened are skipped with a warning."""
        return _Items(self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    # Members

    def group_keys(self) -> Iterator[str]:
        """Yields the names of the groups directly below.
        """
        return (name for name, kind in self._native.kinds() if kind == "group")

    def groups(self) -> Iterator[tuple[str, Any]]:
        """Yields the groups directly below, with their names.
        """
        return ((name, node) for name, node in self._openable() if isinstance(node, GroupBase))

    def group_values(self) -> Iterator[Any]:
        """Yields the groups directly below."""
        return (group for _, group in self.groups())

    def array_keys(self) -> Iterator[str]:
        """Yields the names of the arrays directly below."""
        return (name for name, kind in self._native.kinds() if kind == "array")

    def arrays(self) -> Iterator[tuple[str, Any]]:
        """Yields the arrays directly below, with their names."""
        return ((name, node) for name, node in self._openable() if isinstance(node, ArrayBase))

    def array_values(self) -> Iterator[Any]:
        """Yields the arrays directly below."""
        return (array for _, array in self.arrays())

    def move(self, source: str, dest: str) -> None:
        """Move an array, or a group with all nodes below it.

        Parameters
        ----------
        source, dest : str
            Names or paths relative to this group, or, with a leading slash, to the root of the store.

        Raises
        ------
        ValueError
            If the source does not exist, or the destination exists.

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
                raise ValueError(f"no node to move at {'/' + from_path!r}")
            if self._contains(to_path):
                raise ValueError(f"{'/' + to_path!r} exists already; delete it or move to another name")
            inner_from, inner_to = self._inner(from_path), self._inner(to_path)
            if inner_from and inner_to:
                return self._native.move(inner_from, inner_to)
            root = _nodes.open_group_node(self._native_store(), "", "r+", self._native.format, False)
            root.move(from_path, to_path)

    # Helpers

    def _native_store(self) -> NativeStore:
        return native_store(self._store, self._settings.chunk_store, self._settings.synchronizer)

    def _wrap(self, native: NativeArray | NativeGroup) -> Any:
        if isinstance(native, _native.Array):
            return self._array._of(native, self._store, self._settings)
        return self._of(native, self._store, self._settings)

    def _item_path(self, item: Any) -> str:
        path = normalize_storage_path(item)
        if not self._path or (isinstance(item, str) and item.startswith("/")):
            return path
        return f"{self._path}/{path}" if path else self._path

    def _inner(self, path: str) -> str | None:
        """Returns a path in the store relative to this group; ``None`` if it is not below the group."""
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
        """Returns the lock to hold while the node at ``path`` is created, replaced or deleted."""
        if self._settings.read_only:
            raise ReadOnlyError(f"group {self.name!r} is read-only; open it with mode 'r+' or 'a' to change it")
        if self._settings.consolidated:
            raise ReadOnlyError(
                f"group {self.name!r} was opened with consolidated metadata, which is read-only;"
                " open it without use_consolidated"
            )
        if self._settings.synchronizer is None or not path:
            return nullcontext()
        lock: AbstractContextManager[Any] = self._settings.synchronizer[_LOCK_KEY]
        return lock

    def _children(self) -> Iterator[tuple[str, Any]]:
        """Yields the nodes directly below, sorted. For a node that cannot be opened, it yields a string with the
        reason."""
        for name, child in self._native.children():
            yield name, child if isinstance(child, str) else self._wrap(child)

    def _openable(self) -> Iterator[tuple[str, Any]]:
        for name, child in self._children():
            if isinstance(child, str):
                message = f"{name!r} in group {self.name!r} is skipped, since it cannot be opened: {child}"
                warnings.warn(message, ZarrUserWarning, stacklevel=3)
            else:
                yield name, child

    def _walk(self, max_depth: int | None) -> Iterator[tuple[str, Any]]:
        """Yields all nodes below with their relative paths, parents first, sorted by name, up to a number of levels."""
        # This is a stack, since groups can be nested to any depth, but Python's recursion is limited.
        pending = [("", 0, self._openable())]
        while pending:
            prefix, depth, nodes = pending[-1]
            for name, node in nodes:
                yield prefix + name, node
                if isinstance(node, GroupBase) and (max_depth is None or depth < max_depth):
                    pending.append((f"{prefix}{name}/", depth + 1, node._openable()))
                    break
            else:
                pending.pop()


class _Values(ValuesView[Any]):
    _mapping: GroupBase

    def __iter__(self) -> Iterator[Any]:
        return (node for _, node in self._mapping._openable())


class _Items(ItemsView[str, Any]):
    _mapping: GroupBase

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return self._mapping._openable()
