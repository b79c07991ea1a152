"""Stores that Rust reads and writes."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from zarrox import _native
from zarrox.argument_types import PathArgument

from .base import BaseStore
from .paths import NUMBER, array_meta_key, is_key, normalize_storage_path, prefix_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["FileStore", "NativeStore", "open_url"]


def open_url(url: str, options: dict[str, str] | None = None, create: bool = False) -> _native.Store:
    """Opens the store at a URL."""
    store, path = _native.Store.from_url(url, options, create)
    return store.prefixed(path) if path else store


class NativeStore(BaseStore):
    """A store that Rust reads and writes. Subclasses open it in ``_connect``."""

    _handle: _native.Store | None = None
    _mapping: MutableMapping[str, Any] | None = None
    """The Python mapping below the handle, if there is one. It is queried directly for information other than values."""
    _read_only = False
    _identity: tuple[str, ...] = ("path",)
    """The attributes that identify a store."""
    _transient: tuple[str, ...] = ("_handle", "_mapping", "_open_count")
    """The attributes that are not pickled with a store."""

    def _connect(self) -> _native.Store:
        raise NotImplementedError(f"{type(self).__name__} does not implement _connect")

    @property
    def _raw(self) -> _native.Store:
        """The native store that holds the keys and values."""
        handle = self._handle
        if handle is None:
            # The store is opened on first use, so that it can be unpickled anywhere.
            handle = self._connect()
            self._handle = handle = handle.read_only() if self._read_only else handle
        return handle

    @property
    def native(self) -> _native.Store:
        """The native store through which Rust reads and writes this store."""
        if self._custom:
            return _native.Store.mapping(self, self._raw)
        return _native.Store.mapping(_Translated(self), self._raw) if self._translates() else self._raw

    def _translates(self) -> bool:
        """Returns true if the store transforms keys."""
        return False

    def _normalize_key(self, key: str) -> str:
        return key

    def is_writeable(self) -> bool:
        """Returns true if values can be written."""
        return self._writeable and not self._read_only

    def is_erasable(self) -> bool:
        """Returns true if values can be deleted."""
        return self._erasable and not self._read_only

    def __getitem__(self, key: str) -> Any:
        key = self._normalize_key(key)
        try:
            value = self._raw.get(key)
        except ValueError:
            if is_key(key):
                raise
            value = None
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.dtype.kind in "mM":
            value = value.view("i8")  # Date dtypes do not support the buffer protocol.
        self._raw.set(self._normalize_key(key), value)

    def __delitem__(self, key: str) -> None:
        key = self._normalize_key(key)
        if not is_key(key) or not self._raw.delete(key):
            raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        key, raw = self._normalize_key(key), self._raw
        if not is_key(key):
            return False
        return raw.contains(key) if self._mapping is None else key in self._mapping

    def _keys(self) -> list[str]:
        raw = self._raw
        return raw.keys() if self._mapping is None else sorted(self._mapping)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys())

    def __len__(self) -> int:
        return len(self._keys())

    def clear(self) -> None:
        """Deletes everything."""
        self._raw.delete_prefix("")

    def listdir(self, path: PathArgument = None) -> list[str]:
        """Returns the names directly below a path.

        Parameters
        ----------
        path : str, optional
            The path; the root if not given.

        Returns
        -------
        list of str
            Sorted; empty if nothing exists there. If the separator in chunk keys is ``/``, chunks of version 2 arrays are listed
            with ``.``.
        """
        path = self._normalize_key(normalize_storage_path(path))
        names = self._names(path)
        if self._dimension_separator == "/" and array_meta_key in names:
            return self._with_chunks(path, names)
        return names

    def _names(self, path: str) -> list[str]:
        return self._raw.list_dir(path)

    def _with_chunks(self, path: str, names: list[str]) -> list[str]:
        prefix = prefix_of(path)
        flat: list[str] = []
        for name in names:
            below = self._raw.keys(prefix + name) if NUMBER.match(name) else []
            flat += [key[len(prefix) :].replace("/", ".") for key in below] or [name]
        return sorted(flat)

    def getsize(self, path: PathArgument = None) -> int:
        path = self._normalize_key(normalize_storage_path(path))
        raw = self._raw
        size = raw.size(path) if path else None
        if size is not None:
            return size
        prefix = prefix_of(path)
        return sum(raw.size(prefix + name) or 0 for name in self._names(path))

    def rename(self, src_path: PathArgument, dst_path: PathArgument) -> None:
        source, target = (self._normalize_key(normalize_storage_path(path)) for path in (src_path, dst_path))
        self._raw.rename(source, target)

    def rmdir(self, path: PathArgument = None) -> None:
        self._raw.delete_prefix(self._normalize_key(normalize_storage_path(path)))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self._transient}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NativeStore) or other._identity != self._identity:
            return NotImplemented
        if not (isinstance(other, type(self)) or isinstance(self, type(other))):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in self._identity)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(repr(getattr(self, name)) for name in self._identity)})"


class _Translated(NativeStore):
    """The stored keys and values of a store that transforms keys, in the form that Rust uses."""

    def __init__(self, store: NativeStore) -> None:
        self._handle = store._raw
        self._normalize_key = store._normalize_key  # type: ignore[method-assign]


class FileStore(NativeStore):
    """A store in a single file. It must be closed."""

    path: str
    _closed = False
    _transient = (*NativeStore._transient, "_closed")

    @property
    def _raw(self) -> _native.Store:
        if self._closed:
            raise ValueError(f"the {type(self).__name__} '{self.path}' is closed: open it anew")
        return super()._raw

    def flush(self) -> None:
        """Flushes all writes to the file."""
        if self._handle is not None and not self._read_only:
            self._handle.flush()

    def close(self) -> None:
        """Completes and closes the file. The store cannot be used afterwards."""
        self.flush()
        self._handle = None
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
