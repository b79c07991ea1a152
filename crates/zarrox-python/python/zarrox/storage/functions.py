"""Functions about nodes and keys in stores."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from typing import Any

from zarrox import _native
from zarrox.argument_types import PathArgument, StoreArgument

from .archive import ZipStore
from .base import BaseStore, StoreLike, adapted, warn_without_listdir
from .directory import DirectoryStore
from .layers import ConsolidatedMetadataStore
from .memory import new_memory
from .paths import array_meta_key, group_meta_key, normalize_storage_path, prefix_of
from .remote import FSStore

__all__ = [
    "contains_array",
    "contains_group",
    "getsize",
    "listdir",
    "migrate_1to2",
    "native_store",
    "normalize_store_arg",
    "rename",
    "rmdir",
]

_ZIP_MODES = {"w-": "x"}


def normalize_store_arg(
    store: StoreArgument,
    clobber: bool = False,
    storage_options: dict[str, Any] | None = None,
    mode: str = "r+",
    *,
    zarr_format: int | None = None,
    sync: bool | None = None,
) -> BaseStore:
    """The store for what a user gave as one.

    Parameters
    ----------
    store : BaseStore, zarr.abc.store.Store, MutableMapping, str, PathLike or None
        ``None`` is a new store in memory; a path is a directory, an archive ``*.zip`` or N5 ``*.n5``.
    clobber : bool, optional
        Has no effect: `mode` says it.
    storage_options : dict, optional
        Options for a URL, or for a directory: ``follow_links``, ``sync``, ``exclusive`` and ``lock_timeout``.
    mode : {'r', 'r+', 'a', 'w', 'w-', 'x'}, optional
        What will be done with it.
    zarr_format : int, optional
        Has no effect: the format of nodes is no matter of stores.
    sync : bool, optional
        Whether what is written to a path is flushed to the disk; a store is told so when it is made.

    Returns
    -------
    BaseStore

    Raises
    ------
    ValueError
        It is no store, `sync` is given for what is no path, or `storage_options` are given for what is neither a URL
        nor a directory.

    Examples
    --------
    >>> from zarrox.storage import normalize_store_arg
    >>> type(normalize_store_arg({}))
    <class 'zarrox.storage.KVStore'>
    """
    if isinstance(store, os.PathLike):
        store = os.fspath(store)
    if isinstance(store, str):
        return _store_at(store, storage_options, mode, sync)
    if sync:
        raise ValueError("sync is for paths: a store of another kind is told when it is made, such as SQLiteStore(path, sync=True)")
    if isinstance(store, BaseStore):
        return store
    if store is None:
        return new_memory()
    found: BaseStore = BaseStore._ensure_store(store)
    return found


def consolidated_store(
    store: StoreArgument, metadata_key: str, mode: str, storage_options: dict[str, Any] | None
) -> tuple[BaseStore, BaseStore | None]:
    """The store of consolidated metadata under a key, and the store of elements; only the latter if there is no such key.

    Raises
    ------
    ValueError
        For a mode that changes metadata.
    """
    if mode not in ("r", "r+"):
        raise ValueError(f"consolidated metadata is opened with mode 'r' or 'r+', not {mode!r}")
    elements = normalize_store_arg(store, storage_options=storage_options, mode=mode)
    if metadata_key not in elements:
        return elements, None
    return ConsolidatedMetadataStore(elements, metadata_key=metadata_key), elements


def _store_at(place: str, storage_options: dict[str, Any] | None, mode: str, sync: bool | None = None) -> BaseStore:
    if "://" in place or "::" in place:
        if sync:
            raise ValueError(f"sync is for paths, and '{place}' is a URL")
        return FSStore(place, mode="r" if mode == "r" else "w", **(storage_options or {}))
    if place.endswith(".zip"):
        if storage_options:
            raise ValueError(f"storage_options are for URLs and directories, and '{place}' is an archive")
        return ZipStore(place, mode=_ZIP_MODES.get(mode, mode), sync=bool(sync))
    if place.endswith(".n5"):
        from zarrox.n5 import N5Store

        return N5Store(place, sync=bool(sync), storage_options=storage_options)
    return DirectoryStore(place, sync=bool(sync), storage_options=storage_options)


def native_store(
    store: BaseStore, chunk_store: BaseStore | None = None, synchronizer: Any = None
) -> _native.Store:
    """The native store that Rust reads and writes a store by.

    Parameters
    ----------
    store : BaseStore
        The store.
    chunk_store : BaseStore, optional
        Where chunks are, if they are somewhere else.
    synchronizer : optional
        Locks by keys, see :mod:`zarrox.sync`.

    Returns
    -------
    _native.Store
    """
    native = store.native
    if chunk_store is not None and chunk_store is not store:
        native = native.with_chunks(chunk_store.native)
    return native if synchronizer is None else native.with_locks(synchronizer)


def _contains(store: StoreLike, path: PathArgument, kind: str, key: str) -> bool:
    path = normalize_storage_path(path)
    owner = BaseStore._ensure_store(store)
    found = _native.node_kind(owner.native, path, owner._format)
    # A document that cannot be understood is one all the same.
    return found == kind or (found == "broken" and prefix_of(path) + key in owner)


def contains_array(store: StoreLike, path: PathArgument = None) -> bool:
    """Returns true if there is an array at a path.

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
    >>> import zarrox as zarr
    >>> store = {}
    >>> z = zarr.zeros(3, store=store, path="a/b")
    >>> zarr.storage.contains_array(store, "a/b"), zarr.storage.contains_array(store, "a")
    (True, False)
    """
    return _contains(store, path, "array", array_meta_key)


def contains_group(store: StoreLike, path: PathArgument = None) -> bool:
    """Returns true if there is a group at a path.

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
    """The names directly below a path.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store.
    path : str, optional
        Where to look; the root when not given.

    Returns
    -------
    list of str
        Sorted; empty where nothing is.
    """
    if hasattr(store, "listdir"):
        return list(store.listdir(normalize_storage_path(path)))
    warn_without_listdir(store)
    found: list[str] = BaseStore._ensure_store(store).listdir(path)
    return found


def rmdir(store: StoreLike, path: PathArgument = None) -> None:
    """Deletes all that is below a path.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store.
    path : str, optional
        A path; the root when not given.
    """
    owner = store if hasattr(store, "rmdir") else BaseStore._ensure_store(store)
    owner.rmdir(normalize_storage_path(path))


def rename(store: StoreLike, src_path: PathArgument, dst_path: PathArgument) -> None:
    """Moves a value, or all that is below a path.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store.
    src_path : str
        The key or path as it is.
    dst_path : str
        What it will be.
    """
    owner = store if hasattr(store, "rename") else BaseStore._ensure_store(store)
    owner.rename(normalize_storage_path(src_path), normalize_storage_path(dst_path))


def getsize(store: StoreArgument, path: PathArgument = None) -> int:
    """The bytes of a value, or of the values directly below a path.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store.
    path : str, optional
        A key or a path; the root when not given.

    Returns
    -------
    int
        -1 where it cannot be told.
    """
    path = normalize_storage_path(path)
    foreign = adapted(store)
    owner: Any = store if foreign is None else foreign
    if owner is not None and hasattr(owner, "getsize"):
        return int(owner.getsize(path))
    return int(BaseStore._ensure_store(store).getsize(path)) if isinstance(store, MutableMapping) else -1


def migrate_1to2(store: StoreLike) -> None:
    """Turns the array of version 1 in a store into one of version 2.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store. Version 1 has a single array in it, and no groups.
    """
    _native.migrate_1to2(BaseStore._ensure_store(store).native)
