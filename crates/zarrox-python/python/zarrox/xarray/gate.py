"""Writers that are stopped together: after a failure, nobody writes any more."""

from __future__ import annotations

import threading
from typing import Any

from zarrox.core import Array


class Gate:
    """Counts the threads that write, and lets none begin after it is closed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._is_closed = False

    def __enter__(self) -> None:
        with self._changed:
            if self._is_closed:
                raise RuntimeError("another piece could not be written, and this one is not written either")
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """Waits for those who write, and lets none in any more."""
        with self._changed:
            self._is_closed = True
            self._changed.wait_for(lambda: self._inside == 0)


class Guarded:
    """An array whose elements are written through a gate. In another process there is no gate.

    Parameters
    ----------
    array : Array
        The array.
    gate : Gate
        The gate.
    """

    def __init__(self, array: Array, gate: Gate) -> None:
        self._array = array
        self._gate = gate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._array, name)

    def __setitem__(self, selection: Any, values: Any) -> None:
        with self._gate:
            self._array[selection] = values

    def __reduce__(self) -> tuple[Any, ...]:
        return _without_gate, (self._array,)


def _without_gate(array: Array) -> Array:
    return array
