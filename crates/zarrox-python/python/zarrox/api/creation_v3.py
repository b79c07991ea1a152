"""Functions that create arrays, with the signatures of zarr-python 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrox.argument_types import ChunksLike, DTypeLike, ShapeLike, StoreArgument
from zarrox.core import creating
from zarrox.core.arguments import array_like, configured, element_type, kept
from zarrox.core.array import Array
from zarrox.core.base import ArrayBase
from zarrox.core.copying import copy_values
from zarrox.core.formats import format_of_new
from zarrox.core.metadata import is_v3
from zarrox.core.sources import check_apart
from zarrox.core.spec import DEFAULT_FILL_VALUE
from zarrox.storage import normalize_storage_path, normalize_store_arg
from zarrox.storage.store_path import place_of

__all__ = ["create_array", "from_array"]


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
    """Create an array.

    Parameters
    ----------
    store : MutableMapping or str
        The location of the array: a mapping, a path or a URL.
    name : str, optional
        The path in the store.
    shape : int or tuple of int, optional
        The length of each dimension; by default the shape of ``data``.
    dtype : dtype, optional
        The data type; by default the data type of ``data``.
    data : array_like, optional
        The values to write to the array.
    chunks : int, tuple of int or "auto", optional
        The shape of a chunk. Instead of a number, a list gives the lengths of the chunks along that dimension, which may differ
        (version 3): ``[[31, 28, 31], 100]``.
    shards : tuple of int, dict or "auto", optional
        The shape of a shard, in which chunks are stored together, or lists of lengths. A dict has a ``shape``, and an
        ``index_location``, which is ``"start"`` or ``"end"``.
    filters : sequence of Codec, optional
        Codecs that transform elements before they are serialized.
    compressors : Codec or sequence of Codec, optional
        Codecs that compress bytes; ``None`` for none.
    serializer : Codec, optional
        The codec that converts elements to bytes.
    fill_value : object, optional
        The value of unwritten elements; by default the default of the data type.
    order : {'C', 'F'}, optional
        The order of elements in chunks.
    zarr_format : {2, 3}, optional
        The format; by default the format of the parent group, or ``default_zarr_format`` without a parent group.
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
        Called with the progress: see `zarrox.core.progress.progress_reporter`.

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
            name = "dtype" if shape is None else "shape"
            raise ValueError(f"The data parameter was used, but the {name} parameter was also used.")
        of_data = {"object_codec": object_codec} | element_type(data)
        shape, dtype, object_codec = data.shape, of_data["dtype"], object_codec or of_data["object_codec"]
    if shape is None:
        raise ValueError("shape was not specified, and no data was given")
    if dtype is None:
        raise ValueError("dtype was not specified, and no data was given")
    place, path = place_of(store, name, chunk_store)
    store = normalize_store_arg(place, storage_options=storage_options, mode="a", sync=sync)
    check_apart(data, store, path, overwrite)
    z = creating.create(
        Array,
        store=store,
        path=path,
        chunk_store=chunk_store,
        synchronizer=synchronizer,
        cache_metadata=cache_metadata,
        cache_attrs=cache_attrs,
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
        zarr_format=zarr_format,
        attributes=attributes,
        chunk_key_encoding=chunk_key_encoding,
        dimension_separator=dimension_separator,
        dimension_names=dimension_names,
        overwrite=overwrite,
        **configured(config, order),
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
    """Create an array from another array, with the same properties unless others are given.

    Parameters
    ----------
    store : MutableMapping or str
        The location of the new array.
    data : array_like
        The other array.
    write_data : bool, optional
        Whether the values are copied as well.
    chunks, shards, filters, compressors, serializer : object, optional
        See `create_array`; ``"keep"`` keeps the property of the other array, if it is a Zarr array of the same format.
        Shards that are kept are enlarged to a multiple of the chunks.
    name, fill_value, order, zarr_format, attributes, chunk_key_encoding, dimension_names, storage_options, overwrite, config, \
    progress
        See `create_array`; by default the properties of the other array. Within a group, the default format is the
        format of the group.

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
    store, name = place_of(store, name)
    store = normalize_store_arg(store, storage_options=storage_options, mode="a")
    if write_data:
        check_apart(data, store, name, overwrite)
    own = Array._default_format() if not isinstance(data, ArrayBase) else 3 if is_v3(data._native) else 2
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
    taken_over = kept(data, zarr_format, given) if isinstance(data, ArrayBase) else element_type(data)
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
