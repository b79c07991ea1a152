"""Asynchronous arrays with the interface of zarr-python 3. A blocking array does the work on other threads."""

from __future__ import annotations

from types import GenericAlias
from typing import Any

from zarrox.core.awaiting import Awaited, later, same
from zarrox.waiting import run

__all__ = ["AsyncArray"]


class AsyncArray(Awaited):
    """An array with asynchronous methods for reading and writing, which do not block the event loop.

    The functions of `zarrox.api.asynchronous` and `Array.async_array` return such arrays.

    Examples
    --------
    >>> import asyncio, zarrox as zarr
    >>> async def main():
    ...     z = await zarr.api.asynchronous.create_array({}, shape=(4, 4), chunks=(2, 2), dtype="i4")
    ...     await z.setitem(slice(0, 2), 7)
    ...     rows = await asyncio.gather(*(z.getitem(row) for row in range(4)))
    ...     return [int(row.sum()) for row in rows]
    >>> asyncio.run(main())
    [28, 28, 0, 0]
    """

    __slots__ = ()
    __class_getitem__: Any = classmethod(GenericAlias)

    #: The blocking array: a `zarrox.Array`.
    _blocking: Any

    def __init__(self, metadata: Any, store_path: Any, config: Any = None) -> None:
        self._blocking = self.kind.from_dict(store_path, metadata, config=config)

    #: The class of blocking arrays.
    kind: Any = None

    @classmethod
    def from_dict(cls, store_path: Any, data: Any) -> AsyncArray:
        """Returns the array with the metadata in a mapping, and with its chunks in a store."""
        return cls(data, store_path)

    @classmethod
    async def open(cls, store: Any, zarr_format: int | None = 3, *, config: Any = None) -> AsyncArray:
        """Open an existing array."""
        return cls.of(await run(cls.kind.open, store, zarr_format=zarr_format, config=config))

    shape = same("shape")
    ndim = same("ndim")
    size = same("size")
    dtype = same("dtype")
    nbytes = same("nbytes")
    order = same("order")
    chunks = same("chunks")
    shards = same("shards")
    cdata_shape = same("cdata_shape")
    nchunks = same("nchunks")
    read_chunk_sizes = same("read_chunk_sizes")
    write_chunk_sizes = same("write_chunk_sizes")
    filters = same("filters")
    serializer = same("serializer")
    compressor = same("compressor")
    compressors = same("compressors")
    fill_value = same("fill_value")
    dimension_names = same("dimension_names")
    config = same("config")

    getitem = later("__getitem__")
    setitem = later("__setitem__")
    get_orthogonal_selection = later("get_orthogonal_selection")
    get_mask_selection = later("get_mask_selection")
    get_coordinate_selection = later("get_coordinate_selection")
    get_block_selection = later("get_block_selection")
    append = later("append")
    resize = later("resize")
    nbytes_stored = later("nbytes_stored")
    nchunks_initialized = later("nchunks_initialized")

    @property
    def oindex(self) -> AsyncIndex:
        """Orthogonal selections: ``await z.oindex.getitem(selection)``."""
        return AsyncIndex(self._blocking.oindex)

    @property
    def vindex(self) -> AsyncIndex:
        """Selections of points: ``await z.vindex.getitem(selection)``."""
        return AsyncIndex(self._blocking.vindex)

    def with_config(self, config: Any) -> AsyncArray:
        """Returns the array with different settings."""
        return self.of(self._blocking.with_config(config))

    def __repr__(self) -> str:
        return f"<AsyncArray {self.store_path} shape={self.shape} dtype={self.dtype}>"


class AsyncIndex:
    """Asynchronous selections of one kind."""

    def __init__(self, index: Any) -> None:
        self._blocking = index

    getitem = later("__getitem__")
    setitem = later("__setitem__")


AsyncArray.__module__ = "zarrox"
