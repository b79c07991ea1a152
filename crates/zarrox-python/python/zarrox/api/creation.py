"""Functions that create and open arrays, with the signatures of zarr-python 3.

An array in a group has the format of the group. Other arrays have the format of the setting ``default_zarr_format``, which is 3.
``zarr_format`` overrides both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrox.argument_types import ChunksLike, DTypeLike, PathArgument, ShapeLike, StoreArgument
from zarrox.core import creating
from zarrox.core.arguments import configured
from zarrox.core.array import Array
from zarrox.core.base import ArrayBase
from zarrox.core.spec import DEFAULT_FILL_VALUE
from zarrox.api.creation_v3 import create_array, from_array

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


def create(
    shape: ShapeLike,
    *,
    chunks: ChunksLike = None,
    dtype: DTypeLike = None,
    compressor: Any = "auto",
    fill_value: Any = DEFAULT_FILL_VALUE,
    order: Any = None,
    store: StoreArgument = None,
    synchronizer: Any = None,
    overwrite: bool = False,
    path: PathArgument = None,
    chunk_store: StoreArgument = None,
    filters: Any = None,
    cache_metadata: bool | None = None,
    cache_attrs: bool | None = None,
    read_only: bool | None = None,
    object_codec: Any = None,
    dimension_separator: str | None = None,
    write_empty_chunks: bool | None = None,
    zarr_format: Any = None,
    meta_array: Any = None,
    attributes: Mapping[str, Any] | None = None,
    chunk_shape: ChunksLike = None,
    chunk_key_encoding: Any = None,
    codecs: Any = None,
    dimension_names: Any = None,
    storage_options: dict[str, Any] | None = None,
    config: Any = None,
    data: Any = None,
    mode: str | None = None,
    sync: bool | None = None,
    shards: Any = None,
    compressors: Any = "auto",
    serializer: Any = "auto",
) -> Array:
    """Create an array.

    Parameters
    ----------
    shape : int or tuple of int
        The length along each dimension.
    chunks, chunk_shape : int, tuple of int or bool, optional
        The shape of a chunk. ``None`` or ``True``: guessed; ``False``: one chunk; ``None`` or -1 for a dimension: the whole
        dimension.
    dtype : dtype, optional
        The data type, by default ``float64``.
    compressor : Codec, optional
        The compressor of chunks; ``None`` for no compression. ``"auto"`` is Zstandard.
    fill_value : object
        The value of elements that were never written; by default the default of the data type.
    order : {'C', 'F'}, optional
        The order of elements in chunks.
    store : MutableMapping or str, optional
        The location of the array: a mapping, a path or a URL; a new store in memory if not given.
    synchronizer : object, optional
        The locks of concurrent writers.
    overwrite : bool, optional
        Whether an existing node is deleted.
    path : str, optional
        The path in the store.
    chunk_store : MutableMapping, optional
        Another store for chunks.
    filters : sequence of Codec, optional
        Codecs that transform elements before serialization.
    cache_metadata, cache_attrs : bool, optional
        Whether metadata and attributes are read once (the default) or before each access.
    read_only : bool, optional
        Whether writing is rejected.
    object_codec : Codec, optional
        The codec of objects, for ``dtype=object``.
    dimension_separator : {'.', '/'}, optional
        The separator between the numbers in the keys of chunks.
    write_empty_chunks : bool, optional
        Whether chunks that hold only the fill value are stored.
    zarr_format : {2, 3}, optional
        The format; by default the format of the parent group, or ``default_zarr_format`` without a parent group.
    meta_array : array_like, optional
        An array of the class that reads return.
    storage_options : dict, optional
        Options for stores that are opened by URL, and for directories.
    config : dict, optional
        ``{"order": …, "write_empty_chunks": …}``.
    data : array_like, optional
        The values to write to the array.
    mode : str, optional
        ``"w"`` means ``overwrite=True``.
    sync : bool, optional
        Whether writes to a path are flushed to the disk before a call returns, so that they survive a power failure.
    attributes, chunk_key_encoding, codecs, dimension_names, shards, compressors, serializer
        Parameters of version 3 only; see `create_array`.

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
    >>> zarr.create((10000, 10000), chunks=(1000, 1000), dtype="i1").nchunks
    100
    """
    if chunks is not None and chunk_shape is not None:
        raise ValueError("Only one of chunk_shape or chunks can be provided.")
    if mode not in (None, "a", "w", "w-"):
        raise ValueError(f"Invalid mode: {mode}" if mode != "r" else "mode 'r' opens the store read-only, so nothing can be created")
    return creating.create(
        Array,
        shape=shape,
        chunks=chunks if chunk_shape is None else chunk_shape,
        dtype=dtype,
        compressor=compressor,
        fill_value=fill_value,
        store=store,
        synchronizer=synchronizer,
        overwrite=overwrite,
        path=path,
        chunk_store=chunk_store,
        filters=filters,
        cache_metadata=cache_metadata is not False,
        cache_attrs=cache_attrs is not False,
        read_only=bool(read_only),
        object_codec=object_codec,
        dimension_separator=dimension_separator,
        zarr_format=zarr_format,
        meta_array=meta_array,
        attributes=attributes,
        chunk_key_encoding=chunk_key_encoding,
        codecs=codecs,
        dimension_names=dimension_names,
        storage_options=storage_options,
        data=data,
        mode=mode,
        sync=sync,
        shards=shards,
        compressors=compressors,
        serializer=serializer,
        **configured(config, order, write_empty_chunks=write_empty_chunks),
    )


def empty(shape: ShapeLike, **kwargs: Any) -> Array:
    """Create an array whose unwritten elements are unspecified.

    Parameters
    ----------
    shape : int or tuple of int
        The length along each dimension.
    **kwargs
        See `create`.
    """
    return create(shape=shape, **kwargs)


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
    >>> zarr.zeros((10000, 10000), chunks=(1000, 1000))[:2, :2]
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


def array(data: Any, **kwargs: Any) -> Array:
    """Create an array with given values.

    Parameters
    ----------
    data : array_like
        The values. An object with a shape and a data type that can be sliced, such as a Zarr or h5py array, is read in parts.
    **kwargs
        See `create`; by default shape, dtype and chunks are taken from the values. ``progress`` is called with the
        progress; see `zarrox.core.progress.progress_reporter`.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> zarr.array(np.arange(100).reshape(10, 10), chunks=(5, 5)).nchunks
    4
    """
    return creating.create_with(Array, data, **_checked("array", kwargs, "progress"))


def open_array(
    store: StoreArgument = None,
    mode: str | None = None,
    *,
    zarr_format: Any = None,
    path: PathArgument = "",
    storage_options: dict[str, Any] | None = None,
    config: Any = None,
    **kwargs: Any,
) -> Array:
    """Open an array, or create it, with a mode like a file's.

    Parameters
    ----------
    store : MutableMapping or str, optional
        The location of the array: a mapping, a path or a URL.
    mode : {'r', 'r+', 'a', 'w', 'w-'}, optional
        ``r``: for reading, must exist; ``r+``: for reading and writing, must exist; ``a``: created if it does not exist (the
        default for stores that can be written); ``w``: created, replaces an existing node; ``w-`` or ``x``: created, must not
        exist.
    zarr_format : {2, 3}, optional
        The format that is opened or created; any if not given.
    path : str, optional
        The path in the store.
    storage_options : dict, optional
        Options for stores that are opened by URL, and for directories.
    config : dict, optional
        ``{"order": …, "write_empty_chunks": …}``.
    **kwargs
        See `create`. Used only if an array is created.

    Returns
    -------
    Array
        The array.

    Raises
    ------
    ArrayNotFoundError
        If there is no array, and the mode does not create one.
    ContainsArrayError, ContainsGroupError
        If there is a node that must not be replaced.

    Examples
    --------
    >>> import zarrox as zarr
    >>> store = zarr.storage.MemoryStore()
    >>> zarr.open_array(store, mode="w", shape=(100, 100), chunks=(10, 10)).nchunks
    100
    >>> zarr.open_array(store, mode="r").read_only
    True
    """
    given = _checked("open_array", {**kwargs, "config": config})
    return creating.open_array(
        Array,
        store,
        default_mode(store) if mode is None else mode,
        zarr_format=zarr_format,
        path=path,
        storage_options=storage_options,
        **given,
    )


def default_mode(store: StoreArgument) -> str:
    """Returns the mode in which a store is opened if none is given: ``"r"`` for a read-only store, and ``"a"`` otherwise.

    Parameters
    ----------
    store : MutableMapping or str, optional
        The store.
    """
    return "r" if getattr(store, "read_only", False) else "a"


def empty_like(a: Any, **kwargs: Any) -> Array:
    """Create an array like `empty`, with the shape, chunks, data type and codecs of another array.

    Parameters
    ----------
    a : array_like
        The other array.
    **kwargs
        Properties that differ; see `create`.
    """
    if isinstance(a, ArrayBase):
        kwargs.setdefault("fill_value", a.fill_value)
    return creating.create_like(Array, a, **_checked("empty_like", kwargs))


def zeros_like(a: Any, **kwargs: Any) -> Array:
    """Create an array like `zeros`, with the properties of another array. See `empty_like`."""
    return creating.create_like(Array, a, **_checked("zeros_like", {**kwargs, "fill_value": 0}))


def ones_like(a: Any, **kwargs: Any) -> Array:
    """Create an array like `ones`, with the properties of another array. See `empty_like`."""
    return creating.create_like(Array, a, **_checked("ones_like", {**kwargs, "fill_value": 1}))


def full_like(a: Any, **kwargs: Any) -> Array:
    """Create an array like `full`, with the properties of another array; by default, these include its fill value. See `empty_like`."""
    if isinstance(a, ArrayBase):
        kwargs.setdefault("fill_value", a.fill_value)
    return creating.create_like(Array, a, **_checked("full_like", kwargs))


def open_like(a: Any, path: StoreArgument, **kwargs: Any) -> Array:
    """Open an array, or create it with the properties of another array.

    Parameters
    ----------
    a : array_like
        The other array.
    path : str or MutableMapping
        The location of the array; with ``store=``, its path in that store.
    **kwargs
        See `open_array`.
    """
    if kwargs.get("store") is not None:
        kwargs["path"], path = path, kwargs.pop("store")
    return creating.open_like(Array, a, path, **_checked("open_like", kwargs))


#: The arguments of `create`.
_ARGUMENTS = frozenset(create.__annotations__) - {"return"}


def _checked(function: str, kwargs: dict[str, Any], *further: str) -> dict[str, Any]:
    """Returns the arguments of `create` for the internal functions. Unknown arguments are an error."""
    for name in kwargs:
        if name not in _ARGUMENTS and name not in further:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    given = {name: value for name, value in kwargs.items() if value is not None or name not in _NONE_IS_DEFAULT}
    if "chunk_shape" in given:
        given["chunks"] = given.pop("chunk_shape")
    options = configured(given.pop("config", None), given.pop("order", None), write_empty_chunks=given.pop("write_empty_chunks", None))
    return given | options


#: The arguments for which ``None`` means the default.
_NONE_IS_DEFAULT = frozenset(
    "attributes cache_attrs cache_metadata chunk_shape config order read_only write_empty_chunks zarr_format".split()
)
