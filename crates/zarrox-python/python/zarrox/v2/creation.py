"""Functions that create and open arrays, with the interface of zarr-python 2.

An array in a group has the format of the group. All other arrays have version 2. ``zarr_version`` or ``zarr_format`` overrides both.
"""

from __future__ import annotations

import warnings
from typing import Any

from zarrox.argument_types import ChunksLike, DTypeLike, PathArgument, ShapeLike, StoreArgument
from zarrox.core import creating
from zarrox.core.arguments import h5py_arguments
from zarrox.core.base import ArrayBase
from zarrox.core.formats import one_format
from zarrox.v2._initialize import refuse_transformers
from zarrox.v2.core import Array

__all__ = [
    "array",
    "create",
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "open_array",
    "open_like",
    "zeros",
    "zeros_like",
]

#: The arguments for creating arrays, including the synonyms from h5py.
_ARGUMENTS = frozenset(
    "shape chunks dtype compressor fill_value order store synchronizer overwrite path chunk_store filters cache_metadata "
    "cache_attrs read_only object_codec dimension_separator write_empty_chunks zarr_version zarr_format meta_array "
    "storage_options sync".split()
)

#: Arguments of zarr-python 3 that change the stored array: ignoring them would lose something.
_OF_3 = frozenset(
    "attributes chunk_key_encoding chunk_shape codecs compressors config data dimension_names name serializer shards".split()
)


def _checked(kwargs: dict[str, Any], further: tuple[str, ...] = ()) -> dict[str, Any]:
    """Returns the arguments for a new array. Unknown arguments, which zarr-python 2 ignores with a warning, are removed.

    ``kwargs`` may contain all local variables of a function; the additional keyword arguments of the function are then its entry
    ``kwargs``.
    """
    kwargs.update(kwargs.pop("kwargs", {}))
    refuse_transformers(kwargs.pop("storage_transformers", ()))
    has_compressor = not kwargs.keys().isdisjoint(("compressor", "compression"))
    compressor, fill_value = h5py_arguments(kwargs.pop("compressor", "default"), kwargs.pop("fill_value", 0), kwargs)
    known = {name: value for name, value in kwargs.items() if name in _ARGUMENTS or name in further}
    for name in kwargs.keys() - known.keys():
        if name in _OF_3:
            raise TypeError(f"{name!r} is an argument of zarr-python 3: import zarrox as zarr")
        warnings.warn(f"ignoring keyword argument {name!r}", stacklevel=3)
    known["zarr_format"] = one_format(known.pop("zarr_format", None), known.pop("zarr_version", None))
    return {"write_empty_chunks": True, **known, "fill_value": fill_value} | ({"compressor": compressor} if has_compressor else {})


def create(
    shape: ShapeLike,
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
    write_empty_chunks: bool = True,
    *,
    zarr_version: Any = None,
    zarr_format: Any = None,
    meta_array: Any = None,
    storage_options: dict[str, Any] | None = None,
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
        The data type, by default ``float64``. ``str`` and ``bytes`` have any length; with ``"array:i4"``, each element
        is an array of any length.
    compressor : Codec, optional
        The compressor of chunks; ``None`` for no compression. ``"default"`` is
        ``zarrox.v2.storage.default_compressor``.
    fill_value : object
        The value of elements that were never written.
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
        Codecs that transform chunks before they are compressed.
    cache_metadata, cache_attrs : bool, optional
        Whether metadata and attributes are read once, instead of before each access.
    read_only : bool, optional
        Whether writing is rejected.
    object_codec : Codec, optional
        The codec of objects, for ``dtype=object``.
    dimension_separator : {'.', '/'}, optional
        The separator between the numbers in the keys of chunks.
    write_empty_chunks : bool, optional
        Whether chunks that hold only the fill value are stored.
    zarr_version, zarr_format : {2, 3}, optional
        The format; by default the format of the parent group, or 2 without a parent group.
    meta_array : array_like, optional
        An array of the class that reads return.
    storage_options : dict, optional
        Options for stores that are opened by URL, and for directories.
    sync : bool, optional
        Whether writes to a path are flushed to the disk before a call returns, so that they survive a power failure.
    **kwargs
        ``compression``, ``compression_opts`` and ``fillvalue``, as in h5py. Others are ignored with a warning.

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
    >>> import zarrox.v2 as zarr
    >>> zarr.create((10000, 10000), chunks=(1000, 1000), dtype="i1", compressor=zarr.Zlib(1), order="F")
    <zarrox.v2.core.Array (10000, 10000) int8>
    """
    return creating.create(Array, **_checked(locals()))


def empty(shape: ShapeLike, **kwargs: Any) -> Array:
    """Create an array without a fill value, whose unwritten elements are undefined. See `create` for keyword arguments."""
    return create(shape=shape, fill_value=None, **kwargs)


def zeros(shape: ShapeLike, **kwargs: Any) -> Array:
    """Create an array whose unwritten elements are zero. See `create` for keyword arguments.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> z = zarr.zeros((10000, 10000), chunks=(1000, 1000))
    >>> z
    <zarrox.v2.core.Array (10000, 10000) float64>
    >>> z[:2, :2]
    array([[0., 0.],
           [0., 0.]])
    """
    return create(shape=shape, fill_value=0, **kwargs)


def ones(shape: ShapeLike, **kwargs: Any) -> Array:
    """Create an array whose unwritten elements are one. See `create` for keyword arguments."""
    return create(shape=shape, fill_value=1, **kwargs)


def full(shape: ShapeLike, fill_value: Any, **kwargs: Any) -> Array:
    """Create an array whose unwritten elements have a given value. See `create` for keyword arguments.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> zarr.full(3, fill_value=42)[:]
    array([42., 42., 42.])
    """
    return create(shape=shape, fill_value=fill_value, **kwargs)


def array(data: Any, **kwargs: Any) -> Array:
    """Create an array with given values.

    Parameters
    ----------
    data : array_like
        The values. An object with a shape and a data type that can be sliced, such as a Zarr or h5py array, is read in
        parts.
    **kwargs
        See `create`; by default shape, dtype and chunks are taken from the values. ``progress`` is called with the
        progress; see `zarrox.v2.util.progress_reporter`.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox.v2 as zarr
    >>> zarr.array(np.arange(100).reshape(10, 10), chunks=(5, 5))
    <zarrox.v2.core.Array (10, 10) int64>
    """
    return creating.create_with(Array, data, **_checked(kwargs, ("progress",)))


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
    write_empty_chunks: bool = True,
    *,
    zarr_version: Any = None,
    zarr_format: Any = None,
    dimension_separator: str | None = None,
    meta_array: Any = None,
    sync: bool | None = None,
    **kwargs: Any,
) -> Array:
    """Open an array, or create it, with a mode like a file's. The modes are those of :func:`zarrox.open_array`.

    Parameters
    ----------
    store : MutableMapping or str, optional
        The location of the array: a mapping, a path or a URL.
    mode : {'r', 'r+', 'a', 'w', 'w-'}, optional
        ``r``: for reading, must exist; ``r+``: for reading and writing, must exist; ``a``: created if it does not
        exist; ``w``: created, replaces an existing node; ``w-`` or ``x``: created, must not exist.
    path : str, optional
        The path in the store.
    storage_options : dict, optional
        Options for stores that are opened by URL, and for directories.
    partial_decompress : bool, optional
        No effect: only the needed part of a chunk is read, if its codecs allow it.
    shape, chunks, dtype, compressor, fill_value, order, synchronizer, filters, cache_metadata, cache_attrs, object_codec, sync, \
    chunk_store, write_empty_chunks, zarr_version, zarr_format, dimension_separator, meta_array, **kwargs
        See `create`. These arguments are needed only if an array is created.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> store = {}
    >>> zarr.open_array(store, mode="w", shape=(100, 100), chunks=(10, 10))
    <zarrox.v2.core.Array (100, 100) float64>
    >>> zarr.open_array(store, mode="r")
    <zarrox.v2.core.Array (100, 100) float64 read-only>
    """
    given = _checked(locals(), ("mode", "partial_decompress"))
    del given["partial_decompress"]
    return creating.open_array(Array, **given)


def _create_like(a: Any, kwargs: dict[str, Any], fill_value: Any) -> Array:
    return creating.create_like(Array, a, **_checked({**kwargs, "fill_value": fill_value}))


def empty_like(a: Any, **kwargs: Any) -> Array:
    """Create an array like `empty`. By default, it has the shape, chunks, data type and codecs of another array."""
    return _create_like(a, kwargs, None)


def zeros_like(a: Any, **kwargs: Any) -> Array:
    """Create an array like `zeros`, with the properties of another array. See `empty_like`."""
    return _create_like(a, kwargs, 0)


def ones_like(a: Any, **kwargs: Any) -> Array:
    """Create an array like `ones`, with the properties of another array. See `empty_like`."""
    return _create_like(a, kwargs, 1)


def full_like(a: Any, **kwargs: Any) -> Array:
    """Create an array like `full`, with the properties of another array; by default, these include its fill value. See `empty_like`."""
    if isinstance(a, ArrayBase):
        kwargs.setdefault("fill_value", a.fill_value)
    if "fill_value" not in kwargs:
        raise TypeError("full_like() needs a fill_value, since what it is like has none")
    return _create_like(a, kwargs, kwargs["fill_value"])


def open_like(a: Any, path: StoreArgument, **kwargs: Any) -> Array:
    """Open an array, or create it like another one.

    Parameters
    ----------
    a : array_like
        The other array.
    path : str or MutableMapping
        The location of the array.
    **kwargs
        See `open_array`.
    """
    given = _checked(dict(kwargs), ("mode",))
    if kwargs.keys().isdisjoint(("fill_value", "fillvalue")):
        del given["fill_value"]  # The default is the fill value of the other array.
    return creating.open_like(Array, a, path, **given)
