"""Locations in stores."""

from __future__ import annotations

import json
from typing import Any

from zarrox import _native
from zarrox.abc.buffer import Buffer, BufferPrototype
from zarrox.abc.store import ByteRequest, Store
from zarrox.argument_types import PathArgument, StoreArgument
from zarrox.buffer.cpu import default_buffer_prototype

from .base import BaseStore, KVStore
from .native import NativeStore
from .paths import normalize_storage_path

__all__ = ["StorePath", "place_of"]


class StorePath(NativeStore):
    """A location in a store: a key, or the values below a path. Its string form is the location.

    Parameters
    ----------
    store : Store
        The store.
    path : str, optional
        The key or path.

    Examples
    --------
    >>> import zarrox as zarr
    >>> store = zarr.storage.MemoryStore()
    >>> place = zarr.storage.StorePath(store) / "a" / "b"
    >>> place["c"] = b"1"
    >>> list(store)
    ['a/b/c']
    >>> zarr.open(zarr.zeros(3, store=store, path="d").store_path).shape
    (3,)
    """

    _identity = ("store", "path")

    def __init__(self, store: Any, path: PathArgument = "") -> None:
        below = isinstance(store, StorePath)
        self._inner: BaseStore = store._inner if below else BaseStore._ensure_store(store)
        self.path = normalize_storage_path(f"{store.path}/{normalize_storage_path(path)}" if below else path)
        self._dimension_separator = self._inner._dimension_separator
        self._format = self._inner._format

    @classmethod
    async def open(cls, store: Any, path: str, mode: str | None = None) -> StorePath:
        """Returns the location in a store for a mode. It is read-only for ``"r"``, and must be empty for ``"w-"``."""
        if mode is not None and mode not in ("r", "r+", "a", "w", "w-"):
            raise ValueError(f"Invalid mode: {mode}, expected one of ('r', 'r+', 'a', 'w', 'w-')")
        if mode not in (None, "r") and store.read_only:
            message = f"Store is read-only but mode is {mode!r}. Create a writable store or use 'r' mode."
            raise ValueError(message)
        await store._ensure_open()
        place = cls(store.with_read_only(True) if mode == "r" and not store.read_only else store, path)
        if mode == "w-" and not await place.is_empty():
            raise FileExistsError(
                f"Cannot create '{path}' with mode 'w-' because it already contains data. "
                "Use mode 'w' to overwrite or 'a' to append."
            )
        return place

    @property
    def store(self) -> Any:
        """The store."""
        return getattr(self._inner, "given", self._inner)

    def __truediv__(self, other: str) -> StorePath:
        return StorePath(self._inner, f"{self.path}/{other}")

    def __str__(self) -> str:
        scheme, found, location = self._inner.native.location.rpartition("://")
        if isinstance(self._inner, KVStore):
            scheme = "memory"
        url = str(self.store) if isinstance(self.store, Store) else f"{scheme if found else 'file'}://{location}"
        return f"{url.rstrip('/')}/{self.path}" if self.path else url

    def __repr__(self) -> str:
        return f"StorePath({type(self.store).__name__}, {str(self)!r})"

    def is_writeable(self) -> bool:
        """Returns true if values can be written."""
        return self._inner.is_writeable()

    def is_erasable(self) -> bool:
        """Returns true if values can be deleted."""
        return self._inner.is_erasable()

    def _connect(self) -> _native.Store:
        native = self._inner.native
        return native.prefixed(self.path) if self.path else native

    # The value at this location.

    async def get(self, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None) -> Buffer | None:  # type: ignore[override]
        """Returns the value at this location, or a part of it; ``None`` if it is missing."""
        found: Buffer | None = await self.store.get(self.path, prototype or default_buffer_prototype(), byte_range)
        return found

    async def get_json(self, *, byte_range: ByteRequest | None = None) -> Any:
        """Returns the JSON document at this location; ``None`` if it is missing."""
        value = await self.get(byte_range=byte_range)
        return None if value is None else json.loads(value.to_bytes())

    async def set(self, value: Buffer) -> None:
        """Write the value at this location."""
        await self.store.set(self.path, value)

    async def set_if_not_exists(self, default: Buffer) -> None:
        """Write the value at this location, unless there already is one."""
        await self.store.set_if_not_exists(self.path, default)

    async def delete(self) -> None:
        """Delete the value at this location."""
        await self.store.delete(self.path)

    async def exists(self) -> bool:
        """Returns true if there is a value at this location."""
        return bool(await self.store.exists(self.path))

    async def delete_dir(self) -> None:
        """Delete all values below this location."""
        await self.store.delete_dir(self.path)

    async def is_empty(self) -> bool:
        """Returns true if nothing is below this location."""
        return bool(await self.store.is_empty(self.path))

    def get_sync(self, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Returns the value at this location, without an event loop."""
        found: Buffer | None = self.store.get_sync(self.path, prototype=prototype, byte_range=byte_range)
        return found

    def set_sync(self, value: Buffer) -> None:
        """Write the value at this location without an event loop."""
        self.store.set_sync(self.path, value)

    def delete_sync(self) -> None:
        """Delete the value at this location without an event loop."""
        self.store.delete_sync(self.path)


def place_of(store: StoreArgument, path: PathArgument, chunk_store: StoreArgument = None) -> tuple[StoreArgument, str]:
    """Returns the store and the path of a node. A location in a store provides both, unless the chunks are in another store below the
    same path."""
    if isinstance(store, StorePath) and chunk_store is None:
        return store._inner, normalize_storage_path(f"{store.path}/{normalize_storage_path(path)}")
    return store, normalize_storage_path(path)
