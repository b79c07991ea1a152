"""Stores in database files."""

from __future__ import annotations

import dbm
import os
import threading
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import suppress
from functools import partial
from pickle import PicklingError
from typing import Any

from zarrox import _native
from zarrox.errors import UnsupportedError

from .native import FileStore

__all__ = ["DBMStore", "LMDBStore", "SQLiteStore"]

_BERKELEY_DB = {magic.to_bytes(4, order) for magic in (0x053162, 0x061561) for order in ("little", "big")}
"""The bytes at offset 12 of Berkeley DB files: trees and hashes, written by machines of either byte order."""


class _DBMValues(MutableMapping[str, bytes]):
    """A database that is accessed through one of Python's ``dbm`` modules, as a mapping from strings to bytes.

    An SQLite database may be used only by the thread that opened it, so it gets a separate thread.
    """

    def __init__(self, opener: Callable[[], Any], own_thread: bool) -> None:
        self.lock = threading.Lock()
        self.thread = None
        if own_thread:
            from concurrent.futures import ThreadPoolExecutor

            self.thread = ThreadPoolExecutor(1, thread_name_prefix="dbm")
        self.db = self._run(opener)

    def _run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self.thread is not None:
            return self.thread.submit(function, *arguments).result()
        with self.lock:
            return function(*arguments)

    def __getitem__(self, key: str) -> bytes:
        return bytes(self._run(self.db.__getitem__, key.encode()))

    def __setitem__(self, key: str, value: Any) -> None:
        self._run(self.db.__setitem__, key.encode(), bytes(value))

    def __delitem__(self, key: str) -> None:
        self._run(self.db.__delitem__, key.encode())

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and bool(self._run(self.db.__contains__, key.encode()))

    def __iter__(self) -> Iterator[str]:
        keys = self._run(lambda: list(self.db.keys()))
        return (bytes(key).decode() for key in keys)

    def __len__(self) -> int:
        return len(self._run(lambda: list(self.db.keys())))

    def sync(self) -> None:
        if hasattr(self.db, "sync"):
            self._run(self.db.sync)

    def close(self) -> None:
        self._run(self.db.close)
        if self.thread is not None:
            self.thread.shutdown()


def _is_berkeley_db(path: str) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        return file.read(16)[12:] in _BERKELEY_DB
    return False


class DBMStore(FileStore):
    """A store in a DBM database.

    GNU databases are read and written natively, and new databases are GNU databases. Berkeley DB files are read natively. All other
    kinds are read and written by Python's modules.

    Parameters
    ----------
    path : str or PathLike
        The file.
    flag : {'c', 'n', 'r', 'w'}, optional
        'c': created if missing; 'n': created, replaces an existing database; 'r': read only, must exist; 'w': read and
        write, must exist.
    mode : int, optional
        The permissions of a new file.
    open : callable, optional
        The function that opens the database, such as ``dbm.dumb.open``: ``open(path, flag, mode)``. Detected if not given.
    write_lock : bool, optional
        No effect: only one thread at a time uses the database.
    dimension_separator : {'.', '/'}, optional
        The separator in the chunk keys of new arrays.
    sync : bool, optional
        Whether every write is flushed to the disk. Without flushing, writing is much faster, but a killed process may
        lose its writes.
    **open_kwargs
        Further arguments for `open`.

    Examples
    --------
    >>> import os, tempfile
    >>> import zarrox.v2 as zarr
    >>> path = os.path.join(tempfile.mkdtemp(), "array.db")
    >>> with zarr.DBMStore(path) as store:
    ...     z = zarr.zeros((10, 10), chunks=(5, 5), store=store)
    ...     z[...] = 42
    """

    flag = "c"
    mode = 0o666
    open: Callable[..., Any] | None = None
    write_lock = True
    _sync = True
    _mapping: _DBMValues | None = None
    _identity = ("path", "open", "open_kwargs")

    def __init__(
        self,
        path: str | os.PathLike[str],
        flag: str = "c",
        mode: int = 0o666,
        open: Callable[..., Any] | None = None,
        write_lock: bool = True,
        dimension_separator: str | None = None,
        *,
        sync: bool = True,
        **open_kwargs: Any,
    ) -> None:
        if flag[:1] not in ("c", "n", "r", "w"):
            raise ValueError(f"invalid flag {flag!r}; expected 'c', 'n', 'r' or 'w'")
        self.path = os.path.abspath(path)
        self.flag, self.mode, self.open, self.write_lock = flag, mode, open, write_lock
        self.open_kwargs = open_kwargs
        if not sync:
            self._sync = False
        if dimension_separator is not None:
            self._dimension_separator = dimension_separator
        self._read_only = flag[0] == "r"
        self._raw  # noqa: B018 - reports a missing file immediately, and 'n' empties the file only once

    def _connect(self) -> _native.Store:
        opener = self._opener()
        if opener is not None:
            own_thread = "dbm.sqlite3" in (opener.__module__, dbm.whichdb(self.path))
            opening = partial(opener, self.path, self.flag, self.mode, **self.open_kwargs)
            self._mapping = _DBMValues(opening, own_thread)
            return _native.Store.mapping(self._mapping)
        exists = os.path.exists(self.path)
        if not exists and self.flag[0] in "rw":
            raise FileNotFoundError(f"'{self.path}' does not exist: flag='c' would make it")
        if _is_berkeley_db(self.path) and self.flag[0] != "n":
            return _native.Store.berkeley_db(self.path)
        if exists and self.flag[0] == "n":
            os.remove(self.path)
            exists = False
        store = _native.Store.gdbm(self.path, self._sync)
        if not exists and self.mode != 0o666 and os.path.exists(self.path):
            os.chmod(self.path, self.mode)
        return store

    def _opener(self) -> Callable[..., Any] | None:
        """Returns the function that opens the database if it is not opened natively."""
        if self.open is not None and self.open is not dbm.open:
            # The module of the function determines the kind of the file: `dbm.gnu.open` is `_gdbm.open`.
            return None if getattr(self.open, "__module__", None) in ("_gdbm", "dbm.gnu") else self.open
        if self.flag[0] == "n" or _is_berkeley_db(self.path):
            return None
        return None if dbm.whichdb(self.path) in (None, "dbm.gnu") or not self._size() else dbm.open

    def _size(self) -> int:
        """Returns the size of the file; 1 if the database consists of several files with other names."""
        return os.path.getsize(self.path) if os.path.exists(self.path) else 1

    def flush(self) -> None:
        if self._mapping is None:
            super().flush()
        elif not self._read_only:
            self._mapping.sync()

    def close(self) -> None:
        super().close()
        if self._mapping is not None:
            self._mapping.close()
            self._mapping = None

    @property
    def db(self) -> Any:
        """The database object of the Python module; ``None`` if no Python module is needed."""
        return None if self._mapping is None else self._mapping.db

    def __getstate__(self) -> dict[str, Any]:
        if not self._closed:
            self.flush()
        state = super().__getstate__()
        # Unpickling must not empty the database.
        return {**state, "flag": self.flag.replace("n", "c", 1)}


class LMDBStore(FileStore):
    """A store in an LMDB database.

    Parameters
    ----------
    path : str or PathLike
        The directory of the database, or its file.
    buffers : bool, optional
        No effect: memory is never copied needlessly.
    dimension_separator : {'.', '/'}, optional
        The separator in the chunk keys of new arrays.
    **kwargs
        Arguments of ``lmdb.open``. Only ``readonly`` and ``sync`` have an effect; the others concern speed.

    Examples
    --------
    >>> import os, tempfile
    >>> import zarrox.v2 as zarr
    >>> with zarr.LMDBStore(os.path.join(tempfile.mkdtemp(), "array.mdb")) as store:
    ...     z = zarr.zeros((10, 10), chunks=(5, 5), store=store)
    ...     z[...] = 42
    """

    buffers = True
    _TAKEN = frozenset(
        "map_size subdir readonly metasync sync map_async mode create readahead writemap meminit max_readers max_dbs "
        "max_spare_txns lock".split()
    )

    def __init__(
        self,
        path: str | os.PathLike[str],
        buffers: bool = True,
        dimension_separator: str | None = None,
        **kwargs: Any,
    ) -> None:
        _check_names("lmdb.open", kwargs, self._TAKEN)
        self.path = os.path.abspath(path)
        if not buffers:
            self.buffers = False
        self.kwargs = kwargs
        if dimension_separator is not None:
            self._dimension_separator = dimension_separator
        self._read_only = bool(kwargs.get("readonly", False))
        self._raw  # noqa: B018 - reports an invalid file immediately

    def _connect(self) -> _native.Store:
        exists = os.path.exists(self.path)
        if not exists and (self._read_only or not self.kwargs.get("create", True)):
            raise FileNotFoundError(f"'{self.path}' does not exist")
        if not exists and not self.kwargs.get("subdir", True):
            raise UnsupportedError(f"'{self.path}': new databases are directories; leave out subdir=False")
        return _native.Store.lmdb(self.path, bool(self.kwargs.get("sync", True)))


class SQLiteStore(FileStore):
    """A store in an SQLite database.

    Parameters
    ----------
    path : str or PathLike
        The file; ``':memory:'`` for a database in memory.
    dimension_separator : {'.', '/'}, optional
        The separator in the chunk keys of new arrays.
    sync : bool, optional
        Whether every write is flushed to the disk. Without flushing, writing is much faster, but a power failure may
        damage the database.
    **kwargs
        Arguments of ``sqlite3.connect``, which have no effect.

    Examples
    --------
    >>> import os, tempfile
    >>> import zarrox.v2 as zarr
    >>> with zarr.SQLiteStore(os.path.join(tempfile.mkdtemp(), "array.sqldb")) as store:
    ...     z = zarr.zeros((10, 10), chunks=(5, 5), store=store)
    ...     z[...] = 42
    """

    _TAKEN = frozenset("timeout cached_statements factory uri".split())

    _sync = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        dimension_separator: str | None = None,
        *,
        sync: bool = True,
        **kwargs: Any,
    ) -> None:
        _check_names("sqlite3.connect", kwargs, self._TAKEN)
        self.path = path if path == ":memory:" else os.path.abspath(path)
        self.kwargs = kwargs
        if not sync:
            self._sync = False
        if dimension_separator is not None:
            self._dimension_separator = dimension_separator
        self._raw  # noqa: B018 - reports an invalid file immediately

    def _connect(self) -> _native.Store:
        return _native.Store.memory() if self.path == ":memory:" else _native.Store.sqlite(self.path, self._sync)

    def __getstate__(self) -> dict[str, Any]:
        if self.path == ":memory:":
            raise PicklingError("an SQLite database in memory cannot be pickled: use MemoryStore")
        return super().__getstate__()


def _check_names(function: str, given: dict[str, Any], taken: frozenset[str]) -> None:
    unknown = sorted(given.keys() - taken)
    if unknown:
        raise TypeError(f"{function} has no argument {', '.join(map(repr, unknown))} that a store can take")
