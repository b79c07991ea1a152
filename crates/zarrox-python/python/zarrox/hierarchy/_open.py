"""Functions that open and create groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zarrox import _native, creation
from zarrox.core import Array
from zarrox.errors import ContainsArrayError, ContainsGroupError, GroupNotFoundError
from zarrox.hierarchy import _nodes
from zarrox.hierarchy._group import Group
from zarrox.storage import MemoryStore, native_store, normalize_storage_path, normalize_store_arg

MODES = ("r", "r+", "a", "w", "w-", "x")


def check_mode(mode: str) -> None:
    """Refuses what is no mode.

    Raises
    ------
    ValueError
        For a mode that there is not.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}; found {mode!r}")


def group(
    store: Any = None,
    overwrite: bool = False,
    chunk_store: Any = None,
    cache_attrs: bool = True,
    synchronizer: Any = None,
    path: str | None = None,
    *,
    zarr_version: int | None = None,
    zarr_format: int | None = None,
    meta_array: Any = None,
    attributes: Mapping[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Group:
    """Open a group, or create it if there is none.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike, optional
        Where the group is stored; in memory if not given.
    overwrite : bool, optional
        Whether what is there is deleted first.
    chunk_store : BaseStore or MutableMapping, optional
        Where chunks are stored, if elsewhere.
    cache_attrs : bool, optional
        Whether attributes are read once (the default), or whenever they are asked for.
    synchronizer : object, optional
        Locks by key, for several threads or processes that write.
    path : str, optional
        Where in the store.
    zarr_version, zarr_format : {2, 3}, optional
        The format; of a new group it is 2 if not given.
    meta_array : array_like, optional
        NumPy's arrays are the only kind that reading gives.
    attributes : dict, optional
        The attributes, should the group be created.
    storage_options : dict, optional
        Options for the store of a URL.

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
    >>> zarr.group()
    <zarrox.hierarchy.Group '/'>
    >>> zarr.group(path='foo/bar', zarr_format=3).metadata.zarr_format
    3
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
        attributes=attributes,
    )


def open_group(
    store: Any = None,
    mode: str = "a",
    cache_attrs: bool = True,
    synchronizer: Any = None,
    path: str | None = None,
    chunk_store: Any = None,
    storage_options: dict[str, Any] | None = None,
    *,
    zarr_version: int | None = None,
    zarr_format: int | None = None,
    meta_array: Any = None,
    attributes: Mapping[str, Any] | None = None,
    use_consolidated: bool | str | None = None,
) -> Group:
    """Open a group with a mode like a file's.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike, optional
        Where the group is stored; in memory if not given.
    mode : {'r', 'r+', 'a', 'w', 'w-'}, optional
        'r' reads only and 'r+' writes, too, what is there; 'a' creates what is not there; 'w' deletes what is there and creates
        anew; 'w-' (or 'x') creates and fails if something is there.
    cache_attrs : bool, optional
        Whether attributes are read once (the default), or whenever they are asked for.
    synchronizer : object, optional
        Locks by key, for several threads or processes that write.
    path : str, optional
        Where in the store.
    chunk_store : BaseStore, MutableMapping, str or PathLike, optional
        Where chunks are stored, if elsewhere.
    storage_options : dict, optional
        Options for the store of a URL.
    zarr_version, zarr_format : {2, 3}, optional
        The format; of a new group it is 2 if not given.
    meta_array : array_like, optional
        NumPy's arrays are the only kind that reading gives.
    attributes : dict, optional
        The attributes, should the group be created.
    use_consolidated : bool or str, optional
        Whether consolidated metadata is used: ``True`` demands it, a string is the key of it (v2). If not given, it is used
        where it is there and the mode is 'r'.

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
    >>> zarr.open_group('data/example.zarr', mode='r')
    <zarrox.hierarchy.Group '/' read-only>
    """
    check_mode(mode)
    if isinstance(use_consolidated, str):
        from zarrox.convenience import open_consolidated

        opened: Group = open_consolidated(store, use_consolidated, mode, path=path, storage_options=storage_options)
        return opened
    format = _nodes.format_name(zarr_format, zarr_version)
    store = MemoryStore() if store is None else normalize_store_arg(store, storage_options=storage_options, mode=mode)
    if chunk_store is not None:
        chunk_store = normalize_store_arg(chunk_store, storage_options=storage_options, mode=mode)
    native = _open_native(
        native_store(store, chunk_store, synchronizer),
        normalize_storage_path(path),
        mode,
        format,
        new_format=creation._format(store, format),
        attributes=attributes,
        consolidated=use_consolidated,
    )
    return Group._of(
        native,
        store,
        chunk_store=chunk_store,
        synchronizer=synchronizer,
        read_only=mode == "r",
        cache_attrs=cache_attrs,
        consolidated=use_consolidated is True,
    )


def _open_native(
    store: _native.Store,
    path: str,
    mode: str,
    format: str | None,
    *,
    new_format: str,
    attributes: Mapping[str, Any] | None,
    consolidated: bool | None,
) -> _native.Group:
    if mode in ("r", "r+", "a"):
        if consolidated is None and mode != "r":
            # Who writes must see what is there; the copy of the documents may be older.
            consolidated = False
        try:
            return _nodes.open_group_node(store, path, "r" if mode == "r" else "r+", format, consolidated)
        except GroupNotFoundError:
            # Consolidated metadata that is asked for is not made by creating a group.
            if mode != "a" or consolidated:
                raise
    try:
        return _native.create_group(store, path, new_format, _nodes.to_json(dict(attributes or {})), mode == "w")
    except ContainsGroupError:
        if mode != "a":
            raise
        # Another thread has just made it.
        return _nodes.open_group_node(store, path, "r+", format, consolidated)


def create_group(
    store: Any = None,
    *,
    path: str | None = None,
    zarr_format: int | None = 3,
    overwrite: bool = False,
    attributes: Mapping[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Group:
    """Create a group, as zarr-python 3 does: of format 3 if not told otherwise.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike, optional
        Where the group is stored; in memory if not given.
    path : str, optional
        Where in the store.
    zarr_format : {3, 2}, optional
        The format.
    overwrite : bool, optional
        Whether what is there is deleted first.
    attributes : dict, optional
        The attributes.
    storage_options : dict, optional
        Options for the store of a URL.

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
    mode = "w" if overwrite else "w-"
    zarr_format = 3 if zarr_format is None else zarr_format
    return open_group(
        store, mode, path=path, zarr_format=zarr_format, attributes=attributes, storage_options=storage_options
    )


def create_hierarchy(
    *, store: Any, nodes: Mapping[str, Any], overwrite: bool = False
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
    >>> dict(zarr.create_hierarchy(store={}, nodes={'foo/bar': array}))['foo/bar']
    <zarrox.core.Array '/foo/bar' (10,) int32>
    """
    store = normalize_store_arg(store, mode="a")
    created = create_nodes(native_store(store), nodes, overwrite=overwrite)
    return iter(
        [
            (path, Array._of(node, store) if isinstance(node, _native.Array) else Group._of(node, store))
            for path, node in created
        ]
    )


def create_nodes(
    store: _native.Store,
    nodes: Mapping[str, Any],
    *,
    prefix: str | None = None,
    format: str | None = None,
    overwrite: bool,
) -> list[tuple[str, _native.Array | _native.Group]]:
    """Creates nodes below ``prefix``; if it is given, there is a group of the given format already."""
    documents = {normalize_storage_path(path): _nodes.document_of(metadata) for path, metadata in nodes.items()}
    if prefix is not None and "" in documents:
        raise ValueError("nodes has metadata for the group itself, which exists; leave it out")
    format = _one_format(documents, format)
    added = _complete(documents, format, root=prefix is None)
    base = f"{prefix}/" if prefix else ""
    kinds = {path: _native.node_kind(store, base + path, format) for path in documents}
    for path in added:
        if kinds[path] == "array":
            raise ContainsArrayError(f"{'/' + base + path!r} is an array, so that nothing can be created below it")

    created: list[tuple[str, _native.Array | _native.Group]] = []
    for path in sorted(documents, key=lambda path: (path.count("/") + bool(path), path)):
        if path in added and kinds[path] is not None:
            continue
        created.append((path, _nodes.create_node(store, base + path, documents[path], overwrite)))
    return created


def _one_format(documents: Mapping[str, _nodes.Document], format: str | None) -> str:
    formats = {str(document.get("zarr_format", 3)) for document in documents.values()}
    if format is not None:
        formats.add(format)
    if len(formats) > 1:
        raise ValueError(f"nodes of one hierarchy must have one zarr_format; found {', '.join(sorted(formats))}")
    return formats.pop() if formats else "3"


def _complete(documents: dict[str, _nodes.Document], format: str, *, root: bool) -> set[str]:
    """Adds the groups between the nodes, and the root if asked for; returns the paths that were added."""
    added = set()
    for path in list(documents):
        while path:
            path = path.rpartition("/")[0]
            if not path and not root:
                break
            if path in documents:
                if not _nodes.is_group(documents[path]):
                    raise ValueError(f"{path!r} is an array, so that nothing can lie below it")
                continue
            documents[path] = {"zarr_format": int(format), "node_type": "group"}
            added.add(path)
    return added
