"""Stops concurrent writers: after one of them fails, the others no longer write."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from zarrox import _native
from zarrox.core.array import Array


class Gate:
    """A counter of the threads that are writing. Once it is closed, no thread can begin to write."""

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
        """Prevents threads from beginning to write, and waits for those that are writing."""
        with self._changed:
            self._is_closed = True
            self._changed.wait_for(lambda: self._inside == 0)


class Guarded:
    """An array whose elements are written through a gate. In other processes, the array has no gate.

    Parameters
    ----------
    array : Array
        The array.
    gate : Gate, optional
        The gate.
    """

    def __init__(self, array: Array, gate: Gate | None) -> None:
        self._array = array
        self._gate: AbstractContextManager[None] = nullcontext() if gate is None else gate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._array, name)

    def __setitem__(self, selection: Any, values: Any) -> None:
        with self._gate:
            self._array[selection] = values

    def __reduce__(self) -> tuple[Any, ...]:
        # The array is opened again in the other process. The shape that it has here may not be stored yet.
        return _without_gate, (self._array, self._array.shape)


def _without_gate(array: Array, shape: tuple[int, ...]) -> Guarded:
    return Guarded(array if array.shape == shape else shaped(array, array._native.with_shape(shape)), None)


def shaped(array: Array, native: _native.Array) -> Array:
    """Returns an array unchanged, except for its shape."""
    return Array._of(native, array._store, array._settings)
