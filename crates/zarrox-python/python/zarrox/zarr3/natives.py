"""Native arrays for zarr-python's metadata, or the reasons why Rust does not support the metadata."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from zarr.core.buffer import default_buffer_prototype

from zarrox import _native

__all__ = ["Document", "document"]

_OURS = ("zarr.codecs.", "zarr.core.", "numcodecs.", "zarrox.")
"""The packages whose codecs and data types are the ones that their names in metadata mean."""

_ORDERS = ("morton", "lexicographic", "unordered")
"""The supported orders of the chunks inside a shard: orders that need not be kept, including the default, and the order
that Rust writes."""


@dataclass(frozen=True)
class Document:
    """The metadata of an array in the form that Rust uses, or the reason why Rust does not support it."""

    key: str = ""
    text: bytes = b""
    reason: str | None = None
    is_written: bool = True
    """False if zarr-python does not write chunks, since it could not read them: Blosc's snappy."""

    def opened(self, store: _native.Store) -> _native.Array:
        """Returns the array with its chunks in a store.

        Parameters
        ----------
        store : _native.Store
            The store of the chunks.
        """
        documents = _native.Store.memory()
        documents.set(self.key, self.text)
        node = _native.open_node(documents.with_chunks(store), consolidated=False)
        assert isinstance(node, _native.Array)
        return node


def document(metadata: Any) -> Document:
    """Returns the document of an array.

    Parameters
    ----------
    metadata : ArrayV2Metadata or ArrayV3Metadata
        The metadata.
    """
    for part in _parts(metadata):
        if not f"{type(part).__module__}.".startswith(_OURS):
            return Document(reason=f"{type(part).__module__}.{type(part).__qualname__} is not part of zarr-python")
        order = getattr(part, "subchunk_write_order", _ORDERS[0])
        if order not in _ORDERS:
            return Document(reason=f"the chunks inside of shards are to be written in the order '{order}'")
    try:
        names = {getattr(part, "cname", None) for part in _parts(metadata)}
        made = replace(_document(metadata), is_written="snappy" not in {getattr(name, "value", name) for name in names})
        array = made.opened(_native.Store.memory())
        dtype = metadata.dtype.to_native_dtype()
        if not array.takes(dtype):
            return Document(reason=f"NumPy's {dtype!r} is not how Rust has elements of {array.data_type}")
    except Exception as error:
        return Document(reason=str(error))
    return made


def _document(metadata: Any) -> Document:
    """Returns the document, reduced to the members on which chunks depend."""
    key = "zarr.json" if metadata.zarr_format == 3 else ".zarray"
    members = json.loads(metadata.to_buffer_dict(default_buffer_prototype())[key].to_bytes())
    if "attributes" in members:
        members["attributes"] = {}
    if members.get("fill_value") is None:
        # If the fill value is missing, zarr-python uses the default of the data type.
        default = metadata.dtype.default_scalar()
        members["fill_value"] = metadata.dtype.to_json_scalar(default, zarr_format=metadata.zarr_format)
    return Document(key, json.dumps(members).encode())


def _parts(metadata: Any) -> Iterable[Any]:
    """Returns the Python objects that the document describes: the data type and the codecs."""
    yield metadata.dtype
    if metadata.zarr_format == 3:
        yield from _codecs(metadata.codecs)
        return
    yield from metadata.filters or ()
    if metadata.compressor is not None:
        yield metadata.compressor


def _codecs(codecs: Iterable[Any]) -> Iterable[Any]:
    for codec in codecs:
        yield codec
        # The codecs inside shards.
        yield from _codecs(getattr(codec, "codecs", ()))
        yield from _codecs(getattr(codec, "index_codecs", ()))
