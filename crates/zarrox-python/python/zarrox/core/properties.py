"""The properties that the arrays of all interfaces share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarrox.core.metadata import ArrayMetadata, array_document, array_metadata, is_v3, split_codecs, v2_codecs, v3_codecs
from zarrox.core.settings import Settings
from zarrox.core.shapes import ceildiv
from zarrox.errors import UnsupportedError

if TYPE_CHECKING:
    from zarrox._native import Array as NativeArray
    from zarrox.attrs import Attributes
    from zarrox.storage import BaseStore

__all__ = ["Described"]


class Described:
    """The properties of an array, and helpers for subclasses."""

    __slots__ = (
        "_attrs",
        "_codecs",
        "_document",
        "_native",
        "_settings",
        "_store",
        "_view",
    )

    _native: NativeArray
    _store: BaseStore
    _settings: Settings
    _attrs: Attributes | None
    _codecs: Any
    _document: dict[str, Any] | None
    _view: dict[str, Any] | None

    @property
    def _fresh(self) -> NativeArray:
        """The native array, with its metadata refreshed if that was requested."""
        if not self._settings.cache_metadata:
            self._native.refresh()
        return self._native

    @property
    def _stored_document(self) -> dict[str, Any]:
        """The document of the array. It is read when it is first needed."""
        if self._document is None or not self._settings.cache_metadata:
            self._document = array_document(self._native, self._store)
        return self._document

    @property
    def store(self) -> BaseStore:
        """The store of the array."""
        return getattr(self._store, "given", self._store)

    @property
    def path(self) -> str:
        """The path in the store; empty at its root."""
        return self._native.path

    @property
    def shape(self) -> tuple[int, ...]:
        """The length along each dimension. Assigning another shape resizes the array."""
        return self._fresh.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._native.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self._fresh.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the elements."""
        return self._native.dtype

    @property
    def nbytes(self) -> int:
        """The size in bytes that all elements take in memory."""
        return self.size * self._native.dtype.itemsize

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of a chunk; for arrays with shards, the shape of the inner chunks."""
        return self._native.chunks

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """The number of chunks along each dimension."""
        native = self._fresh
        if not native.shape:
            return (1,)
        # Native code counts chunks of different lengths.
        return native.grid_shape if native.shards is None else ceildiv(native.shape, native.chunks)

    @property
    def nchunks(self) -> int:
        """The number of chunks."""
        return math.prod(self.cdata_shape)

    @property
    def order(self) -> Literal["C", "F"]:
        """The memory order of elements in chunks: row-major (C) or column-major (F)."""
        return self._native.order

    @property
    def _stored_bytes(self) -> int:
        """The number of stored bytes of the array, including metadata and attributes; -1 if unknown."""
        try:
            return self._native.stored_bytes()
        except UnsupportedError:
            return -1

    @property
    def _stored_chunks(self) -> int:
        """The number of stored chunks; for arrays with shards, the number of chunks in stored shards."""
        shards = self._native.shards
        inside = 1 if shards is None else math.prod(ceildiv(shards, self._native.chunks))
        return self._fresh.stored_chunks() * inside

    @property
    def _filters(self) -> tuple[Any, ...]:
        """The codecs before compression, or before the serializer."""
        return self._v3_codecs[0] if is_v3(self._native) else self._v2_codecs[0]

    @property
    def _compressors(self) -> tuple[Any, ...]:
        """The codecs that compress chunks, in order."""
        if is_v3(self._native):
            return self._v3_codecs[2]
        compressor = self._v2_codecs[1]
        return () if compressor is None else (compressor,)

    @property
    def _serializer(self) -> Any:
        """The codec that serializes elements to bytes (version 3), or ``None``."""
        return self._v3_codecs[1] if is_v3(self._native) else None

    @property
    def _metadata(self) -> ArrayMetadata:
        """All metadata as one object."""
        return array_metadata(self._fresh, self._stored_document)

    @property
    def compressor(self) -> Any:
        """The codec that compresses chunks, or ``None``.

        Raises
        ------
        TypeError
            For arrays of version 3, which can have several compressors.
        """
        if is_v3(self._native):
            raise TypeError("arrays of version 3 can have several compressors: use .compressors")
        return self._v2_codecs[1]

    @property
    def _v2_codecs(self) -> tuple[tuple[Any, ...], Any]:
        from zarrox.codecs.registry import introduce_to_numcodecs

        introduce_to_numcodecs()
        if self._codecs is None:
            filters, compressor = v2_codecs(self._stored_document)
            for stored, shown in (self._view or {}).get("casts", ()):
                filters = (_as_type(stored, shown), *filters)
            self._codecs = (filters, compressor)
        codecs: tuple[tuple[Any, ...], Any] = self._codecs
        return codecs

    @property
    def _v3_codecs(self) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
        """The codecs of chunks; for arrays with shards, the codecs of the inner chunks."""
        if self._codecs is None:
            codecs = v3_codecs(self._native)
            if self._native.shards is not None:
                codecs = next(tuple(codec.codecs) for codec in codecs if hasattr(codec, "index_codecs"))
            self._codecs = split_codecs(codecs)
        found: tuple[tuple[Any, ...], Any, tuple[Any, ...]] = self._codecs
        return found

    @property
    def fill_value(self) -> Any:
        """The value of unwritten elements; ``None`` if undefined."""
        return self._native.fill_value

    @property
    def attrs(self) -> Attributes:
        """The attributes of the array: a mapping from names to values that can be written as JSON."""
        if self._attrs is None:
            from zarrox.attrs import Attributes

            self._attrs = Attributes(self._native, bool(self._settings.read_only), self._settings.cache_attrs)
        return self._attrs

    def _repr_html_(self) -> str:
        from zarrox.core.html import array_html

        return array_html(self)


def _as_type(stored: np.dtype[Any], shown: np.dtype[Any]) -> Any:
    from zarrox.codecs.filters import AsType

    return AsType(encode_dtype=stored, decode_dtype=shown)
