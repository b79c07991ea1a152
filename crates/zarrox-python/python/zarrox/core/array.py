"""Arrays with the interface of zarr-python 3."""

from __future__ import annotations

from collections.abc import Mapping
from types import GenericAlias
from typing import TYPE_CHECKING, Any, NoReturn

import numpy.typing as npt

from zarrox._native import Array as NativeArray
from zarrox.argument_types import ShapeLike, StoreArgument
from zarrox.config import config
from zarrox.core.array_config import ArrayConfig, ArrayConfigLike, parse_array_config
from zarrox.core.async_array import AsyncArray
from zarrox.core.awaiting import kinds
from zarrox.core.base import ArrayBase, open_native
from zarrox.core.grids import chunk_sizes, grid_of
from zarrox.core.lazy import LazyArray
from zarrox.core.metadata import ArrayMetadata, native_of_document
from zarrox.core.prototypes import Prototyped
from zarrox.core.settings import Settings
from zarrox.elsewhere import OF_2
from zarrox.shown.info import InfoReporter, Lines, byte_count
from zarrox.shown.page import Shown
from zarrox.storage import BaseStore, StorePath, native_store, normalize_store_arg
from zarrox.storage.store_path import place_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from zarrox.core.batches import Batches

__all__ = ["Array", "ArrayConfig"]


class Array(Prototyped, ArrayBase, Shown[NativeArray]):
    """An array that is stored in chunks.

    Functions such as `zarrox.zeros`, `zarrox.array` and `zarrox.open_array` create and open arrays.

    Parameters
    ----------
    async_array : AsyncArray
        The same array with asynchronous methods.

    Examples
    --------
    >>> import zarrox as zarr
    >>> store = zarr.storage.MemoryStore()
    >>> z = zarr.zeros((3, 4), store=store, path="a", dtype="i4")
    >>> zarr.open_array(store, path="a").shape
    (3, 4)
    """

    __slots__ = ()
    __class_getitem__: Any = classmethod(GenericAlias)

    def __init__(self, async_array: AsyncArray) -> None:
        of = async_array._blocking
        self._set(of._native, of._store, of._settings)

    @property
    def async_array(self) -> AsyncArray:
        """The same array, with asynchronous methods."""
        return AsyncArray.of(self)

    @classmethod
    def from_dict(cls, store_path: StorePath, data: Any, *, config: ArrayConfigLike | None = None) -> Self:
        """Returns the array with the given metadata and with its chunks in a store. Nothing is read or written.

        Parameters
        ----------
        store_path : StorePath
            The location of the array.
        data : dict or ArrayMetadata
            The metadata.
        config : dict, optional
            The settings of the array.

        Examples
        --------
        >>> import zarrox as zarr
        >>> z = zarr.array([1, 2, 3])
        >>> zarr.Array.from_dict(z.store_path, z.metadata.to_dict())[:]
        array([1, 2, 3])
        """
        store, path = place_of(store_path, None)
        opened = cls._open_store(store)
        native = native_of_document(opened.native, path, data if isinstance(data, dict) else data.to_dict())
        return cls._of(native, opened, Settings(**_settings_of(config)))

    def with_config(self, config: ArrayConfigLike) -> Self:
        """Returns the same array with different settings.

        Examples
        --------
        >>> import zarrox as zarr
        >>> zarr.zeros(3).with_config({"write_empty_chunks": True}).config.write_empty_chunks
        True
        """
        given = {**self.config.to_dict(), **config} if isinstance(config, Mapping) else config
        native = getattr(self._native, "_native", self._native).with_options(write_empty_chunks=False)
        return self._of(native, self._store, self._settings.with_(**_settings_of(given)))

    def __reduce__(self) -> tuple[Any, ...]:
        _, options = super().__reduce__()
        return _unpickled, (type(self), self._settings.read_missing_chunks, *options)

    @classmethod
    def _open_store(
        cls,
        store: StoreArgument,
        *,
        mode: str | None = None,
        storage_options: dict[str, Any] | None = None,
        sync: bool | None = None,
    ) -> BaseStore:
        return normalize_store_arg(store, mode=mode, storage_options=storage_options, sync=sync)

    @classmethod
    def _default_format(cls) -> int:
        return int(config["default_zarr_format"])

    @classmethod
    def _default_compressor(cls) -> Any:
        return {"id": "zstd", "level": 0, "checksum": False}

    @classmethod
    def open(
        cls,
        store: StoreArgument,
        *,
        path: str = "",
        zarr_format: int | None = None,
        config: ArrayConfigLike | None = None,
    ) -> Self:
        """Open an existing array.

        Examples
        --------
        >>> import zarrox as zarr
        >>> store = zarr.create_array({}, shape=(3,), dtype="i4").store
        >>> zarr.Array.open(store).shape
        (3,)
        """
        place, at = place_of(store, path)
        opened = cls._open_store(place)
        native = open_native(native_store(opened), at, None if zarr_format is None else str(zarr_format))
        return cls._of(native, opened, Settings(**_settings_of(config)))

    @property
    def lazy(self) -> LazyArray:
        """A lazy view, which reads elements only when they are used. Its selections compose.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> part = zarr.array(np.arange(10)).lazy[2:8][::2]
        >>> part.shape, np.sum(part)
        ((3,), np.int64(12))
        """
        return LazyArray(self)

    def batches(
        self, indices: npt.ArrayLike, size: int, *, prefetch: int = 4, drop_last: bool = False
    ) -> Batches:
        """Batches of rows in any order, which are prefetched in the background. See `zarrox.core.batches.Batches`.

        Parameters
        ----------
        indices : array_like of int
            The indices of the rows, in order.
        size : int
            The number of rows of a batch.
        prefetch : int, optional
            The number of batches that are read at once.
        drop_last : bool, optional
            Whether an incomplete last batch is dropped.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox as zarr
        >>> z = zarr.array(np.arange(10), chunks=4)
        >>> order = np.random.default_rng(0).permutation(10)
        >>> [len(np.from_dlpack(batch)) for batch in z.batches(order, 4)]
        [4, 4, 2]
        """
        from zarrox.core.batches import Batches  # This module imports thread modules, which is slow.

        return Batches(self, indices, size, prefetch=prefetch, drop_last=drop_last)

    def update_attributes(self, new_attributes: dict[str, Any]) -> Self:
        """Change several attributes at once, and return the array.

        Examples
        --------
        >>> import zarrox as zarr
        >>> zarr.zeros(3).update_attributes({"unit": "K"}).attrs.asdict()
        {'unit': 'K'}
        """
        self.attrs.update(new_attributes)
        return self

    def resize(self, new_shape: ShapeLike) -> None:
        """Change the lengths of dimensions.

        No data moves: chunks outside the new shape are deleted, and new elements have the fill value.

        Parameters
        ----------
        new_shape : int or tuple of int
            The new shape; ``None`` keeps a length.

        Raises
        ------
        PermissionError
            If the array is read-only.

        Examples
        --------
        >>> import zarrox as zarr
        >>> z = zarr.zeros((10000, 10000), chunks=(1000, 1000))
        >>> z.resize((20000, 10000))
        >>> z.shape
        (20000, 10000)
        """
        self._resize(new_shape)

    @property
    def name(self) -> str:
        """The path with a leading slash."""
        return f"/{self.path}"

    @property
    def basename(self) -> str:
        """The last part of the name."""
        return self.path.rpartition("/")[2]

    @property
    def store_path(self) -> StorePath:
        """The store and the path. Its string form is the location."""
        return StorePath(self._store, self.path)

    @property
    def shards(self) -> tuple[int, ...] | None:
        """The shard shape, if chunks are stored in shards."""
        return self._native.shards

    @property
    def dimension_names(self) -> tuple[str | None, ...] | None:
        """The names of the dimensions, if they have any (version 3)."""
        return self._native.dimension_names

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of all chunks along each dimension, in Dask's notation."""
        return self.write_chunk_sizes if self._native.shards is None else chunk_sizes(self._native.chunks, self.shape)

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of all stored objects (shards, or chunks if there are no shards) along each dimension, in Dask's notation."""
        native = self._fresh
        grid = grid_of(native)
        lengths = native.shards or native.chunks if grid is None else grid["configuration"]["chunk_shapes"]
        return chunk_sizes(lengths, native.shape)

    @property
    def filters(self) -> tuple[Any, ...]:
        """The codecs that transform elements before serialization, in order."""
        return self._filters

    @property
    def compressors(self) -> tuple[Any, ...]:
        """The codecs that compress chunks, in order."""
        return self._compressors

    @property
    def serializer(self) -> Any:
        """The codec that serializes elements (version 3), or ``None``."""
        return self._serializer

    @property
    def metadata(self) -> ArrayMetadata:
        """All metadata as one object."""
        return self._metadata

    @property
    def config(self) -> ArrayConfig:
        """The settings of the array, which are not stored."""
        settings = self._settings
        return ArrayConfig("F" if settings.order == "F" else self.order, settings.write_empty_chunks, settings.read_missing_chunks)

    @property
    def nchunks_initialized(self) -> int:
        """The number of stored chunks; for arrays with shards, the number of chunks in stored shards.

        This lists the store.
        """
        return self._stored_chunks

    def nbytes_stored(self) -> int:
        """Returns the number of stored bytes of the array, including metadata and attributes; -1 if unknown."""
        return self._stored_bytes

    @property
    def info(self) -> InfoReporter:
        """Information about the array, for display.

        Examples
        --------
        >>> import zarrox as zarr
        >>> zarr.zeros(1000000, chunks=100000, dtype="i4").info
        Type               : Array
        Zarr format        : 3
        Data type          : Int32(endianness='little')
        Fill value         : 0
        Shape              : (1000000,)
        Chunk shape        : (100000,)
        Order              : C
        Read-only          : False
        Store type         : MemoryStore
        Filters            : ()
        Serializer         : BytesCodec(endian='little')
        Compressors        : (ZstdCodec(level=0, checksum=False),)
        No. bytes          : 4000000 (3.8M)
        <BLANKLINE>
        """
        return InfoReporter(Lines(self._known_items))

    def info_complete(self) -> InfoReporter:
        """Information about the array, including properties that require listing the store."""
        return InfoReporter(Lines(lambda: [*self._known_items(), *self._stored_items()]))

    def _known_items(self) -> list[tuple[str, object]]:
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
            ("Read-only", self.read_only),
            ("Store type", type(self._store).__name__),
            ("Filters", self.filters),
        ]
        if self.serializer is not None:
            items.append(("Serializer", self.serializer))
        return [*items, ("Compressors", self.compressors), ("No. bytes", byte_count(self.nbytes))]

    def _stored_items(self) -> list[tuple[str, object]]:
        stored = self.nbytes_stored()
        items: list[tuple[str, object]] = []
        if stored > 0:
            items += [("No. bytes stored", byte_count(stored)), ("Storage ratio", f"{self.nbytes / stored:.1f}")]
        objects = "Chunks" if self.shards is None else "Shards"
        return [*items, (f"{objects} Initialized", self._native.stored_chunks())]

    def __repr__(self) -> str:
        return f"<Array {self.store_path} shape={self.shape} dtype={self.dtype}>"

    def __getattr__(self, name: str) -> NoReturn:
        OF_2.refuse("Array", name, type(self).__name__)


def _settings_of(config: ArrayConfigLike | None) -> dict[str, Any]:
    chosen = parse_array_config(config)
    return {
        "write_empty_chunks": chosen.write_empty_chunks,
        "read_missing_chunks": chosen.read_missing_chunks,
        "order": chosen.order if chosen.order == "F" else None,
    }


def _unpickled(cls: type[Array], reads_missing: bool, *options: Any) -> Array:
    array = cls.__new__(cls)
    ArrayBase.__init__(array, *options)
    if not reads_missing:
        array._set(array._native, array._store, array._settings.with_(read_missing_chunks=False))
    return array


Array.__module__ = "zarrox"
AsyncArray.kind = Array
kinds[Array] = AsyncArray
