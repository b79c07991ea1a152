"""Arguments of functions that create arrays, in the words of h5py and of zarr-python 3, and those that come from other arrays."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from zarrox.config import config as settings
from zarrox.core.array import Array
from zarrox.core.metadata import ArrayV3Metadata, is_v3

__all__ = ["array_like", "configured", "h5py_arguments", "kept", "like", "shape_and_chunks"]


def h5py_arguments(compressor: Any, fill_value: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The compressor and the fill value, which can be given by the names that h5py has."""
    fill_value = kwargs.pop("fillvalue", fill_value)
    given = "compression" in kwargs
    compression, options = kwargs.pop("compression", None), kwargs.pop("compression_opts", None)
    if isinstance(compressor, str) and compressor == "default":
        return (_h5py_compressor(compression, options) if given else compressor), fill_value
    for name, value in (("compression", compression), ("compression_opts", options)):
        if value is not None:
            warnings.warn(f"{name!r} keyword argument overridden by 'compressor'", stacklevel=3)
    return compressor, fill_value


def _h5py_compressor(compression: Any, options: Any) -> Any:
    from zarrox.codecs import codec_registry

    if compression is None or compression == "none":
        return None
    if hasattr(compression, "get_config") or compression == "default":
        return compression
    if not isinstance(compression, str) or compression not in codec_registry:
        raise ValueError(f"bad value for compression: {compression!r}")
    make = codec_registry[compression]
    if isinstance(options, Mapping):
        return make(**options)
    if isinstance(options, list | tuple):
        return make(*options)
    return make() if options is None else make(options)


def configured(config: Any, write_empty_chunks: bool, order: Any) -> tuple[bool, Any]:
    """What zarr-python 3 says in ``config``, as a mapping or as an object."""
    values = {} if config is None else config if isinstance(config, Mapping) else vars(config)
    empty = values.get("write_empty_chunks", write_empty_chunks or settings["array.write_empty_chunks"])
    return bool(empty), values.get("order", order)


def array_like(data: Any) -> Any:
    """Data as something that has a shape and a type."""
    return data if hasattr(data, "shape") and hasattr(data, "dtype") else np.asanyarray(data)


def shape_and_chunks(a: Any) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """Those of an array-like, as far as it has them; bcolz has the length of a chunk only."""
    shape = getattr(a, "shape", None)
    if not isinstance(shape, tuple):
        return None, None
    chunks = getattr(a, "chunks", None)
    if isinstance(chunks, tuple) and len(chunks) == len(shape) and not isinstance(next(iter(chunks), 0), tuple):
        return shape, chunks
    if hasattr(a, "chunklen"):
        return shape, (a.chunklen, *shape[1:])
    return shape, None


def like(a: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments for an array like another one."""
    shape, chunks = shape_and_chunks(a)
    like: dict[str, Any] = {"shape": shape, "chunks": chunks, "dtype": getattr(a, "dtype", None)}
    if isinstance(a, Array):
        like |= _codecs_like(a, kwargs)
    return {**{name: value for name, value in like.items() if value is not None}, **kwargs}


def _codecs_like(a: Array, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The format and the codecs of an array, where the format is not to be another one."""
    zarr_format = 3 if is_v3(a._native) else 2
    wanted = kwargs.get("zarr_format", kwargs.get("zarr_version", zarr_format))
    if str(wanted) != str(zarr_format):
        return {}
    if zarr_format == 3:
        codecs = {"filters": a.filters, "compressors": a.compressors, "serializer": a.serializer}
        given = {name: value for name, value in codecs.items() if name not in kwargs}
        return {"zarr_format": 3, "shards": a.shards, "dtype": a.metadata.data_type, **given}
    filters, object_codec = a.filters or [], None
    if a.dtype.hasobject and filters:
        object_codec, *filters = filters
    compressor = "none" if a.compressor is None else a.compressor
    return {"compressor": compressor, "order": a.order, "filters": filters or None, "object_codec": object_codec}


def kept(data: Array, zarr_format: int, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a new array takes over from an array of Zarr, where nothing else is given."""
    metadata = data.metadata
    options: dict[str, Any] = {"chunks": data.chunks, "fill_value": data.fill_value, "attributes": data.attrs.asdict()}
    if zarr_format == 3:
        options |= {"shards": data.shards, "dimension_names": data.dimension_names}
    if metadata.zarr_format == zarr_format:
        options |= {"filters": data.filters, "compressors": data.compressors, "order": data.order}
        if isinstance(metadata, ArrayV3Metadata):
            options |= {"serializer": data.serializer, "chunk_key_encoding": metadata.chunk_key_encoding, "order": None}
        else:
            options["chunk_key_encoding"] = ("v2", metadata.dimension_separator)
    return {name: value for name, value in options.items() if name not in given} | {"dtype": metadata.data_type}
