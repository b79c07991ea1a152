"""Groups with the interface of zarr-python 3."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

import numpy as np

from zarrox._native import Group as NativeGroup
from zarrox.api import creation
from zarrox.argument_types import DTypeLike, ShapeLike, StoreArgument
from zarrox.core.array import Array
from zarrox.core.base import ArrayBase
from zarrox.core.settings import Settings
from zarrox.elsewhere import OF_2
from zarrox.errors import ContainsArrayError, ContainsGroupError
from zarrox.hierarchy import _nodes
from zarrox.hierarchy._base import GroupBase
from zarrox.shown.info import InfoReporter, Lines
from zarrox.shown.page import Shown
from zarrox.shown.tree import TreeViewer
from zarrox.storage import StorePath
from zarrox.storage.store_path import place_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Group"]


class Group(GroupBase, Shown[NativeGroup]):
    __doc__ = (
        (GroupBase.__doc__ or "")
        + """
    Examples
    --------
    >>> import zarrox as zarr
    >>> root = zarr.create_group({})
    >>> array = root.create_array('foo/bar', shape=100, chunks=10, dtype='i4')
    >>> root['foo/bar'].shape
    (100,)
    >>> list(root), 'foo/bar' in root
    (['foo'], True)
    """
    )

    def __init__(self, async_group: Any) -> None:
        of = async_group._blocking
        self._fill(of._native, of._store, of._settings)

    @classmethod
    def from_dict(cls, store_path: StorePath, data: Any) -> Self:
        """Returns the group with the given metadata in a store. Nothing is read or written.

        Parameters
        ----------
        store_path : StorePath
            The location of the group.
        data : dict or GroupMetadata
            The metadata.
        """
        store, path = place_of(store_path, None)
        opened = cls._array._open_store(store)
        document = _nodes.document_of(data)
        return cls._of(_nodes.native_of_document(opened.native, path, document), opened, Settings())

    _array: ClassVar[type[ArrayBase]] = Array
    _creation: ClassVar[Any] = creation

    @classmethod
    def from_store(
        cls,
        store: StoreArgument,
        *,
        attributes: Mapping[str, Any] | None = None,
        zarr_format: int | None = None,
        overwrite: bool = False,
    ) -> Self:
        """Create a group at the root of a store, as :func:`zarrox.create_group` does."""
        return cls._open(store, "w" if overwrite else "w-", format=zarr_format, attributes=attributes)

    @classmethod
    def open(
        cls, store: StoreArgument, zarr_format: int | None = None, use_consolidated: bool | str | None = None
    ) -> Self:
        """Open the group at the root of a store for reading and writing."""
        return cls._open(store, "r+", format=zarr_format, use_consolidated=use_consolidated)

    @property
    def store_path(self) -> StorePath:
        """The store and the path in it."""
        return StorePath(self._store, self._path)

    @property
    def metadata(self) -> _nodes.GroupMetadata:
        """The metadata from the documents of the group."""
        document = json.loads(self._native.document())
        document |= {"attributes": self.attrs.asdict(), "zarr_format": self._zarr_format}
        return _nodes.GroupMetadata.from_dict(document)

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Self:
        """Update some attributes, and return the group.

        Examples
        --------
        >>> import zarrox as zarr
        >>> zarr.group().update_attributes({'answer': 42}).attrs['answer']
        42
        """
        self.attrs.update(new_attributes)
        return self

    def get_array(self, path: str) -> Array:
        """Returns the array with a name or path. A group raises ``ContainsGroupError``."""
        node = self[path]
        if isinstance(node, Array):
            return node
        raise ContainsGroupError(f"{node.name!r} is a group, not an array")

    def get_group(self, path: str) -> Group:
        """Returns the group with a name or path. An array raises ``ContainsArrayError``."""
        node = self[path]
        if isinstance(node, Group):
            return node
        raise ContainsArrayError(f"{node.name!r} is an array, not a group")

    def members(
        self, max_depth: int | None = 0, *, use_consolidated_for_children: bool = True
    ) -> tuple[tuple[str, Array | Group], ...]:
        """Returns the arrays and groups below, with their paths.

        Parameters
        ----------
        max_depth : int or None, optional
            The number of levels to descend; ``None`` for all.
        use_consolidated_for_children : bool, optional
            Whether members are opened with consolidated metadata, if this group was.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> array = root.create_array('foo/bar', shape=10, dtype='i4')
        >>> [path for path, _ in root.members(max_depth=None)]
        ['foo', 'foo/bar']
        """
        if max_depth is not None and max_depth < 0:
            raise ValueError(f"max_depth must be None or at least 0, found {max_depth}")
        if self._settings.consolidated and not use_consolidated_for_children:
            mode: Literal["r", "r+"] = "r" if self._settings.read_only else "r+"
            native = _nodes.open_group_node(self._native_store(), self._path, mode, self._native.format, False)
            return tuple(self._of(native, self._store, self._settings.with_(consolidated=False))._walk(max_depth))
        return tuple(self._walk(max_depth))

    def nmembers(self, max_depth: int | None = 0) -> int:
        """Returns the number of arrays and groups below. See :meth:`members`."""
        return len(self) if max_depth == 0 else len(self.members(max_depth))

    @property
    def zarr_format(self) -> int:
        """The format of its children, 2 or 3 (N5 counts as 2)."""
        return self._zarr_format

    @property
    def info(self) -> InfoReporter:
        """A small table about the group.

        Examples
        --------
        >>> import zarrox as zarr
        >>> zarr.group().info
        Name        : /
        Type        : Group
        Zarr format : 3
        Read-only   : False
        Store type  : MemoryStore
        <BLANKLINE>
        """
        return InfoReporter(Lines(self._known_items))

    def info_complete(self) -> InfoReporter:
        """Like :attr:`info`, with the number of members. This lists the store."""
        return InfoReporter(Lines(lambda: [*self._known_items(), *self._counted_items()]))

    def _known_items(self) -> list[tuple[str, object]]:
        return [
            ("Name", self.name),
            ("Type", type(self).__name__),
            ("Zarr format", self.zarr_format),
            ("Read-only", self.read_only),
            ("Store type", type(self._store).__name__),
        ]

    def _counted_items(self) -> list[tuple[str, object]]:
        kinds = [kind for _, kind in self._native.names()]
        return [("No. members", len(kinds)), ("No. arrays", kinds.count("array")), ("No. groups", kinds.count("group"))]

    def create_hierarchy(
        self, nodes: Mapping[str, Any], *, overwrite: bool = False
    ) -> Iterator[tuple[str, Array | Group]]:
        """Create many nodes below this group at once.

        Parameters
        ----------
        nodes : dict
            The metadata of arrays and groups by path, as for :func:`zarrox.create_hierarchy`.
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
                self._native_store(), nodes, prefix=self.path, format=str(self._zarr_format), overwrite=overwrite
            )
        return iter([(path, self._wrap(node)) for path, node in created])


    def create_array(self, name: Any, **kwargs: Any) -> Array:
        """Create an array below this group.

        Parameters
        ----------
        name : str
            Name or path of the array.
        **kwargs
            See :func:`zarrox.create_array`: shape, dtype, data, chunks, shards, filters, compressors, serializer …

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


    def create_group(self, name: Any, overwrite: bool = False, *, attributes: Mapping[str, Any] | None = None) -> Self:
        """Create a group below this one.

        Parameters
        ----------
        name : str
            Name or path of the group.
        overwrite : bool, optional
            Whether an existing node is deleted first.
        attributes : dict, optional
            The attributes of the new group.

        Raises
        ------
        ContainsGroupError, ContainsArrayError
            If a node exists and ``overwrite`` is false.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.group()
        >>> root.create_group('foo/bar').name
        '/foo/bar'
        """
        group: Self = self._create_group(name, overwrite, attributes)
        return group

    def require_group(self, name: Any, overwrite: bool = False, *, attributes: Mapping[str, Any] | None = None) -> Self:
        """Open a group below this one, or create it if it does not exist.

        Parameters
        ----------
        name : str
            Name or path of the group.
        overwrite : bool, optional
            Whether an existing array is replaced.
        attributes : dict, optional
            The attributes of a new group.

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
        group: Self = self._require_group(name, overwrite, attributes)
        return group

    def require_groups(self, *names: str) -> tuple[Self, ...]:
        """Open several groups below this one, and create missing ones."""
        return tuple(self.require_group(name) for name in names)

    def create(self, name: Any, **kwargs: Any) -> Array:
        """An alias of :meth:`create_array`.

        Parameters
        ----------
        name : str
            Name or path of the array.
        **kwargs
            See :func:`zarrox.create_array`.
        """
        return self.create_array(name, **kwargs)

    def require_array(self, name: Any, *, shape: ShapeLike, dtype: DTypeLike = None, exact: bool = False, **kwargs: Any) -> Array:
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
            See :meth:`create_array`; used if the array is created.

        Raises
        ------
        TypeError
            If an existing array has another shape, or an unsuitable data type.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.create_group({})
        >>> root.require_array('foo', shape=(10,), dtype='int8').shape
        (10,)
        """
        array: Array = self._require_array(
            name, self.create_array, shape, np.float64 if dtype is None else dtype, exact, kwargs
        )
        return array

    def tree(self, expand: bool | None = None, level: int | None = None) -> TreeViewer:
        """Returns the hierarchy below as a tree, which prints itself.

        Parameters
        ----------
        expand : bool, optional
            No effect.
        level : int, optional
            The number of levels to show.

        Examples
        --------
        >>> import zarrox as zarr
        >>> root = zarr.create_group({})
        >>> array = root.create_array('foo/bar', shape=100, dtype='i4')
        >>> root.tree()
        /
         └── foo
             └── bar (100,) int32
        """
        return TreeViewer(self, expand=bool(expand), level=level)

    def _repr_html_(self) -> str:
        return self._html_tree(None)

    def __repr__(self) -> str:
        return f"<Group {self.store_path}>"

    def __getattr__(self, name: str) -> NoReturn:
        OF_2.refuse("Group", name, type(self).__name__)
