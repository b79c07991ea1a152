"""Creates and opens arrays, for any array class."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from zarrox import _native
from zarrox.argument_types import PathArgument, ShapeLike, StoreArgument
from zarrox.core.arguments import array_like, like
from zarrox.core.base import ArrayBase, open_native
from zarrox.core.copying import copy_values
from zarrox.core.formats import format_of_existing, format_of_new
from zarrox.core.metadata import is_v3
from zarrox.core.settings import Settings
from zarrox.core.sources import check_apart
from zarrox.core.spec import array_spec
from zarrox.errors import ArrayNotFoundError, ContainsArrayError, ContainsGroupError
from zarrox.storage import BaseStore, native_store, normalize_storage_path
from zarrox.storage.store_path import place_of

__all__ = ["create", "create_in", "create_like", "create_with", "open_array", "open_like"]

A = TypeVar("A", bound=ArrayBase)

#: The properties that an array takes from the data with which it is created.
_OF_DATA = ("chunks", "dtype", "object_codec")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be written as JSON")


# Created once: with non-default options, `json.dumps` creates an encoder for each call.
_ENCODER = json.JSONEncoder(default=_plain)


def create_in(
    cls: type[A], store: BaseStore, native_store: _native.Store, path: str, settings: Settings, *, zarr_format: str, **spec: Any
) -> A:
    """Create an array. All functions that create arrays call this function.

    Parameters
    ----------
    cls : type
        The class of the array.
    store : BaseStore
        The store that the array belongs to.
    native_store : _native.Store
        The native store, with the chunk store and the synchronizer.
    path : str
        The normalized path.
    settings : Settings
        The settings of the array that is returned.
    zarr_format : str
        The format.
    **spec
        See `zarrox.core.spec.array_spec`.
    """
    text = _ENCODER.encode(array_spec(zarr_format=zarr_format, default_compressor=cls._default_compressor, **spec))
    return cls._of(_native.create_array(native_store, path, text), store, settings)


def create(
    cls: type[A],
    *,
    store: StoreArgument = None,
    path: PathArgument = None,
    overwrite: bool = False,
    mode: str | None = None,
    chunk_store: StoreArgument = None,
    synchronizer: Any = None,
    cache_metadata: bool = True,
    cache_attrs: bool = True,
    read_only: bool = False,
    write_empty_chunks: bool = False,
    read_missing_chunks: bool = True,
    dimension_separator: str | None = None,
    chunk_key_encoding: Any = None,
    zarr_format: Any = None,
    meta_array: Any = None,
    storage_options: dict[str, Any] | None = None,
    sync: bool | None = None,
    data: Any = None,
    progress: Any = None,
    **spec: Any,
) -> A:
    """Create an array in the store that an argument specifies.

    Parameters
    ----------
    cls : type
        The class of the array.
    data : array_like, optional
        The values to write to the array.
    store, path, overwrite, mode, chunk_store, synchronizer, cache_metadata, cache_attrs, read_only, write_empty_chunks, read_missing_chunks, \
    dimension_separator, chunk_key_encoding, zarr_format, meta_array, storage_options, sync, progress
        See the functions of the interfaces.
    **spec
        See `zarrox.core.spec.array_spec`.
    """
    options: dict[str, Any] = {"storage_options": storage_options, "sync": sync}
    store, path = place_of(store, path, chunk_store)
    opened = cls._open_store(store, mode=mode or "a", **options)
    chunks_in = None if chunk_store is None else cls._open_store(chunk_store, mode="a", **options)
    settings = Settings(
        chunk_store=chunks_in,
        synchronizer=synchronizer,
        read_only=False,
        cache_metadata=cache_metadata,
        cache_attrs=cache_attrs,
        write_empty_chunks=write_empty_chunks,
        read_missing_chunks=read_missing_chunks,
        meta_array=meta_array,
    )
    overwrites = overwrite or mode == "w"
    check_apart(data, opened, path, overwrites)
    array = create_in(
        cls,
        opened,
        native_store(opened, chunks_in, synchronizer),
        path,
        settings,
        overwrite=overwrites,
        dimension_separator=dimension_separator if chunk_key_encoding is not None else _separator(opened, dimension_separator),
        chunk_key_encoding=chunk_key_encoding,
        zarr_format=format_of_new(opened, path, zarr_format, default=cls._default_format()),
        **spec,
    )
    if data is not None:
        copy_values(array_like(data), array, progress)
    array._set_read_only(read_only)
    return array


def _separator(store: BaseStore, separator: str | None) -> str | None:
    """Returns the separator in chunk keys, which the store may determine.

    Raises
    ------
    ValueError
        If the store has another separator than the requested one.
    """
    own = getattr(store, "_dimension_separator", None)
    if separator is None or own in (None, separator):
        return separator or own
    raise ValueError(f"dimension_separator={separator!r} was given, but the store's is {own!r}")


def create_with(cls: type[A], data: Any, **kwargs: Any) -> A:
    """Create an array with given values.

    Parameters
    ----------
    cls : type
        The class of the array.
    data : array_like
        The values.
    **kwargs
        See `create`; by default the shape, the data type and the chunks are taken from the values.
    """
    data = array_like(data)
    given = {name: value for name, value in kwargs.items() if value is not None or name not in ("dtype", "chunks")}
    _open_store_in(cls, given)
    given["shape"] = data.shape
    read_only, progress = given.pop("read_only", False), given.pop("progress", None)
    check_apart(data, given["store"], given.get("path"), given.get("overwrite", False))
    of_data = like(data, _format_of(cls, given), given)
    array = create(cls, **{name: of_data[name] for name in (*given, *_OF_DATA) if name in of_data})
    copy_values(data, array, progress)
    array._set_read_only(read_only)
    return array


def create_like(cls: type[A], a: Any, **kwargs: Any) -> A:
    """Create an array like another one. By default, it has the format of that array.

    Parameters
    ----------
    cls : type
        The class of the array.
    a : array_like
        The other array.
    **kwargs
        See `create`.
    """
    return create(cls, **_like(cls, a, kwargs))


def open_like(cls: type[A], a: Any, place: StoreArgument, **kwargs: Any) -> A:
    """Open an array, or create it like another one.

    Parameters
    ----------
    cls : type
        The class of the array.
    a : array_like
        The other array.
    place : str or MutableMapping
        The location of the array.
    **kwargs
        See `open_array`.
    """
    if isinstance(a, ArrayBase):
        kwargs.setdefault("fill_value", a.fill_value)
    kwargs["store"] = place
    if kwargs.get("mode") is None:
        kwargs["mode"] = "r" if getattr(place, "read_only", False) else "a"
    _open_store_in(cls, kwargs, kwargs["mode"])
    return open_array(cls, **_like(cls, a, kwargs))


def _like(cls: type[ArrayBase], a: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    _open_store_in(cls, kwargs)
    if isinstance(a, ArrayBase) and kwargs.get("zarr_format") is None:
        wanted = _format_of(cls, kwargs, 3 if is_v3(a._native) else 2)
        # `open_like` opens an existing array of any format, unless a format is given.
        if wanted != _format_of(cls, kwargs):
            kwargs["zarr_format"] = wanted
    return like(a, _format_of(cls, kwargs), kwargs)


def _open_store_in(cls: type[ArrayBase], kwargs: dict[str, Any], mode: str = "a") -> None:
    """Opens the store in the arguments of `create`, with its option for flushing."""
    options = {"storage_options": kwargs.get("storage_options"), "sync": kwargs.pop("sync", None)}
    store, kwargs["path"] = place_of(kwargs.get("store"), kwargs.get("path"), kwargs.get("chunk_store"))
    kwargs["store"] = cls._open_store(store, mode=mode, **options)


def _format_of(cls: type[ArrayBase], kwargs: Mapping[str, Any], default: int | None = None) -> str:
    """Returns the format in the arguments of `create`. The store is already open."""
    path = normalize_storage_path(kwargs.get("path"))
    return format_of_new(kwargs["store"], path, kwargs.get("zarr_format"), default=default or cls._default_format())


def open_array(
    cls: type[A],
    store: StoreArgument = None,
    mode: str = "a",
    *,
    shape: ShapeLike | None = None,
    path: PathArgument = None,
    chunk_store: StoreArgument = None,
    synchronizer: Any = None,
    cache_metadata: bool = True,
    cache_attrs: bool = True,
    write_empty_chunks: bool = False,
    read_missing_chunks: bool = True,
    zarr_format: Any = None,
    meta_array: Any = None,
    storage_options: dict[str, Any] | None = None,
    sync: bool | None = None,
    overwrite: bool = False,
    **kwargs: Any,
) -> A:
    """Open an array, or create it, with a mode like a file's.

    Parameters
    ----------
    cls : type
        The class of the array.
    store, mode, shape, path, chunk_store, synchronizer, cache_metadata, cache_attrs, write_empty_chunks, zarr_format, \
    meta_array, storage_options, sync, overwrite
        See the functions of the interfaces.
    **kwargs
        See `create`, if an array is created.
    """
    if mode not in ("r", "r+", "a", "w", "w-", "x"):
        raise ValueError(f"mode must be one of r, r+, a, w, w- and x, not {mode!r}")
    options: dict[str, Any] = {"storage_options": storage_options, "sync": sync}
    store, at = place_of(store, path, chunk_store)
    opened_store = cls._open_store(store, mode=mode, **options)
    chunks_in = None if chunk_store is None else cls._open_store(chunk_store, mode="a", **options)
    keys = native_store(opened_store, chunks_in, synchronizer)
    form = format_of_existing(opened_store, zarr_format)
    kept = {
        "chunk_store": chunks_in,
        "synchronizer": synchronizer,
        "cache_metadata": cache_metadata,
        "cache_attrs": cache_attrs,
        "write_empty_chunks": write_empty_chunks,
        "read_missing_chunks": read_missing_chunks,
        "meta_array": meta_array,
    }

    def opened() -> A:
        return cls._of(open_native(keys, at, form), opened_store, Settings(read_only=mode == "r", **kept))

    if mode in ("w-", "x"):
        kind = _native.node_kind(keys, at, form)
        if kind is not None:
            raise (ContainsArrayError if kind == "array" else ContainsGroupError)(f"a node already exists at path {at!r}")
    elif mode != "w":
        try:
            return opened()
        except ArrayNotFoundError:
            # Without a shape, no array can be created.
            if mode != "a" or (shape is None and kwargs.get("data") is None):
                raise
    try:
        return create(
            cls,
            shape=shape,
            store=opened_store,
            path=at,
            overwrite=overwrite or mode == "w",
            zarr_format=zarr_format,
            **kept,
            **kwargs,
        )
    except ContainsArrayError:
        # Another thread may have just created it.
        if mode != "a" or _native.node_kind(keys, at, form) != "array":
            raise
        return opened()
