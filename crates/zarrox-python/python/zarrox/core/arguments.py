"""Arguments of functions that create arrays, with the names of h5py and zarr-python 3, and arguments taken from other arrays."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zarrox.argument_types import ChunksLike, DTypeLike
from zarrox.config import config as settings
from zarrox.core.array_config import parse_array_config
from zarrox.core.base import ArrayBase
from zarrox.core.grids import grid_of, rectilinear
from zarrox.core.metadata import ArrayMetadata, ArrayV3Metadata, is_v3
from zarrox.core.shapes import ceildiv, chunk_lengths
from zarrox.core.spec import numpy_dtype

__all__ = ["array_like", "configured", "element_type", "h5py_arguments", "kept", "like", "shape_and_chunks", "stored_like"]


def h5py_arguments(compressor: Any, fill_value: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Returns the compressor and the fill value, which may be given by h5py's argument names."""
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
    from zarrox.codecs.registry import codec_registry

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


def configured(config: Any, order: Any = None, **given: Any) -> dict[str, Any]:
    """Returns the arguments for the settings in zarr-python 3's ``config``, which is a mapping or an object. A setting that is missing
    from ``config`` is taken from the given arguments, or else from the settings of the package. The order in ``config`` is the order of
    elements in memory; it is overridden by an order that is given as an argument."""
    given = {name: value for name, value in given.items() if value is not None}
    if config is None and not given:
        # A fast path for the usual case, since this code runs for every array that is opened.
        usual = settings.config["array"]
        kept: dict[str, Any] = {name: usual[name] for name in ("write_empty_chunks", "read_missing_chunks")}
        order = order or ("F" if usual["order"] == "F" else None)
        return kept if order is None else kept | {"order": order}
    named = {} if config is None else dict(config) if isinstance(config, Mapping) else vars(config)
    chosen = parse_array_config(given | named)
    options: dict[str, Any] = {
        "write_empty_chunks": chosen.write_empty_chunks,
        "read_missing_chunks": chosen.read_missing_chunks,
    }
    # The order in the settings is passed only if it differs from the default order of the formats.
    order = order or named.get("order") or ("F" if chosen.order == "F" else None)
    return options if order is None else options | {"order": order}


def array_like(data: Any) -> Any:
    """Returns data as an object with a shape and a data type."""
    return data if hasattr(data, "shape") and hasattr(data, "dtype") else np.asanyarray(data)


def shape_and_chunks(a: Any) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """Returns the shape and the chunks of an array-like; ``None`` for a missing property. A bcolz array has only a chunk length."""
    shape = getattr(a, "shape", None)
    if not isinstance(shape, tuple):
        return None, None
    chunks = getattr(a, "chunks", None)
    if isinstance(chunks, tuple) and len(chunks) == len(shape) and not isinstance(next(iter(chunks), 0), tuple):
        return shape, chunks
    if hasattr(a, "chunklen"):
        return shape, (a.chunklen, *shape[1:])
    return shape, None


def like(a: Any, zarr_format: str, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments that create an array like another one in a format, merged with the given arguments."""
    kwargs = {name: value for name, value in kwargs.items() if value is not None or name not in ("shape", "dtype")}
    shape, chunks = shape_and_chunks(a)
    stored = stored_like(a, zarr_format, kwargs) if isinstance(a, ArrayBase) else _without({"chunks": chunks} | element_type(a), kwargs)
    options = {"shape": shape} | stored
    return {**{name: value for name, value in options.items() if value is not None}, **kwargs}


def element_type(source: Any) -> dict[str, Any]:
    """Returns the arguments for the data type of an array-like and, for objects, the codec."""
    dtype = getattr(source, "dtype", None)
    if isinstance(source, ArrayBase) and is_v3(source._native) and not _is_cast(source):
        return {"dtype": source._metadata.data_type}  # This data type holds more information than NumPy's.
    filters = source._filters if isinstance(source, ArrayBase) else getattr(source, "filters", None)
    if getattr(dtype, "hasobject", False) and filters:
        return {"dtype": dtype, "object_codec": filters[0]}
    return {"dtype": dtype}


def _is_cast(source: ArrayBase) -> bool:
    return bool((source._view or {}).get("casts"))


def kept(source: ArrayBase, zarr_format: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments, except those given, that a new array in a format takes over from a Zarr array."""
    options: dict[str, Any] = {"fill_value": _fill_value(source), "attributes": source.attrs.asdict()}
    if zarr_format == "3":
        options["dimension_names"] = source._native.dimension_names
    if _has_codecs_of(source, zarr_format):
        options["chunk_key_encoding"] = _key_encoding(source._metadata)
    options = {name: value for name, value in options.items() if name not in given}
    return options | stored_like(source, zarr_format, given)


def _key_encoding(metadata: ArrayMetadata) -> Any:
    return metadata.chunk_key_encoding if isinstance(metadata, ArrayV3Metadata) else ("v2", metadata.dimension_separator)


def _fill_value(source: ArrayBase) -> Any:
    fill = source.fill_value
    return np.asarray(fill).astype(source.dtype)[()] if _is_cast(source) and fill is not None else fill


def stored_like(source: ArrayBase, zarr_format: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the chunks, the data type and the codecs of a Zarr array as arguments for a new one, unless they are given.

    Codecs belong to a format: an array in another format gets the default codecs of that format.
    """
    options = element_type(source) | _chunks_like(source, zarr_format, given)
    if _has_codecs_of(source, zarr_format):
        filters, compressors = source._filters, source._compressors
        if zarr_format == "3":
            options["serializer"] = source._serializer
        else:
            # Other formats have an order instead of a transposition, and a single compressor: bytes-to-bytes codecs before it are
            # filters.
            kept_filters = tuple(codec for codec in filters if getattr(codec, "name", None) != "transpose")
            filters, compressors = (*kept_filters, *compressors[:-1]), compressors[-1:]
            filters = filters[1:] if "object_codec" in options else filters
            options["order"] = source.order
        options |= {"compressors": compressors, "filters": filters}
    return _without(options, given)


def _without(options: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments without those for which a synonym is given."""
    absent = set(given)
    if absent & {"compressor", "compression"}:
        absent.add("compressors")  # Synonymous arguments.
    if "codecs" in absent:
        absent |= {"filters", "serializer", "compressors"}
    if "dtype" in absent:
        absent |= {"serializer"} if _is_object(given["dtype"]) else {"serializer", "object_codec"}
    return {name: value for name, value in options.items() if name not in absent}


def _is_object(dtype: DTypeLike) -> bool:
    native = numpy_dtype(dtype)
    return native is not None and native.hasobject


def _has_codecs_of(source: ArrayBase, zarr_format: str) -> bool:
    """Returns true if the codecs of an array are valid in another format. N5 supports only a few codecs of v2."""
    if source._view is not None:
        return False  # The codecs of such an array do not apply to the elements that the array shows.
    own = source._native.format.removeprefix("v")
    return own == zarr_format.removeprefix("v") or (own in ("1", "n5") and zarr_format == "2")


def _chunks_like(source: ArrayBase, zarr_format: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the chunks and the shards of an array. If one of the two is given, the other is made to fit."""
    if zarr_format != "3":
        return {"chunks": source.chunks}
    grid, shards, shape = grid_of(source._native), source._native.shards, source.shape
    chunks = given.get("chunk_shape", given.get("chunks"))
    if "chunks" in given or "chunk_shape" in given:
        fitting = None if shards is None or "shards" in given else _fitting_shards(grid or shards, chunks, shape)
        return {} if fitting is None else {"shards": _with_index(source, fitting)}
    if shards is None:
        options = {"chunks": grid or source.chunks}
    else:
        options = {"chunks": source.chunks, "shards": _with_index(source, grid or shards)}
    if given.get("shards") is not None:
        _check_shards(given["shards"], options["chunks"], shape)
    return options


def _with_index(source: ArrayBase, shards: Any) -> Any:
    """Returns shards together with their other options."""
    codecs = json.loads(source._native.codecs)
    locations = (codec["configuration"].get("index_location") for codec in codecs if codec["name"] == "sharding_indexed")
    location = next(locations, "end")
    return shards if location == "end" else {"shape": shards, "index_location": location}


def _fitting_shards(shards: Any, chunks: ChunksLike, shape: tuple[int, ...]) -> Any:
    """Returns shards that fit different chunks: unchanged, or enlarged to a multiple of the chunks."""
    if isinstance(chunks, str) and chunks in ("auto", "default"):
        return chunks
    if rectilinear(chunks, shape) is not None:
        raise ValueError("the source has shards, and all chunks in shards have the same shape: give shards as well, or shards=None")
    lengths = chunk_lengths(chunks, shape)
    if isinstance(lengths, bool):
        return "auto" if lengths else None
    if isinstance(shards, dict):
        _check_whole(shards, lengths)
        return shards
    units = [length or shard for length, shard in zip(lengths, shards, strict=True)]
    return tuple(count * unit for count, unit in zip(ceildiv(shards, units), units, strict=True))


def _check_whole(grid: dict[str, Any], chunks: Sequence[int | None]) -> None:
    for given, unit in zip(grid["configuration"]["chunk_shapes"], chunks, strict=True):
        lengths = given if isinstance(given, list) else [given]
        if any((length[0] if isinstance(length, list) else length) % (unit or 1) for length in lengths):
            raise ValueError(f"the shards of the source are not multiples of the chunks {tuple(chunks)}: give shards as well")


def _check_shards(shards: Any, chunks: dict[str, Any] | tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Rejects the given shards if the chunks of the source do not fit into them."""
    if isinstance(chunks, dict):
        raise ValueError("the chunks of the source differ in length, which is not supported in shards: give chunks as well")
    shards = shards["shape"] if isinstance(shards, Mapping) and "shape" in shards else shards
    if isinstance(shards, str) or rectilinear(shards, shape) is not None:
        return
    lengths = chunk_lengths(shards, shape)
    if not isinstance(lengths, bool) and any((length or unit) % unit for length, unit in zip(lengths, chunks, strict=True)):
        raise ValueError(f"the shards {shards} are not multiples of the source's chunks {chunks}: give chunks as well")
