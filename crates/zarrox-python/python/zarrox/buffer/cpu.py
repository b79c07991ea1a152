"""Buffers over NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from zarrox import registry
from zarrox.abc import buffer as base
from zarrox.abc.buffer import BufferPrototype

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Buffer",
    "NDBuffer",
    "as_numpy_array_wrapper",
    "buffer_prototype",
    "default_buffer_prototype",
    "numpy_buffer_prototype",
]


class Buffer(base.Buffer):
    """A block of bytes in a NumPy array.

    Examples
    --------
    >>> from zarrox.buffer import cpu
    >>> cpu.Buffer.from_bytes(b"abcd")[1:3].to_bytes()
    b'bc'
    """

    @classmethod
    def create_zero_length(cls) -> Self:
        return cls(np.array([], dtype="B"))

    @classmethod
    def from_buffer(cls, buffer: base.Buffer) -> Self:
        return cls.from_array_like(buffer.as_numpy_array())

    @classmethod
    def from_bytes(cls, bytes_like: Any) -> Self:
        return cls.from_array_like(np.frombuffer(bytes_like, dtype="B"))

    def as_numpy_array(self) -> npt.NDArray[Any]:
        return np.asanyarray(self._data)

    def combine(self, others: Iterable[base.Buffer]) -> Self:
        return self.__class__(np.concatenate([self.as_numpy_array(), *(each.as_numpy_array() for each in others)]))


class NDBuffer(base.NDBuffer):
    """A block of elements in a NumPy array."""


def as_numpy_array_wrapper(
    func: Callable[[npt.NDArray[Any]], bytes], buf: base.Buffer, prototype: BufferPrototype
) -> base.Buffer:
    """Calls a NumPy function with a buffer, and returns the result as a buffer."""
    return prototype.buffer.from_bytes(func(buf.as_numpy_array()))


#: The classes of this module.
buffer_prototype = BufferPrototype(buffer=Buffer, nd_buffer=NDBuffer)


def numpy_buffer_prototype() -> BufferPrototype:
    """Returns the classes of this module."""
    return buffer_prototype


def default_buffer_prototype() -> BufferPrototype:
    """Returns the classes that the settings ``buffer`` and ``ndbuffer`` name."""
    return BufferPrototype(buffer=registry.get_buffer_class(), nd_buffer=registry.get_ndbuffer_class())


registry.register_buffer(Buffer, qualname="zarr.buffer.cpu.Buffer")
registry.register_ndbuffer(NDBuffer, qualname="zarr.buffer.cpu.NDBuffer")
