"""The codec pipeline: a batch of chunks is passed to Rust in one call. Unsupported batches are passed to zarr-python's own pipeline."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from zarr.abc.codec import Codec, CodecPipeline
from zarr.abc.store import Store
from zarr.core.array import create_codec_pipeline
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer, NDBuffer, cpu
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.storage import StorePath

from zarrox import _native

from .natives import Document, document
from .access import StoreAccess, StoreError, callback_access, direct_access, place
from .threads import interruptible

__all__ = ["Batch", "ZarroxCodecPipeline"]

Batch = list[tuple[Any, ArraySpec, Any, Any, bool]]
"""The parts of a read or a write: the location of the chunk, its specification, the selection from the chunk, the
selection from memory, and whether the part is the whole chunk."""

_QUICK = 1 << 20
"""The number of bytes of chunks up to which a call takes less time than passing it to another thread."""


@dataclass(frozen=True, slots=True)
class Opened:
    """An open native array."""

    of: tuple[Any, Store, asyncio.AbstractEventLoop]
    """The location of the values, the store, and the event loop. They are kept alive, so that no other objects get
    their addresses."""
    where: StoreAccess
    array: _native.Array


class ZarroxCodecPipeline(CodecPipeline):
    """A pipeline that reads and writes batches of chunks in Rust.

    Parameters
    ----------
    inner : CodecPipeline
        A pipeline of zarr-python, for batches that Rust does not support.
    """

    def __init__(self, inner: CodecPipeline) -> None:
        self._inner = inner
        self._metadata: Any = None
        self._store: Store | None = None
        self._document: Document | None = None
        self._arrays: dict[tuple[int, int], Opened] = {}

    # The methods that arrays and codecs require from any pipeline.

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec], *, batch_size: int | None = None) -> ZarroxCodecPipeline:
        """Returns a pipeline for codecs that are not those of an array, such as codecs inside shards. It leaves the work to
        zarr-python's own pipeline."""
        return cls(BatchedCodecPipeline.from_codecs(codecs, batch_size=batch_size))

    @classmethod
    def from_array_metadata_and_store(cls, array_metadata: Any, store: Store) -> ZarroxCodecPipeline:
        """Returns the pipeline of an array."""
        made = create_codec_pipeline(array_metadata)
        pipeline = made if isinstance(made, cls) else cls(made)
        pipeline._metadata, pipeline._store = array_metadata, store
        return pipeline

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> ZarroxCodecPipeline:
        evolved = type(self)(self._inner.evolve_from_array_spec(array_spec))
        evolved._metadata, evolved._store = self._metadata, self._store
        return evolved

    def __iter__(self) -> Iterator[Codec]:
        return iter(cast(Iterable[Codec], self._inner))

    def __getattr__(self, name: str) -> Any:
        # All other attributes, such as the codecs by kind, are those of the inner pipeline.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZarroxCodecPipeline) and self._inner == other._inner

    def __hash__(self) -> int:
        return hash(self._inner)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inner!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {"_inner": self._inner, "_metadata": self._metadata, "_store": self._store}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["_inner"])  # type: ignore[misc]
        self._metadata, self._store = state["_metadata"], state["_store"]

    @property
    def supports_partial_decode(self) -> bool:
        return self._inner.supports_partial_decode

    @property
    def supports_partial_encode(self) -> bool:
        return self._inner.supports_partial_encode

    def validate(self, *, shape: Any, dtype: Any, chunk_grid: Any) -> None:
        self._inner.validate(shape=shape, dtype=dtype, chunk_grid=chunk_grid)

    def compute_encoded_size(self, byte_length: int, array_spec: ArraySpec) -> int:
        return self._inner.compute_encoded_size(byte_length, array_spec)

    async def decode(
        self, chunk_bytes_and_specs: Iterable[tuple[Buffer | None, ArraySpec]]
    ) -> Iterable[NDBuffer | None]:
        return await self._inner.decode(chunk_bytes_and_specs)

    async def encode(
        self, chunk_arrays_and_specs: Iterable[tuple[NDBuffer | None, ArraySpec]]
    ) -> Iterable[Buffer | None]:
        return await self._inner.encode(chunk_arrays_and_specs)

    # Elements.

    async def read(self, batch_info: Iterable[Any], out: NDBuffer, drop_axes: tuple[int, ...] = ()) -> Any:
        batch = list(batch_info)
        memory = _memory(out)
        opened = self._opened(batch) if memory is not None else None
        if memory is not None and opened is not None:
            stored = await _run(opened, batch, memory, lambda interrupt: opened.array.read_parts(batch, memory, drop_axes, interrupt))
            if stored is not None:
                return tuple({"status": "present" if there else "missing"} for there in stored)
        return await self._inner.read(batch, out, drop_axes)

    async def write(self, batch_info: Iterable[Any], value: NDBuffer, drop_axes: tuple[int, ...] = ()) -> None:
        batch = list(batch_info)
        memory = _memory(value)
        opened = self._opened(batch) if memory is not None else None
        if memory is not None and opened is not None and self._array_document().is_written:
            batch[0][0].store._check_writable()
            store_empty = batch[0][1].config.write_empty_chunks
            written = await _run(
                opened,
                batch,
                memory,
                lambda interrupt: opened.array.write_parts(batch, memory, drop_axes, store_empty, interrupt),
            )
            if written:
                return
        await self._inner.write(batch, value, drop_axes)

    # The engine of each operation.

    def reason(self) -> str | None:
        """Returns the reason why no elements of the array are read or written in Rust; ``None`` if Rust supports the
        array."""
        if self._metadata is None:
            return "the pipeline does not belong to an array"
        return self._array_document().reason

    def _array_document(self) -> Document:
        if self._document is None:
            self._document = document(self._metadata)
        return self._document

    def _opened(self, batch: Batch) -> Opened | None:
        """Returns the native array, if it supports the batch."""
        if not batch or self._metadata is None or self.reason() is not None:
            return None
        getter, spec = batch[0][:2]
        prototype = spec.prototype
        if type(getter) is not StorePath or prototype.buffer is not cpu.Buffer or prototype.nd_buffer is not cpu.NDBuffer:
            return None
        return self._opened_in(getter.store)

    def _opened_in(self, store: Store) -> Opened:
        """Returns the array in a store. A store whose methods Rust calls belongs to an event loop."""
        known = self._arrays.get((id(store), 0))
        if known is None:
            loop = asyncio.get_running_loop()
            known = self._arrays.get((id(store), id(loop)))
        if known is None or known.of[0] != place(store):
            known = self._open(store, asyncio.get_running_loop())
        return known

    def _open(self, store: Store, loop: asyncio.AbstractEventLoop) -> Opened:
        where = direct_access(store) or callback_access(store, loop)
        opened = Opened((place(store), store, loop), where, self._array_document().opened(where.native))
        if len(self._arrays) >= _STORES:
            self._arrays.clear()
        self._arrays[id(store), id(loop) if where.is_callback else 0] = opened
        return opened


_FEW = 4
"""The maximum number of parts of a batch for which the size of each part is computed."""

_STORES = 8
"""The maximum number of stores for which a pipeline keeps an open array. Usually there is one store."""


def _memory(buffer: NDBuffer) -> np.ndarray[Any, Any] | None:
    """Returns the array of a buffer, if it is a NumPy array."""
    array: Any = buffer.as_ndarray_like()
    return array if type(buffer) is cpu.NDBuffer and type(array) is np.ndarray else None


async def _run(opened: Opened, batch: Batch, memory: np.ndarray[Any, Any], call: Any) -> Any:
    """Calls a Rust function, on another thread if it may take long and otherwise on this thread."""
    try:
        if opened.where.is_near and _is_quick(opened.array, batch, memory.itemsize):
            return call(None)
        return await interruptible(call)
    except StoreError as error:
        raise error.error from None


def _is_quick(array: _native.Array, batch: Batch, itemsize: int) -> bool:
    """Returns true if only few bytes are decoded or encoded."""
    if len(batch) * math.prod(batch[0][1].shape) * itemsize <= _QUICK:
        return True
    # In a shard, only the inner chunks that overlap the box count.
    if len(batch) > _FEW or array.shards is None:
        return False
    inner = array.chunks
    touched = [_touched(part[2], inner) for part in batch]
    return None not in touched and sum(filter(None, touched)) * math.prod(inner) * itemsize <= _QUICK


def _touched(selection: Any, inner: tuple[int, ...]) -> int | None:
    """Returns the number of inner chunks that overlap a box; ``None`` for other selections."""
    if type(selection) is not tuple or len(selection) != len(inner):
        return None
    count = 1
    for one, length in zip(selection, inner, strict=True):
        if type(one) is not slice or one.start is None or one.stop is None or one.step not in (None, 1):
            return None
        count *= max(-(-one.stop // length) - one.start // length, 0)
    return count
