"""Stores in directories, in memory and in zip archives, with the interface of zarr-python 3."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from zarrox import _native

from . import archive, memory
from .awaited import AwaitedStore
from .base import KVStore
from .directory import DirectoryStore
from .paths import normalize_storage_path

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self

__all__ = ["LocalStore", "ManagedMemoryStore", "MemoryStore", "ZipStore"]


def _move(path: str, target: str) -> None:
    """Moves a file or a directory into a directory, which is created if it is missing."""
    import shutil  # The import is slow, since it imports all archive compressors.

    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.move(path, target)


class LocalStore(AwaitedStore, DirectoryStore):
    """A store in a directory.

    Parameters
    ----------
    root : str or PathLike
        The directory. It is created with the first value.
    read_only : bool, optional
        Whether the store is read-only.
    sync, follow_links, storage_options
        As for `zarrox.v2.storage.DirectoryStore`.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        read_only: bool = False,
        sync: bool = False,
        follow_links: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(root, (str, os.PathLike)):
            raise TypeError(f"'root' must be a string or Path instance. Got an instance of {type(root)} instead.")
        super().__init__(root, sync=sync, follow_links=follow_links, storage_options=storage_options)
        if read_only:
            self._read_only = True

    @classmethod
    async def open(cls, root: str | os.PathLike[str], *, mode: str | None = None, **kwargs: Any) -> Self:
        """Create a store, and open it. With mode "r", the directory must exist; all other modes create it."""
        store = cls(root, **({"read_only": mode == "r"} if mode is not None else {}) | kwargs)
        if not store.read_only:
            os.makedirs(store.path, exist_ok=True)
        elif not os.path.isdir(store.path):
            raise FileNotFoundError(f"{store.root} does not exist")
        await store._open()
        return store

    @property
    def root(self) -> Path:
        """The directory."""
        from pathlib import Path

        return Path(self.path)

    def __str__(self) -> str:
        return f"file://{self.root.as_posix()}"

    async def delete_dir(self, prefix: str) -> None:
        """Delete all values below a prefix."""
        if prefix and os.path.isfile(self.dir_path(prefix)):
            raise ValueError(f"delete_dir was passed a prefix={prefix!r} that is a file")
        await super().delete_dir(prefix)

    async def move(self, dest_root: str | os.PathLike[str]) -> None:
        """Move the directory, and the store with it."""
        target = os.path.abspath(dest_root)
        if os.path.exists(target):
            raise FileExistsError(f"Destination root {target} already exists.")
        _move(self.path, target)
        self.path, self._handle = target, None


class MemoryStore(AwaitedStore, memory.MemoryStore):
    """A store in memory.

    Parameters
    ----------
    store_dict : MutableMapping, optional
        Values by key. The mapping is used directly.
    read_only : bool, optional
        Whether the store is read-only.

    Examples
    --------
    >>> import zarrox as zarr
    >>> store = zarr.storage.MemoryStore()
    >>> group = zarr.group(store)
    >>> list(store)
    ['zarr.json']
    """

    _at_hand = True
    _transient = (*AwaitedStore._transient, "_kept")
    _kept: _native.Store | None = None

    def __init__(self, store_dict: MutableMapping[str, Any] | None = None, *, read_only: bool = False) -> None:
        if store_dict is None:
            self._kept = _native.Store.memory()
        else:
            self._values = store_dict
        if read_only:
            self._read_only = True

    def _connect(self) -> _native.Store:
        if self._values is not None:
            return KVStore(self._values).native
        if self._kept is None:
            self._kept = _native.Store.memory()
        return self._kept

    @property
    def _holder(self) -> Any:
        return self._connect() if self._values is None else self._values

    @property
    def _store_dict(self) -> MutableMapping[str, Any]:
        return self if self._values is None else self._values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemoryStore):
            return NotImplemented
        return self is other or (self.read_only == other.read_only and dict(self) == dict(other))

    __hash__ = None

    def __str__(self) -> str:
        return f"memory://{id(self._store_dict)}"

    __repr__ = AwaitedStore.__repr__


class ManagedMemoryStore(MemoryStore):
    """A named store in the memory of this process. Stores with the same name share their values, which are kept as long as one of the
    stores exists.

    Parameters
    ----------
    name : str, optional
        The name; a new one if not given.
    path : str, optional
        The path in the store with this name.
    read_only : bool, optional
        Whether the store is read-only.

    Examples
    --------
    >>> from zarrox.storage import ManagedMemoryStore
    >>> first, second = ManagedMemoryStore("shared"), ManagedMemoryStore.from_url("memory://shared")
    >>> first["a"] = b"1"
    >>> second["a"]
    b'1'
    """

    def __init__(self, name: str | None = None, *, path: str = "", read_only: bool = False) -> None:
        super().__init__(read_only=read_only)
        kept = _native.Store.memory()
        if name is not None and "/" in name:
            raise ValueError(f"Store name cannot contain '/': {name!r}. Use path= for a place in the store.")
        self._name = str(id(kept)) if name is None else name
        self.path = normalize_storage_path(path)
        self._shared = _shared.setdefault(self._name, _Shared(kept))
        self._kept = self._shared.store.prefixed(self.path) if self.path else self._shared.store

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False) -> Self:
        """Returns the store at a URL ``memory://name/path``."""
        scheme, _, rest = url.partition("://")
        name, _, path = rest.partition("/")
        if scheme != "memory" or not name:
            raise ValueError(f"Expected a 'memory://' URL with a name, such as memory://name/path, not {url!r}")
        return cls(name, path=path, read_only=read_only)

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    def __str__(self) -> str:
        return f"memory://{self._name}" + (f"/{self.path}" if self.path else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ManagedMemoryStore) and (self._name, self.path, self.read_only) == (
            other._name,
            other.path,
            other.read_only,
        )

    __hash__ = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _found, (self._name, self.path, self.read_only)


class _Shared:
    """The values that all stores with the same name share."""

    def __init__(self, store: _native.Store) -> None:
        self.store = store


_shared: weakref.WeakValueDictionary[str, _Shared] = weakref.WeakValueDictionary()


def _found(name: str, path: str, read_only: bool) -> ManagedMemoryStore:
    return ManagedMemoryStore(name, path=path, read_only=read_only)


class ZipStore(AwaitedStore, archive.ZipStore):
    """A store in a zip archive, in which each value is an entry.

    The archive must be completed with :meth:`close` or a ``with`` statement. Only one process can write to it at a
    time.

    Parameters
    ----------
    path : str or PathLike
        The archive.
    mode : {'r', 'r+', 'a', 'w', 'x'}, optional
        'r': read only; 'r+': read and write; 'a': created if missing; 'w': replaced by a new archive at the
        first write or :meth:`close`; 'x': created, must not exist.
    read_only : bool, optional
        Whether writing is rejected; by default true with mode 'r'.
    compression : int, optional
        The compression of entries, as in :mod:`zipfile`. Chunks are usually compressed already.
    allowZip64 : bool, optional
        No effect: archives of any size are supported.
    sync : bool, optional
        Whether the archive is flushed to the disk when it is completed.

    Examples
    --------
    >>> import os, tempfile
    >>> import zarrox as zarr
    >>> path = os.path.join(tempfile.mkdtemp(), "array.zip")
    >>> with zarr.storage.ZipStore(path, mode="w") as store:
    ...     z = zarr.zeros((10, 10), chunks=(5, 5), store=store)
    ...     z[...] = 42
    >>> zarr.open(path, mode="r")[0, 0]
    np.float64(42.0)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        mode: str = "r",
        read_only: bool | None = None,
        compression: int = archive.ZIP_STORED,
        allowZip64: bool = True,
        sync: bool = False,
    ) -> None:
        super().__init__(path, compression, allowZip64, mode, read_only=bool(read_only), sync=sync)

    def __str__(self) -> str:
        return f"zip://{self.path}"

    __repr__ = AwaitedStore.__repr__

    async def move(self, path: str | os.PathLike[str]) -> None:
        """Complete the archive, and move it."""
        self.flush()
        self._handle = None
        target = os.path.abspath(path)
        _move(self.path, target)
        self.path = target
        self.mode = "r" if self.mode == "r" else "a"
