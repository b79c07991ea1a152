"""Stores that wrap other stores."""

from __future__ import annotations

import inspect
import sys
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from zarrox.abc.buffer import Buffer, BufferPrototype
from zarrox.abc.store import ByteRequest, Store

if TYPE_CHECKING:
    import logging
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["LoggingStore", "WrapperStore"]

S = TypeVar("S", bound=Store)


class WrapperStore(Store, Generic[S]):
    """A store that forwards all calls to another store. Subclasses override some methods.

    Parameters
    ----------
    store : Store
        The wrapped store.
    """

    _store: S

    def __init__(self, store: S) -> None:
        self._store = store

    def _with_store(self, store: S) -> Self:
        return type(self)(store=store)

    @classmethod
    async def open(cls, store_cls: type[S], *args: Any, **kwargs: Any) -> Self:
        """Create and open a store of a given class, and wrap it."""
        return cls(store=await store_cls.open(*args, **kwargs))

    def with_read_only(self, read_only: bool = False) -> Self:
        """Returns the same wrapper around the wrapped store with a different ``read_only``."""
        return self._with_store(self._store.with_read_only(read_only))  # type: ignore[arg-type]

    def __enter__(self) -> Self:
        return self._with_store(self._store.__enter__())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._store.__exit__(kind, error, trace)

    async def _open(self) -> None:
        await self._store._open()

    async def _ensure_open(self) -> None:
        await self._store._ensure_open()

    @property
    def _is_open(self) -> bool:
        return self._store._is_open

    @_is_open.setter
    def _is_open(self, value: bool) -> None:
        raise NotImplementedError(f"{type(self).__name__} must be opened via the `_open` method")

    @property
    def read_only(self) -> bool:
        return self._store.read_only

    def _check_writable(self) -> None:
        self._store._check_writable()

    @property
    def supports_writes(self) -> bool:
        return self._store.supports_writes

    @property
    def supports_deletes(self) -> bool:
        return self._store.supports_deletes

    @property
    def supports_listing(self) -> bool:
        return self._store.supports_listing

    def __eq__(self, value: object) -> bool:
        return type(self) is type(value) and self._store == value._store

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"wrapping-{self._store}"

    def __repr__(self) -> str:
        return f"WrapperStore({type(self._store).__name__}, '{self._store}')"

    def close(self) -> None:
        self._store.close()

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        return await self._store.get(key, prototype, byte_range)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        return await self._store.get_partial_values(prototype, key_ranges)

    async def get_ranges(
        self, key: str, byte_ranges: Sequence[ByteRequest | None], *, prototype: BufferPrototype, **limits: int
    ) -> AsyncIterator[Sequence[tuple[int, Buffer | None]]]:
        async for group in self._store.get_ranges(key, byte_ranges, prototype=prototype, **limits):
            yield group

    async def _get_many(
        self, requests: Iterable[tuple[str, BufferPrototype, ByteRequest | None]]
    ) -> AsyncGenerator[tuple[str, Buffer | None], None]:
        async for found in self._store._get_many(requests):
            yield found

    async def exists(self, key: str) -> bool:
        return await self._store.exists(key)

    async def set(self, key: str, value: Buffer) -> None:
        await self._store.set(key, value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        await self._store.set_if_not_exists(key, value)

    async def _set_many(self, values: Iterable[tuple[str, Buffer]]) -> None:
        await self._store._set_many(values)

    async def delete(self, key: str) -> None:
        await self._store.delete(key)

    async def delete_dir(self, prefix: str) -> None:
        await self._store.delete_dir(prefix)

    async def clear(self) -> None:
        await self._store.clear()

    async def is_empty(self, prefix: str) -> bool:
        return await self._store.is_empty(prefix)

    async def getsize(self, key: str) -> int:
        return await self._store.getsize(key)

    async def getsize_prefix(self, prefix: str) -> int:
        return await self._store.getsize_prefix(prefix)

    def list(self) -> AsyncIterator[str]:
        return self._store.list()

    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        return self._store.list_prefix(prefix)

    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        return self._store.list_dir(prefix)

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Returns a value or a part of it, without an event loop."""
        found: Buffer | None = self._without_loop("get")(key, prototype=prototype, byte_range=byte_range)
        return found

    def set_sync(self, key: str, value: Buffer) -> None:
        """Write a value without an event loop."""
        self._without_loop("set")(key, value)

    def delete_sync(self, key: str) -> None:
        """Delete a value without an event loop."""
        self._without_loop("delete")(key)

    def _without_loop(self, name: str) -> Any:
        method = getattr(self._store, f"{name}_sync", None)
        if method is None:
            raise TypeError(f"Store {type(self._store).__name__} does not support synchronous {name}.")
        return method


class LoggingStore(WrapperStore[S]):
    """A store that logs and counts all calls to another store.

    Parameters
    ----------
    store : Store
        The other store.
    log_level : str, optional
        The level of the logger.
    log_handler : logging.Handler, optional
        The handler of the messages; by default the standard output, unless the logger has another handler.

    Attributes
    ----------
    counter : dict
        The number of calls of each method.

    Examples
    --------
    >>> import logging, zarrox as zarr
    >>> store = zarr.storage.LoggingStore(zarr.storage.MemoryStore(), log_handler=logging.NullHandler())
    >>> z = zarr.create_array(store, data=[1, 2, 3])
    >>> store.counter["set"]
    2
    """

    def __init__(self, store: S, log_level: str = "DEBUG", log_handler: logging.Handler | None = None) -> None:
        # This module is slow to import, and few programs need it.
        import logging

        super().__init__(store)
        self.counter: defaultdict[str, int] = defaultdict(int)
        self.log_level = log_level
        self.log_handler = log_handler
        self.logger = logging.getLogger(f"LoggingStore({store})")
        self.logger.setLevel(log_level)
        if not self.logger.hasHandlers():
            self.logger.addHandler(log_handler or self._default_handler())

    def _default_handler(self) -> logging.Handler:
        import logging

        handler = logging.StreamHandler(stream=sys.stdout)
        handler.setLevel(self.log_level)
        handler.setFormatter(logging.Formatter("%(asctime)s - %(name)s - %(levelname)s - %(message)s"))
        return handler

    def _with_store(self, store: S) -> Self:
        return type(self)(store=store, log_level=self.log_level, log_handler=self.log_handler)

    @classmethod
    async def open(
        cls,
        store_cls: type[S],
        *args: Any,
        log_level: str = "DEBUG",
        log_handler: logging.Handler | None = None,
        **kwargs: Any,
    ) -> Self:
        """Create and open a store of a given class, and log its calls."""
        return cls(await store_cls.open(*args, **kwargs), log_level, log_handler)

    @contextmanager
    def log(self, hint: Any = "", method: str | None = None) -> Iterator[None]:
        """Log and count the call in the ``with`` statement."""
        name = method or inspect.stack()[2].function
        shown = f"{type(self._store).__name__}.{name}" + (f"({hint})" if hint else "")
        self.logger.info(" Calling %s", shown)
        self.counter[name] += 1
        start = time.monotonic()
        try:
            yield
        finally:
            self.logger.info("Finished %s [%.2f s]", shown, time.monotonic() - start)

    def __str__(self) -> str:
        return f"logging-{self._store}"

    def __repr__(self) -> str:
        return f"LoggingStore({type(self._store).__name__}, '{self._store}')"


def _logged(name: str) -> Any:
    """Returns the method of a `WrapperStore`, extended to write a line to the log."""
    method = vars(WrapperStore)[name]
    if isinstance(method, property):
        read = method.fget
        assert read is not None

        def get(self: LoggingStore[Any]) -> Any:
            with self.log(method=name):
                return read(self)

        return property(get, method.fset)
    if inspect.iscoroutinefunction(method):

        async def call(self: LoggingStore[Any], *args: Any, **kwargs: Any) -> Any:
            with self.log(_hint(args, kwargs), name):
                return await method(self, *args, **kwargs)

        return call
    if inspect.isasyncgenfunction(method) or name in ("list", "list_prefix", "list_dir"):

        async def iterate(self: LoggingStore[Any], *args: Any, **kwargs: Any) -> Any:
            with self.log(_hint(args, kwargs), name):
                async for each in method(self, *args, **kwargs):
                    yield each

        return iterate

    def do(self: LoggingStore[Any], *args: Any, **kwargs: Any) -> Any:
        with self.log(_hint(args, kwargs), name):
            return method(self, *args, **kwargs)

    return do


def _hint(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = [*args, *kwargs.values()]
    return given[0] if given and isinstance(given[0], str) else ""


for _name in (
    "supports_writes supports_deletes supports_listing read_only _is_open _open _ensure_open is_empty clear __eq__ get "
    "get_partial_values get_ranges _get_many exists set set_if_not_exists _set_many delete delete_dir getsize getsize_prefix list "
    "list_prefix list_dir get_sync set_sync delete_sync with_read_only close"
).split():
    setattr(LoggingStore, _name, _logged(_name))
LoggingStore.__abstractmethods__ = frozenset()
