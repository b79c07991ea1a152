"""A store for zarr-python over any store of Zarrox."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from typing import Any, ClassVar, Self, TypeVar

import zarr.abc.store
from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype

from zarrox import _native
from zarrox.storage import normalize_store_arg
from zarrox.storage.awaited import range_of
from zarrox.storage.base import BaseStore
from zarrox.storage.directory import directory_options
from zarrox.storage.paths import is_key
from zarrox.storage.remote import FSStore, native_options
from zarrox.storage.native import open_url

from .n5 import N5View, is_n5, n5_store, register_n5
from .threads import elsewhere

__all__ = ["Store"]

_Result = TypeVar("_Result")

_Range = tuple[int | None, int | None]
"""A start and a length. Without a start, the range is the end of a value; without a length, it is the rest of the
value."""


class Store(zarr.abc.store.Store):
    """A store for zarr-python over any store of Zarrox.

    Its methods release the GIL while Rust works. The codec pipeline reads and writes chunks in the store without
    calling its methods.

    Parameters
    ----------
    place : str, PathLike, BaseStore or MutableMapping
        A directory, an archive ``*.zip``, a URL (``s3://…``, ``https://…``, ``sqlite:///…``, ``redb:///…``, ``zip::s3://…``), a store of
        :mod:`zarrox.storage`, or a mapping from keys to bytes. A directory or URL ``*.n5`` is shown as version 2 of Zarr.
    read_only : bool, optional
        Whether writing is rejected.
    storage_options : dict, optional
        Options for a URL, with the names of fsspec or of Zarrox. A directory has the options ``follow_links``,
        ``sync``, ``exclusive`` and ``lock_timeout``.

    Raises
    ------
    ValueError
        If `storage_options` are given, and `place` is neither a URL nor a directory.

    Examples
    --------
    >>> import numpy as np, zarr, zarrox.zarr3
    >>> store = zarrox.zarr3.Store("memory://example")
    >>> z = zarr.create_array(store, data=np.arange(4))
    >>> zarr.open_array(store)[1:]
    array([1, 2, 3])
    """

    supports_deletes = True
    supports_partial_writes = False
    _transient: ClassVar[frozenset[str]] = frozenset({"_opened"})

    def __init__(
        self, place: Any, *, read_only: bool = False, storage_options: dict[str, Any] | None = None
    ) -> None:
        place = os.fspath(place) if isinstance(place, os.PathLike) else place
        if isinstance(place, str) and "://" not in place and "::" not in place:
            place = os.path.abspath(place)
        is_url = isinstance(place, str) and ("://" in place or "::" in place)
        if storage_options and not is_url:
            if not isinstance(place, str):
                raise ValueError(f"storage_options are for URLs and directories, and {place!r} is none")
            directory_options(**storage_options)
        self._place = place
        self._options = dict(storage_options or {})
        self._is_n5 = is_n5(place)
        self._opened: _Opened | None = None
        super().__init__(read_only=read_only)

    @property
    def place(self) -> Any:
        """The argument ``place`` with which the store was created."""
        return self._place

    @property
    def is_n5(self) -> bool:
        """True if the store contains N5 data, which is shown in the form of version 2."""
        return self._is_n5

    @property
    def native(self) -> _native.Store | None:
        """The native store; ``None`` if keys and values are transformed, as they are for N5."""
        return None if self._is_n5 else self._handle.native

    @property
    def _handle(self) -> _Opened:
        # The store is opened on first use, so that it can be unpickled anywhere.
        if self._opened is None:
            self._opened = _Opened(self._place, self._options, self._read_only, self._is_n5)
        return self._opened

    def with_read_only(self, read_only: bool = False) -> Self:
        other = type(self)(self._place, read_only=read_only, storage_options=self._options)
        # An archive must not be opened a second time while it is written.
        if self._opened is not None and (read_only or not self._read_only):
            other._opened = self._opened
        return other

    def close(self) -> None:
        if self._opened is not None and not self._read_only:
            self._opened.flush()
        super().close()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Store) and self._place == other._place and self._options == other._options

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self._transient}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _opened=None)

    def __str__(self) -> str:
        return self._place if isinstance(self._place, str) else repr(self._place)

    def __repr__(self) -> str:
        return f"Store({str(self)!r})" if isinstance(self._place, str) else f"Store({self._place!r})"

    @property
    def supports_writes(self) -> bool:
        return self._handle.native.writable

    @property
    def supports_listing(self) -> bool:
        return self._handle.native.listable

    # One value.

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Returns a value, or a part of it; ``None`` if it is missing."""
        make = (prototype or default_buffer_prototype()).buffer.from_bytes
        if byte_range is None:
            value = self._handle.get(key)
            return None if value is None else make(value)
        parts = self._handle.get_ranges(key, [range_of(byte_range)])
        return None if parts is None else make(parts[0])

    def set_sync(self, key: str, value: Buffer) -> None:
        """Writes a value."""
        self._check_writable()
        _check(value)
        self._handle.set(key, value.as_buffer_like())

    def delete_sync(self, key: str) -> None:
        """Deletes a value, if it exists."""
        self._check_writable()
        self._handle.delete(key)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        return await self._do(lambda: self.get_sync(key, prototype=prototype, byte_range=byte_range))

    async def set(self, key: str, value: Buffer) -> None:
        self._check_writable()
        await self._do(lambda: self.set_sync(key, value))

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        self._check_writable()
        _check(value)
        await self._do(lambda: self._handle.set_if_absent(key, value.as_buffer_like()))

    async def delete(self, key: str) -> None:
        self._check_writable()
        await self._do(lambda: self.delete_sync(key))

    async def exists(self, key: str) -> bool:
        return await self._do(lambda: self._handle.contains(key))

    async def getsize(self, key: str) -> int:
        size = await self._do(lambda: self._handle.size(key))
        if size is None:
            raise FileNotFoundError(key)
        return size

    # Several values.

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        wanted = list(key_ranges)
        return await self._do(
            lambda: [self.get_sync(key, prototype=prototype, byte_range=one) for key, one in wanted]
        )

    async def _get_many(
        self, requests: Iterable[tuple[str, BufferPrototype, ByteRequest | None]]
    ) -> AsyncGenerator[tuple[str, Buffer | None], None]:
        wanted = list(requests)
        if self._is_n5 or any(byte_range is not None for _, _, byte_range in wanted):
            async for found in super()._get_many(wanted):
                yield found
            return
        keys = [key for key, _, _ in wanted if is_key(key)]
        values = await self._do(lambda: self._handle.native.get_many(keys))
        for key, prototype, _ in wanted:
            yield key, prototype.buffer.from_bytes(values[key]) if key in values else None

    async def get_ranges(
        self,
        key: str,
        byte_ranges: Sequence[ByteRequest | None],
        *,
        prototype: BufferPrototype,
        **limits: int,
    ) -> AsyncIterator[Sequence[tuple[int, Buffer | None]]]:
        if self._handle.is_far:
            # Requests are merged, and sent concurrently.
            async for group in super().get_ranges(key, byte_ranges, prototype=prototype, **limits):
                yield group
            return
        yield await self._do(lambda: self.get_ranges_sync(key, byte_ranges, prototype=prototype))

    def get_ranges_sync(
        self, key: str, byte_ranges: Sequence[ByteRequest | None], *, prototype: BufferPrototype, **limits: int
    ) -> Sequence[tuple[int, Buffer | None]]:
        """Returns ranges from a single version of a value.

        Raises
        ------
        BaseExceptionGroup
            With a ``FileNotFoundError`` if the value is missing, as in zarr-python.
        """
        if not byte_ranges:
            return []
        parts = self._handle.get_ranges(key, [(0, None) if one is None else range_of(one) for one in byte_ranges])
        if parts is None:
            raise BaseExceptionGroup("chunk read failed", [FileNotFoundError(key)])
        return [(index, prototype.buffer.from_bytes(part)) for index, part in enumerate(parts)]

    # Many keys.

    async def list(self) -> AsyncIterator[str]:
        for key in await self._do(lambda: self._handle.keys("")):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        above = prefix.rpartition("/")[0]
        for key in await self._do(lambda: self._handle.keys(above)):
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        for name in await self._do(lambda: self._handle.list_dir(prefix.strip("/"))):
            yield name

    async def is_empty(self, prefix: str) -> bool:
        return await self._do(lambda: self._handle.native.is_empty(prefix))

    async def delete_dir(self, prefix: str) -> None:
        self._check_writable()
        await self._do(lambda: self._handle.native.delete_prefix(prefix))

    async def clear(self) -> None:
        await self.delete_dir("")

    async def getsize_prefix(self, prefix: str) -> int:
        return await self._do(lambda: self._handle.native.sizes(prefix))

    async def _do(self, work: Callable[[], _Result]) -> _Result:
        """Runs work without blocking the event loop."""
        return work() if self._handle.is_at_hand else await elsewhere(work)


class _Opened:
    """An open store, which several handles may share."""

    def __init__(self, place: Any, options: dict[str, Any], read_only: bool, of_n5: bool) -> None:
        store = _opened(place, options, read_only, of_n5)
        self._store = store if isinstance(store, BaseStore) else None
        native = store.native if isinstance(store, BaseStore) else store
        self.native = native.read_only() if read_only else native
        self._view = N5View(store) if of_n5 and isinstance(store, BaseStore) else None
        scheme = place.partition("://")[0] if isinstance(place, str) else ""
        self.is_at_hand = scheme == "memory" or isinstance(place, dict)
        self.is_far = native.is_far

    def get(self, key: str) -> bytes | None:
        if self._view is not None:
            return self._view.get(key)
        return self.native.get(key) if is_key(key) else None

    def get_ranges(self, key: str, ranges: list[_Range]) -> list[bytes] | None:
        if self._view is None:
            return self.native.get_ranges(key, ranges) if is_key(key) else None
        value = self.get(key)
        return None if value is None else [_cut(value, one) for one in ranges]

    def contains(self, key: str) -> bool:
        return self.native.contains(key) if self._view is None else self._view.contains(key)

    def size(self, key: str) -> int | None:
        if self._view is None:
            return self.native.size(key) if is_key(key) else None
        value = self.get(key)
        return None if value is None else len(value)

    def set(self, key: str, value: Any) -> None:
        (self.native if self._view is None else self._view).set(key, value)

    def set_if_absent(self, key: str, value: Any) -> None:
        (self.native if self._view is None else self._view).set_if_absent(key, value)

    def delete(self, key: str) -> None:
        if is_key(key):
            (self.native if self._view is None else self._view).delete(key)

    def keys(self, prefix: str) -> list[str]:
        return self.native.keys(prefix) if self._view is None else self._view.keys(prefix)

    def list_dir(self, prefix: str) -> list[str]:
        return self.native.list_dir(prefix) if self._view is None else self._view.list_dir(prefix)

    def flush(self) -> None:
        self.native.flush()


def _opened(place: Any, options: dict[str, Any], read_only: bool, of_n5: bool) -> BaseStore | _native.Store:
    """Returns the store at a place: a store of this package, or the native store at a URL."""
    is_url = isinstance(place, str) and ("://" in place or "::" in place)
    if of_n5 and is_url:
        return n5_store(place, read_only, options)
    if not is_url:
        if of_n5:
            register_n5()
        if isinstance(place, BaseStore):
            return place
        return normalize_store_arg(place, storage_options=options or None, mode="r" if read_only else "a")
    natively = native_options(place.rpartition("::")[2], options)
    if natively is None and place.partition("://")[0] == "memory" and not options:
        natively = {}
    if natively is not None:
        return open_url(place, natively, create=not read_only)
    # These are options and URLs that only fsspec supports.
    return FSStore(place, mode="r" if read_only else "w", **options)


def _cut(value: bytes, one: _Range) -> bytes:
    start, length = one
    if start is None:
        return value[max(len(value) - (length or 0), 0) :]
    return value[start:] if length is None else value[start : start + length]


def _check(value: Any) -> None:
    if not isinstance(value, Buffer):
        raise TypeError(f"a value must be a Buffer of zarr-python, not a {type(value).__name__}")
