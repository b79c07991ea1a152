"""The base class of stores. All functions of the package accept a subclass with these methods as a store.

Examples
--------
>>> import zarrox as zarr
>>> class Counting(zarr.storage.WrapperStore):
...     reads = 0
...     async def get(self, key, prototype, byte_range=None):
...         self.reads += 1
...         return await super().get(key, prototype, byte_range)
>>> store = Counting(zarr.storage.MemoryStore())
>>> z = zarr.create_array(store, data=[1, 2, 3])
>>> z[:], store.reads > 0
(array([1, 2, 3]), True)
"""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from itertools import starmap
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from zarrox.abc.buffer import Buffer, BufferPrototype
from zarrox.buffer.cpu import default_buffer_prototype
from zarrox.waiting import gather

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "ByteGetter",
    "ByteRequest",
    "ByteSetter",
    "OffsetByteRequest",
    "RangeByteRequest",
    "Store",
    "SuffixByteRequest",
    "SupportsDeleteSync",
    "SupportsGetSync",
    "SupportsSetSync",
    "SupportsSyncStore",
    "SyncByteGetter",
    "SyncByteSetter",
    "set_or_delete",
]


@dataclass(frozen=True, slots=True)
class RangeByteRequest:
    """The bytes of a value between two positions."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class OffsetByteRequest:
    """All bytes of a value, starting at a position."""

    offset: int


@dataclass(frozen=True, slots=True)
class SuffixByteRequest:
    """The last bytes of a value."""

    suffix: int


ByteRequest: TypeAlias = RangeByteRequest | OffsetByteRequest | SuffixByteRequest


class Store(ABC):
    """A key-value store.

    Parameters
    ----------
    read_only : bool, optional
        Whether writing is disabled.
    """

    _read_only: bool = False
    _is_open: bool = False

    def __init__(self, *, read_only: bool = False) -> None:
        self._is_open = False
        self._read_only = read_only

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Self:
        """Create a store and open it."""
        store = cls(*args, **kwargs)
        await store._open()
        return store

    def with_read_only(self, read_only: bool = False) -> Store:
        """Returns the same store with a different ``read_only``."""
        raise NotImplementedError(f"with_read_only is not implemented for the {type(self)} store type.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    async def _open(self) -> None:
        if self._is_open:
            raise ValueError("store is already open")
        self._is_open = True

    async def _ensure_open(self) -> None:
        if not self._is_open:
            await self._open()

    def close(self) -> None:
        """Complete all writes, and release files and connections."""
        self._is_open = False

    @property
    def read_only(self) -> bool:
        """True if the store is read-only."""
        return self._read_only

    def _check_writable(self) -> None:
        if self.read_only:
            raise ValueError("store was opened in read-only mode and does not support writing")

    @abstractmethod
    def __eq__(self, value: object) -> bool:
        """Returns true if both are the same store."""

    @property
    @abstractmethod
    def supports_writes(self) -> bool:
        """True if values can be written."""

    @property
    @abstractmethod
    def supports_deletes(self) -> bool:
        """True if values can be deleted."""

    @property
    @abstractmethod
    def supports_listing(self) -> bool:
        """True if keys can be listed."""

    @property
    def supports_partial_writes(self) -> Literal[False]:
        """Always false: values are written as a whole."""
        return False

    @property
    def supports_consolidated_metadata(self) -> bool:
        """True if metadata may be consolidated."""
        return True

    @abstractmethod
    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Returns a value, or a part of it; ``None`` if it is missing."""

    @abstractmethod
    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Returns several values, or parts of values."""

    @abstractmethod
    async def exists(self, key: str) -> bool:
        """Returns true if the key has a value."""

    @abstractmethod
    async def set(self, key: str, value: Buffer) -> None:
        """Write a value."""

    @abstractmethod
    async def delete(self, key: str) -> None:
        """Delete a value, if it exists."""

    @abstractmethod
    def list(self) -> AsyncIterator[str]:
        """Yields all keys."""

    @abstractmethod
    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yields all keys that begin with a prefix."""

    @abstractmethod
    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yields the names directly below a prefix."""

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Write a value, unless the key already has one."""
        if not await self.exists(key):
            await self.set(key, value)

    async def _set_many(self, values: Iterable[tuple[str, Buffer]]) -> None:
        await gather(*starmap(self.set, values))

    async def _get_many(
        self, requests: Iterable[tuple[str, BufferPrototype, ByteRequest | None]]
    ) -> AsyncGenerator[tuple[str, Buffer | None], None]:
        for request in requests:
            yield request[0], await self.get(*request)

    async def get_ranges(
        self, key: str, byte_ranges: Sequence[ByteRequest | None], *, prototype: BufferPrototype, **limits: int
    ) -> AsyncIterator[Sequence[tuple[int, Buffer | None]]]:
        """Yields ranges of a value, with the indices of the corresponding requests.

        Raises
        ------
        BaseExceptionGroup
            With a ``FileNotFoundError`` if the value is missing.
        """
        for number, one in enumerate(byte_ranges):
            value = await self.get(key, prototype, one)
            if value is None:
                raise missing_of_several(key)
            yield [(number, value)]

    def get_ranges_sync(
        self, key: str, byte_ranges: Sequence[ByteRequest | None], *, prototype: BufferPrototype, **limits: int
    ) -> Sequence[tuple[int, Buffer | None]]:
        """Like `get_ranges`, for stores that need no event loop."""
        if not isinstance(self, SupportsGetSync):
            raise TypeError(f"{type(self).__name__} does not support synchronous reads")
        values = [self.get_sync(key, prototype=prototype, byte_range=one) for one in byte_ranges]
        if None in values:
            raise missing_of_several(key)
        return list(enumerate(values))

    async def is_empty(self, prefix: str) -> bool:
        """Returns true if no key is below a prefix."""
        self._check_supports("listing")
        async for _ in self.list_prefix(_directory(prefix)):
            return False
        return True

    async def clear(self) -> None:
        """Delete everything."""
        await self.delete_dir("")

    async def delete_dir(self, prefix: str) -> None:
        """Delete all keys below a prefix."""
        self._check_supports("deletes", "listing")
        self._check_writable()
        async for key in self.list_prefix(_directory(prefix)):
            await self.delete(key)

    async def getsize(self, key: str) -> int:
        """Returns the size of a value in bytes; raises ``FileNotFoundError`` if the value is missing."""
        value = await self.get(key, default_buffer_prototype())
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    async def getsize_prefix(self, prefix: str) -> int:
        """Returns the total size of all values below a prefix in bytes."""
        return sum([await self.getsize(key) async for key in self.list_prefix(_directory(prefix))])

    def _check_supports(self, *names: str) -> None:
        for name in names:
            if not getattr(self, f"supports_{name}"):
                raise NotImplementedError(f"{type(self).__name__} does not support {name}")


def _directory(prefix: str) -> str:
    return f"{prefix}/" if prefix and not prefix.endswith("/") else prefix


def missing_of_several(key: str) -> BaseException:
    """Returns the exception for ranges of a missing value: an exception group, if Python supports them."""
    error = FileNotFoundError(key)
    group = getattr(builtins, "BaseExceptionGroup", None)  # Not in Python 3.10.
    return error if group is None else group("chunk read failed", [error])


@runtime_checkable
class ByteGetter(Protocol):
    """An object that can be read."""

    async def get(self, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None: ...


@runtime_checkable
class ByteSetter(ByteGetter, Protocol):
    """An object that can be read and written."""

    async def set(self, value: Buffer) -> None: ...
    async def delete(self) -> None: ...
    async def set_if_not_exists(self, default: Buffer) -> None: ...


@runtime_checkable
class SyncByteGetter(Protocol):
    """An object that can be read without an event loop."""

    def get_sync(self, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None) -> Buffer | None: ...


@runtime_checkable
class SyncByteSetter(SyncByteGetter, Protocol):
    """An object that can be read and written without an event loop."""

    def set_sync(self, value: Buffer) -> None: ...
    def delete_sync(self) -> None: ...


@runtime_checkable
class SupportsGetSync(Protocol):
    """A store that can be read without an event loop."""

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None: ...


@runtime_checkable
class SupportsSetSync(Protocol):
    """A store that can be written without an event loop."""

    def set_sync(self, key: str, value: Buffer) -> None: ...


@runtime_checkable
class SupportsDeleteSync(Protocol):
    """A store in which values can be deleted without an event loop."""

    def delete_sync(self, key: str) -> None: ...


@runtime_checkable
class SupportsSyncStore(SupportsGetSync, SupportsSetSync, SupportsDeleteSync, Protocol):
    """A store that needs no event loop."""


async def set_or_delete(byte_setter: ByteSetter, value: Buffer | None) -> None:
    """Write a value, or delete it if ``None`` is given."""
    await (byte_setter.delete() if value is None else byte_setter.set(value))
