"""N5 hierarchies for zarr-python 3, which reads and writes them with the documents and keys of version 2."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from zarrox.storage.n5 import N5ChunkWrapper, N5FSStore, N5Store, n5_keywords
from zarrox.storage.base import BaseStore
from zarrox.storage.paths import array_meta_key, attrs_key, group_meta_key, is_key, prefix_of

__all__ = ["N5View", "is_n5", "n5_store", "register_n5"]

_DOCUMENTS = (array_meta_key, group_meta_key, attrs_key)
_UNKNOWN = ("zarr.json", ".zmetadata")
"""Zarr documents without an equivalent in N5."""


def is_n5(place: Any) -> bool:
    """Returns true if a location is N5, according to its name or class."""
    named = isinstance(place, str) and place.rstrip("/").endswith(".n5")
    return named or isinstance(place, (N5Store, N5FSStore))


def n5_store(url: str, read_only: bool, options: dict[str, Any]) -> BaseStore:
    """Returns the N5 store at a URL."""
    register_n5()
    return N5FSStore(url, mode="r" if read_only else "w", **options)


def register_n5() -> None:
    """Registers the codec for N5 blocks with numcodecs, from which zarr-python gets version 2 codecs."""
    import numcodecs

    numcodecs.registry.register_codec(N5ChunkWrapper)


class N5View:
    """The keys and values of version 2, over an N5 store.

    A node has two documents in version 2, and a single one in N5: metadata and attributes are merged while a lock of this object is
    held.
    """

    def __init__(self, store: BaseStore) -> None:
        self._store = store
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        """Returns a value. In a document, the data type has the form that zarr-python 3 requires."""
        value = self._store.get(key)
        if value is None:
            return None
        if key.rpartition("/")[2] != array_meta_key:
            return bytes(value)
        document = json.loads(bytes(value))
        document["dtype"] = np.dtype(document["dtype"]).str
        document["filters"] = None
        return json.dumps(document).encode()

    def contains(self, key: str) -> bool:
        """Returns true if the key has a value."""
        return key in self._store

    def set(self, key: str, value: Any) -> None:
        """Writes a value.

        Raises
        ------
        ValueError
            If N5 cannot express the document.
        """
        with self._lock:
            self._set(key, bytes(value))

    def set_if_absent(self, key: str, value: Any) -> None:
        """Writes a value, unless the key already has one."""
        with self._lock:
            if key not in self._store:
                self._set(key, bytes(value))

    def delete(self, key: str) -> None:
        """Deletes a value. If the attributes of a node are deleted, its metadata is kept."""
        with self._lock:
            if key.rpartition("/")[2] == attrs_key:
                if key in self._store:
                    self._store[key] = b"{}"
            elif key in self._store:
                del self._store[key]

    def list_dir(self, path: str) -> list[str]:
        """Returns the names directly below a path."""
        return self._store.listdir(path)

    def keys(self, path: str) -> list[str]:
        """Returns all keys below a path."""
        return sorted(self._below(path))

    def _below(self, path: str) -> Iterator[str]:
        names = self._store.listdir(path)
        for name in names:
            key = prefix_of(path) + name
            if name in _DOCUMENTS or array_meta_key in names:
                yield key
            else:
                below = list(self._below(key))
                yield from below or [key]

    def _set(self, key: str, value: bytes) -> None:
        name = key.rpartition("/")[2]
        if name in _UNKNOWN:
            raise ValueError(f"N5 is shown as version 2 of Zarr, which needs zarr_format=2, and has no place for {key}")
        if name == array_meta_key:
            _check_array(json.loads(value))
        if name == attrs_key:
            attributes = json.loads(value)
            if reserved := [word for word in attributes if word in n5_keywords]:
                raise ValueError(f"N5 keeps its own metadata under {reserved[0]!r}, which cannot be an attribute")
            if not attributes and key not in self._store:
                # zarr-python stores attributes in addition to metadata; attributes alone would describe a group.
                return
        if is_key(key):
            self._store[key] = value


def _check_array(document: dict[str, Any]) -> None:
    """Rejects a document whose array would write chunks that are not N5 blocks, or write them under other keys."""
    codec, dtype = document["compressor"] or {}, np.dtype(document["dtype"])
    told = np.dtype(codec.get("dtype", "V")), list(codec.get("chunk_shape", ()))
    if codec.get("id") != N5ChunkWrapper.codec_id or told != (dtype, list(document["chunks"])):
        raise ValueError(
            "chunks of N5 have headers: give compressors=zarrox.n5.N5ChunkWrapper(dtype, chunks, compressor=…) with the type and "
            "the chunks of the array, or create it with Zarrox and open it"
        )
    if dtype.str != np.dtype(dtype.name).str or dtype.kind not in "iuf":
        raise ValueError(f"N5 has no data type {dtype.str}")
    if document.get("dimension_separator", ".") != ".":
        raise ValueError("the view of N5 has '.' between the coordinates of chunks: give it as the separator")
