"""Store wrappers: a cache, and consolidated metadata."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, MutableMapping
from threading import Lock
from typing import Any

from zarrox import _native
from zarrox.argument_types import PathArgument
from zarrox.errors import MetadataError, ReadOnlyError
from zarrox.meta import parse_metadata

from .base import BaseStore, KVStore
from .paths import normalize_storage_path

__all__ = ["ConsolidatedMetadataStore", "LRUStoreCache"]


class LRUStoreCache(BaseStore):
    """A memory cache for a slow store, which evicts the least recently used values.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The slow store.
    max_size : int or None
        The maximum size of cached values in bytes; ``None`` for unlimited.

    Attributes
    ----------
    hits, misses : int
        The numbers of cache hits and misses.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> slow = zarr.storage.KVStore({"a": b"1"})
    >>> cache = zarr.LRUStoreCache(slow, max_size=2**28)
    >>> cache["a"], cache["a"]
    (b'1', b'1')
    >>> cache.hits, cache.misses
    (1, 1)
    """

    def __init__(self, store: BaseStore | MutableMapping[str, Any], max_size: int | None) -> None:
        self._store: BaseStore = BaseStore._ensure_store(store)
        self._max_size = max_size
        self._dimension_separator = self._store._dimension_separator
        self._format = self._store._format or self._format
        self.hits = self.misses = 0
        self._forget()

    @property
    def native(self) -> _native.Store:
        # The handle is not cached: since it refers to its store, it would keep the store alive forever.
        return _native.Store.mapping(self, self._store.native)

    def _forget(self) -> None:
        self._mutex = Lock()
        self._values_cache: OrderedDict[str, Any] = OrderedDict()
        self._current_size = 0
        self._invalidate_keys()

    def _invalidate_keys(self) -> None:
        self._keys_cache: list[str] | None = None
        self._contains_cache: frozenset[str] | None = None
        self._listdir_cache: dict[str, list[str]] = {}

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_store", "_max_size", "_dimension_separator", "_format", "hits", "misses")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget()

    def is_writeable(self) -> bool:
        return self._store.is_writeable()

    def is_erasable(self) -> bool:
        return self._store.is_erasable()

    def close(self) -> None:
        """Closes the wrapped store."""
        self._store.close()

    def _keys(self) -> list[str]:
        if self._keys_cache is None:
            self._keys_cache = list(self._store.keys())
        return self._keys_cache

    def __len__(self) -> int:
        with self._mutex:
            return len(self._keys())

    def __iter__(self) -> Iterator[str]:
        with self._mutex:
            return iter(self._keys())

    def __contains__(self, key: object) -> bool:
        with self._mutex:
            if self._contains_cache is None:
                self._contains_cache = frozenset(self._keys())
            return key in self._contains_cache

    def __getitem__(self, key: str) -> Any:
        with self._mutex:
            if key in self._values_cache:
                self.hits += 1
                self._values_cache.move_to_end(key)
                return self._values_cache[key]
        value = self._store[key]
        with self._mutex:
            self.misses += 1
            self._keep(key, value)
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        self._store[key] = value
        with self._mutex:
            self._invalidate_keys()
            # The caller may change its buffer later, so the buffer is copied.
            self._keep(key, value if isinstance(value, bytes) else bytes(memoryview(value)))

    def __delitem__(self, key: str) -> None:
        del self._store[key]
        with self._mutex:
            self._invalidate_keys()
            self._drop(key)

    def _keep(self, key: str, value: Any) -> None:
        self._drop(key)
        size = memoryview(value).nbytes
        if self._max_size is not None:
            if size > self._max_size:
                return
            while self._current_size + size > self._max_size:
                self._drop(next(iter(self._values_cache)))
        self._values_cache[key] = value
        self._current_size += size

    def _drop(self, key: str) -> None:
        value = self._values_cache.pop(key, None)
        if value is not None:
            self._current_size -= memoryview(value).nbytes

    def clear(self) -> None:
        """Deletes everything, in the store and in the cache."""
        self._store.clear()
        self.invalidate()

    def rename(self, src_path: PathArgument, dst_path: PathArgument) -> None:
        self._store.rename(src_path, dst_path)
        self.invalidate()

    def rmdir(self, path: PathArgument = None) -> None:
        self._store.rmdir(path)
        self.invalidate()

    def listdir(self, path: PathArgument = None) -> list[str]:
        path = normalize_storage_path(path)
        with self._mutex:
            if path not in self._listdir_cache:
                self._listdir_cache[path] = self._store.listdir(path)
            return list(self._listdir_cache[path])

    def getsize(self, path: PathArgument = None) -> int:
        return self._store.getsize(path)

    def invalidate(self) -> None:
        """Clears the cache."""
        self.invalidate_values()
        self.invalidate_keys()

    def invalidate_values(self) -> None:
        """Clears the cached values."""
        with self._mutex:
            self._values_cache.clear()
            self._current_size = 0

    def invalidate_keys(self) -> None:
        """Clears the cached keys."""
        with self._mutex:
            self._invalidate_keys()


class _Written(dict[str, Any]):
    """Stored documents. They are encoded on demand, since only a few documents of a large hierarchy are needed.

    Since this class is a ``dict``, the keys can be enumerated cheaply.
    """

    def __getitem__(self, key: str) -> bytes:
        return _ENCODER.encode(super().__getitem__(key)).encode()


# The encoder is created once, since `json.dumps` takes more steps to reach the same encoder.
_ENCODER = json.JSONEncoder()


class ConsolidatedMetadataStore(BaseStore):
    """The consolidated metadata of a hierarchy, which is read once and never changes.

    Parameters
    ----------
    store : BaseStore or MutableMapping
        The store of the document.
    metadata_key : str, optional
        The key of the document.

    Raises
    ------
    MetadataError
        If the document has an unknown format.

    See Also
    --------
    zarrox.consolidate_metadata, zarrox.open_consolidated
    """

    _writeable = False
    _erasable = False
    _handle: _native.Store | None = None

    def __init__(
        self, store: BaseStore | MutableMapping[str, Any], metadata_key: str = ".zmetadata"
    ) -> None:
        self.store: BaseStore = BaseStore._ensure_store(store)
        document = parse_metadata(self.store[metadata_key])
        version = document.get("zarr_consolidated_format")
        if version != 1:
            raise MetadataError(f"'{metadata_key}': the format of consolidated metadata is {version!r}, and 1 is known")
        self._documents = dict(document["metadata"])
        self.meta_store = KVStore(self._documents)

    @property
    def native(self) -> _native.Store:
        """The native store through which Rust reads the documents."""
        if self._custom:
            return super().native
        if self._handle is None:
            copies = _native.Store.mapping(_Written(self._documents)).read_only()
            self._handle = copies.copy_of(self.store.native)
        return self._handle

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_handle"}

    def __getitem__(self, key: str) -> Any:
        return self.meta_store[key]

    def __contains__(self, key: object) -> bool:
        return key in self.meta_store

    def __iter__(self) -> Iterator[str]:
        return iter(self.meta_store)

    def __len__(self) -> int:
        return len(self.meta_store)

    def __setitem__(self, key: str, value: Any) -> None:
        raise ReadOnlyError("consolidated metadata cannot be changed: open the hierarchy without it")

    def __delitem__(self, key: str) -> None:
        raise ReadOnlyError("consolidated metadata cannot be changed: open the hierarchy without it")
