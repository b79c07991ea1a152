"""Functions that open and create groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zarrox import _native
from zarrox.argument_types import StoreArgument
from zarrox.core.array import Array
from zarrox.core.settings import Settings
from zarrox.errors import ContainsArrayError, ContainsGroupError, GroupNotFoundError
from zarrox.hierarchy import _nodes
from zarrox.hierarchy._group import Group
from zarrox.hierarchy._modes import check_mode
from zarrox.storage import native_store, normalize_store_arg

def group(
    store: StoreArgument = None,
    *,
    overwrite: bool = False,
    chunk_store: StoreArgument = None,
    cache_attrs: bool | None = None,
    synchronizer: Any = None,
    path: str | None = None,
    zarr_format: int | None = None,
    meta_array: Any = None,
    attributes: Mapping[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
    sync: bool | None = None,
) -> Group:
    """Open a group, or create it if it does not exist.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike, optional
        The location of the group; in memory if not given.
    overwrite : bool, optional
        Whether an existing node is deleted first.
    chunk_store : BaseStore or MutableMapping, optional
        The store of chunks, if it differs from the store of the metadata.
    cache_attrs : bool, optional
        Whether attributes are read once (the default), or before each access.
    synchronizer : object, optional
        Locks by key, for concurrent writers.
    path : str, optional
        The path in the store.
    zarr_format : {2, 3}, optional
        The format. By default, a new group has the format of its parent group, or ``default_zarr_format`` at the root.
    meta_array : array_like, optional
        No effect: reads always return NumPy arrays.
    attributes : dict, optional
        The attributes of a new group.
    storage_options : dict, optional
        Options for the store of a URL, or for a directory, such as ``follow_links``.
    sync : bool, optional
        Whether writes to a path are flushed to the disk before a call returns, so that they survive a power failure.

    Returns
    -------
    Group

    Raises
    ------
    ContainsArrayError
        If there is an array, and ``overwrite`` is false.

    Examples
    --------
    >>> import zarrox as zarr
    >>> zarr.group(path='foo/bar', zarr_format=2).metadata.zarr_format
    2
    """
    return open_group(
        store,
        "w" if overwrite else "a",
        cache_attrs=cache_attrs,
        synchronizer=synchronizer,
        path=path,
        chunk_store=chunk_store,
        storage_options=storage_options,
        zarr_format=zarr_format,
        attributes=attributes,
        sync=sync,
    )


def open_group(
    store: StoreArgument = None,
    mode: str = "a",
    *,
    cache_attrs: bool | None = None,
    synchronizer: Any = None,
    path: str | None = None,
    chunk_store: StoreArgument = None,
    storage_options: dict[str, Any] | None = None,
    zarr_format: int | None = None,
    meta_array: Any = None,
    attributes: Mapping[str, Any] | None = None,
    use_consolidated: bool | str | None = None,
    sync: bool | None = None,
) -> Group:
    """Open a group with a mode like a file's.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike, optional
        The location of the group; in memory if not given.
    mode : {'r', 'r+', 'a', 'w', 'w-'}, optional
        'r': read only, must exist; 'r+': read and write, must exist; 'a': created if missing; 'w': created, replaces an existing
        group; 'w-' (or 'x'): created, must not exist.
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
    zarr_format : {2, 3}, optional
        The format. By default, a new group has the format of its parent group, or ``default_zarr_format`` at the root.
    meta_array : array_like, optional
        No effect: reads always return NumPy arrays.
    attributes : dict, optional
        The attributes of a new group.
    use_consolidated : bool or str, optional
        Whether consolidated metadata is used: ``True`` requires it, and a string is its key (v2). By default, it is used if it
        exists and the mode is 'r'.
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
    >>> import zarrox as zarr
    >>> root = zarr.open_group('data/example.zarr', mode='w')
    >>> foo = root.create_group('foo')
    >>> list(zarr.open_group('data/example.zarr', mode='r'))
    ['foo']
    """
    check_mode(mode)
    return Group._open(
        store,
        mode,
        path=path,
        chunk_store=chunk_store,
        synchronizer=synchronizer,
        cache_attrs=cache_attrs is not False,
        format=zarr_format,
        attributes=attributes,
        use_consolidated=use_consolidated,
        storage_options=storage_options,
        sync=sync,
    )


def create_group(
    store: StoreArgument = None,
    *,
    path: str | None = None,
    zarr_format: int | None = None,
    overwrite: bool = False,
    attributes: Mapping[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
    sync: bool | None = None,
) -> Group:
    """Create a group.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike, optional
        The location of the group; in memory if not given.
    path : str, optional
        The path in the store.
    zarr_format : {3, 2}, optional
        The format. By default the format of the parent group, or ``default_zarr_format`` at the root.
    overwrite : bool, optional
        Whether an existing node is deleted first.
    attributes : dict, optional
        The attributes.
    storage_options : dict, optional
        Options for the store of a URL, or for a directory, such as ``follow_links``.
    sync : bool, optional
        Whether writes to a path are flushed to the disk before a call returns, so that they survive a power failure.

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
    >>> root = zarr.create_group({}, attributes={'answer': 42})
    >>> root.metadata.zarr_format, dict(root.attrs)
    (3, {'answer': 42})
    """
    return Group._open(
        store,
        "w" if overwrite else "w-",
        path=path,
        format=zarr_format,
        attributes=attributes,
        storage_options=storage_options,
        sync=sync,
    )


def create_hierarchy(
    *, store: StoreArgument, nodes: Mapping[str, Any], overwrite: bool = False
) -> Iterator[tuple[str, Array | Group]]:
    """Create many groups and arrays at once.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The location of the nodes.
    nodes : dict
        The metadata of groups and arrays by path: :class:`GroupMetadata`, objects of zarr-python 3, or the content of ``zarr.json``
        or ``.zarray``. Missing parent groups are added. All must have the same format.
    overwrite : bool, optional
        Whether existing nodes are replaced. Groups that are not in ``nodes`` stay unchanged.

    Returns
    -------
    iterator of (path, node)
        Parents first. All of them exist when the function returns.

    Raises
    ------
    ValueError
        If formats differ, or a node is below an array. Nothing is created then.
    ContainsNodeError
        If a node exists and ``overwrite`` is false.

    Examples
    --------
    >>> import zarrox as zarr
    >>> array = {'zarr_format': 2, 'shape': [10], 'chunks': [5], 'dtype': '<i4', 'compressor': None, 'filters': None,
    ...          'fill_value': 0, 'order': 'C'}
    >>> dict(zarr.create_hierarchy(store={}, nodes={'foo/bar': array}))['foo/bar'].shape
    (10,)
    """
    store = normalize_store_arg(store, mode="a")
    created = _nodes.create_nodes(native_store(store), nodes, overwrite=overwrite)
    return iter(
        [
            (path, Array._of(node, store) if isinstance(node, _native.Array) else Group._of(node, store, Settings()))
            for path, node in created
        ]
    )
