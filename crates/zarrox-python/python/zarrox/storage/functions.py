"""Functions about nodes and keys in stores."""

from __future__ import annotations

import os
from collections.abc import MutableMapping, Sequence
from typing import Any

from zarrox import _native

from .archive import ZipStore
from .base import BaseStore, StoreLike, warn_without_listdir
from .directory import DirectoryStore
from .memory import new_memory
from .paths import Path, array_meta_key, group_meta_key, normalize_storage_path, prefix_of
from .remote import FSStore

__all__ = [
    "contains_array",
    "contains_group",
    "getsize",
    "init_array",
    "init_group",
    "init_store",
    "listdir",
    "migrate_1to2",
    "native_store",
    "normalize_store_arg",
    "rename",
    "rmdir",
]

_ZIP_MODES = {"w-": "x"}


def normalize_store_arg(
    store: Any,
    clobber: bool = False,
    storage_options: dict[str, Any] | None = None,
    mode: str = "r+",
    *,
    zarr_format: int | None = None,
) -> BaseStore:
    """The store for what a user gave as one.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str, PathLike or None
        ``None`` is a new store in memory; a path is a directory, an archive ``*.zip`` or N5 ``*.n5``.
    clobber : bool, optional
        Has no effect: `mode` says it.
    storage_options : dict, optional
        Options for a URL.
    mode : {'r', 'r+', 'a', 'w', 'w-', 'x'}, optional
        What will be done with it.
    zarr_format : int, optional
        Has no effect: the format of nodes is no matter of stores.

    Returns
    -------
    BaseStore

    Raises
    ------
    ValueError
        It is no store, or `storage_options` are given for what is no URL.

    Examples
    --------
    >>> from zarrox.storage import normalize_store_arg
    >>> type(normalize_store_arg({}))
    <class 'zarrox.storage.KVStore'>
    """
    if isinstance(store, BaseStore):
        return store
    if store is None:
        return new_memory()
    if isinstance(store, os.PathLike):
        store = os.fspath(store)
    if isinstance(store, str):
        return _store_at(store, storage_options, mode)
    found: BaseStore = BaseStore._ensure_store(store)
    return found


def _store_at(place: str, storage_options: dict[str, Any] | None, mode: str) -> BaseStore:
    if "://" in place or "::" in place:
        return FSStore(place, mode="r" if mode == "r" else "w", **(storage_options or {}))
    if storage_options:
        raise ValueError(f"storage_options are for URLs, and '{place}' is a path")
    if place.endswith(".zip"):
        return ZipStore(place, mode=_ZIP_MODES.get(mode, mode))
    if place.endswith(".n5"):
        from zarrox.n5 import N5Store

        return N5Store(place)
    return DirectoryStore(place)


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


def _contains(store: StoreLike, path: Path, kind: str, key: str) -> bool:
    path = normalize_storage_path(path)
    owner = BaseStore._ensure_store(store)
    found = _native.node_kind(owner.native, path, owner._format)
    # A document that cannot be understood is one all the same.
    return found == kind or (found == "broken" and prefix_of(path) + key in owner)


def contains_array(store: StoreLike, path: Path = None) -> bool:
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


def contains_group(store: StoreLike, path: Path = None) -> bool:
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


def listdir(store: StoreLike, path: Path = None) -> list[str]:
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


def rmdir(store: StoreLike, path: Path = None) -> None:
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


def rename(store: StoreLike, src_path: Path, dst_path: Path) -> None:
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


def getsize(store: Any, path: Path = None) -> int:
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
    if hasattr(store, "getsize"):
        return int(store.getsize(path))
    return int(BaseStore._ensure_store(store).getsize(path)) if isinstance(store, MutableMapping) else -1


def _clear(path: str, *stores: BaseStore | None) -> None:
    for store in stores:
        if store is not None:
            store.rmdir(path)


def init_array(
    store: StoreLike,
    shape: int | tuple[int, ...],
    chunks: bool | int | tuple[int, ...] = True,
    dtype: Any = None,
    compressor: Any = "default",
    fill_value: Any = None,
    order: str = "C",
    overwrite: bool = False,
    path: Path = None,
    chunk_store: StoreLike | None = None,
    filters: Sequence[Any] | None = None,
    object_codec: Any = None,
    dimension_separator: str | None = None,
) -> None:
    """Writes the metadata of a new array, and of the groups above that are missing.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        Where it is written.
    shape : int or tuple of int
        The shape.
    chunks : bool, int or tuple of int, optional
        The shape of chunks; ``True`` guesses it, ``False`` makes one chunk.
    dtype : str or dtype, optional
        The data type.
    compressor : Codec, optional
        What compresses chunks; ``None`` is none.
    fill_value : object, optional
        The value of elements that were never written.
    order : {'C', 'F'}, optional
        The order of elements in chunks.
    overwrite : bool, optional
        Whether what is at the path is deleted; an array above it never is.
    path : str, optional
        Where the array is in the store.
    chunk_store : BaseStore or MutableMapping, optional
        Where chunks are, if they are somewhere else.
    filters : sequence of Codec, optional
        What is applied before the compressor.
    object_codec : Codec, optional
        How objects are encoded.
    dimension_separator : {'.', '/'}, optional
        What stands between the coordinates of chunks in their keys.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is at the path already, or an array is above it.

    Examples
    --------
    >>> from zarrox.storage import KVStore, init_array
    >>> store = KVStore({})
    >>> init_array(store, shape=100000000, chunks=1000000, dtype="i1", path="foo")
    >>> sorted(store)
    ['.zgroup', 'foo/.zarray']
    """
    from zarrox.creation import _create

    target = BaseStore._ensure_store(store)
    chunk_target = BaseStore._ensure_store(chunk_store)
    path = normalize_storage_path(path)
    if overwrite:
        _clear(path, target, chunk_target)
    _create(
        target,
        native_store(target, chunk_target),
        path,
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        compressor=compressor,
        fill_value=fill_value,
        order=order,
        overwrite=overwrite,
        filters=filters,
        object_codec=object_codec,
        dimension_separator=dimension_separator or target._dimension_separator,
        zarr_format=2,
    )


init_store = init_array


def init_group(
    store: StoreLike, overwrite: bool = False, path: Path = None, chunk_store: StoreLike | None = None
) -> None:
    """Writes the metadata of a new group, and of the groups above that are missing.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        Where it is written.
    overwrite : bool, optional
        Whether what is at the path is deleted; an array above it never is.
    path : str, optional
        Where the group is in the store.
    chunk_store : BaseStore or MutableMapping, optional
        Where chunks are, if they are somewhere else.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is at the path already, or an array is above it.

    Examples
    --------
    >>> from zarrox.storage import init_group
    >>> store = {}
    >>> init_group(store, path="foo")
    >>> sorted(store)
    ['.zgroup', 'foo/.zgroup']
    """
    target = BaseStore._ensure_store(store)
    path = normalize_storage_path(path)
    if overwrite:
        _clear(path, target, BaseStore._ensure_store(chunk_store))
    _native.create_group(target.native, path, target._format or "2", overwrite=overwrite)


def migrate_1to2(store: StoreLike) -> None:
    """Turns the array of version 1 in a store into one of version 2.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store. Version 1 has a single array in it, and no groups.
    """
    _native.migrate_1to2(BaseStore._ensure_store(store).native)
