"""Locks for concurrent writers of the same chunks.

A synchronizer provides a lock for each key: ``with synchronizer[key]: …``.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ProcessSynchronizer", "ThreadSynchronizer"]


class ThreadSynchronizer:
    """Locks between the threads of one process.

    Each lock is reentrant: the thread that holds it may acquire it again. Unpickling creates new locks.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> z = zarr.zeros((100, 100), chunks=(10, 10), synchronizer=zarr.ThreadSynchronizer())
    >>> z.synchronizer["0.0"]  # doctest: +ELLIPSIS
    <unlocked _thread.RLock object ...>
    """

    def __init__(self) -> None:
        self.mutex = threading.Lock()
        # A lock is deleted when its last user is done, so that few locks exist, whatever the size of the array.
        self.locks: WeakValueDictionary[str, Any] = WeakValueDictionary()

    def __getitem__(self, item: str) -> Any:
        with self.mutex:
            lock = self.locks.get(item)
            if lock is None:
                lock = self.locks[item] = threading.RLock()
            return lock

    def __getstate__(self) -> bool:
        return True

    def __setstate__(self, state: bool) -> None:
        vars(self).update(vars(ThreadSynchronizer()))

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


class _FileLock:
    """The lock of a file. All users of the file in this process share it.

    The operating system excludes other processes; a Python lock excludes other threads, which a file lock does not exclude.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.reset()

    def reset(self) -> None:
        self._threads = threading.RLock()
        self._depth = 0
        self._file: int | None = None

    def __enter__(self) -> Self:
        self._threads.acquire()
        try:
            if self._depth == 0:
                self._file = _locked_file(self.path)
            self._depth += 1
        except BaseException:
            self._threads.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._depth == 0:
            return  # The lock was acquired before a fork, and belongs to the parent process.
        self._depth -= 1
        if self._depth == 0 and self._file is not None:
            os.close(self._file)  # Closing the file also releases the lock.
            self._file = None
        self._threads.release()


def _locked_file(path: str) -> int:
    try:
        import fcntl
    except ImportError as error:
        raise NotImplementedError(
            "ProcessSynchronizer needs file locks of POSIX, which this system does not have"
        ) from error
    os.makedirs(os.path.dirname(path), exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        # This is the same kind of lock that zarr-python acquires, so that processes that use zarr-python wait as well.
        fcntl.lockf(file, fcntl.LOCK_EX)
    except BaseException:
        os.close(file)
        raise
    return file


_mutex = threading.Lock()
_locks: WeakValueDictionary[str, _FileLock] = WeakValueDictionary()


def _reset_after_fork() -> None:
    """Resets the locks in a forked process: it holds no locks, and the threads that held locks do not exist in it."""
    global _mutex
    _mutex = threading.Lock()
    for lock in list(_locks.values()):
        lock.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


class ProcessSynchronizer:
    """Locks between processes, and between the threads of each process.

    Each lock is reentrant: the thread that holds it may acquire it again.

    Parameters
    ----------
    path : str or PathLike
        A directory for lock files that all processes can access, outside of the data. It is created on first use.

    Examples
    --------
    >>> import os, tempfile
    >>> import zarrox.v2 as zarr
    >>> synchronizer = zarr.ProcessSynchronizer(os.path.join(tempfile.mkdtemp(), "example.sync"))
    >>> with synchronizer["0.0"]:
    ...     os.listdir(synchronizer.path)
    ['0.0']
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def __getitem__(self, item: str) -> _FileLock:
        path = os.path.abspath(os.path.join(self.path, item))
        with _mutex:
            lock = _locks.get(path)
            if lock is None:
                lock = _locks[path] = _FileLock(path)
            return lock

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProcessSynchronizer) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return f"ProcessSynchronizer({self.path!r})"
