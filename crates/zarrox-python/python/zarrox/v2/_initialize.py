"""Functions of zarr-python 2's ``zarr.storage`` that write the metadata of new arrays and groups, without opening
them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zarrox import _native
from zarrox.argument_types import DTypeLike, PathArgument
from zarrox.core.creating import create_in
from zarrox.core.settings import Settings
from zarrox.storage import BaseStore, StoreLike, native_store, normalize_storage_path
from zarrox.v2.core import Array


def _clear(path: str, *stores: BaseStore | None) -> None:
    for store in stores:
        if store is not None:
            store.rmdir(path)


def refuse_transformers(storage_transformers: Sequence[Any]) -> None:
    """Rejects the storage transformers of the experimental version 3, which no released format supports."""
    if storage_transformers:
        raise ValueError(f"storage transformers are not supported: {list(storage_transformers)!r}; leave storage_transformers out")


def init_array(
    store: StoreLike,
    shape: int | tuple[int, ...],
    chunks: bool | int | tuple[int, ...] = True,
    dtype: DTypeLike = None,
    compressor: Any = "default",
    fill_value: Any = None,
    order: str = "C",
    overwrite: bool = False,
    path: PathArgument = None,
    chunk_store: StoreLike | None = None,
    filters: Sequence[Any] | None = None,
    object_codec: Any = None,
    dimension_separator: str | None = None,
    storage_transformers: Sequence[Any] = (),
) -> None:
    """Writes the metadata of a new array, and of its missing parent groups.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store.
    overwrite : bool, optional
        Whether an existing node at the path is deleted. An array above the path is never deleted.
    fill_value : object, optional
        The value of elements that were never written; ``None`` leaves them undefined.
    shape, chunks, dtype, compressor, order, path, chunk_store, filters, object_codec, dimension_separator
        As for :func:`zarrox.v2.create`.
    storage_transformers : sequence, optional
        Must be empty.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If a node exists at the path, or an array above it.
    ValueError
        If a storage transformer is given.

    Examples
    --------
    >>> from zarrox.v2.storage import KVStore, init_array
    >>> store = KVStore({})
    >>> init_array(store, shape=100000000, chunks=1000000, dtype="i1", path="foo")
    >>> sorted(store)
    ['.zgroup', 'foo/.zarray']
    """
    refuse_transformers(storage_transformers)
    target = BaseStore._ensure_store(store)
    chunk_target = BaseStore._ensure_store(chunk_store)
    path = normalize_storage_path(path)
    if overwrite:
        _clear(path, target, chunk_target)
    create_in(
        Array,
        target,
        native_store(target, chunk_target),
        path,
        Settings(),
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
        zarr_format=target._format or "2",
    )


init_store = init_array


def init_group(
    store: StoreLike, overwrite: bool = False, path: PathArgument = None, chunk_store: StoreLike | None = None
) -> None:
    """Writes the metadata of a new group, and of its missing parent groups.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store.
    overwrite : bool, optional
        Whether an existing node at the path is deleted. An array above the path is never deleted.
    path : str, optional
        The path of the group in the store.
    chunk_store : BaseStore or MutableMapping, optional
        The store of chunks, if it differs from the store of the metadata.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If a node exists at the path, or an array above it.

    Examples
    --------
    >>> from zarrox.v2.storage import init_group
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
