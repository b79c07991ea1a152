"""Stores, and functions for stores, with the interface of zarr-python 2."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from zarrox import _native
from zarrox.argument_types import PathArgument, StoreArgument
from zarrox.codecs.blosc import Blosc
from zarrox.elsewhere import OF_3
from zarrox.storage.archive import ZipStore
from zarrox.storage.base import BaseStore, KVStore, StoreLike, adapted, warn_without_listdir
from zarrox.storage.databases import DBMStore, LMDBStore, SQLiteStore
from zarrox.storage.directory import DirectoryStore, NestedDirectoryStore
from zarrox.storage.functions import Kinds, open_store
from zarrox.storage.layers import ConsolidatedMetadataStore, LRUStoreCache
from zarrox.storage.memory import DictStore, MemoryStore, new_memory
from zarrox.storage.paths import (
    array_meta_key,
    attrs_key,
    data_root,
    group_meta_key,
    meta_root,
    normalize_storage_path,
    prefix_of,
)
from zarrox.storage.remote import FSStore
from zarrox.storage.servers import ABSStore, MongoDBStore, RedisStore
from zarrox.storage.temporary import TempStore, atexit_rmglob, atexit_rmtree

Store = BaseStore

__all__ = [
    "ABSStore",
    "BaseStore",
    "ConsolidatedMetadataStore",
    "DBMStore",
    "DictStore",
    "DirectoryStore",
    "FSStore",
    "KVStore",
    "LMDBStore",
    "LRUStoreCache",
    "MemoryStore",
    "MongoDBStore",
    "NestedDirectoryStore",
    "RedisStore",
    "SQLiteStore",
    "Store",
    "TempStore",
    "ZipStore",
    "array_meta_key",
    "atexit_rmglob",
    "atexit_rmtree",
    "attrs_key",
    "contains_array",
    "contains_group",
    "data_root",
    "default_compressor",
    "getsize",
    "group_meta_key",
    "listdir",
    "meta_root",
    "migrate_1to2",
    "normalize_storage_path",
    "normalize_store_arg",
    "rename",
    "rmdir",
]

default_compressor: Any = Blosc()
"""The default compressor of new arrays. Set it to another codec, or to ``None``."""

#: The values of `zarr_version`, as strings.
_VERSIONS = ("None", "1", "2", "3", "v3-experimental")

_KINDS = Kinds(new_memory, DirectoryStore, ZipStore)


def normalize_store_arg(
    store: StoreArgument,
    storage_options: dict[str, Any] | None = None,
    mode: str = "r",
    *,
    zarr_version: Any = None,
    sync: bool | None = None,
) -> BaseStore:
    """Creates a store from an argument.

    Parameters
    ----------
    store : StoreArgument
        A store, a mapping, a path or a URL; ``None`` is a new store in memory.
    storage_options : dict, optional
        Options for stores that are opened by URL, and for directories.
    mode : str, optional
        The mode of the node that is opened.
    zarr_version : {2, 3}, optional
        The version of the nodes, if it is known. Stores hold nodes of any version.
    sync : bool, optional
        Whether writes to a path are flushed to the disk.

    Examples
    --------
    >>> from zarrox.v2.storage import normalize_store_arg
    >>> normalize_store_arg({})
    <KVStore: 
    {}
     at ...>
    """
    if str(zarr_version) not in _VERSIONS:
        raise ValueError(f"zarr_version must be 2 or 3, not {zarr_version!r}")
    if hasattr(store, "fs") and hasattr(store, "root") and not isinstance(store, BaseStore):
        return FSStore(store, mode="r" if mode == "r" else "w")
    return open_store(store, _KINDS, storage_options=storage_options, mode=mode, sync=sync)


def _contains(store: StoreLike, path: PathArgument, kind: str, key: str) -> bool:
    path = normalize_storage_path(path)
    owner = BaseStore._ensure_store(store)
    found = _native.node_kind(owner.native, path, owner._format)
    # An invalid document counts as a node, too.
    return found == kind or (found == "broken" and prefix_of(path) + key in owner)


def contains_array(store: StoreLike, path: PathArgument = None) -> bool:
    """Returns true if an array exists at a path.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store.
    path : str, optional
        The path; the root when not given.

    Returns
    -------
    bool

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> store = {}
    >>> z = zarr.zeros(3, store=store, path="a/b")
    >>> zarr.storage.contains_array(store, "a/b"), zarr.storage.contains_array(store, "a")
    (True, False)
    """
    return _contains(store, path, "array", array_meta_key)


def contains_group(store: StoreLike, path: PathArgument = None) -> bool:
    """Returns true if a group exists at a path.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store.
    path : str, optional
        The path; the root when not given.

    Returns
    -------
    bool
    """
    return _contains(store, path, "group", group_meta_key)


def listdir(store: StoreLike, path: PathArgument = None) -> list[str]:
    """Returns the names directly below a path.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store.
    path : str, optional
        The path; the root if not given.

    Returns
    -------
    list of str
        Sorted; empty if nothing exists there.
    """
    if hasattr(store, "listdir"):
        return list(store.listdir(normalize_storage_path(path)))
    warn_without_listdir(store)
    found: list[str] = BaseStore._ensure_store(store).listdir(path)
    return found


def rmdir(store: StoreLike, path: PathArgument = None) -> None:
    """Deletes all values below a path.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store.
    path : str, optional
        A path; the root if not given.
    """
    owner = store if hasattr(store, "rmdir") else BaseStore._ensure_store(store)
    owner.rmdir(normalize_storage_path(path))


def rename(store: StoreLike, src_path: PathArgument, dst_path: PathArgument) -> None:
    """Moves a value, or all values below a path.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store.
    src_path : str
        The current key or path.
    dst_path : str
        The new key or path.
    """
    owner = store if hasattr(store, "rename") else BaseStore._ensure_store(store)
    owner.rename(normalize_storage_path(src_path), normalize_storage_path(dst_path))


def getsize(store: StoreArgument, path: PathArgument = None) -> int:
    """Returns the size of a value, or of the values directly below a path, in bytes.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store.
    path : str, optional
        A key or path; the root if not given.

    Returns
    -------
    int
        -1 if unknown.
    """
    path = normalize_storage_path(path)
    foreign = adapted(store)
    owner: Any = store if foreign is None else foreign
    if owner is not None and hasattr(owner, "getsize"):
        return int(owner.getsize(path))
    return int(BaseStore._ensure_store(store).getsize(path)) if isinstance(store, MutableMapping) else -1


def migrate_1to2(store: StoreLike) -> None:
    """Converts the version 1 array in a store to version 2.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store. In version 1, a store contains a single array, and no groups.
    """
    _native.migrate_1to2(BaseStore._ensure_store(store).native)


def __getattr__(name: str) -> Any:
    OF_3.refuse("zarr.storage", name)


# Classes have the module name under which users find them.
for _name in __all__:
    _object = globals()[_name]
    if isinstance(_object, type):
        _object.__module__ = __name__
del _name, _object
