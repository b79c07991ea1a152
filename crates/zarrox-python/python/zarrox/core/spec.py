"""Converts the arguments for a new array to the JSON specification for native code."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from zarrox import _native
from zarrox.argument_types import ChunksLike, DTypeLike, ShapeLike
from zarrox.attrs import to_json
from zarrox.core.dtype import ZDType, parse_dtype
from zarrox.core.element_types import normalize_dtype, spec_dtype
from zarrox.core.fill import fill_json
from zarrox.core.grids import rectilinear
from zarrox.core.shapes import chunk_lengths, normalize_dimension_separator, normalize_order, normalize_shape
from zarrox.errors import BadCompressorError
from zarrox.meta import encode_fill_value

__all__ = ["DEFAULT_FILL_VALUE", "array_spec", "numpy_dtype"]


class _Default(Enum):
    FILL_VALUE = "the type's default"


#: Stands for the default fill value of a data type.
DEFAULT_FILL_VALUE: Final = _Default.FILL_VALUE

Spec = dict[str, Any]

_AUTO = ("auto", "default")
_ZSTD: Spec = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}


def array_spec(
    *,
    shape: ShapeLike | None,
    zarr_format: str = "2",
    dtype: DTypeLike = None,
    chunks: ChunksLike = True,
    shards: Any = None,
    compressor: Any = "default",
    compressors: Any = "auto",
    filters: Any = None,
    serializer: Any = "auto",
    codecs: Any = None,
    object_codec: Any = None,
    fill_value: Any = DEFAULT_FILL_VALUE,
    order: Any = None,
    dimension_separator: str | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Any = None,
    attributes: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    default_compressor: Callable[[], Any],
) -> Spec:
    """Returns the specification of a new array. For the arguments, see `zarrox.create` and `zarrox.create_array`.

    ``default_compressor`` returns the default compressor for version 2 arrays.

    Raises
    ------
    ValueError
        If an argument is invalid, or the format does not support it.
    """
    v3 = zarr_format == "3"
    if not v3:
        _refuse_in_v2(zarr_format, shards=shards, codecs=codecs, dimension_names=dimension_names, serializer=serializer)
    lengths, native_dtype, name, object_codec = _types(shape, dtype, zarr_format, object_codec)
    spec: Spec = {"format": zarr_format, "shape": lengths, "dtype": name, "overwrite": bool(overwrite)}
    spec |= _chunks(chunks, lengths, zarr_format)
    if order is not None:
        spec["order"] = normalize_order(order)
    # In version 3 and its drafts, every array has a fill value.
    if fill_value is not DEFAULT_FILL_VALUE and (fill_value is not None or not zarr_format.lstrip("v").startswith("3")):
        spec["fill_value"] = fill_json(fill_value, name, 3) if v3 else _v2_fill(fill_value, native_dtype, object_codec)
    if attributes:
        spec["attributes"] = json.loads(to_json(attributes))
    spec.update(_key_encoding(v3, dimension_separator, chunk_key_encoding))
    if not v3:
        spec["filters"] = _v2_filters(filters, native_dtype, object_codec)
        spec["compressor"] = _v2_compressor(compressor, compressors, lengths, default_compressor)
        return spec
    if dimension_names is not None:
        spec["dimension_names"] = list(dimension_names)
    _add_v3_codecs(spec, native_dtype, filters, compressor, compressors, serializer, codecs)
    return _with_shards(spec, shards)


def _v2_fill(value: Any, dtype: np.dtype[Any], object_codec: Any) -> Any:
    """Returns the fill value. If it is a structure with objects, the object codec encodes it."""
    if dtype.names is None or not dtype.hasobject:
        return fill_json(value, dtype)
    return encode_fill_value(value, dtype, object_codec)


def _chunks(chunks: ChunksLike, shape: tuple[int, ...], zarr_format: str) -> Spec:
    grid = rectilinear(chunks, shape)
    if grid is None:
        return {"chunks": chunk_lengths(True if _is_auto(chunks) else chunks, shape)}
    if grid["name"] == "regular":
        return {"chunks": list(grid["configuration"]["chunk_shape"])}
    if zarr_format != "3":
        raise ValueError(f"chunks of different lengths need zarr_format=3, not {zarr_format}")
    return {"chunk_grid": grid}


def _refuse_in_v2(zarr_format: str, **arguments: Any) -> None:
    for name, value in arguments.items():
        if value is not None and not _is_auto(value):
            instead = " Use filters and compressor instead." if name == "codecs" else ""
            raise ValueError(f"{name} cannot be used for arrays with zarr_format {zarr_format}.{instead} zarr_format=3 has it.")


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value in _AUTO


def _types(
    shape: ShapeLike | None, dtype: DTypeLike, zarr_format: str, object_codec: Any
) -> tuple[tuple[int, ...], np.dtype[Any], Any, Any]:
    """Returns the shape including the dimensions of subarray elements, the data type in memory, its name in metadata, and the object
    codec."""
    lengths = normalize_shape(shape)
    dtype = np.dtype(np.float64) if dtype is None else dtype
    if zarr_format in ("1", "2"):
        native, object_codec = normalize_dtype(dtype, object_codec)
        return lengths + native.shape, native.base, spec_dtype(native.base, 2, object_codec), object_codec
    given = numpy_dtype(dtype)
    if given is not None and given.shape:
        lengths, dtype, given = lengths + given.shape, given.base, given.base
    name = spec_dtype(dtype, 3, object_codec)
    native = parse_dtype(name, zarr_format=3).to_native_dtype()
    # The name does not include the byte order; a codec does.
    return lengths, native if given is None or given.isnative else native.newbyteorder(), name, object_codec


def numpy_dtype(dtype: DTypeLike) -> np.dtype[Any] | None:
    """Returns the NumPy dtype, if NumPy has one."""
    try:
        return dtype.to_native_dtype() if isinstance(dtype, ZDType) else np.dtype(cast("npt.DTypeLike", dtype))
    except (TypeError, ValueError):
        return None


def _key_encoding(v3: bool, separator: str | None, encoding: Any) -> Spec:
    separator = normalize_dimension_separator(separator)
    if encoding is not None:
        members = _encoding_members(encoding)
        if not v3:
            separator = separator or members.get("separator")
        else:
            configuration = {"separator": members["separator"]} if members.get("separator") else {}
            return {"chunk_key_encoding": {"name": members["name"], "configuration": configuration}}
    return {} if separator is None else {"dimension_separator": separator}


def _encoding_members(encoding: Any) -> dict[str, Any]:
    """Returns the name and the separator of a chunk key encoding, given in any form."""
    if hasattr(encoding, "to_dict"):
        encoding = encoding.to_dict()
    if isinstance(encoding, str):
        return {"name": encoding}
    if isinstance(encoding, Mapping):
        return {"name": encoding.get("name", "default"), **encoding.get("configuration", {}), **_only(encoding, "separator")}
    name, separator = encoding
    return {"name": name, "separator": separator}


def _only(mapping: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: mapping[name] for name in names if name in mapping}


def _v2_filters(filters: Any, dtype: np.dtype[Any], object_codec: Any) -> list[Any] | None:
    from zarrox.codecs.convert import codec_config

    configs = [codec_config(codec, 2) for codec in _sequence(filters)]
    if not dtype.hasobject:
        if object_codec is not None:
            warnings.warn("an object_codec is only needed for object arrays", stacklevel=6)
    elif object_codec is not None:
        configs.insert(0, codec_config(object_codec, 2))
    elif configs:
        warnings.warn("missing object_codec for object array; pass it as object_codec, not in the filters", FutureWarning, stacklevel=6)
    else:
        raise ValueError("missing object_codec for object array: pass one, such as object_codec=zarr.JSON()")
    return configs or None


def _v2_compressor(
    compressor: Any, compressors: Any, shape: tuple[int, ...], default: Callable[[], Any]
) -> Any:
    if not _is_auto(compressors):
        given = _sequence(compressors)
        if len(given) > 1:
            raise ValueError(f"arrays of version 2 have one compressor, not {len(given)}: pass the others as filters")
        compressor = given[0] if given else None
    if _is_auto(compressor):
        compressor = default()
    # Compressing a single value is useless.
    return _compressor_config(compressor, 2) if shape else None


def _compressor_config(compressor: Any, zarr_format: int) -> Any:
    from zarrox.codecs.convert import codec_config

    if compressor is None or compressor == "none" or compressor == []:
        return None
    if isinstance(compressor, str):
        raise BadCompressorError(f"bad compressor {compressor!r}: pass a codec, such as zarr.Blosc()")
    try:
        config = codec_config(compressor, zarr_format)
    except (AttributeError, TypeError) as error:
        raise BadCompressorError(f"bad compressor {compressor!r}: pass a codec, such as zarr.Blosc()") from error
    # N5 adds its block format itself, and other formats do not have one, so only the codec inside is used.
    return config["compressor_config"] if config is not None and config.get("id") == "n5_wrapper" else config


def _sequence(codecs: Any) -> list[Any]:
    if codecs is None or _is_auto(codecs):
        return []
    single = isinstance(codecs, str | Mapping) or not isinstance(codecs, Iterable)
    return [codecs] if single else list(codecs)


def _add_v3_codecs(
    spec: Spec, dtype: np.dtype[Any], filters: Any, compressor: Any, compressors: Any, serializer: Any, codecs: Any
) -> None:
    from zarrox.codecs.convert import codec_config

    if codecs is not None:
        spec["codecs"] = [codec_config(codec, 3) for codec in codecs]
        return
    if not _is_auto(compressor):
        compressors = compressor
    before = [codec_config(codec, 3) for codec in _sequence(filters)]
    after = [_ZSTD] if _is_auto(compressors) else [_compressor_config(codec, 3) for codec in _sequence(compressors)]
    if not _is_auto(serializer):
        middle = codec_config(serializer, 3)
    elif dtype.isnative and len(after) < 2:
        # Native code chooses the serializer of this data type.
        spec["filters"] = before
        if not _is_auto(compressors):
            spec["compressor"] = after[0] if after else None
        return
    else:
        middle = _serializer(dtype)
    spec["codecs"] = [*before, middle, *after]


def _serializer(dtype: np.dtype[Any]) -> Spec:
    if dtype.kind in "OT":
        return {"name": "vlen-bytes" if dtype.kind == "O" else "vlen-utf8"}
    if dtype.itemsize == 1:
        return {"name": "bytes"}
    return {"name": "bytes", "configuration": {"endian": "little" if dtype.isnative else "big"}}


def _with_shards(spec: Spec, shards: Any) -> Spec:
    if shards is None:
        return spec
    location = None
    if isinstance(shards, Mapping) and "shape" in shards:
        shards, location = shards["shape"], shards.get("index_location")
    if "chunk_grid" in spec:
        raise ValueError("all chunks in shards have the same shape; pass the lists of lengths as shards, or shards=None")
    spec |= _shards(_guessed_shards(spec) if _is_auto(shards) else shards, spec)
    return spec if location in (None, "end") else _index_at(spec, location)


def _shards(shards: Any, spec: Spec) -> Spec:
    shape, chunks = spec["shape"], spec["chunks"]
    grid = rectilinear(shards, shape)
    if grid is not None:
        if isinstance(chunks, bool):
            raise ValueError("shards of different lengths need chunks: pass the shape of the inner chunks")
        return {"chunk_grid": grid}
    lengths = chunk_lengths(shards, shape)
    if isinstance(lengths, bool):
        raise ValueError(f"shards must be a shape, 'auto' or None, not {shards!r}")
    units = [None] * len(shape) if isinstance(chunks, bool) else chunks
    whole = [_multiple(length, unit or length) for length, unit in zip(shape, units, strict=True)]
    return {"shards": [all_ if length is None else length for length, all_ in zip(lengths, whole, strict=True)]}


def _multiple(length: int, unit: int) -> int:
    """Returns the smallest multiple of a chunk length that is at least another length, in elements."""
    return max(-(-length // max(unit, 1)), 1) * max(unit, 1)


def _guessed_shards(spec: Spec) -> tuple[int, ...]:
    """Returns the shape of guessed shards: two chunks along each dimension that has many chunks."""
    chunks = _made(spec).chunks
    spec["chunks"] = list(chunks)
    return tuple(chunk * 2 if length // chunk > 8 else chunk for length, chunk in zip(spec["shape"], chunks, strict=True))


def _index_at(spec: Spec, location: str) -> Spec:
    """Returns the specification of shards with an index location, which needs the complete list of codecs."""
    made = _made(spec)
    codecs = json.loads(made.codecs)
    codecs[0]["configuration"]["index_location"] = location
    grid = json.loads(made.chunk_grid)
    kept = {name: value for name, value in spec.items() if name not in ("chunks", "shards", "filters", "compressor")}
    return {**kept, "chunk_grid": grid, "codecs": codecs}


def _made(spec: Spec) -> _native.Array:
    """Returns the array for a specification, which is created in memory so that native code completes the specification."""
    return _native.create_array(_native.Store.memory(), "", json.dumps(spec))
