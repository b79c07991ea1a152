"""Native stores for zarr-python's stores. Rust accesses the stores itself, or calls their methods."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, MutableMapping
from dataclasses import dataclass
from typing import Any

import zarr.storage
from zarr.abc.store import RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import cpu, default_buffer_prototype
from zarr.core.config import config

from zarrox import _native
from zarrox.storage.awaited import CalledBack
from zarrox.storage.remote import native_options

from .in_memory import FilesOfFsspec, ObjectsOfObstore
from .store import Store as OwnStore

__all__ = ["StoreAccess", "StoreError", "callback_access", "direct_access", "place"]


@dataclass(frozen=True)
class StoreAccess:
    """A store in the form in which Rust accesses it."""

    native: _native.Store
    kind: str
    """A short description for users."""
    is_callback: bool = False
    is_near: bool = False
    """True if a value can be read without a request to another machine."""


class StoreError(Exception):
    """A wrapper for a ``KeyError`` that a store raises. It can pass through code in which a ``KeyError`` would mean a missing value."""

    def __init__(self, error: KeyError) -> None:
        super().__init__(error)
        self.error = error


class Callback(CalledBack):
    """Any zarr-python store, as a mapping that is called from Rust threads.

    Parameters
    ----------
    store : zarr.abc.store.Store
        The store.
    loop : asyncio.AbstractEventLoop
        The event loop for the coroutines of the store. It must not wait for the caller.
    """

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(store)
        self._loop = loop

    def _prototype(self) -> Any:
        return default_buffer_prototype()

    def _requests(self) -> tuple[Any, Any]:
        return RangeByteRequest, SuffixByteRequest

    def _wait(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
        except KeyError as error:
            raise StoreError(error) from error

    def __setitem__(self, key: str, value: Any) -> None:
        self._wait(self._store.set(key, cpu.Buffer.from_bytes(value)))


def direct_access(store: Store) -> StoreAccess | None:
    """Returns a store in the form in which Rust accesses it without zarr-python.

    Parameters
    ----------
    store : zarr.abc.store.Store
        A store whose class is exactly one of zarr-python's or this package's. Subclasses are not supported, since they
        may behave differently.

    Returns
    -------
    StoreAccess or None
        ``None`` if the store must be called back.
    """
    if type(store) is OwnStore:
        native = store.native
        return None if native is None else StoreAccess(native, f"zarrox: {store}", is_near=not native.is_far)
    find = _KINDS.get(type(store).__name__)
    if find is None or type(store) is not getattr(zarr.storage, type(store).__name__, None):
        return None
    return find(store)


def place(store: Any) -> tuple[Any, ...]:
    """Returns the properties that locate the values of a store. ``LocalStore.move`` and other methods change them.

    Parameters
    ----------
    store : zarr.abc.store.Store
        A store.
    """
    members = vars(store)
    return tuple(members.get(name) for name in ("root", "path", "_zmode", "fs")) + (id(members.get("_store_dict")),)


def callback_access(store: Store, loop: asyncio.AbstractEventLoop) -> StoreAccess:
    """Returns the access to a store whose methods Rust calls.

    Parameters
    ----------
    store : zarr.abc.store.Store
        Any store.
    loop : asyncio.AbstractEventLoop
        The event loop for the coroutines of the store.
    """
    mapping = Callback(store, loop)
    native = _native.Store.mapping(mapping, f"{type(store).__name__} {store}", int(config.get("async.concurrency")))
    # The native store has a weak reference to the mapping, which this object keeps alive.
    return _MappingAccess(native, f"called back: {type(store).__name__}", is_callback=True, mapping=mapping)


@dataclass(frozen=True)
class _MappingAccess(StoreAccess):
    mapping: Any = None


def _directory(path: str) -> StoreAccess:
    # zarr-python follows all symbolic links, however the store is opened.
    return StoreAccess(_native.Store.directory(path, {"follow_links": "true"}), "directory", is_near=True)


def _local(store: Any) -> StoreAccess:
    return _directory(os.fspath(store.root))


def _memory(store: Any) -> StoreAccess:
    values = store._store_dict
    native = _native.Store.mapping(values, values, None, cpu.Buffer.from_bytes)
    path = getattr(store, "path", "")
    return _MappingAccess(native.prefixed(path) if path else native, "memory", is_near=True, mapping=values)


def _in_memory(mapping: MutableMapping[str, Any], identity: Any) -> StoreAccess:
    native = _native.Store.mapping(mapping, identity)
    return _MappingAccess(native, "memory", is_near=True, mapping=mapping)


def _zip(store: Any) -> StoreAccess | None:
    # While an archive is written, its central directory is in the memory of `zipfile`.
    if store._zmode != "r" or store.path is None:
        return None
    return StoreAccess(_native.Store.zip(os.fspath(store.path), "r", 0), "zip archive", is_near=True)


def _fsspec(store: Any) -> StoreAccess | None:
    fs, path = store.fs, store.path
    if store.allowed_exceptions != _allowed():
        return None
    inner = getattr(fs, "sync_fs", fs)
    kind = f"{type(inner).__module__}.{type(inner).__name__}"
    if kind == "fsspec.implementations.local.LocalFileSystem":
        return _directory(inner._strip_protocol(path))
    if kind == "fsspec.implementations.memory.MemoryFileSystem":
        return _in_memory(FilesOfFsspec(inner, path), f"memory of fsspec: {path}")
    scheme = _FSSPEC.get(kind)
    if scheme is None:
        return None
    url = path if scheme == "http" else f"{scheme}://{path}"
    options = native_options(url, inner.storage_options)
    return None if options is None else _at_url(url, options)


def _allowed() -> tuple[type[Exception], ...]:
    from zarr.storage._fsspec import ALLOWED_EXCEPTIONS

    return ALLOWED_EXCEPTIONS


def _obstore(store: Any) -> StoreAccess | None:
    inner = store.store
    kind = type(inner).__name__
    if kind == "LocalStore":
        return _directory(os.fspath(inner.prefix or "/"))
    if kind == "MemoryStore":
        return _in_memory(ObjectsOfObstore(inner), inner)
    if kind == "HTTPStore" and (inner.client_options or {}).keys() <= {"allow_http"}:
        return _at_url(str(inner.url), {})
    if kind != "S3Store" or inner.credential_provider is not None or inner.retry_config:
        return None
    settings = {str(name).removeprefix("aws_"): value for name, value in inner.config.items()}
    settings |= {str(name): value for name, value in (inner.client_options or {}).items()}
    bucket = settings.pop("bucket", None)
    if bucket is None or not settings.keys() <= _S3.keys():
        return None
    options = {_S3[name]: str(value).lower() if isinstance(value, bool) else str(value) for name, value in settings.items()}
    return _at_url(f"s3://{bucket}/{inner.prefix or ''}".rstrip("/"), options)


def _at_url(url: str, options: dict[str, str]) -> StoreAccess:
    native, path = _native.Store.from_url(url, options)
    scheme = url.partition("://")[0]
    return StoreAccess(native.prefixed(path) if path else native, scheme)


_FSSPEC = {
    "fsspec.implementations.http.HTTPFileSystem": "http",
    "s3fs.core.S3FileSystem": "s3",
    "gcsfs.core.GCSFileSystem": "gs",
    "adlfs.spec.AzureBlobFileSystem": "az",
}
"""The schemes of the file systems of fsspec that Rust accesses itself."""

_S3 = {
    "access_key_id": "access_key_id",
    "secret_access_key": "secret_access_key",
    "token": "session_token",
    "session_token": "session_token",
    "region": "region",
    "endpoint": "endpoint",
    "endpoint_url": "endpoint",
    "skip_signature": "anonymous",
    "virtual_hosted_style_request": "virtual_hosted",
    "allow_http": "allow_http",
}
"""The native names of the settings of obstore."""

_KINDS: dict[str, Callable[[Any], StoreAccess | None]] = {
    "LocalStore": _local,
    "MemoryStore": _memory,
    "ManagedMemoryStore": _memory,
    "ZipStore": _zip,
    "FsspecStore": _fsspec,
    "ObjectStore": _obstore,
}
"""The classes of :mod:`zarr.storage` that Rust can access itself."""
