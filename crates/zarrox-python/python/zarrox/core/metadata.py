"""Array metadata as objects, with the names of zarr-python 3."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from zarrox import _native
from zarrox.documents import json_loads
from zarrox.errors import NodeTypeValidationError
from zarrox.storage.paths import experimental_key

if TYPE_CHECKING:
    import numpy as np

    from zarrox.storage import BaseStore

__all__ = ["ArrayMetadata", "ArrayV2Metadata", "ArrayV3Metadata", "RegularChunkGrid", "array_metadata", "is_v3"]


def is_v3(native: _native.Array | _native.Group) -> bool:
    """Returns true if the format of a node is version 3 or one of its drafts."""
    return native.format.lstrip("v").startswith("3")


@dataclass(frozen=True)
class RegularChunkGrid:
    """Chunks that all have the same shape."""

    chunk_shape: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns the grid in the form of v3 metadata."""
        return {"name": "regular", "configuration": {"chunk_shape": list(self.chunk_shape)}}


@dataclass(frozen=True, kw_only=True)
class _Metadata:
    shape: tuple[int, ...]
    data_type: Any
    fill_value: Any
    attributes: dict[str, Any]
    #: The stored member.
    document: dict[str, Any] = field(repr=False, compare=False)

    @property
    def dtype(self) -> Any:
        """The data type; an alias of `data_type`, as in zarr-python 3."""
        return self.data_type

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)


@dataclass(frozen=True, kw_only=True)
class ArrayV2Metadata(_Metadata):
    """The metadata of a version 2 array, or of an array in a format that is shown in the form of version 2 (version 1, N5).

    Attributes
    ----------
    shape, chunks : tuple of int
        The shape of the array, and of a chunk.
    data_type : zarrox.core.dtype.ZDType
        The data type; also as ``dtype``.
    fill_value : object
        The value of unwritten elements; ``None`` if undefined.
    order : {'C', 'F'}
        The memory order of elements in chunks.
    filters : tuple of Codec or None
        The filters.
    compressor : Codec or None
        The compressor.
    dimension_separator : {'.', '/'}
        The separator in chunk keys.
    attributes : dict
        The user attributes.
    """

    chunks: tuple[int, ...]
    order: Literal["C", "F"] = "C"
    filters: tuple[Any, ...] | None = None
    compressor: Any = None
    dimension_separator: Literal[".", "/"] = "."
    dimension_names: tuple[str | None, ...] | None = None
    zarr_format: Literal[2] = 2

    @property
    def chunk_grid(self) -> RegularChunkGrid:
        """The chunk grid, in the form of version 3."""
        return RegularChunkGrid(self.chunks)

    @property
    def shards(self) -> None:
        """``None``, since version 2 has no shards."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Returns the stored document, including the attributes."""
        return {**copy.deepcopy(self.document), "attributes": copy.deepcopy(self.attributes)}


@dataclass(frozen=True, kw_only=True)
class ArrayV3Metadata(_Metadata):
    """The metadata of an array that is stored in version 3.

    Attributes
    ----------
    shape : tuple of int
        The shape of the array.
    data_type : zarrox.core.dtype.ZDType
        The data type; also as ``dtype``.
    chunk_grid : RegularChunkGrid or dict
        The grid of chunks or shards; a dict if their lengths differ.
    chunk_key_encoding : dict
        The encoding of chunk keys.
    fill_value : object
        The value of unwritten elements.
    codecs : tuple of Codec
        The codec pipeline of chunks.
    attributes : dict
        The user attributes.
    dimension_names : tuple of str or None
        The names of the dimensions.
    storage_transformers : tuple of dict
        Unused.
    """

    chunk_grid: RegularChunkGrid | dict[str, Any]
    chunk_key_encoding: dict[str, Any]
    codecs: tuple[Any, ...]
    dimension_names: tuple[str | None, ...] | None = None
    storage_transformers: tuple[dict[str, Any], ...] = ()
    zarr_format: Literal[3] = 3
    node_type: Literal["array"] = "array"

    def to_dict(self) -> dict[str, Any]:
        """Returns the stored document."""
        return copy.deepcopy(self.document)


ArrayMetadata = ArrayV2Metadata | ArrayV3Metadata


def array_metadata(native: _native.Array, document: dict[str, Any]) -> ArrayMetadata:
    """Returns the metadata of an array in any format, from the native array and its document."""
    return _v3(native, document) if is_v3(native) else _v2(native, document)


def _v3(native: _native.Array, document: dict[str, Any]) -> ArrayV3Metadata:
    from zarrox.core.dtype import parse_dtype

    encoding = document.get("chunk_key_encoding", "default")
    attributes = json.loads(native.attributes())
    return ArrayV3Metadata(
        shape=native.shape,
        data_type=parse_dtype(json.loads(native.data_type), zarr_format=3),
        chunk_grid=_grid(document["chunk_grid"]),
        chunk_key_encoding={"name": encoding} if isinstance(encoding, str) else encoding,
        fill_value=native.fill_value,
        codecs=v3_codecs(native),
        attributes=attributes,
        dimension_names=native.dimension_names,
        storage_transformers=tuple(document.get("storage_transformers", ())),
        document={**document, "attributes": attributes},
    )


def _grid(grid: dict[str, Any]) -> RegularChunkGrid | dict[str, Any]:
    shape = grid.get("configuration", grid).get("chunk_shape")
    regular = grid.get("name", grid.get("type")) == "regular" and shape is not None
    return RegularChunkGrid(tuple(shape)) if regular else grid


def _v2(native: _native.Array, document: dict[str, Any]) -> ArrayV2Metadata:
    filters, compressor = v2_codecs(document)
    return ArrayV2Metadata(
        shape=native.shape,
        chunks=native.chunks,
        data_type=_v2_data_type(native.dtype, filters),
        fill_value=native.fill_value,
        order=native.order,
        filters=filters or None,
        compressor=compressor,
        dimension_separator=document.get("dimension_separator") or ".",
        dimension_names=native.dimension_names,
        attributes=json.loads(native.attributes()),
        document=document,
    )


def _v2_data_type(dtype: np.dtype[Any], filters: tuple[Any, ...]) -> Any:
    """Returns the data type of the elements, with its byte order. For objects, the codec determines the data type."""
    from zarrox.core.dtype import parse_dtype
    from zarrox.core.element_types import type_of_objects

    return type_of_objects(filters[0]) if dtype.hasobject and filters else parse_dtype(dtype, zarr_format=2)


def array_document(native: _native.Array, store: BaseStore) -> dict[str, Any]:
    """Returns the stored document of an array. N5 stores show it in the form of version 2."""
    document: dict[str, Any] = json.loads(native.document())
    if native.format == "n5":
        document = json_loads(store.get(document_key(native), b"{}"))
    return document


def native_of_document(store: _native.Store, path: str, document: dict[str, Any]) -> _native.Array:
    """Returns the array with a given document, and with its chunks in a store."""
    is_v2 = document.get("zarr_format", 3) == 2
    parts = dict(document)
    attributes = parts.pop("attributes", {}) if is_v2 else None
    documents = _native.Store.memory()
    prefix = f"{path}/" if path else ""
    documents.set(prefix + (".zarray" if is_v2 else "zarr.json"), json.dumps(parts, default=_plain).encode())
    if attributes:
        documents.set(f"{prefix}.zattrs", json.dumps(attributes).encode())
    node = _native.open_node(documents.with_chunks(store), path, consolidated=False)
    if isinstance(node, _native.Array):
        return node
    raise NodeTypeValidationError("the metadata describes a group, not an array")


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be written as JSON")


def document_key(native: _native.Array) -> str:
    """Returns the key of the document that describes an array."""
    if native.format == "v3-experimental":
        return experimental_key(native.path, "array")
    name = {"1": "meta", "2": ".zarray", "3": "zarr.json", "n5": ".zarray"}[native.format.lstrip("v")]
    return f"{native.path}/{name}" if native.path else name


def v2_codecs(document: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
    """Returns the filters and the compressor in a document of version 2 or 1, as objects."""
    from zarrox.codecs.convert import from_v2
    filters = tuple(from_v2(config) for config in document.get("filters") or ())
    compressor = document.get("compressor") or _v1_compressor(document)
    return filters, from_v2(compressor) if compressor else None


def _v1_compressor(document: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the compressor of a version 1 array, whose name and options are stored separately."""
    name, options = document.get("compression"), document.get("compression_opts")
    if name is None or name == "none":
        return None
    if options is None:
        return {"id": name}
    return {"id": name, **(options if isinstance(options, dict) else {"level": options})}


def v3_codecs(native: _native.Array) -> tuple[Any, ...]:
    """Returns the codecs of a version 3 array, as objects."""
    from zarrox.codecs.v3 import parse_codec

    return tuple(parse_codec(codec) for codec in json.loads(native.codecs))


def split_codecs(codecs: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
    """Splits codecs into array-to-array codecs, the array-to-bytes codec, and bytes-to-bytes codecs."""
    from zarrox.codecs.v3 import ArrayArrayCodec, ArrayBytesCodec

    # The position of an unknown codec determines its kind.
    serializers = [index for index, codec in enumerate(codecs) if isinstance(codec, ArrayBytesCodec)]
    others = [index for index, codec in enumerate(codecs) if not isinstance(codec, ArrayArrayCodec)]
    at = (serializers or others or [len(codecs) - 1])[0]
    return codecs[:at], codecs[at], codecs[at + 1 :]
