"""Read-ahead of the variables of a dataset in a remote store. ``Dataset.load`` requests one variable after the other."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from zarrox.core.array import Array

#: The maximum size in bytes of a variable that is read ahead.
_LARGEST = 256 << 10
#: The factor by which more variables are read ahead each time.
_GROWTH = 4
#: The maximum number of variables that are read together. They take at most 64 MiB.
_MOST = 256
#: The maximum number of concurrent reads, which is that of requests to a remote store.
_THREADS = 64
#: The time in seconds after which a variable that was read ahead is read again.
_FRESH = 5.0


class ReadAhead:
    """The small variables of a dataset in the order of their requests.

    The first request reads one variable. Each request for the next variable that has not been read reads four times as many as
    the one before, so that 200 variables are read in five batches. A request out of order begins anew.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arrays: list[Array] = []
        self._positions: dict[int, int] = {}
        self._next, self._count = -1, 1
        self._values: dict[int, tuple[float, Future[Any]]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process reads the values itself.
        return ReadAhead, ()

    def add(self, array: Array) -> bool:
        """Adds a variable, unless it is too large, or the store is not remote."""
        if not array._native.is_remote or array.nbytes > _LARGEST:
            return False
        self._positions[id(array)] = len(self._arrays)
        self._arrays.append(array)
        return True

    def values(self, array: Array) -> Any:
        """Returns all values of an added array."""
        with self._lock:
            position = self._positions[id(array)]
            begun, values = self._values.pop(position, (0.0, None))
            if values is None or time.monotonic() - begun > _FRESH:
                values = self._read(position)
        return values.result()

    def _read(self, position: int) -> Future[Any]:
        """Begins to read variables from a position on, and returns the first one."""
        self._count = min(self._count * _GROWTH, _MOST) if position == self._next else 1
        self._next = min(position + self._count, len(self._arrays))
        threads = ThreadPoolExecutor(min(self._next - position, _THREADS))
        begun = time.monotonic()
        futures = [threads.submit(_whole, array) for array in self._arrays[position : self._next]]
        # Values of an earlier read that were not requested are dropped.
        self._values = {position + index: (begun, future) for index, future in enumerate(futures) if index > 0}
        # The threads end with their work.
        threads.shutdown(wait=False)
        return futures[0]


def _whole(array: Array) -> Any:
    return np.asarray(array[...])
