"""Arrays in the form that xarray reads. Arrays are read lazily, and all coordinates are read together."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
from xarray.backends.common import BackendArray
from xarray.coding import strings
from xarray.core import indexing

from zarrox import errors
from zarrox.core.array import Array
from zarrox.waiting import run
from zarrox.xarray.ahead import ReadAhead

#: The attribute that names the dimensions of a format 2 array.
DIMENSIONS = "_ARRAY_DIMENSIONS"
#: The maximum size in bytes of a coordinate that is read in advance. Of a larger one, only the requested part is read.
_LARGEST = 4 << 20
#: The maximum number of coordinates that are read concurrently.
_THREADS = 32


class ReadTogether:
    """The coordinates of a dataset or tree. xarray requests them one by one, and the first request reads all of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[int, Array] = {}
        self._values: dict[int, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process reads the values itself.
        return ReadTogether, ()

    def add(self, array: Array) -> bool:
        """Adds a coordinate along one dimension, unless it is too large to be read in advance."""
        if array.ndim != 1 or array.nbytes > _LARGEST:
            return False
        self._waiting[id(array)] = array
        return True

    def values(self, array: Array, whole: bool) -> Any:
        """Returns the values of an array; ``None`` once the whole array has been requested, since its values are not kept any longer."""
        with self._lock:
            if id(array) in self._waiting:
                self._read()
            return self._values.pop(id(array), None) if whole else self._values.get(id(array))

    def _read(self) -> None:
        arrays, self._waiting = list(self._waiting.values()), {}
        if len(arrays) == 1:
            read = [_attempt(arrays[0])]
        else:
            with ThreadPoolExecutor(min(len(arrays), _THREADS)) as threads:
                read = list(threads.map(_attempt, arrays))
        self._values.update((id(array), values) for array, values in zip(arrays, read, strict=True))


def _attempt(array: Array) -> Any:
    """Returns the values of an array. Returns ``None`` if reading fails, so that the error is raised only when the array is used."""
    try:
        return np.asarray(array[...], dtype=data_type(array))
    except Exception:
        return None


class LazyArray(BackendArray):
    """A lazy array for xarray. Only the requested part is read, and only when it is needed."""

    __slots__ = ("_ahead", "_array", "_together", "dtype", "shape")

    def __init__(
        self, array: Array, together: ReadTogether | None = None, ahead: ReadAhead | None = None
    ) -> None:
        self._array = array
        self._together = together
        self._ahead = ahead
        self.shape = array.shape
        self.dtype = data_type(array)

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process reads the values itself.
        return LazyArray, (self._array,)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        # Only xarray's own decomposition into slices supports negative steps.
        support, read = indexing.IndexingSupport.OUTER, self._outer
        if isinstance(key, indexing.VectorizedIndexer):
            support, read = indexing.IndexingSupport.VECTORIZED, self._points
        value = indexing.explicit_indexing_adapter(key, self.shape, support, read)
        # A single string would be a plain `str`, which NumPy would convert to a fixed-length string.
        return np.asarray(value, dtype=self.dtype) if self.dtype.kind == "T" else value

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        """Reads as ``array[key]`` does, for ``load_async``."""
        return await run(self.__getitem__, key)

    def _outer(self, key: tuple[Any, ...]) -> Any:
        if self._ahead is not None and self._is_whole(key):
            return self._ahead.values(self._array)
        if self._together is not None:
            values = self._together.values(self._array, self._is_whole(key))
            if values is not None:
                # The values are copied, since other readers get the same array.
                return values[key].copy()
        return self._array.oindex[key] if any(isinstance(part, np.ndarray) for part in key) else self._array[key]

    def _is_whole(self, key: tuple[Any, ...]) -> bool:
        return all(
            isinstance(part, slice) and part.indices(length) == (0, length, 1)
            for part, length in zip(key, self.shape, strict=True)
        )

    def _points(self, key: tuple[Any, ...]) -> Any:
        return self._array.vindex[key]


def is_netcdf(name: str) -> bool:
    return name.lower().startswith("_nc")


def dimensions_of(array: Array) -> tuple[str, ...]:
    """Returns the names of an array's dimensions."""
    names: Sequence[str | None] | None = array._native.dimension_names
    if names is None:
        names = array.attrs.get(DIMENSIONS)
    if names is None:
        names = _netcdf_dimensions(array)
    if names is None and array.ndim == 0:
        names = ()
    if names is None or len(names) != array.ndim or not any(isinstance(name, str) for name in (*names, "")):
        raise errors.NameNotFoundError(
            f"{array.name or '/'}: xarray needs a name for each of {array.ndim} dimensions, and found {names!r}: "
            f"set dimension_names when a v3 array is created, or the attribute {DIMENSIONS!r} of a v2 array"
        )
    # xarray accepts dimensions without a name, although its type annotations do not allow them.
    return cast("tuple[str, ...]", tuple(names))


def _netcdf_dimensions(array: Array) -> list[str] | None:
    """Returns the dimension names of NCZarr, the netCDF library's variant of Zarr. There, they are paths of dimensions."""
    document = json.loads(array._native.document())
    extra = array.attrs.get("_nczarr_array") or document.get("_nczarr_array") or document.get("_NCZARR_ARRAY")
    return extra and [
        reference.rpartition("/")[2] for reference in extra.get("dimrefs", extra.get("dimension_references", []))
    ]


def data_type(array: Array) -> np.dtype[Any]:
    """Returns the data type of an array. String data types are marked as strings for xarray."""
    dtype = array.dtype
    is_text = dtype.kind in "OT" and json.loads(array._native.data_type) == "string"
    return strings.create_vlen_dtype(str) if is_text and dtype.kind == "O" else dtype


