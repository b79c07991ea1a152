"""Blocks of memory: the base classes of buffers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, SupportsIndex, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ArrayLike", "Buffer", "BufferPrototype", "NDArrayLike", "NDBuffer"]


@runtime_checkable
class ArrayLike(Protocol):
    """The content of a `Buffer`: a one-dimensional array."""

    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    def __getitem__(self, key: slice) -> Self: ...
    def __setitem__(self, key: slice, value: Any) -> None: ...
    def copy(self) -> Self: ...


@runtime_checkable
class NDArrayLike(Protocol):
    """The contents of an `NDBuffer`, and the result of reading arrays: an array with any number of dimensions."""

    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: slice) -> Self: ...
    def __setitem__(self, key: slice, value: Any) -> None: ...
    def __array__(self) -> npt.NDArray[Any]: ...
    def reshape(self, shape: tuple[int, ...] | Literal[-1], *, order: Literal["A", "C", "F"] = ..., copy: bool | None = ...) -> Self: ...
    def view(self, dtype: npt.DTypeLike) -> Self: ...
    def astype(self, dtype: npt.DTypeLike, order: Literal["K", "A", "C", "F"] = ..., *, copy: bool = ...) -> Self: ...
    def fill(self, value: Any) -> None: ...
    def copy(self) -> Self: ...
    def transpose(self, axes: Any) -> Self: ...
    def ravel(self, order: Literal["K", "A", "C", "F"] = ...) -> Self: ...
    def all(self) -> np.bool_: ...


class Buffer(ABC):
    """A block of bytes.

    Parameters
    ----------
    array_like : array
        A one-dimensional array of bytes, which is not copied.
    """

    def __init__(self, array_like: ArrayLike) -> None:
        if array_like.ndim != 1:
            raise ValueError("array_like: only 1-dim allowed")
        if np.dtype(array_like.dtype) != np.dtype("B"):
            raise ValueError("array_like: only byte dtype allowed")
        self._data: Any = array_like

    @classmethod
    @abstractmethod
    def create_zero_length(cls) -> Self:
        """Returns an empty buffer."""

    @classmethod
    def from_array_like(cls, array_like: ArrayLike) -> Self:
        """Returns a buffer over an array of bytes."""
        return cls(array_like)

    @classmethod
    @abstractmethod
    def from_buffer(cls, buffer: Buffer) -> Self:
        """Returns a buffer of this class with the bytes of another buffer."""

    @classmethod
    @abstractmethod
    def from_bytes(cls, bytes_like: Any) -> Self:
        """Returns a buffer over an object that supports the buffer protocol."""

    @abstractmethod
    def as_numpy_array(self) -> npt.NDArray[Any]:
        """Returns the bytes as a NumPy array."""

    @abstractmethod
    def combine(self, others: Iterable[Buffer]) -> Self:
        """Concatenates this buffer with others."""

    def as_array_like(self) -> ArrayLike:
        """Returns the array that the buffer holds."""
        data: ArrayLike = self._data
        return data

    def as_buffer_like(self) -> Any:
        """Returns the bytes as an object that supports the buffer protocol."""
        return memoryview(self.as_numpy_array())

    def to_bytes(self) -> bytes:
        """Returns a copy of the bytes."""
        return bytes(self.as_numpy_array())

    def __getitem__(self, key: slice) -> Self:
        if not isinstance(key, slice):
            raise TypeError(f"Item key has incorrect type (expected slice, got {key.__class__.__name__})")
        if key.step not in (None, 1):
            raise ValueError("slice must be contiguous")
        return self.__class__(self._data[key])

    def __setitem__(self, key: slice, value: Any) -> None:
        if not isinstance(key, slice):
            raise TypeError(f"Item key has incorrect type (expected slice, got {key.__class__.__name__})")
        if key.step not in (None, 1):
            raise ValueError("slice must be contiguous")
        self._data[key] = value._data if isinstance(value, Buffer) else value

    def __len__(self) -> int:
        return int(self._data.size)

    def __add__(self, other: Buffer) -> Self:
        return self.combine([other])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Buffer) and np.array_equal(self.as_numpy_array(), other.as_numpy_array())

    __hash__ = None  # type: ignore[assignment]


class NDBuffer:
    """A block of elements with any number of dimensions.

    Parameters
    ----------
    array : array
        The array, which is not copied.
    """

    def __init__(self, array: Any) -> None:
        self._data: Any = array

    @classmethod
    def create(
        cls, *, shape: Iterable[int], dtype: npt.DTypeLike, order: Literal["C", "F"] = "C", fill_value: Any = None
    ) -> Self:
        """Returns a new block that is filled with a value, by default with zeros."""
        # Without the view, NumPy would lose the byte order and the factor of generic times.
        values = np.zeros(tuple(shape), dtype=dtype, order=order).view(dtype)
        if fill_value is not None and not (isinstance(fill_value, int) and fill_value == 0):
            values[...] = fill_value
        return cls(values)

    @classmethod
    def empty(cls, shape: tuple[int, ...], dtype: npt.DTypeLike, order: Literal["C", "F"] = "C") -> Self:
        """Returns a new block with undefined elements."""
        return cls(np.empty(shape=shape, dtype=dtype, order=order).view(dtype))

    @classmethod
    def from_ndarray_like(cls, ndarray_like: Any) -> Self:
        """Returns a block over an array."""
        return cls(ndarray_like)

    @classmethod
    def from_numpy_array(cls, array_like: npt.ArrayLike) -> Self:
        """Returns a block over a NumPy array."""
        return cls.from_ndarray_like(np.asanyarray(array_like))

    def as_ndarray_like(self) -> NDArrayLike:
        """Returns the array that the block holds."""
        data: NDArrayLike = self._data
        return data

    def as_numpy_array(self) -> npt.NDArray[Any]:
        """Returns the elements as a NumPy array."""
        return np.asanyarray(self._data)

    def as_scalar(self) -> Any:
        """Returns the only element, as a scalar."""
        if self._data.size != 1:
            raise ValueError("Buffer does not contain a single scalar value")
        return self.as_numpy_array()[()]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type of the elements."""
        dtype: np.dtype[Any] = self._data.dtype
        return dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The length along each dimension."""
        return tuple(self._data.shape)

    @property
    def byteorder(self) -> Any:
        """The byte order of the elements, as `zarrox.codecs.Endian`."""
        return "big" if self.dtype.byteorder == ">" else "little"

    def reshape(self, newshape: tuple[int, ...] | Literal[-1]) -> Self:
        """Returns the elements with another shape."""
        return self.__class__(self._data.reshape(newshape))

    def squeeze(self, axis: tuple[int, ...]) -> Self:
        """Returns the block without dimensions of length 1."""
        return self.reshape(tuple(length for position, length in enumerate(self.shape) if position not in axis))

    def astype(self, dtype: npt.DTypeLike, order: Literal["K", "A", "C", "F"] = "K") -> Self:
        """Returns the elements, cast to another data type."""
        target: Any = np.dtype(dtype)
        if target.kind == self.dtype.kind and target.kind in "mM" and np.datetime_data(target) == np.datetime_data(self.dtype):
            counts = self.as_numpy_array().view(self.dtype.str[0] + "i8").astype(target.str[0] + "i8", order=order)
            return self.__class__(counts.view(target))
        return self.__class__(self._data.astype(dtype=dtype, order=order))

    def __getitem__(self, key: Any) -> Self:
        # With an ellipsis, NumPy returns a view instead of a scalar.
        whole = (*key, ...) if isinstance(key, tuple) and not any(each is ... for each in key) else key
        return self.__class__(np.asanyarray(self._data[whole]))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._data[key] = value._data if isinstance(value, NDBuffer) else value

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"<NDBuffer shape={self.shape} dtype={self.dtype} {self._data!r}>"

    def all_equal(self, other: Any, equal_nan: bool = True) -> bool:
        """Returns true if each element equals a value."""
        if other is None:
            return False
        values, wanted = self.as_numpy_array(), np.asarray(other)
        if wanted.dtype.kind == "f" and wanted.ndim == 0 and wanted == 0 and values.dtype.kind in "iufc":
            # 0.0 and -0.0 are equal but have different bytes.
            void = f"V{values.dtype.itemsize}"
            same = np.broadcast_to(wanted.astype(values.dtype), values.shape)
            return bool(np.array_equal(values.view(void), same.view(void)))
        return bool(np.array_equal(values, np.broadcast_to(wanted, values.shape), equal_nan=equal_nan and values.dtype.kind in "fcmM"))

    def fill(self, value: Any) -> None:
        """Sets each element to a value."""
        self._data.fill(value)

    def copy(self) -> Self:
        """Returns a copy of the block."""
        return self.__class__(self._data.copy())

    def transpose(self, axes: SupportsIndex | tuple[int, ...] | None) -> Self:
        """Returns the block with permuted dimensions."""
        return self.__class__(self._data.transpose(axes))


class BufferPrototype(NamedTuple):
    """The buffer classes of a store or codec.

    Attributes
    ----------
    buffer : type
        The class of blocks of bytes.
    nd_buffer : type
        The class of blocks of elements.
    """

    buffer: type[Buffer]
    nd_buffer: type[NDBuffer]
