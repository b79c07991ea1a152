"""The metadata of nodes in Python, and its conversion to the arguments of the native module."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from zarrox import _native, attrs
from zarrox.core.metadata import array_metadata
from zarrox.core.metadata import native_of_document as native_array
from zarrox.errors import (
    ContainsArrayError,
    ContainsGroupError,
    GroupNotFoundError,
    MetadataValidationError,
    NodeNotFoundError,
)
from zarrox.storage import normalize_storage_path

Document: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["array", "group", "broken"]

_V2_MEMBERS = ("shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters", "dimension_separator")
_V3_MEMBERS = ("shape", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs", "dimension_names")


@dataclass(frozen=True)
class GroupMetadata:
    """The metadata of a group, as in zarr-python 3.

    Parameters
    ----------
    attributes : dict, optional
        The user attributes.
    zarr_format : {3, 2}, optional
        The format of the group.
    consolidated_metadata : ConsolidatedMetadata, optional
        The metadata of all nodes below the group, if it was consolidated.

    Examples
    --------
    >>> import zarrox as zarr
    >>> zarr.create_group({}, attributes={'answer': 42}).metadata.attributes
    {'answer': 42}
    """

    attributes: dict[str, Any] = field(default_factory=dict)
    zarr_format: int = 3
    consolidated_metadata: ConsolidatedMetadata | None = None
    node_type: Literal["group"] = "group"

    def to_dict(self) -> Document:
        """Returns the members of the document, ready to be written as JSON."""
        document: Document = {
            "attributes": self.attributes,
            "zarr_format": self.zarr_format,
            "node_type": self.node_type,
        }
        if self.consolidated_metadata is not None:
            document["consolidated_metadata"] = self.consolidated_metadata.to_dict()
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> GroupMetadata:
        """Reads the metadata from a document. Unknown members are ignored."""
        consolidated = document.get("consolidated_metadata")
        return cls(
            attributes=dict(document.get("attributes") or {}),
            zarr_format=document.get("zarr_format", 3),
            consolidated_metadata=None if consolidated is None else ConsolidatedMetadata.from_dict(consolidated),
        )


@dataclass(frozen=True)
class ConsolidatedMetadata:
    """The metadata of the nodes below a group. The metadata of each member group contains the metadata of its own
    members.

    Parameters
    ----------
    metadata : dict
        The metadata of arrays and groups by their names.
    """

    metadata: dict[str, Any]
    kind: Literal["inline"] = "inline"
    must_understand: Literal[False] = False

    @property
    def flattened_metadata(self) -> dict[str, Any]:
        """The metadata of all nodes, by path."""
        found: dict[str, Any] = {}
        for name, metadata in self.metadata.items():
            below = getattr(metadata, "consolidated_metadata", None)
            found[name] = metadata if below is None else replace(metadata, consolidated_metadata=ConsolidatedMetadata({}))
            found |= {f"{name}/{path}": each for path, each in (below.flattened_metadata if below else {}).items()}
        return found

    def to_dict(self) -> Document:
        """Returns the document."""
        documents = {path: metadata.to_dict() for path, metadata in self.flattened_metadata.items()}
        ordered = sorted(documents.items(), key=lambda item: (item[0].count("/"), item[0].casefold()))
        return {"kind": self.kind, "must_understand": self.must_understand, "metadata": dict(ordered)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ConsolidatedMetadata:
        """Reads the metadata from a document."""
        if data.get("kind", "inline") != "inline":
            raise ValueError(f"Consolidated metadata kind='{data['kind']}' is not supported.")
        documents = data.get("metadata")
        if not isinstance(documents, Mapping):
            raise TypeError(f"Unexpected type for 'metadata': {type(documents)}")
        nested: dict[str, Any] = {}
        for path in sorted(documents, key=lambda path: path.count("/")):
            *above, name = path.split("/")
            level = nested
            for part in above:
                level = level[part].consolidated_metadata.metadata
            document = documents[path]
            if is_group(document):
                level[name] = replace(GroupMetadata.from_dict({**document, "consolidated_metadata": None}), consolidated_metadata=cls({}))
            else:
                native = native_array(_native.Store.memory(), "", document)
                level[name] = array_metadata(native, {**document, "attributes": document.get("attributes") or {}})
        return cls(nested)


def open_group_node(
    store: _native.Store, path: str, mode: Literal["r", "r+"], format: str | None, consolidated: bool | None
) -> _native.Group:
    """Opens a group. An array is an error.

    Raises
    ------
    ContainsArrayError
        If an array exists.
    GroupNotFoundError
        If no node exists.
    """
    try:
        node = _native.open_node(store, path, mode, format, consolidated)
    except NodeNotFoundError as error:
        raise GroupNotFoundError(str(error)) from None
    if isinstance(node, _native.Array):
        raise ContainsArrayError(f"{'/' + path!r} is an array, not a group")
    return node


def document_of(metadata: Any) -> Document:
    """Returns the document of a metadata object: a mapping, or any object with ``to_dict()``."""
    if isinstance(metadata, Mapping):
        return dict(metadata)
    if hasattr(metadata, "to_dict"):
        return dict(metadata.to_dict())
    raise TypeError(f"metadata of a group or an array was expected, found {metadata!r}")


def native_of_document(store: _native.Store, path: str, document: Document) -> _native.Group:
    """Returns the group with a given document, and with its members in a store."""
    zarr_format = str(document.get("zarr_format", 3))
    documents = _native.Store.memory()
    _native.create_group(documents, path, zarr_format, to_json(document.get("attributes") or {}))
    return open_group_node(documents.with_chunks(store), path, "r+", zarr_format, False)


def is_group(document: Document) -> bool:
    """Returns true if a document describes a group. v2 documents do not contain the node type."""
    return bool(document.get("node_type", "array" if "shape" in document else "group") == "group")


def array_spec(document: Document) -> Document:
    """Returns the specification with which ``_native.create_array`` creates the array that a document describes."""
    zarr_format = document.get("zarr_format", 3)
    if zarr_format not in (2, 3):
        raise MetadataValidationError(f"zarr_format is {zarr_format!r}; only documents of 2 and 3 are supported")
    spec: Document = {"format": str(zarr_format), "attributes": document.get("attributes") or {}}
    if zarr_format == 3:
        spec["dtype"] = document["data_type"]
    members = _V3_MEMBERS if zarr_format == 3 else _V2_MEMBERS
    spec.update((member, document[member]) for member in members if member in document)
    return spec


def create_node(store: _native.Store, path: str, document: Document, overwrite: bool) -> _native.Array | _native.Group:
    """Creates the array or group that a document describes."""
    if not is_group(document):
        spec = array_spec(document) | {"overwrite": overwrite}
        return _native.create_array(store, path, to_json(spec))
    attributes = to_json(document.get("attributes") or {})
    return _native.create_group(store, path, str(document.get("zarr_format", 3)), attributes, overwrite)


def to_json(value: Any) -> str:
    """Returns a value as JSON. It may contain NumPy scalars and objects of zarr-python 3."""
    return _ENCODER.encode(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    raise TypeError(f"{value!r} cannot be written as JSON")


# Created once: with non-default options, `json.dumps` creates an encoder for each call.
_ENCODER = json.JSONEncoder(default=_plain)


def open_or_create_group(
    store: _native.Store,
    path: str,
    mode: str,
    format: str | None,
    *,
    new_format: Callable[[], str],
    attributes: Mapping[str, Any] | None,
    consolidated: bool | None,
) -> _native.Group:
    """Opens or creates a group, according to the mode."""
    if mode in ("r", "r+", "a"):
        if consolidated is None and mode != "r":
            # A writer needs the current documents, and the consolidated metadata may be stale.
            consolidated = False
        try:
            return open_group_node(store, path, "r" if mode == "r" else "r+", format, consolidated)
        except GroupNotFoundError:
            # A request for consolidated metadata cannot be satisfied by creating a group.
            if mode != "a" or consolidated:
                raise
    try:
        return _native.create_group(store, path, new_format(), attrs.to_json(attributes), mode == "w")
    except ContainsGroupError:
        if mode != "a":
            raise
        # Another thread has just created it.
        return open_group_node(store, path, "r+", format, consolidated)


def create_nodes(
    store: _native.Store,
    nodes: Mapping[str, Any],
    *,
    prefix: str | None = None,
    format: str | None = None,
    overwrite: bool,
) -> list[tuple[str, _native.Array | _native.Group]]:
    """Creates nodes below ``prefix``. If a prefix is given, a group in the given format exists at that path."""
    documents = {normalize_storage_path(path): document_of(metadata) for path, metadata in nodes.items()}
    if prefix is not None and "" in documents:
        raise ValueError("nodes has metadata for the group itself, which exists; omit it")
    format = _one_format(documents, format)
    added = _complete(documents, format, root=prefix is None)
    base = f"{prefix}/" if prefix else ""
    kinds = {path: _native.node_kind(store, base + path, format) for path in documents}
    for path in added:
        if kinds[path] == "array":
            raise ContainsArrayError(f"{'/' + base + path!r} is an array, so nothing can be created below it")

    created: list[tuple[str, _native.Array | _native.Group]] = []
    for path in sorted(documents, key=lambda path: (path.count("/") + bool(path), path)):
        if path in added and kinds[path] is not None:
            continue
        created.append((path, create_node(store, base + path, documents[path], overwrite)))
    return created


def _one_format(documents: Mapping[str, Document], format: str | None) -> str:
    formats = {str(document.get("zarr_format", 3)) for document in documents.values()}
    if format is not None:
        formats.add(format)
    if len(formats) > 1:
        raise ValueError(f"nodes of one hierarchy must have one zarr_format; found {', '.join(sorted(formats))}")
    return formats.pop() if formats else "3"


def _complete(documents: dict[str, Document], format: str, *, root: bool) -> set[str]:
    """Adds missing parent groups, and the root if requested. Returns the added paths."""
    added = set()
    for path in list(documents):
        while path:
            path = path.rpartition("/")[0]
            if not path and not root:
                break
            if path in documents:
                if not is_group(documents[path]):
                    raise ValueError(f"{path!r} is an array, so nothing can be below it")
                continue
            documents[path] = {"zarr_format": int(format), "node_type": "group"}
            added.add(path)
    return added
