"""Functions that open, save, copy and consolidate, with the interface of zarr-python 2."""

from __future__ import annotations

from typing import Any

from zarrox import _native
from zarrox.argument_types import PathArgument, StoreArgument
from zarrox.core.formats import one_format
from zarrox.errors import CopyError
from zarrox.hierarchy._copies import copy, copy_all, copy_store, tree
from zarrox.hierarchy._opening import LazyLoader, open_node
from zarrox.hierarchy._opening import load as _load
from zarrox.hierarchy._opening import save_array as _save_array
from zarrox.hierarchy._opening import save_group as _save_group
from zarrox.hierarchy._opening import save_options
from zarrox.storage import BaseStore, native_store
from zarrox.documents import json_dumps, json_loads
from zarrox.storage.functions import consolidated_store
from zarrox.v2.core import Array
from zarrox.v2.creation import array, open_array
from zarrox.v2.hierarchy import Group, open_group
from zarrox.v2.storage import normalize_store_arg

__all__ = [
    "CopyError",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "load",
    "open",
    "open_consolidated",
    "save",
    "save_array",
    "save_group",
    "tree",
]


def open(
    store: StoreArgument = None, mode: str | None = "a", *, zarr_version: Any = None, zarr_format: Any = None, **kwargs: Any
) -> Any:
    """Open an array or a group.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike, optional
        The location of the node; a new store in memory if not given.
    mode : {'r', 'r+', 'a', 'w', 'w-'}, optional
        'r': read only, must exist; 'r+': read and write, must exist; 'a': created if missing; 'w': created, replaces an
        existing node; 'w-' (or 'x'): created, must not exist. An array is created if ``shape`` is given, otherwise a
        group. The default is 'r' for read-only stores, and otherwise 'a'.
    zarr_version, zarr_format : {2, 3}, optional
        The format that is opened or created.
    **kwargs
        See :func:`zarrox.v2.open_array` or :func:`zarrox.v2.open_group`: path, synchronizer, storage_options, sync …

    Returns
    -------
    zarrox.v2.core.Array or zarrox.v2.hierarchy.Group

    Raises
    ------
    PathNotFoundError
        If the node must exist, and does not.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> zarr.open('data/example.zarr', mode='w', shape=100, dtype='i4')
    <zarrox.v2.core.Array (100,) int32>
    >>> zarr.open('data/example.zarr', mode='r')
    <zarrox.v2.core.Array (100,) int32 read-only>
    >>> zarr.open('data/example.zarr', mode='w')
    <zarrox.v2.hierarchy.Group '/'>
    """
    if mode is None:
        mode = "a" if not isinstance(store, BaseStore) or store.is_writeable() else "r"
    creates_array = "shape" in kwargs
    opened = open_node(
        Group,
        store,
        mode,
        creates_array=creates_array,
        create=open_array if creates_array else open_group,
        zarr_format=one_format(zarr_format, zarr_version),
        use_consolidated=False,
        **kwargs,
    )
    if isinstance(opened, Array) and "write_empty_chunks" not in kwargs:
        native = getattr(opened._native, "_native", opened._native)
        opened._set(native, opened._store, opened._settings.with_(write_empty_chunks=True))
    return opened


def _options(kwargs: dict[str, Any]) -> dict[str, Any]:
    options = save_options(kwargs, "zarr_version")
    return options | {"zarr_format": one_format(options.pop("zarr_format", None), options.pop("zarr_version", None))}


def save_array(store: StoreArgument, arr: Any, *, progress: Any = None, **kwargs: Any) -> None:
    """Save an array, as :func:`numpy.save` does. Existing data is replaced. See :func:`zarrox.save_array` for the
    arguments."""
    _save_array(Group, store, arr, array, progress=progress, **kwargs)


def save_group(store: StoreArgument, *args: Any, **kwargs: Any) -> None:
    """Save several arrays in a group, as :func:`numpy.savez` does. Existing data is replaced. See
    :func:`zarrox.save_group` for the arguments.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox.v2 as zarr
    >>> zarr.save_group('data/example.zarr', np.arange(3), squares=np.arange(3) ** 2)
    >>> zarr.load('data/example.zarr')
    <LazyLoader: arr_0, squares>
    """
    options = _options(kwargs)
    _save_group(Group, store, args, kwargs, **options)


def save(store: StoreArgument, *args: Any, **kwargs: Any) -> None:
    """Save an array, or several arrays in a group. Existing data is replaced. See :func:`zarrox.save` for the
    arguments."""
    options = _options(kwargs)
    if len(args) == 1 and not kwargs:
        return save_array(store, args[0], **options)
    return save_group(store, *args, **kwargs, **options)


def load(store: StoreArgument, zarr_version: Any = None, path: str | None = None, *, zarr_format: Any = None) -> Any:
    """Load data that was saved. See :func:`zarrox.load` for the arguments. ``zarr_version`` is the older name for ``zarr_format``."""
    return _load(Group, store, path, one_format(zarr_format, zarr_version))


def consolidate_metadata(
    store: StoreArgument, metadata_key: str = ".zmetadata", *, path: PathArgument = None
) -> Group:
    """Write consolidated metadata: a single document with copies of all documents of a hierarchy, so that one read is enough to open
    it.

    Zarrox keeps this document up to date if it has the default key. After another program has changed the hierarchy, consolidate again.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The location of the hierarchy.
    metadata_key : str, optional
        The key of the document (format 2; in format 3, the location is fixed).
    path : str, optional
        The group at the top of the hierarchy; the root if not given.

    Returns
    -------
    Group
        The group, opened with the consolidated metadata.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> store = zarr.MemoryStore()
    >>> group = zarr.group(store).create_group('foo')
    >>> list(zarr.consolidate_metadata(store))
    ['foo']
    >>> '.zmetadata' in store
    True
    """
    opened = normalize_store_arg(store, mode="r+")
    found = open_group(opened, mode="r+", path=path)
    if metadata_key == ".zmetadata" or found._zarr_format == 3:
        _native.consolidate(native_store(opened), found.path)
    else:
        opened[metadata_key] = json_dumps({"zarr_consolidated_format": 1, "metadata": _documents(opened)})
    consolidated: Group = open_consolidated(opened, metadata_key, path=path)
    return consolidated


def _documents(store: BaseStore) -> dict[str, Any]:
    names = (".zarray", ".zgroup", ".zattrs")
    return {key: json_loads(store[key]) for key in sorted(store.keys()) if key.endswith(names)}


def open_consolidated(
    store: StoreArgument, metadata_key: str = ".zmetadata", mode: str = "r+", *, path: PathArgument = None, **kwargs: Any
) -> Any:
    """Open a hierarchy with its consolidated metadata.

    Elements of arrays can be written, but metadata cannot be changed.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The location of the hierarchy.
    metadata_key : str, optional
        The key of the consolidated metadata (format 2).
    mode : {'r+', 'r'}, optional
        Whether elements may be written.
    path : str, optional
        The group to open.
    **kwargs
        See :func:`open`: chunk_store, synchronizer, cache_attrs, storage_options …

    Returns
    -------
    Group

    Raises
    ------
    KeyError
        If there is no consolidated metadata.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> store = zarr.MemoryStore()
    >>> group = zarr.group(store).create_group('foo')
    >>> root = zarr.consolidate_metadata(store)
    >>> zarr.open_consolidated(store, mode='r')
    <zarrox.v2.hierarchy.Group '/' read-only>
    """
    given = normalize_store_arg(store, storage_options=kwargs.pop("storage_options", None), mode=mode)
    opened, elements = consolidated_store(given, metadata_key, mode)
    if elements is None:
        return Group._open(opened, mode, path=path, use_consolidated=True, **kwargs)
    chunk_store = kwargs.pop("chunk_store", None) or elements
    return open(opened, mode, path=path, chunk_store=chunk_store, **kwargs)
