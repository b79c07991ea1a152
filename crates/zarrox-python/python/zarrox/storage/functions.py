"""Functions that convert arguments to stores."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from zarrox import _native
from zarrox.argument_types import StoreArgument

from zarrox.errors import ReadOnlyError

from .base import BaseStore, KVStore
from .foreign import FsspecStore
from .layers import ConsolidatedMetadataStore
from .n5 import N5Store
from .remote import FSStore
from .v3 import LocalStore, MemoryStore, ZipStore

__all__ = ["Kinds", "consolidated_store", "native_store", "normalize_store_arg", "open_store"]

_ZIP_MODES = {"w-": "x"}


class Kinds(NamedTuple):
    """The store classes that an interface uses."""

    memory: Callable[[], BaseStore]
    directory: Callable[..., BaseStore]
    archive: Callable[..., BaseStore]
    mapping: Callable[[dict[str, Any]], BaseStore] = KVStore
    url: Callable[..., BaseStore] = FSStore


def _at_url(url: str, *, mode: str, **storage_options: Any) -> BaseStore:
    return FsspecStore.from_url(url, storage_options, read_only=mode == "r")


#: The store classes of zarr-python 3.
_KINDS = Kinds(MemoryStore, LocalStore, lambda path, *, mode, sync: ZipStore(path, mode=mode, sync=sync), MemoryStore, _at_url)


def normalize_store_arg(
    store: StoreArgument,
    *,
    storage_options: dict[str, Any] | None = None,
    mode: str | None = None,
    sync: bool | None = None,
) -> BaseStore:
    """Converts an argument to a store, with the classes of zarr-python 3.

    Parameters
    ----------
    store : StoreArgument
        A store, a mapping, a path or a URL; ``None`` is a new store in memory.
    storage_options : dict, optional
        Options for stores that are opened by URL, and for directories.
    mode : str, optional
        The mode of the node that is opened, if it is known.
    sync : bool, optional
        Whether writes to a path are flushed to the disk.

    Raises
    ------
    ReadOnlyError
        If the mode would write to a read-only store.

    Examples
    --------
    >>> from zarrox.storage.functions import normalize_store_arg
    >>> normalize_store_arg("data/example.zarr").root.name
    'example.zarr'
    """
    opened = open_store(store, _KINDS, storage_options=storage_options, mode=mode or "r+", sync=sync)
    if mode not in (None, "r") and opened is store and opened.read_only:
        raise ReadOnlyError(f"Store is read-only but mode is {mode!r}. Create a writable store or use 'r' mode.")
    return opened


def open_store(
    store: StoreArgument, kinds: Kinds, *, storage_options: dict[str, Any] | None, mode: str, sync: bool | None
) -> BaseStore:
    """Converts an argument to a store.

    Parameters
    ----------
    store : StoreArgument
        A store, a mapping, a path or a URL; ``None`` is a new store in memory.
    kinds : Kinds
        The classes of stores.
    storage_options, mode, sync
        See `normalize_store_arg`.

    Raises
    ------
    ValueError
        If the argument cannot be a store, or ``sync`` is given for an argument that is not a path.
    """
    if hasattr(store, "storage_options") and hasattr(store, "protocol"):
        # A path object of the package `universal_pathlib`.
        return FsspecStore.from_upath(store, read_only=mode == "r")
    if isinstance(store, os.PathLike):
        store = os.fspath(store)
    if isinstance(store, str):
        return _store_at(store, kinds, storage_options, mode, sync)
    if sync:
        raise ValueError("sync is for paths: pass it to the constructor of other stores, such as SQLiteStore(path, sync=True)")
    # The class is checked, since an object such as a mock may only claim to be a store.
    if issubclass(type(store), BaseStore):
        found: BaseStore = store  # type: ignore[assignment]
        return found
    if store is None:
        return kinds.memory()
    if isinstance(store, dict):
        return kinds.mapping(store)
    made: BaseStore = BaseStore._ensure_store(store)
    return made


def consolidated_store(elements: BaseStore, metadata_key: str, mode: str) -> tuple[BaseStore, BaseStore | None]:
    """Returns the store with the consolidated metadata under a version 2 key, and the store with the elements. If the key does not
    exist, returns only the store.

    Parameters
    ----------
    elements : BaseStore
        The store.
    metadata_key : str
        The key.
    mode : str
        The mode of the group that is opened.

    Raises
    ------
    ValueError
        If the mode would change metadata.
    """
    if mode not in ("r", "r+"):
        raise ValueError(f"consolidated metadata is opened with mode 'r' or 'r+', not {mode!r}")
    if metadata_key not in elements:
        return elements, None
    return ConsolidatedMetadataStore(elements, metadata_key=metadata_key), elements


def _store_at(
    place: str, kinds: Kinds, storage_options: dict[str, Any] | None, mode: str, sync: bool | None = None
) -> BaseStore:
    if "://" in place or "::" in place:
        if sync:
            raise ValueError(f"sync is for paths, and '{place}' is a URL")
        return kinds.url(place, mode="r" if mode == "r" else "w", **(storage_options or {}))
    if place.endswith(".zip"):
        if storage_options:
            raise ValueError(f"storage_options are for URLs and directories, and '{place}' is an archive")
        return kinds.archive(place, mode=_ZIP_MODES.get(mode, mode), sync=bool(sync))
    if place.endswith(".n5"):
        return N5Store(place, sync=bool(sync), storage_options=storage_options)
    return kinds.directory(place, sync=bool(sync), storage_options=storage_options)


def native_store(
    store: BaseStore, chunk_store: BaseStore | None = None, synchronizer: Any = None
) -> _native.Store:
    """Returns the native store, through which Rust accesses a store.

    Parameters
    ----------
    store : BaseStore
        The store.
    chunk_store : BaseStore, optional
        The store of chunks, if it differs from the store of the metadata.
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
