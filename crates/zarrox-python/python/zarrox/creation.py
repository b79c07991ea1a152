"""Functions that create and open arrays.

An array within a group has the format of the group. Elsewhere, functions that zarr-python 2 has create arrays of version 2, and
`create_array` and `from_array`, which only zarr-python 3 has, create arrays of version 3. ``zarr_format`` names another one.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrox import _native
from zarrox.argument_types import ChunksLike, DTypeLike, PathArgument, ShapeLike, StoreArgument
from zarrox.core.arguments import array_like, configured, element_type, h5py_arguments, kept, like
from zarrox.core.array import Array, open_native
from zarrox.core.copying import copy_values
from zarrox.core.formats import format_of_new
from zarrox.core.metadata import is_v3
from zarrox.core.settings import Settings
from zarrox.core.sources import check_apart
from zarrox.core.spec import DEFAULT_FILL_VALUE, array_spec
from zarrox.errors import ArrayNotFoundError, ContainsArrayError, ContainsGroupError
from zarrox.storage import BaseStore, native_store, normalize_storage_path, normalize_store_arg

__all__ = [
    "array",
    "create",
    "create_array",
    "empty",
    "empty_like",
    "from_array",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "open_array",
    "open_like",
    "zeros",
    "zeros_like",
]

#: The settings of new arrays that say nothing else.
_USUAL = Settings()


def _create(
    store: BaseStore,
    native_store: _native.Store,
    path: str,
    settings: Settings = _USUAL,
    *,
    zarr_format: int | str | None = None,
    **spec: Any,
) -> Array:
    """Create an array. All functions that create arrays end here.

    Parameters
    ----------
    store : BaseStore
        The store that the array belongs to.
    native_store : _native.Store
        The native form of that store, with the store of chunks and the synchronizer.
    path : str
        The normalized path.
    settings : Settings
        The settings of the array that is returned.
    zarr_format : int or str, optional
        The format.
    **spec
        See `zarrox.core.spec.array_spec`.
    """
    text = _ENCODER.encode(array_spec(zarr_format=format_of_new(store, path, zarr_format), **spec))
    return Array._of(_native.create_array(native_store, path, text), store, settings)


def _store_of(kwargs: dict[str, Any], mode: str = "a") -> BaseStore:
    """The store among arguments of `create`, which is told by then whether it flushes."""
    options = {"storage_options": kwargs.get("storage_options"), "sync": kwargs.pop("sync", None)}
    return normalize_store_arg(kwargs.get("store"), mode=mode, **options)


def _format_of(kwargs: Mapping[str, Any], default: int | None = None) -> str:
    """The format in the arguments of `create`, whose store is open."""
    path = normalize_storage_path(kwargs.get("path"))
    named = (kwargs.get("zarr_format"), kwargs.get("zarr_version"))
    return format_of_new(kwargs["store"], path, *named, default=default)


def _like(a: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `create` for an array like another one. It has the format of that array if no other is given."""
    kwargs["store"] = _store_of(kwargs)
    if isinstance(a, Array) and kwargs.get("zarr_format", kwargs.get("zarr_version")) is None:
        wanted = _format_of(kwargs, 3 if is_v3(a._native) else 2)
        # `open_like` opens an array of any format that is there already, unless one is named.
        if wanted != _format_of(kwargs):
            kwargs["zarr_format"] = wanted
    return like(a, _format_of(kwargs), kwargs)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be written as JSON")


# Made once: for every other than its own defaults, `json.dumps` makes one for each value.
_ENCODER = json.JSONEncoder(default=_plain)


def create(
    shape: ShapeLike | None,
    chunks: ChunksLike = True,
    dtype: DTypeLike = None,
    compressor: Any = "default",
    fill_value: Any = 0,
    order: Any = "C",
    store: StoreArgument = None,
    synchronizer: Any = None,
    overwrite: bool = False,
    path: PathArgument = None,
    chunk_store: StoreArgument = None,
    filters: Any = None,
    cache_metadata: bool = True,
    cache_attrs: bool = True,
    read_only: bool = False,
    object_codec: Any = None,
    dimension_separator: str | None = None,
    write_empty_chunks: bool = False,
    *,
    zarr_version: Any = None,
    zarr_format: Any = None,
    meta_array: Any = None,
    storage_options: dict[str, Any] | None = None,
    data: Any = None,
    mode: str | None = None,
    config: Any = None,
    sync: bool | None = None,
    **kwargs: Any,
) -> Array:
    """Create an array.

    Parameters
    ----------
    shape : int or tuple of int
        The length along each dimension.
    chunks : bool, int or tuple of int, optional
        The shape of a chunk. ``True``: guessed; ``False``: one chunk; ``None`` or -1 for a dimension: the whole dimension.
    dtype : dtype, optional
        The data type, by default ``float64``. ``str`` and ``bytes`` have any length, ``"array:i4"`` is an array of any
        length in each element.
    compressor : Codec, optional
        What compresses chunks; ``None`` for nothing. ``"default"`` is ``zarrox.storage.default_compressor``, in version 3
        Zstandard.
    fill_value : object
        The value of elements that were never written.
    order : {'C', 'F'}, optional
        The order of elements in chunks.
    store : MutableMapping or str, optional
        The place of the array: a mapping, a path or a URL; a new store in memory if not given.
    synchronizer : object, optional
        What synchronizes writers.
    overwrite : bool, optional
        Whether an existing node is deleted.
    path : str, optional
        The path in the store.
    chunk_store : MutableMapping, optional
        Another store for chunks.
    filters : sequence of Codec, optional
        Codecs that transform chunks before they are compressed.
    cache_metadata, cache_attrs : bool, optional
        Whether metadata and attributes are read once, instead of before each access.
    read_only : bool, optional
        Whether writing is refused.
    object_codec : Codec, optional
        The codec of objects, for ``dtype=object``.
    dimension_separator : {'.', '/'}, optional
        The separator between the numbers in the keys of chunks.
    write_empty_chunks : bool, optional
        Whether chunks are stored that hold only the fill value.
    zarr_version, zarr_format : {2, 3}, optional
        The format; by default that of the group which the array is in, and 2 where it is in none.
    meta_array : array_like, optional
        An array of the kind that reads return.
    storage_options : dict, optional
        Options for stores that are opened by URL, and for directories.
    sync : bool, optional
        Whether what is written to a path is flushed to the disk before a call returns, so that it outlives a power failure.
    data : array_like, optional
        The values to write to the array.
    mode : str, optional
        ``"w"`` means ``overwrite=True``.
    config : dict, optional
        The ``config`` of zarr-python 3: ``{"order": …, "write_empty_chunks": …}``.
    **kwargs
        What only version 3 has, as in `create_array`: shards, serializer, compressors, codecs, chunk_key_encoding,
        dimension_names, attributes. ``compression``, ``compression_opts`` and ``fillvalue``, as h5py has them.

    Returns
    -------
    Array
        The new array.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If a node already exists.
    ValueError
        If an argument is invalid.

    Examples
    --------
    >>> import zarrox as zarr
    >>> zarr.create((10000, 10000), chunks=(1000, 1000), dtype="i1", compressor=zarr.Zlib(1), order="F")
    <zarrox.core.Array (10000, 10000) int8>
    """
    store = normalize_store_arg(store, storage_options=storage_options, mode="a", sync=sync)
    chunk_store = _chunk_store(chunk_store, storage_options, sync)
    compressor, fill_value = h5py_arguments(compressor, fill_value, kwargs)
    write_empty_chunks, order = configured(config, write_empty_chunks, order)
    settings = Settings(
        chunk_store=chunk_store,
        synchronizer=synchronizer,
        read_only=False,
        cache_metadata=cache_metadata,
        cache_attrs=cache_attrs,
        write_empty_chunks=write_empty_chunks,
        meta_array=meta_array,
    )
    check_apart(data, store, path, overwrite or mode == "w")
    z = _create(
        store,
        native_store(store, chunk_store, synchronizer),
        normalize_storage_path(path),
        settings,
        shape=shape,
        chunks=kwargs.pop("chunk_shape", chunks),
        dtype=dtype,
        compressor=compressor,
        fill_value=fill_value,
        order=order,
        overwrite=overwrite or mode == "w",
        filters=filters,
        object_codec=object_codec,
        dimension_separator=_separator(store, dimension_separator),
        zarr_format=format_of_new(store, normalize_storage_path(path), zarr_format, zarr_version),
        **_known(kwargs),
    )
    if data is not None:
        copy_values(array_like(data), z)
    z.read_only = read_only
    return z


def _chunk_store(chunk_store: StoreArgument, storage_options: Any, sync: bool | None = None) -> BaseStore | None:
    options = {"storage_options": storage_options, "sync": sync}
    return None if chunk_store is None else normalize_store_arg(chunk_store, mode="a", **options)


def _separator(store: BaseStore, separator: str | None) -> str | None:
    own = getattr(store, "_dimension_separator", None)
    if separator is None or own in (None, separator):
        return separator or own
    raise ValueError(f"dimension_separator={separator!r} was given, but the store's is {own!r}")


#: Arguments of version 3 that `create` passes on.
_FURTHER = ("shards", "serializer", "compressors", "codecs", "chunk_key_encoding", "dimension_names", "attributes")


def _known(kwargs: dict[str, Any]) -> dict[str, Any]:
    for name in kwargs:
        if name not in _FURTHER:
            warnings.warn(f"ignoring keyword argument {name!r}", stacklevel=3)
    return {name: value for name, value in kwargs.items() if name in _FURTHER}


def empty(shape: ShapeLike, **kwargs: Any) -> Array:
    """Create an array without a fill value: unwritten elements are undefined.

    Parameters
    ----------
    shape : int or tuple of int
        The length along each dimension.
    **kwargs
        See `create`.
    """
    return create(shape=shape, fill_value=None, **kwargs)


def zeros(shape: ShapeLike, **kwargs: Any) -> Array:
    """Create an array whose unwritten elements are zero.

    Parameters
    ----------
    shape : int or tuple of int
        The length along each dimension.
    **kwargs
        See `create`.

    Examples
    --------
    >>> import zarrox as zarr
    >>> z = zarr.zeros((10000, 10000), chunks=(1000, 1000))
    >>> z
    <zarrox.core.Array (10000, 10000) float64>
    >>> z[:2, :2]
    array([[0., 0.],
           [0., 0.]])
    """
    return create(shape=shape, fill_value=0, **kwargs)


def ones(shape: ShapeLike, **kwargs: Any) -> Array:
    """Create an array whose unwritten elements are one.

    Parameters
    ----------
    shape : int or tuple of int
        The length along each dimension.
    **kwargs
        See `create`.

    Examples
    --------
    >>> import zarrox as zarr
    >>> zarr.ones((2, 2))[:]
    array([[1., 1.],
           [1., 1.]])
    """
    return create(shape=shape, fill_value=1, **kwargs)


def full(shape: ShapeLike, fill_value: Any, **kwargs: Any) -> Array:
    """Create an array whose unwritten elements have a given value.

    Parameters
    ----------
    shape : int or tuple of int
        The length along each dimension.
    fill_value : object
        The value.
    **kwargs
        See `create`.

    Examples
    --------
    >>> import zarrox as zarr
    >>> zarr.full(3, fill_value=42)[:]
    array([42., 42., 42.])
    """
    return create(shape=shape, fill_value=fill_value, **kwargs)


#: What `array` takes over from the values.
_OF_DATA = ("chunks", "dtype", "object_codec")


def array(data: Any, **kwargs: Any) -> Array:
    """Create an array with given values.

    Parameters
    ----------
    data : array_like
        The values. What has a shape and a type and can be sliced, such as an array of Zarr or h5py, is read in parts.
    **kwargs
        See `create`; shape, dtype and chunks are those of the values if they are not given. ``progress`` is told how far it is:
        see `zarrox.util.progress_reporter`.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> zarr.array(np.arange(100).reshape(10, 10), chunks=(5, 5))
    <zarrox.core.Array (10, 10) int64>
    """
    data = array_like(data)
    given = {name: value for name, value in kwargs.items() if value is not None or name not in ("dtype", "chunks")}
    given["store"], given["shape"] = _store_of(given), data.shape
    read_only, progress = given.pop("read_only", False), given.pop("progress", None)
    check_apart(data, given["store"], given.get("path"), given.get("overwrite", False))
    of_data = like(data, _format_of(given), given)
    z = create(**{name: of_data[name] for name in (*given, *_OF_DATA) if name in of_data})
    copy_values(data, z, progress)
    z.read_only = read_only
    return z


def open_array(
    store: StoreArgument = None,
    mode: str = "a",
    shape: ShapeLike | None = None,
    chunks: ChunksLike = True,
    dtype: DTypeLike = None,
    compressor: Any = "default",
    fill_value: Any = 0,
    order: Any = "C",
    synchronizer: Any = None,
    filters: Any = None,
    cache_metadata: bool = True,
    cache_attrs: bool = True,
    path: PathArgument = None,
    object_codec: Any = None,
    chunk_store: StoreArgument = None,
    storage_options: dict[str, Any] | None = None,
    partial_decompress: bool = False,
    write_empty_chunks: bool = False,
    *,
    zarr_version: Any = None,
    zarr_format: Any = None,
    dimension_separator: str | None = None,
    meta_array: Any = None,
    config: Any = None,
    sync: bool | None = None,
    **kwargs: Any,
) -> Array:
    """Open an array, or create it, with the modes of files.

    Parameters
    ----------
    store : MutableMapping or str, optional
        The place of the array: a mapping, a path or a URL.
    mode : {'r', 'r+', 'a', 'w', 'w-'}, optional
        ``r``: for reading, must exist; ``r+``: for reading and writing, must exist; ``a``: created if it does not exist; ``w``:
        created, what was there is deleted; ``w-`` or ``x``: created, must not exist.
    path : str, optional
        The path in the store.
    storage_options : dict, optional
        Options for stores that are opened by URL, and for directories.
    partial_decompress : bool, optional
        Has no effect: only the needed part of a chunk is read, if its codecs allow it.
    shape, chunks, dtype, compressor, fill_value, order, synchronizer, filters, cache_metadata, cache_attrs, object_codec, sync, \
    chunk_store, write_empty_chunks, zarr_version, zarr_format, dimension_separator, meta_array, config, **kwargs
        See `create`. These arguments are needed only if an array is created.

    Returns
    -------
    Array
        The array.

    Raises
    ------
    ArrayNotFoundError
        If there is no array, and none is to be created.
    ContainsArrayError, ContainsGroupError
        If there is a node that is not to be deleted.

    Examples
    --------
    >>> import zarrox as zarr
    >>> store = {}
    >>> zarr.open_array(store, mode="w", shape=(100, 100), chunks=(10, 10))
    <zarrox.core.Array (100, 100) float64>
    >>> zarr.open_array(store, mode="r")
    <zarrox.core.Array (100, 100) float64 read-only>
    """
    if mode not in ("r", "r+", "a", "w", "w-", "x"):
        raise ValueError(f"mode must be one of r, r+, a, w, w- and x, not {mode!r}")
    store = normalize_store_arg(store, storage_options=storage_options, mode=mode, sync=sync)
    chunk_store = _chunk_store(chunk_store, storage_options, sync)
    write_empty_chunks, order = configured(config, write_empty_chunks, order)
    keys, at = native_store(store, chunk_store, synchronizer), normalize_storage_path(path)
    wanted = zarr_format if zarr_format is not None else zarr_version
    form = None if wanted is None else str(wanted)

    def opened() -> Array:
        settings = Settings(
            chunk_store=chunk_store,
            synchronizer=synchronizer,
            read_only=mode == "r",
            cache_metadata=cache_metadata,
            cache_attrs=cache_attrs,
            write_empty_chunks=write_empty_chunks,
            meta_array=meta_array,
        )
        return Array._of(open_native(keys, at, form), store, settings)

    if mode in ("w-", "x"):
        kind = _native.node_kind(keys, at, form)
        if kind is not None:
            raise (ContainsArrayError if kind == "array" else ContainsGroupError)(f"there is a node already at path {at!r}")
    elif mode != "w":
        try:
            return opened()
        except ArrayNotFoundError:
            # Without a shape, none can be created.
            if mode != "a" or shape is None:
                raise
    try:
        return create(
            shape,
            chunks=chunks,
            dtype=dtype,
            compressor=compressor,
            fill_value=fill_value,
            order=order,
            store=store,
            synchronizer=synchronizer,
            overwrite=kwargs.pop("overwrite", False) or mode == "w",
            path=at,
            chunk_store=chunk_store,
            filters=filters,
            cache_metadata=cache_metadata,
            cache_attrs=cache_attrs,
            object_codec=object_codec,
            dimension_separator=dimension_separator,
            write_empty_chunks=write_empty_chunks,
            zarr_format=wanted,
            meta_array=meta_array,
            **kwargs,
        )
    except ContainsArrayError:
        # Another thread may have just made it.
        if mode != "a" or _native.node_kind(keys, at, form) != "array":
            raise
        return opened()


def empty_like(a: Any, **kwargs: Any) -> Array:
    """Create an array as `empty` does, with the shape, chunks, type and codecs of another one.

    Parameters
    ----------
    a : array_like
        The other array.
    **kwargs
        The properties that differ: see `create`.
    """
    return empty(**_like(a, kwargs))


def zeros_like(a: Any, **kwargs: Any) -> Array:
    """Create an array as `zeros` does, like another one; see `empty_like`."""
    return zeros(**_like(a, kwargs))


def ones_like(a: Any, **kwargs: Any) -> Array:
    """Create an array as `ones` does, like another one; see `empty_like`."""
    return ones(**_like(a, kwargs))


def full_like(a: Any, **kwargs: Any) -> Array:
    """Create an array as `full` does, like another one, whose fill value is taken if none is given; see `empty_like`."""
    if isinstance(a, Array):
        kwargs.setdefault("fill_value", a.fill_value)
    return full(**_like(a, kwargs))


def open_like(a: Any, path: StoreArgument, **kwargs: Any) -> Array:
    """Open an array, or create it like another one.

    Parameters
    ----------
    a : array_like
        The other array.
    path : str or MutableMapping
        The place of the array.
    **kwargs
        See `open_array`.
    """
    if isinstance(a, Array):
        kwargs.setdefault("fill_value", a.fill_value)
    kwargs["store"] = _store_of(kwargs | {"store": path, "sync": kwargs.pop("sync", None)}, kwargs.get("mode", "a"))
    return open_array(**_like(a, kwargs))


def create_array(
    store: StoreArgument,
    *,
    name: str | None = None,
    shape: ShapeLike | None = None,
    dtype: DTypeLike = None,
    data: Any = None,
    chunks: ChunksLike = "auto",
    shards: Any = None,
    filters: Any = "auto",
    compressors: Any = "auto",
    serializer: Any = "auto",
    fill_value: Any = DEFAULT_FILL_VALUE,
    order: Any = None,
    zarr_format: Any = None,
    attributes: Mapping[str, Any] | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Any = None,
    storage_options: dict[str, Any] | None = None,
    overwrite: bool = False,
    config: Any = None,
    write_data: bool = True,
    compressor: Any = "auto",
    object_codec: Any = None,
    dimension_separator: str | None = None,
    chunk_store: StoreArgument = None,
    synchronizer: Any = None,
    cache_metadata: bool = True,
    cache_attrs: bool = True,
    progress: Any = None,
    sync: bool | None = None,
) -> Array:
    """Create an array with the arguments of zarr-python 3.

    Parameters
    ----------
    store : MutableMapping or str
        The place of the array: a mapping, a path or a URL.
    name : str, optional
        The path in the store.
    shape : int or tuple of int, optional
        The length of each dimension; by default that of ``data``.
    dtype : dtype, optional
        The data type; by default that of ``data``.
    data : array_like, optional
        The values to write to the array.
    chunks : int, tuple of int or "auto", optional
        The shape of a chunk. A list of lengths in the place of a number is the lengths of the chunks along that dimension, which
        may differ (version 3): ``[[31, 28, 31], 100]``.
    shards : tuple of int, dict or "auto", optional
        The shape of a shard, in which chunks are stored together, or lists of lengths. A dict has a ``shape``, and an
        ``index_location``, which is ``"start"`` or ``"end"``.
    filters : sequence of Codec, optional
        Codecs that transform elements before they are serialized.
    compressors : Codec or sequence of Codec, optional
        Codecs that compress bytes; ``None`` for none.
    serializer : Codec, optional
        The codec that turns elements into bytes.
    fill_value : object, optional
        The value of unwritten elements; by default that of the data type.
    order : {'C', 'F'}, optional
        The order of elements in chunks.
    zarr_format : {2, 3}, optional
        The format; by default that of the group which the array is in, and 3 where it is in none.
    attributes : dict, optional
        The attributes of the array.
    chunk_key_encoding : dict, optional
        The encoding of chunk keys: ``{"name": "default", "separator": "/"}``.
    dimension_names : sequence of str, optional
        The names of the dimensions.
    storage_options : dict, optional
        Options for stores that are opened by URL, and for directories.
    overwrite : bool, optional
        Whether an existing node is deleted.
    config : dict, optional
        ``{"order": …, "write_empty_chunks": …}``.
    write_data : bool, optional
        Whether ``data`` is written; otherwise only its shape and type are used.
    compressor, object_codec, dimension_separator, chunk_store, synchronizer, cache_metadata, cache_attrs, sync
        See `create`.
    progress : object, optional
        Called with the progress: see `zarrox.util.progress_reporter`.

    Returns
    -------
    Array
        The new array.

    Examples
    --------
    >>> import zarrox as zarr
    >>> z = zarr.create_array({}, shape=(1000, 1000), chunks=(10, 10), shards=(100, 100), dtype="f4")
    >>> z.chunks, z.shards, z.nchunks
    ((10, 10), (100, 100), 10000)
    """
    if data is not None:
        data = array_like(data)
        if shape is not None or dtype is not None:
            raise ValueError("give either data, or shape and dtype")
        of_data = {"object_codec": object_codec} | element_type(data)
        shape, dtype, object_codec = data.shape, of_data["dtype"], object_codec or of_data["object_codec"]
    if shape is None:
        raise ValueError("give the shape of the array, or its data")
    if dtype is None:
        raise ValueError("give the dtype of the array, or its data")
    store = normalize_store_arg(store, storage_options=storage_options, mode="a", sync=sync)
    chunk_store = _chunk_store(chunk_store, storage_options, sync)
    write_empty_chunks, order = configured(config, False, order)
    settings = Settings(
        chunk_store=chunk_store,
        synchronizer=synchronizer,
        cache_metadata=cache_metadata,
        cache_attrs=cache_attrs,
        write_empty_chunks=write_empty_chunks,
    )
    check_apart(data, store, name, overwrite)
    z = _create(
        store,
        native_store(store, chunk_store, synchronizer),
        normalize_storage_path(name),
        settings,
        shape=shape,
        chunks=chunks,
        shards=shards,
        dtype=dtype,
        compressor=compressor,
        compressors=compressors,
        filters=filters,
        serializer=serializer,
        object_codec=object_codec,
        fill_value=fill_value,
        order=order,
        zarr_format=format_of_new(store, normalize_storage_path(name), zarr_format, default=3),
        attributes=attributes,
        chunk_key_encoding=chunk_key_encoding,
        dimension_separator=_separator(store, dimension_separator) if chunk_key_encoding is None else dimension_separator,
        dimension_names=dimension_names,
        overwrite=overwrite,
    )
    if data is not None and write_data:
        copy_values(data, z, progress)
    return z


def from_array(
    store: StoreArgument,
    *,
    data: Any,
    write_data: bool = True,
    name: str | None = None,
    chunks: ChunksLike = "keep",
    shards: Any = "keep",
    filters: Any = "keep",
    compressors: Any = "keep",
    serializer: Any = "keep",
    fill_value: Any = DEFAULT_FILL_VALUE,
    order: Any = None,
    zarr_format: Any = None,
    attributes: Mapping[str, Any] | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Any = None,
    storage_options: dict[str, Any] | None = None,
    overwrite: bool = False,
    config: Any = None,
    progress: Any = None,
) -> Array:
    """Create an array from another one, with all of its properties that are not given.

    Parameters
    ----------
    store : MutableMapping or str
        The place of the new array.
    data : array_like
        The other array.
    write_data : bool, optional
        Whether the values are copied as well.
    chunks, shards, filters, compressors, serializer : object, optional
        See `create_array`; ``"keep"`` is what the other array has, if it is one of Zarr, and if the format is the same. Shards
        that are kept become as much longer as other chunks need.
    name, fill_value, order, zarr_format, attributes, chunk_key_encoding, dimension_names, storage_options, overwrite, config, \
    progress
        See `create_array`; by default the properties of the other array. Within a group, the format is that of the group.

    Returns
    -------
    Array
        The new array.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> z = zarr.array(np.arange(10), chunks=4)
    >>> zarr.from_array({}, data=z, zarr_format=3)[:]
    array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    data = array_like(data)
    store = normalize_store_arg(store, storage_options=storage_options, mode="a")
    check_apart(data, store, name, overwrite)
    own = 2 if isinstance(data, Array) and not is_v3(data._native) else 3
    zarr_format = format_of_new(store, normalize_storage_path(name), zarr_format, default=own)
    stored = {"chunks": chunks, "shards": shards, "filters": filters, "compressors": compressors, "serializer": serializer}
    further = {
        "order": order,
        "attributes": attributes,
        "chunk_key_encoding": chunk_key_encoding,
        "dimension_names": dimension_names,
    }
    given: dict[str, Any] = {name: value for name, value in stored.items() if not _is_keep(value)}
    given |= {name: value for name, value in further.items() if value is not None}
    if fill_value is not DEFAULT_FILL_VALUE:
        given["fill_value"] = fill_value
    taken_over = kept(data, zarr_format, given) if isinstance(data, Array) else element_type(data)
    z = create_array(
        store,
        name=name,
        shape=data.shape,
        zarr_format=zarr_format,
        overwrite=overwrite,
        config=config,
        **taken_over,
        **given,
    )
    if write_data:
        copy_values(data, z, progress)
    return z


def _is_keep(value: Any) -> bool:
    return isinstance(value, str) and value == "keep"
