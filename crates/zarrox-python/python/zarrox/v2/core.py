"""Arrays with the interface of zarr-python 2."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from zarrox._native import Array as NativeArray
from zarrox.argument_types import ChunksLike, ShapeLike, StoreArgument
from zarrox.codecs.convert import codec_config, from_v2
from zarrox.core.base import ArrayBase
from zarrox.core.fill import fill_json, normalize_fill_value
from zarrox.core.metadata import document_key, is_v3
from zarrox.core.views import native_view
from zarrox.elsewhere import OF_3
from zarrox.errors import UnsupportedError
from zarrox.shown.info import InfoReporter, byte_count, type_name
from zarrox.storage import BaseStore, native_store
from zarrox.documents import json_dumps, json_loads
from zarrox.v2 import storage
from zarrox.v2.internals import Internals

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Array"]


class Array(ArrayBase, Internals):
    __doc__ = ArrayBase.__doc__

    __slots__ = ()

    @classmethod
    def _open_store(
        cls,
        store: StoreArgument,
        *,
        mode: str = "r+",
        storage_options: dict[str, Any] | None = None,
        sync: bool | None = None,
    ) -> BaseStore:
        return storage.normalize_store_arg(store, mode=mode, storage_options=storage_options, sync=sync)

    @classmethod
    def _default_format(cls) -> int:
        return 2

    @classmethod
    def _default_compressor(cls) -> Any:
        return storage.default_compressor

    @property
    def name(self) -> str | None:
        """The path with a leading slash, as in h5py; ``None`` at the root of a store."""
        path = self.path
        return f"/{path}" if path else None

    @property
    def basename(self) -> str | None:
        """The last part of the name."""
        path = self.path
        return path.rpartition("/")[2] if path else None

    def view(
        self,
        shape: ShapeLike | None = None,
        chunks: ChunksLike = None,
        dtype: npt.DTypeLike | None = None,
        fill_value: Any = None,
        filters: Any = None,
        read_only: bool | None = None,
        synchronizer: Any = None,
    ) -> Self:
        """Returns a view of the same chunks with different metadata.

        Nothing is checked: the bytes of chunks are interpreted with the metadata of the view.

        Parameters
        ----------
        shape, chunks : int or tuple of int, optional
            Another shape of the array or of its chunks; both are required if the size of elements changes.
        dtype : dtype, optional
            Another data type.
        fill_value : object, optional
            Another fill value.
        filters : sequence of Codec, optional
            Other filters; ``[]`` for none.
        read_only : bool, optional
            Whether writing is rejected.
        synchronizer : object, optional
            The locks of concurrent writers.

        Returns
        -------
        Array
            The view, which cannot be resized.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox.v2 as zarr
        >>> z = zarr.array(np.arange(10000, dtype="u2"), chunks=1000)
        >>> z.view(dtype="u1", shape=20000, chunks=2000)[:6]
        array([0, 0, 1, 0, 2, 0], dtype=uint8)
        """
        changes = {"shape": shape, "chunks": chunks, "dtype": dtype, "fill_value": fill_value, "filters": filters}
        changes = {name: value for name, value in changes.items() if value is not None}
        synchronizer = self._settings.synchronizer if synchronizer is None else synchronizer
        native = self._native
        if changes:
            native = native_view(native, native_store(self._store, self._settings.chunk_store, synchronizer), **changes)
        before = {name: value for name, value in (self._view or {}).items() if not changes or name != "casts"}
        return self._viewed(native, {**before, **changes}, read_only, synchronizer)

    def astype(self, dtype: npt.DTypeLike) -> Self:
        """Returns a view with another data type. Elements are cast when they are read.

        Parameters
        ----------
        dtype : dtype
            The other data type.

        Returns
        -------
        Array
            The view, which is read-only.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox.v2 as zarr
        >>> zarr.array(np.arange(3, dtype="u1")).astype("f4")[:]
        array([0., 1., 2.], dtype=float32)
        """
        shown, before = np.dtype(dtype), self._view or {}
        casts = (*before.get("casts", ()), (self._native.dtype, shown))
        view = self._viewed(self._native, {**before, "casts": casts}, True, self._settings.synchronizer)
        view._convert(lambda values: values.astype(shown), shown)
        return view

    def digest(self, hashname: str = "sha1") -> bytes:
        """Returns a checksum of the stored data: all chunks in order, the metadata, and the attributes.

        The same data, written with the same codecs, has the same checksum in zarr-python 2.

        Parameters
        ----------
        hashname : str
            Any algorithm of `hashlib`.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> zarr.zeros(shape=(10000, 10000), chunks=(1000, 1000)).hexdigest()
        '7162d416d26a68063b66ed1f30e0a866e4abed60'
        """
        native = self._fresh
        checksum = hashlib.new(hashname)
        native.visit_encoded_chunks(checksum.update)
        # The document is read through the store, since N5 stores show documents in the form of version 2.
        for key in dict.fromkeys((document_key(native), self.attrs.key)):
            # The document is converted to the form that zarr-python 2 writes, regardless of which library has written it.
            checksum.update(json_dumps(json_loads(self._store[key])) if key in self._store else b"")
        return checksum.digest()

    def hexdigest(self, hashname: str = "sha1") -> str:
        """Returns the checksum of `digest` as a hexadecimal string.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> zarr.empty(shape=(10000, 10000), chunks=(1000, 1000)).hexdigest()
        '041f90bc7a571452af4f850a8ca2c6cddfa8a1ac'
        """
        return self.digest(hashname).hex()

    def islice(self, start: int | None = None, end: int | None = None) -> Iterator[Any]:
        """Iterate over a part of the first dimension; each chunk is read once.

        Parameters
        ----------
        start, end : int, optional
            The start, and the exclusive end; by default the whole dimension.

        Raises
        ------
        TypeError
            If the array has no dimensions.
        ValueError
            If ``start`` or ``end`` is not an integer, or negative.

        Examples
        --------
        >>> import numpy as np
        >>> import zarrox.v2 as zarr
        >>> [int(value) for value in zarr.array(np.arange(100)).islice(25, 28)]
        [25, 26, 27]
        """
        shape = self.shape
        if not shape:
            raise TypeError("iteration over a 0-d array")
        for name, value in (("start", start), ("end", end)):
            if value is not None and (not isinstance(value, int) or value < 0):
                raise ValueError(f"{name} must be a nonnegative integer, not {value!r}")
        stop = shape[0] if end is None else min(end, shape[0])
        return self._rows(start or 0, stop, (self._native.shards or self.chunks)[0])

    @property
    def read_only(self) -> bool:
        """True if writing is rejected. This property can be changed."""
        return bool(self._settings.read_only)

    @read_only.setter
    def read_only(self, value: bool) -> None:
        self._set_read_only(value)

    @property
    def fill_value(self) -> Any:
        """The value of elements that were never written; ``None`` if undefined. Assigning another value rewrites the metadata."""
        return self._native.fill_value

    @fill_value.setter
    def fill_value(self, value: Any) -> None:
        self._check_changeable()
        native = self._native
        if native.format == "n5":
            raise UnsupportedError("arrays of N5 have no fill value but 0")
        fill = fill_json(normalize_fill_value(value, native.dtype), native.dtype, 3 if is_v3(native) else 2)
        native.set_fill_value(json.dumps(fill))

    def resize(self, *args: Any) -> None:
        """Change the lengths of dimensions.

        No data moves: chunks outside the new shape are deleted, and new elements have the fill value.

        Parameters
        ----------
        *args : int or tuple of int
            The new shape, as one tuple or as several numbers; ``None`` keeps a length.

        Raises
        ------
        PermissionError
            If the array is a view, or read-only.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> z = zarr.zeros(shape=(10000, 10000), chunks=(1000, 1000))
        >>> z.resize(20000, 10000)
        >>> z.shape
        (20000, 10000)
        """
        self._resize(*args)

    def _viewed(self, native: NativeArray, changes: dict[str, Any], read_only: bool | None, synchronizer: Any) -> Self:
        settings = self._settings.with_(synchronizer=synchronizer, cache_metadata=True, meta_array=None)
        if read_only is not None:
            settings = settings.with_(read_only=read_only)
        view = self._of(native, self._store, settings)
        view._view = changes
        view._attrs = self.attrs
        return view

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self._native.dtype.itemsize

    @property
    def synchronizer(self) -> Any:
        """The object that synchronizes writers."""
        return self._settings.synchronizer

    @property
    def is_view(self) -> bool:
        """True if this is a view of another array."""
        return self._view is not None

    @property
    def write_empty_chunks(self) -> bool:
        """True if chunks that hold only the fill value are stored."""
        return self._settings.write_empty_chunks

    @property
    def _dimension_separator(self) -> str:
        return str(self._stored_document.get("dimension_separator", "/" if is_v3(self._native) else "."))

    @property
    def _bytes_codecs(self) -> tuple[Any, ...]:
        """The bytes-to-bytes codecs in the form of version 2, in which all of them except the last one are filters."""
        if not is_v3(self._native):
            return self._compressors
        return tuple(from_v2(codec_config(codec, 2) or {}) for codec in self._compressors)

    @property
    def compressor(self) -> Any:
        """The codec that compresses chunks, or ``None``. If a version 3 array has several, this is the last one."""
        return next(reversed(self._bytes_codecs), None)

    @property
    def filters(self) -> list[Any] | None:
        """The codecs that transform chunks before they are compressed; ``None`` if there are none."""
        return [*self._filters, *self._bytes_codecs[:-1]] or None

    @property
    def nbytes_stored(self) -> int:
        """The number of stored bytes of the array, including metadata and attributes; -1 if unknown."""
        try:
            return self._stored_bytes
        except TypeError:  # The mapping has a value that is not bytes.
            return -1

    @property
    def nchunks_initialized(self) -> int:
        """The number of chunks that are stored. Reading this property lists the store."""
        return self._stored_chunks

    #: The name in zarr-python 1.
    initialized = nchunks_initialized

    @property
    def info(self) -> InfoReporter:
        """Information about the array, in a form that can be printed.

        Examples
        --------
        >>> import zarrox.v2 as zarr
        >>> zarr.zeros(1000000, chunks=100000, dtype="i4").info
        Type               : zarrox.v2.core.Array
        Data type          : int32
        Shape              : (1000000,)
        Chunk shape        : (100000,)
        Order              : C
        Read-only          : False
        Compressor         : Blosc(cname='lz4', clevel=5, shuffle=SHUFFLE, blocksize=0)
        Store type         : zarrox.v2.storage.KVStore
        No. bytes          : 4000000 (3.8M)
        No. bytes stored   : 320
        Storage ratio      : 12500.0
        Chunks initialized : 0/10
        <BLANKLINE>
        """
        return InfoReporter(self)

    def info_items(self) -> list[tuple[str, object]]:
        """Returns the titles and values that `info` prints."""
        items: list[tuple[str, object]] = [("Name", self.name)] if self.name else []
        items += [
            ("Type", type_name(self)),
            ("Data type", str(self.dtype)),
            ("Shape", str(self.shape)),
            ("Chunk shape", self._native.chunk_grid_text),
            ("Order", self.order),
            ("Read-only", str(self._settings.read_only)),
        ]
        items += [(f"Filter [{index}]", repr(codec)) for index, codec in enumerate(self._filters)]
        items += [("Compressor", repr(codec)) for codec in self._compressors or (None,)]
        if self._settings.synchronizer is not None:
            items.append(("Synchronizer type", type_name(self._settings.synchronizer)))
        items.append(("Store type", type_name(self._store)))
        if self._settings.chunk_store is not None:
            items.append(("Chunk store type", type_name(self._settings.chunk_store)))
        items.append(("No. bytes", byte_count(self.nbytes)))
        stored = self.nbytes_stored
        if stored > 0:
            items += [("No. bytes stored", byte_count(stored)), ("Storage ratio", f"{self.nbytes / stored:.1f}")]
        return [*items, ("Chunks initialized", f"{self.nchunks_initialized}/{self.nchunks}")]

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        read_only = " read-only" if self._settings.read_only else ""
        return f"<{type_name(self)}{name} {self.shape} {self.dtype}{read_only}>"

    def __reduce__(self) -> tuple[Any, ...]:
        cls, options = super().__reduce__()
        return (cls, options) if self._view is None else (_unpickled, (cls, options, self._view))

    def __getattr__(self, name: str) -> NoReturn:
        OF_3.refuse("Array", name, type(self).__name__)


def _unpickled(cls: type[Array], options: tuple[Any, ...], view: dict[str, Any] | None) -> Array:
    array = cls(*options)
    if view is None:
        return array
    array = array.view(**{name: value for name, value in view.items() if name != "casts"})
    for _, shown in view.get("casts", ()):
        array = array.astype(shown)
    return array
