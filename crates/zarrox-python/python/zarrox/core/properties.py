"""The properties of an array."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarrox.core.grids import chunk_sizes, grid_of
from zarrox.core.metadata import ArrayMetadata, array_document, array_metadata, is_v3, split_codecs, v2_codecs, v3_codecs
from zarrox.core.settings import Settings
from zarrox.core.shapes import ceildiv
from zarrox.errors import UnsupportedError
from zarrox.shown.info import InfoReporter, byte_count, type_name
from zarrox.storage import StorePath

if TYPE_CHECKING:
    import numpy.typing as npt

    from zarrox._native import Array as NativeArray
    from zarrox.attrs import Attributes
    from zarrox.storage import BaseStore

__all__ = ["Described"]


class CallableInt(int):
    """A number that gives itself when it is called.

    What is a property in zarr-python 2 and a method in zarr-python 3 can so be used in both ways.

    Examples
    --------
    >>> from zarrox.core.properties import CallableInt
    >>> size = CallableInt(3)
    >>> size, size()
    (3, 3)
    """

    def __call__(self) -> int:
        return int(self)


class Described:
    """The properties of an array."""

    __slots__ = (
        "_attrs",
        "_codecs",
        "_document",
        "_native",
        "_settings",
        "_store",
        "_view",
    )

    _native: NativeArray
    _store: BaseStore
    _settings: Settings
    _attrs: Attributes | None
    _codecs: Any
    _document: dict[str, Any] | None
    _view: dict[str, Any] | None

    @property
    def _fresh(self) -> NativeArray:
        """The native array, with metadata as fresh as the user asked for."""
        if not self._settings.cache_metadata:
            self._native.refresh()
        return self._native

    @property
    def _stored_document(self) -> dict[str, Any]:
        """The document of the array, which is read when it is first needed."""
        if self._document is None or not self._settings.cache_metadata:
            self._document = array_document(self._native, self._store)
        return self._document

    @property
    def store(self) -> BaseStore:
        """Where the array is stored."""
        return self._store

    @property
    def chunk_store(self) -> BaseStore:
        """Where its chunks are stored."""
        return self._store if self._settings.chunk_store is None else self._settings.chunk_store

    @property
    def store_path(self) -> StorePath:
        """The store and the path; as text, the location."""
        return StorePath(self._store, self.path)

    @property
    def path(self) -> str:
        """The path in the store; empty at its root."""
        return self._native.path

    @property
    def name(self) -> str | None:
        """The path with a leading slash, as h5py has it; ``None`` at the root of a store."""
        path = self._native.path
        return f"/{path}" if path else None

    @property
    def basename(self) -> str | None:
        """The last part of the name."""
        path = self._native.path
        return path.rsplit("/", 1)[-1] if path else None

    @property
    def shape(self) -> tuple[int, ...]:
        """The length along each dimension. Assigning another shape resizes the array."""
        return self._fresh.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._native.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self._fresh.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type of the elements."""
        return self._native.dtype

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self._native.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes, as an array in memory."""
        return self.size * self.itemsize

    @property
    def nbytes_stored(self) -> CallableInt:
        """The bytes that are stored for the array, metadata and attributes included; -1 where that cannot be found out.

        zarr-python 3 calls it, ``z.nbytes_stored()``, which works as well.
        """
        try:
            return CallableInt(self._native.stored_bytes())
        except UnsupportedError:
            return CallableInt(-1)

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of a chunk; of the chunks in shards where there are shards."""
        return self._native.chunks

    @property
    def shards(self) -> tuple[int, ...] | None:
        """The shape of a shard, if chunks are stored in shards."""
        return self._native.shards

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """The number of chunks along each dimension."""
        native = self._fresh
        if not native.shape:
            return (1,)
        # Chunks that differ in length are counted where they are known.
        return native.grid_shape if native.shards is None else ceildiv(native.shape, native.chunks)

    @property
    def nchunks(self) -> int:
        """The number of chunks."""
        return math.prod(self.cdata_shape)

    @property
    def nchunks_initialized(self) -> CallableInt:
        """The number of chunks that are stored; where there are shards, of those in the stored ones.

        The store is listed for it. zarr-python 3 calls it, which works as well.
        """
        stored = self._fresh.stored_chunks()
        shards = self._native.shards
        inside = 1 if shards is None else math.prod(ceildiv(shards, self._native.chunks))
        return CallableInt(stored * inside)

    #: The name of zarr-python 1.
    initialized = nchunks_initialized

    @property
    def order(self) -> Literal["C", "F"]:
        """The order of elements in chunks: rows (C) or columns (F) first."""
        return self._native.order

    @property
    def dimension_names(self) -> tuple[str | None, ...] | None:
        """The names of the dimensions, where they have any (version 3)."""
        return self._native.dimension_names

    @property
    def compressor(self) -> Any:
        """The codec that compresses chunks, or ``None``.

        Raises
        ------
        TypeError
            For arrays of version 3, which have `compressors`.
        """
        if is_v3(self._native):
            raise TypeError("arrays of version 3 have no single compressor: use .compressors")
        return self._v2_codecs[1]

    @property
    def filters(self) -> Any:
        """The codecs that come before compression: a list or ``None``; in version 3 a tuple."""
        if is_v3(self._native):
            return self._v3_codecs[0]
        return list(self._v2_codecs[0]) or None

    @property
    def compressors(self) -> tuple[Any, ...]:
        """The codecs that compress chunks, in order."""
        if is_v3(self._native):
            return self._v3_codecs[2]
        compressor = self._v2_codecs[1]
        return () if compressor is None else (compressor,)

    @property
    def serializer(self) -> Any:
        """The codec that makes bytes of elements (version 3), or ``None``."""
        return self._v3_codecs[1] if is_v3(self._native) else None

    @property
    def _v2_codecs(self) -> tuple[tuple[Any, ...], Any]:
        from zarrox.codecs.registry import introduce_to_numcodecs

        introduce_to_numcodecs()
        if self._codecs is None:
            filters, compressor = v2_codecs(self._stored_document)
            for stored, shown in (self._view or {}).get("casts", ()):
                filters = (_as_type(stored, shown), *filters)
            self._codecs = (filters, compressor)
        codecs: tuple[tuple[Any, ...], Any] = self._codecs
        return codecs

    @property
    def _v3_codecs(self) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
        """The codecs of chunks: those inside the shards, where there are shards."""
        if self._codecs is None:
            codecs = v3_codecs(self._native)
            if self._native.shards is not None:
                codecs = next(tuple(codec.codecs) for codec in codecs if hasattr(codec, "index_codecs"))
            self._codecs = split_codecs(codecs)
        found: tuple[tuple[Any, ...], Any, tuple[Any, ...]] = self._codecs
        return found

    @property
    def fill_value(self) -> Any:
        """The value that is read where nothing was written; ``None`` where that is undefined."""
        return self._native.fill_value

    @property
    def synchronizer(self) -> Any:
        """The object that synchronizes writers."""
        return self._settings.synchronizer

    @property
    def attrs(self) -> Attributes:
        """The attributes of the array: a mapping of values that can be written as JSON."""
        if self._attrs is None:
            from zarrox.attrs import Attributes

            self._attrs = Attributes(self._native, bool(self._settings.read_only), self._settings.cache_attrs)
        return self._attrs

    @property
    def metadata(self) -> ArrayMetadata:
        """All metadata as one object, as zarr-python 3 has it."""
        return array_metadata(self._fresh, self._stored_document)

    @property
    def is_view(self) -> bool:
        """True if this is a view of another array."""
        return self._view is not None

    @property
    def meta_array(self) -> npt.NDArray[Any]:
        """An empty array of the kind that reading gives."""
        return np.empty(()) if self._settings.meta_array is None else self._settings.meta_array

    @property
    def write_empty_chunks(self) -> bool:
        """True if chunks are stored that hold nothing but the fill value."""
        return self._settings.write_empty_chunks

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of all chunks along each dimension, as Dask writes them."""
        return self.write_chunk_sizes if self._native.shards is None else chunk_sizes(self._native.chunks, self.shape)

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of all stored objects (shards, or chunks where there are no shards) along each dimension, as Dask writes them."""
        native = self._fresh
        grid = grid_of(native)
        lengths = native.shards or native.chunks if grid is None else grid["configuration"]["chunk_shapes"]
        return chunk_sizes(lengths, native.shape)

    @property
    def info(self) -> InfoReporter:
        """Information about the array, which prints itself.

        Examples
        --------
        >>> import zarrox as zarr
        >>> zarr.zeros(1000000, chunks=100000, dtype="i4").info
        Type               : zarrox.core.Array
        Data type          : int32
        Shape              : (1000000,)
        Chunk shape        : (100000,)
        Order              : C
        Read-only          : False
        Compressor         : Blosc(cname='lz4', clevel=5, shuffle=SHUFFLE, blocksize=0)
        Store type         : zarrox.storage.KVStore
        No. bytes          : 4000000 (3.8M)
        No. bytes stored   : 320
        Storage ratio      : 12500.0
        Chunks initialized : 0/10
        <BLANKLINE>
        """
        return InfoReporter(self)

    def info_complete(self) -> InfoReporter:
        """Information about the array with all that the store must be listed for."""
        return InfoReporter(_Complete(self))

    def info_items(self) -> list[tuple[str, object]]:
        """The titles and values that `info` prints."""
        return self._v3_items() if is_v3(self._fresh) else self._v2_items()

    def _v2_items(self) -> list[tuple[str, object]]:
        items: list[tuple[str, object]] = [("Name", self.name)] if self.name else []
        items += [
            ("Type", type_name(self)),
            ("Data type", str(self.dtype)),
            ("Shape", str(self.shape)),
            ("Chunk shape", self._native.chunk_grid_text),
            ("Order", self.order),
            ("Read-only", str(self._settings.read_only)),
        ]
        items += [(f"Filter [{index}]", repr(codec)) for index, codec in enumerate(self.filters or ())]
        items.append(("Compressor", repr(self.compressor)))
        if self._settings.synchronizer is not None:
            items.append(("Synchronizer type", type_name(self._settings.synchronizer)))
        items.append(("Store type", type_name(self._store)))
        if self._settings.chunk_store is not None:
            items.append(("Chunk store type", type_name(self._settings.chunk_store)))
        return [*items, ("No. bytes", byte_count(self.nbytes)), *self._stored_items()]

    def _v3_items(self) -> list[tuple[str, object]]:
        metadata = self.metadata
        items: list[tuple[str, object]] = [
            ("Type", type(self).__name__),
            ("Zarr format", metadata.zarr_format),
            ("Data type", metadata.data_type),
            ("Fill value", self.fill_value),
            ("Shape", self.shape),
        ]
        if self.shards is None:
            items.append(("Chunk shape", self._native.chunk_grid_text))
        else:
            items += [("Shard shape", self._native.chunk_grid_text), ("Chunk shape", self.chunks)]
        items += [
            ("Order", self.order),
            ("Read-only", self._settings.read_only),
            ("Store type", type(self._store).__name__),
            ("Filters", self.filters),
            ("Serializer", self.serializer),
            ("Compressors", self.compressors),
            ("No. bytes", byte_count(self.nbytes)),
        ]
        return items

    def _stored_items(self) -> list[tuple[str, object]]:
        stored = self.nbytes_stored
        items: list[tuple[str, object]] = []
        if stored > 0:
            items += [("No. bytes stored", byte_count(stored)), ("Storage ratio", f"{self.nbytes / stored:.1f}")]
        return [*items, ("Chunks initialized", f"{self.nchunks_initialized}/{self.nchunks}")]

    def _repr_html_(self) -> str:
        from zarrox.core.html import array_html

        return array_html(self)  # type: ignore[arg-type]


class _Complete:
    """The items of an array of version 3 with those that cost a listing; the others have these already."""

    def __init__(self, array: Described) -> None:
        self._array = array

    def info_items(self) -> list[tuple[str, object]]:
        items = self._array.info_items()
        return items + self._array._stored_items() if is_v3(self._array._native) else items


def _as_type(stored: np.dtype[Any], shown: np.dtype[Any]) -> Any:
    from zarrox.codecs import AsType

    return AsType(encode_dtype=stored, decode_dtype=shown)
