"""Adapters between native stores and the asynchronous store methods of zarr-python 3, in both directions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable, Iterator, MutableMapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from zarrox import _native
from zarrox.abc.buffer import Buffer, BufferPrototype
from zarrox.abc.store import (
    ByteRequest,
    RangeByteRequest,
    Store,
    SuffixByteRequest,
    missing_of_several,
)
from zarrox.buffer.cpu import default_buffer_prototype
from zarrox.config import config
from zarrox.waiting import gather, run, wait
from zarrox.errors import ReadOnlyError

from .base import BaseStore, adapters, is_foreign
from .native import NativeStore
from .paths import is_key

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["AwaitedStore", "CalledBack", "StoreOfProgram", "range_of"]

Result = TypeVar("Result")

_HOOKS = frozenset(name for name in vars(Store) if not name.startswith("__")) | {"get_sync", "set_sync", "delete_sync"}
"""The methods that a subclass overrides to change values or their keys."""


def range_of(request: Any) -> tuple[int | None, int | None]:
    """Returns the start and the length of a range in the form for native stores. zarr-python's requests are accepted as well."""
    if hasattr(request, "start"):
        return request.start, max(request.end - request.start, 0)
    if hasattr(request, "offset"):
        return request.offset, None
    if hasattr(request, "suffix"):
        return None, request.suffix
    raise ValueError(f"Unexpected byte_range, got {request}.")


class AwaitedStore(NativeStore, Store):
    """A native store with the methods of zarr-python 3."""

    _at_hand = False
    """True if values are in memory, so that reads and writes do not block."""
    _transient = (*NativeStore._transient, "_called_back", "_is_open")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._custom = cls._custom or any(is_foreign(base) and not _HOOKS.isdisjoint(vars(base)) for base in cls.__mro__)

    @property
    def native(self) -> _native.Store:
        if self._custom:
            return _called_back(self)
        return super().native

    # The capabilities of the store.

    def with_read_only(self, read_only: bool = False) -> Self:
        """Returns the same store with a different ``read_only``."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        vars(other).pop("_called_back", None)
        other._is_open, other._read_only = False, read_only
        if read_only:
            other._handle = self._raw.read_only()
        elif self._read_only:
            other._handle = None
        return other

    def _check_writable(self) -> None:
        if self.read_only:
            raise ReadOnlyError("store was opened in read-only mode and does not support writing")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Complete all writes, and release files and connections."""
        super().close()
        self._is_open = False

    def __str__(self) -> str:
        return self._raw.location

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    # One value.

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Returns a value or a part of it; ``None`` if it is missing."""
        make = (prototype or default_buffer_prototype()).buffer.from_bytes
        span = None if byte_range is None else range_of(byte_range)
        if not is_key(key):
            return None
        if span is None:
            value = self._raw.get(key)
            return None if value is None else make(value)
        parts = self._raw.get_ranges(key, [span])
        return None if parts is None else make(parts[0])

    def set_sync(self, key: str, value: Buffer) -> None:
        """Write a value."""
        self._raw.set(key, self._checked("set", value))

    def delete_sync(self, key: str) -> None:
        """Delete a value, if it exists."""
        self._check_writable()
        if is_key(key):
            self._raw.delete(key)

    def _checked(self, method: str, value: Any) -> Any:
        self._check_writable()
        if not isinstance(value, Buffer):
            raise TypeError(
                f"{type(self).__name__}.{method}(): `value` must be a Buffer instance. Got an instance of {type(value)} instead."
            )
        return value.as_buffer_like()

    async def get(  # type: ignore[override]
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Returns a value or a part of it; ``None`` if it is missing."""
        return await self._do(self.get_sync, key, prototype=prototype, byte_range=byte_range)

    async def set(self, key: str, value: Buffer, byte_range: None = None) -> None:
        """Write a value."""
        await self._do(self._raw.set, key, self._checked("set", value))

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        await self._do(self._raw.set_if_absent, key, self._checked("set_if_not_exists", value))

    async def delete(self, key: str) -> None:
        self._check_writable()
        await self._do(self.delete_sync, key)

    async def exists(self, key: str) -> bool:
        return is_key(key) and await self._do(self._raw.contains, key)

    async def getsize(self, key: str) -> int:  # type: ignore[override]
        """Returns the size of a value in bytes; raises ``FileNotFoundError`` if it is missing."""
        size = await self._do(self._raw.size, key) if is_key(key) else None
        if size is None:
            raise FileNotFoundError(key)
        return size

    # Several values.

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        return await gather(*(self.get(key, prototype, one) for key, one in key_ranges))

    async def _get_many(
        self, requests: Iterable[tuple[str, BufferPrototype, ByteRequest | None]]
    ) -> AsyncGenerator[tuple[str, Buffer | None], None]:
        wanted = list(requests)
        values = await gather(*(self.get(*request) for request in wanted))
        for (key, _, _), value in zip(wanted, values, strict=True):
            yield key, value

    def get_ranges_sync(
        self, key: str, byte_ranges: Sequence[ByteRequest | None], *, prototype: BufferPrototype, **limits: int
    ) -> Sequence[tuple[int, Buffer | None]]:
        """Returns parts of a single version of a value, with the indices of the corresponding requests."""
        if not byte_ranges:
            return []
        parts = self._raw.get_ranges(key, [(0, None) if one is None else range_of(one) for one in byte_ranges])
        if parts is None:
            raise missing_of_several(key)
        return [(number, prototype.buffer.from_bytes(part)) for number, part in enumerate(parts)]

    async def get_ranges(
        self, key: str, byte_ranges: Sequence[ByteRequest | None], *, prototype: BufferPrototype, **limits: int
    ) -> AsyncIterator[Sequence[tuple[int, Buffer | None]]]:
        """Yields parts of a single version of a value, with the indices of the corresponding requests."""
        if byte_ranges:
            yield await self._do(self.get_ranges_sync, key, byte_ranges, prototype=prototype)

    # Many keys.

    async def list(self) -> AsyncIterator[str]:
        for key in await self._do(self._raw.keys):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        for key in await self._do(self._raw.keys, prefix.rpartition("/")[0]):
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        for name in await self._do(self._raw.list_dir, prefix.strip("/")):
            yield name

    async def is_empty(self, prefix: str) -> bool:
        return await self._do(self._raw.is_empty, prefix.strip("/"))

    async def delete_dir(self, prefix: str) -> None:
        self._check_writable()
        await self._do(self._raw.delete_prefix, prefix.strip("/"))

    async def clear(self) -> None:  # type: ignore[override]
        await self.delete_dir("")

    async def getsize_prefix(self, prefix: str) -> int:
        return await self._do(self._raw.sizes, prefix.strip("/"))

    async def _do(self, work: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
        """Runs work without blocking the event loop."""
        return work(*args, **kwargs) if self._at_hand else await run(work, *args, **kwargs)


class CalledBack(MutableMapping[str, Any]):
    """A Python store, from this package or from zarr-python, as a mapping that Rust calls from its threads.

    Parameters
    ----------
    store : Store
        The store.
    """

    def __init__(self, store: Any) -> None:
        self._store = store

    def _prototype(self) -> Any:
        return default_buffer_prototype()

    def _requests(self) -> tuple[Any, Any]:
        return RangeByteRequest, SuffixByteRequest

    def _wait(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return wait(coroutine, config["async.timeout"])

    def __getitem__(self, key: str) -> Any:
        value = self._wait(self._store.get(key, self._prototype()))
        if value is None:
            raise KeyError(key)
        return value

    def get_range(self, key: str, start: int | None, length: int, is_first: bool) -> Any:
        """Returns a range of a value, or its last bytes; ``None`` if it is missing."""
        between, last = self._requests()
        request = last(length) if start is None else between(start, start + length)
        if start is None or is_first or not hasattr(self._store, "get_ranges"):
            return self._wait(self._store.get(key, self._prototype(), request))
        return self._wait(self._of_several(key, request))

    async def _of_several(self, key: str, request: Any) -> Any:
        try:
            async for group in self._store.get_ranges(key, [request], prototype=self._prototype()):
                for _, value in group:
                    return value
        except FileNotFoundError:
            return None
        except Exception as group:
            errors: tuple[BaseException, ...] = getattr(group, "exceptions", ())
            if errors and all(isinstance(error, FileNotFoundError) for error in errors):
                return None
            if len(errors) == 1:
                raise errors[0] from None
            raise
        return None

    def size(self, key: str) -> int | None:
        """Returns the size of a value in bytes; ``None`` if it is missing."""
        try:
            return int(self._wait(self._store.getsize(key)))
        except FileNotFoundError:
            return None

    def __setitem__(self, key: str, value: Any) -> None:
        self._wait(self._store.set(key, self._prototype().buffer.from_bytes(value)))

    def __delitem__(self, key: str) -> None:
        self._wait(self._store.delete(key))

    def __contains__(self, key: object) -> bool:
        return bool(self._wait(self._store.exists(str(key))))

    def __iter__(self) -> Iterator[str]:
        async def keys() -> list[str]:
            return [key async for key in self._store.list()]

        return iter(self._wait(keys()))

    def listdir(self, path: str) -> list[str]:
        """Returns the names directly below a path."""

        async def names() -> list[str]:
            return sorted({name.rstrip("/").rpartition("/")[2] async for name in self._store.list_dir(path)})

        return self._wait(names())

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _called_back(store: Any) -> _native.Store:
    # Rust holds only a weak reference to a mapping, so the store keeps the mapping alive.
    mapping = vars(store).setdefault("_called_back", CalledBack(store))
    native = _native.Store.mapping(mapping, f"{type(store).__name__}://{id(store)}", config["async.concurrency"])
    return native.read_only() if store.read_only else native


class StoreOfProgram(NativeStore):
    """A user-defined store.

    Parameters
    ----------
    store : zarrox.abc.store.Store
        The store, which arrays and groups show.
    """

    _identity = ("given",)
    _transient = (*NativeStore._transient, "_called")

    def __init__(self, store: Store) -> None:
        self.given = store
        self._called = CalledBack(store)

    @property
    def _read_only(self) -> bool:  # type: ignore[override]
        return self.given.read_only is True

    def is_erasable(self) -> bool:
        return not self._read_only and self.given.supports_deletes

    def _connect(self) -> _native.Store:
        place = f"{type(self.given).__name__}://{id(self.given)}"
        return _native.Store.mapping(self._called, place, config["async.concurrency"])

    def close(self) -> None:
        """Closes the user-defined store."""
        self.given.close()

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _called=CalledBack(state["given"]))

    def __str__(self) -> str:
        return str(self.given)


def _of_program(store: object) -> BaseStore | None:
    return StoreOfProgram(store) if isinstance(store, Store) else None


adapters.append(_of_program)
