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
    """Open a group, or create it if there is none.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike, optional
        Where the group is stored; in memory if not given.
    overwrite : bool, optional
        Whether an existing node is deleted first.
    chunk_store : BaseStore or MutableMapping, optional
        Where chunks are stored, if elsewhere.
    cache_attrs : bool, optional
        Whether attributes are read once (the default), or whenever they are asked for.
    synchronizer : object, optional
        Locks by key, for several threads or processes that write.
    path : str, optional
        Where in the store.
    zarr_format : {2, 3}, optional
        The format. If not given, a new group has that of the group which it is in, and ``default_zarr_format`` where it is in none.
    meta_array : array_like, optional
        NumPy's arrays are the only kind that reading gives.
    attributes : dict, optional
        The attributes, should the group be created.
    storage_options : dict, optional
        Options for the store of a URL, or for a directory, such as ``follow_links``.
    sync : bool, optional
        Whether what is written to a path is flushed to the disk before a call returns, so that it survives a power failure.

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
        Where the group is stored; in memory if not given.
    mode : {'r', 'r+', 'a', 'w', 'w-'}, optional
        'r' only reads and 'r+' also writes an existing group; 'a' creates a missing one; 'w' replaces an existing one with a new
        one; 'w-' (or 'x') creates a group and fails if one exists.
    cache_attrs : bool, optional
        Whether attributes are read once (the default), or whenever they are asked for.
    synchronizer : object, optional
        Locks by key, for several threads or processes that write.
    path : str, optional
        Where in the store.
    chunk_store : BaseStore, MutableMapping, str or PathLike, optional
        Where chunks are stored, if elsewhere.
    storage_options : dict, optional
        Options for the store of a URL, or for a directory, such as ``follow_links``.
    zarr_format : {2, 3}, optional
        The format. If not given, a new group has that of the group which it is in, and ``default_zarr_format`` where it is in none.
    meta_array : array_like, optional
        NumPy's arrays are the only kind that reading gives.
    attributes : dict, optional
        The attributes, should the group be created.
    use_consolidated : bool or str, optional
        Whether consolidated metadata is used: ``True`` demands it, a string is the key of it (v2). If not given, it is used
        where it is there and the mode is 'r'.
    sync : bool, optional
        Whether what is written to a path is flushed to the disk before a call returns, so that it survives a power failure.

    Returns
    -------
    Group

    Raises
    ------
    GroupNotFoundError
        If there must be a group and there is none.
    ContainsArrayError, ContainsGroupError
        If something is in the way.

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
        format=_nodes.format_name(zarr_format),
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
        Where the group is stored; in memory if not given.
    path : str, optional
        Where in the store.
    zarr_format : {3, 2}, optional
        The format. If not given, that of the group which the new one is in, and ``default_zarr_format`` where it is in none.
    overwrite : bool, optional
        Whether an existing node is deleted first.
    attributes : dict, optional
        The attributes.
    storage_options : dict, optional
        Options for the store of a URL, or for a directory, such as ``follow_links``.
    sync : bool, optional
        Whether what is written to a path is flushed to the disk before a call returns, so that it survives a power failure.

    Returns
    -------
    Group

    Raises
    ------
    ContainsGroupError, ContainsArrayError
        If something is there and ``overwrite`` is false.

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
        format=_nodes.format_name(zarr_format),
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
        Where they are stored.
    nodes : dict
        By path, the metadata of groups and arrays: :class:`GroupMetadata`, objects of zarr-python 3, or what is written in
        ``zarr.json`` or ``.zarray``. Groups that lie between them are added. All are of one format.
    overwrite : bool, optional
        Whether nodes that are there give way. Groups that are not named in ``nodes`` stay as they are.

    Returns
    -------
    iterator of (path, node)
        Parents first. All of them exist when the function returns.

    Raises
    ------
    ValueError
        If formats differ, or a node lies below an array; nothing is created then.
    ContainsNodeError
        If something is there and ``overwrite`` is false.

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
