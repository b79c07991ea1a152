"""A store that uses another store as its cache."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from zarrox.abc.buffer import Buffer, BufferPrototype
from zarrox.abc.store import ByteRequest, Store
from zarrox.storage import WrapperStore

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CacheStore"]

#: The key of a cache entry: a whole value, or a part of it.
Entry = tuple[str, "ByteRequest | None"]


@dataclass
class _State:
    """The state of a cache: the sizes and ages of its entries, with the most recently used one last, and the cached parts of values."""

    sizes: OrderedDict[Entry, int] = field(default_factory=OrderedDict)
    times: dict[Entry, float] = field(default_factory=dict)
    parts: dict[Entry, Buffer] = field(default_factory=dict)
    hits: int = 0
    misses: int = 0
    evictions: int = 0

    @property
    def size(self) -> int:
        return sum(self.sizes.values())


class CacheStore(WrapperStore[Store]):
    """A store that caches the values of a slow store in a faster one.

    Parameters
    ----------
    store : Store
        The slow store.
    cache_store : Store
        The store for cached values. Parts of values are cached in memory.
    max_age_seconds : int or "infinity", optional
        The maximum age of an entry.
    max_size : int, optional
        The maximum size of the cache in bytes; the least recently used entries are evicted.
    cache_set_data : bool, optional
        Whether written values are cached as well.

    Examples
    --------
    >>> import zarrox as zarr
    >>> from zarrox.experimental.cache_store import CacheStore
    >>> store = CacheStore(zarr.storage.MemoryStore(), cache_store=zarr.storage.MemoryStore())
    >>> z = zarr.create_array(store, data=[1, 2, 3])
    >>> int(z[0]), store.cache_stats()["hits"] > 0
    (1, True)
    """

    def __init__(
        self,
        store: Store,
        *,
        cache_store: Store,
        max_age_seconds: int | str = "infinity",
        max_size: int | None = None,
        cache_set_data: bool = True,
    ) -> None:
        super().__init__(store)
        if not cache_store.supports_deletes:
            raise ValueError(f"The provided cache store {cache_store} does not support deletes, which eviction needs.")
        if isinstance(max_age_seconds, str) and max_age_seconds != "infinity":
            raise ValueError("max_age_seconds string value must be 'infinity'")
        self._cache = cache_store
        self.max_age_seconds: int | Literal["infinity"] = max_age_seconds  # type: ignore[assignment]
        self.max_size = max_size
        self.cache_set_data = cache_set_data
        self._state = _State()

    def _with_store(self, store: Store) -> Self:
        raise NotImplementedError("CacheStore does not support this operation.")

    def with_read_only(self, read_only: bool = False) -> Self:
        """Returns the same store with a different ``read_only``. Both share the cache."""
        other = type(self)(
            self._store.with_read_only(read_only),
            cache_store=self._cache,
            max_age_seconds=self.max_age_seconds,
            max_size=self.max_size,
            cache_set_data=self.cache_set_data,
        )
        other._state = self._state
        return other

    def _is_fresh(self, entry: Entry) -> bool:
        age = self.max_age_seconds
        return age == "infinity" or time.monotonic() - self._state.times.get(entry, 0) < age

    async def _kept(self, entry: Entry, prototype: BufferPrototype) -> Buffer | None:
        key, part = entry
        if not self._is_fresh(entry):
            return None
        return self._state.parts.get(entry) if part is not None else await self._cache.get(key, prototype)

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        entry = (key, byte_range)
        kept = await self._kept(entry, prototype)
        if kept is not None:
            self._state.hits += 1
            if entry in self._state.sizes:
                self._state.sizes.move_to_end(entry)
            return kept
        self._state.misses += 1
        value = await super().get(key, prototype, byte_range)
        await (self._drop(entry) if value is None else self._keep(entry, value))
        return value

    async def set(self, key: str, value: Buffer) -> None:
        await super().set(key, value)
        await self._forget(key)
        if self.cache_set_data:
            await self._keep((key, None), value)

    async def delete(self, key: str) -> None:
        await super().delete(key)
        await self._forget(key)

    async def _forget(self, key: str) -> None:
        for entry in [entry for entry in self._state.sizes if entry[0] == key]:
            await self._drop(entry)
        await self._drop((key, None))

    async def _keep(self, entry: Entry, value: Buffer) -> None:
        await self._drop(entry)
        state, size = self._state, len(value)
        if self.max_size is not None:
            if size > self.max_size:
                return
            while state.sizes and state.size + size > self.max_size:
                state.evictions += 1
                await self._drop(next(iter(state.sizes)))
        state.sizes[entry], state.times[entry] = size, time.monotonic()
        if entry[1] is None:
            await self._cache.set(entry[0], value)
        else:
            state.parts[entry] = value

    async def _drop(self, entry: Entry) -> None:
        state = self._state
        state.sizes.pop(entry, None)
        state.times.pop(entry, None)
        if entry[1] is None:
            await self._cache.delete(entry[0])
        else:
            state.parts.pop(entry, None)

    def cache_info(self) -> dict[str, Any]:
        """The configuration and the size of the cache."""
        return {
            "cache_store_type": type(self._cache).__name__,
            "max_age_seconds": self.max_age_seconds,
            "max_size": self.max_size,
            "current_size": self._state.size,
            "cache_set_data": self.cache_set_data,
            "tracked_keys": len(self._state.times),
            "cached_keys": len(self._state.sizes),
        }

    def cache_stats(self) -> dict[str, Any]:
        """The number of hits and the number of misses."""
        state = self._state
        total = state.hits + state.misses
        return {
            "hits": state.hits,
            "misses": state.misses,
            "evictions": state.evictions,
            "total_requests": total,
            "hit_rate": state.hits / total if total else 0.0,
        }

    async def clear_cache(self) -> None:
        """Clear the cache."""
        await self._cache.clear()
        self._state.sizes.clear()
        self._state.times.clear()
        self._state.parts.clear()

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(store={self._store!r}, cache_store={self._cache!r}, max_age_seconds={self.max_age_seconds}, "
            f"max_size={self.max_size}, current_size={self._state.size}, cached_keys={len(self._state.sizes)})"
        )
