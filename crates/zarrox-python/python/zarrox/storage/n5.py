"""N5: a format for arrays and groups that is common in Java imaging software.

Arrays in N5 stores are read and written natively. As mappings, the stores show N5 documents in the form of Zarr version 2, and chunk
keys in Zarr's dimension order: ``store[".zarray"]``, ``store["foo/10.20.30"]``.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from zarrox import _native
from zarrox.argument_types import PathArgument
from zarrox.codecs.abc import Codec
from zarrox.codecs.convert import in_v2
from zarrox.codecs.registry import get_codec, register_codec
from zarrox.meta import ZARR_FORMAT
from zarrox.storage.native import NativeStore
from zarrox.storage.directory import NestedDirectoryStore
from zarrox.documents import json_dumps, json_loads
from zarrox.storage.paths import NUMBER, array_meta_key, attrs_key, group_meta_key, is_key, prefix_of
from zarrox.storage.remote import FSStore

if TYPE_CHECKING:
    _Base = NativeStore
else:
    _Base = object

__all__ = [
    "N5_FORMAT",
    "N5ChunkWrapper",
    "N5FSStore",
    "N5Store",
    "array_metadata_to_n5",
    "array_metadata_to_zarr",
    "attrs_to_zarr",
    "compressor_config_to_n5",
    "compressor_config_to_zarr",
    "group_metadata_to_n5",
    "group_metadata_to_zarr",
    "invert_chunk_coords",
    "is_chunk_key",
    "n5_attrs_key",
    "n5_keywords",
    "zarr_to_n5_keys",
]

n5_attrs_key = "attributes.json"
N5_FORMAT = "2.0.0"
n5_keywords = ["n5", "dataType", "dimensions", "blockSize", "compression"]
zarr_to_n5_keys = [
    ("chunks", "blockSize"),
    ("dtype", "dataType"),
    ("compressor", "compression"),
    ("shape", "dimensions"),
]

_CHUNK = re.compile(r"^\d+(\.\d+)+$")


def is_chunk_key(key: str) -> bool:
    """Returns true if a key is that of a chunk with two or more dimensions."""
    return _CHUNK.match(key.rpartition("/")[2]) is not None


def invert_chunk_coords(key: str) -> str:
    """Returns the N5 key of a chunk.

    Examples
    --------
    >>> from zarrox.v2.n5 import invert_chunk_coords
    >>> invert_chunk_coords("foo/10.20.30")
    'foo/30/20/10'
    """
    if not is_chunk_key(key):
        return key
    above, slash, name = key.rpartition("/")
    return above + slash + "/".join(reversed(name.split(".")))


def attrs_to_zarr(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the user attributes in an N5 document."""
    return {name: value for name, value in attrs.items() if name not in n5_keywords}


def group_metadata_to_n5(group_metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Converts the document of a group from Zarr to N5."""
    kept = {name: value for name, value in group_metadata.items() if name != "zarr_format"}
    return {**kept, "n5": N5_FORMAT}


def group_metadata_to_zarr(group_metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Converts the document of a group from N5 to Zarr."""
    kept = {name: value for name, value in group_metadata.items() if name != "n5"}
    return {**kept, "zarr_format": ZARR_FORMAT}


def array_metadata_to_n5(array_metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Converts the document of an array from Zarr to N5.

    Raises
    ------
    ValueError
        If N5 cannot express the document.
    """
    spec = {name: value for name, value in array_metadata.items() if name not in ("zarr_format", "dimension_separator")}
    compressor = _unwrapped(spec.pop("compressor"))
    _warn_of(compressor)
    spec |= {"format": "n5", "compressor": compressor, "filters": spec.get("filters") or None}
    document: dict[str, Any] = json.loads(_native.create_array(_native.Store.memory(), "", json.dumps(spec)).document())
    return {name: document[name] for _, name in zarr_to_n5_keys}


def array_metadata_to_zarr(array_metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Converts the document of an array from N5 to Zarr."""
    array = _array_of(array_metadata)
    return {
        "zarr_format": ZARR_FORMAT,
        "shape": list(array.shape),
        "chunks": list(array.chunks),
        "dtype": array.dtype.str,
        "compressor": {
            "id": N5ChunkWrapper.codec_id,
            "compressor_config": _compressor_of(array),
            "dtype": array.dtype.str,
            "chunk_shape": list(array.chunks),
        },
        "fill_value": 0,
        "order": "C",
        "filters": [],
        "dimension_separator": ".",
    }


def compressor_config_to_n5(compressor_config: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns a compressor in the form of N5.

    Examples
    --------
    >>> from zarrox.v2.n5 import compressor_config_to_n5
    >>> compressor_config_to_n5({"id": "gzip", "level": 1})
    {'type': 'gzip', 'level': 1, 'useZlib': False}
    """
    document = array_metadata_to_n5({**_SMALLEST, "compressor": compressor_config})
    compression: dict[str, Any] = document["compression"]
    return compression


def compressor_config_to_zarr(compressor_config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns an N5 compressor in the form of Zarr.

    Examples
    --------
    >>> from zarrox.v2.n5 import compressor_config_to_zarr
    >>> compressor_config_to_zarr({"type": "bzip2", "blockSize": 9})
    {'id': 'bz2', 'level': 9}
    """
    return _compressor_of(_array_of({**array_metadata_to_n5(_SMALLEST), "compression": compressor_config}))


#: The document of an array of which only the compressor matters.
_SMALLEST = {"shape": [1], "chunks": [1], "dtype": "|u1", "compressor": None}


def _array_of(document: Mapping[str, Any]) -> _native.Array:
    """Returns an array in memory with an N5 document."""
    store = _native.Store.memory()
    store.set(n5_attrs_key, json_dumps(document))
    array = _native.open_node(store, "", "r", "n5")
    assert isinstance(array, _native.Array)
    return array


def _compressor_of(array: _native.Array) -> dict[str, Any] | None:
    """Returns the compressor of an N5 array, in the form of version 2."""
    (block,) = json.loads(array.codecs)
    compressors = block["configuration"]["codecs"][1:]
    return in_v2(compressors[0]) if compressors else None


def _unwrapped(config: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Returns the compressor inside the codec for N5 blocks."""
    is_wrapper = config is not None and config["id"] == N5ChunkWrapper.codec_id
    return config["compressor_config"] if config is not None and is_wrapper else config


def _warn_of(config: Mapping[str, Any] | None) -> None:
    if config is not None and config["id"] == "blosc":
        warnings.warn(
            "not every N5 reader supports blosc; some may be unable to open this array",
            RuntimeWarning,
            stacklevel=3,
        )


class _N5Keys(_Base):
    """An N5 store as a mapping with version 2 keys."""

    _format = "n5"

    def _attributes(self, key: str) -> dict[str, Any]:
        """Returns the members of the document beside a key; empty if the document does not exist."""
        document = self._document(key)
        value = self._raw.get(document) if is_key(document) else None
        return {} if value is None else dict(json_loads(value))

    def _document(self, key: str) -> str:
        return self._normalize_key(prefix_of(key.rpartition("/")[0]) + n5_attrs_key)

    def __getitem__(self, key: str) -> Any:
        name = key.rpartition("/")[2]
        if name not in (array_meta_key, group_meta_key, attrs_key):
            return super().__getitem__(invert_chunk_coords(key))
        if key not in self:
            raise KeyError(key)
        attributes = self._attributes(key)
        if name == array_meta_key:
            return json_dumps(array_metadata_to_zarr(attributes))
        return json_dumps(
            group_metadata_to_zarr(attributes) if name == group_meta_key else attrs_to_zarr(attributes)
        )

    def __setitem__(self, key: str, value: Any) -> None:
        name = key.rpartition("/")[2]
        if name not in (array_meta_key, group_meta_key, attrs_key):
            super().__setitem__(invert_chunk_coords(key), value)
            return
        old, new = self._attributes(key), json_loads(bytes(value))
        if name == array_meta_key:
            changed = {**old, **array_metadata_to_n5(new)}
        elif name == group_meta_key:
            changed = {**old, **group_metadata_to_n5(new)}
        else:
            for reserved in n5_keywords:
                if reserved in new:
                    warnings.warn(f"attribute {reserved} is a reserved N5 keyword", UserWarning, stacklevel=2)
            changed = {word: old[word] for word in n5_keywords if word in old} | new
        super().__setitem__(self._document(key), json_dumps(changed))

    def __delitem__(self, key: str) -> None:
        name = key.rpartition("/")[2]
        is_document = name in (array_meta_key, group_meta_key, attrs_key)
        super().__delitem__(self._document(key) if is_document else invert_chunk_coords(key))

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        name = key.rpartition("/")[2]
        if name == array_meta_key:
            return "dimensions" in self._attributes(key)
        if name == group_meta_key:
            return super().__contains__(self._document(key)) and "dimensions" not in self._attributes(key)
        if name == attrs_key:
            return bool(attrs_to_zarr(self._attributes(key)))
        return super().__contains__(invert_chunk_coords(key))

    def listdir(self, path: PathArgument = None) -> list[str]:
        names = super().listdir(path)
        if n5_attrs_key not in names:
            return names
        prefix = prefix_of(self._normalize_key(str(path or "").strip("/")))
        attributes = self._attributes(prefix + n5_attrs_key)
        is_array = "dimensions" in attributes
        found = [array_meta_key if is_array else group_meta_key]
        found += [attrs_key] if attrs_to_zarr(attributes) else []
        for name in names:
            below = self._raw.keys(prefix + name) if is_array and NUMBER.match(name) else []
            # In N5, the coordinates are in reverse order.
            found += [".".join(reversed(key[len(prefix) :].split("/"))) for key in below] or [name]
        found.remove(n5_attrs_key)
        return sorted(found)


class N5Store(_N5Keys, NestedDirectoryStore):
    """An N5 store in a directory.

    Parameters
    ----------
    path : str or PathLike
        The directory. It is created with the first value.
    normalize_keys : bool, optional
        Whether all keys are converted to lower case.

    Examples
    --------
    >>> import os, tempfile
    >>> import zarrox.v2 as zarr
    >>> path = tempfile.mkdtemp()
    >>> store = zarr.N5Store(path)
    >>> z = zarr.zeros((10, 10), chunks=(5, 5), store=store, compressor=zarr.GZip())
    >>> z[...] = 42
    >>> sorted(os.listdir(path))
    ['0', '1', 'attributes.json']
    """

    _dimension_separator = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, N5Store) and self.path == other.path

    __hash__ = None


class N5FSStore(_N5Keys, FSStore):
    """An N5 store at a URL.

    Parameters
    ----------
    url : str or fsspec.FSMap
        The location of the values.
    *args, **kwargs
        As for :class:`zarrox.storage.FSStore`.
    """

    _array_meta_key = n5_attrs_key
    _group_meta_key = n5_attrs_key
    _attrs_key = n5_attrs_key

    def __init__(self, url: Any, *args: Any, **kwargs: Any) -> None:
        for name in ("dimension_separator", "key_separator"):
            if kwargs.pop(name, None) is not None:
                warnings.warn(f"{name} is ignored: N5 has '/' always", UserWarning, stacklevel=2)
        super().__init__(url, *args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, N5FSStore) and self.path == other.path

    __hash__ = None  # type: ignore[assignment]


class N5ChunkWrapper(Codec):
    """The codec that stands for N5 blocks in version 2 documents.

    Parameters
    ----------
    dtype : dtype
        The data type of the array.
    chunk_shape : tuple of int
        The shape of a whole chunk.
    compressor_config : dict, optional
        The configuration of the compressor in the blocks.
    compressor : Codec, optional
        The compressor itself, instead of `compressor_config`.

    Raises
    ------
    ValueError
        If both are given.

    Examples
    --------
    >>> import numpy as np
    >>> from zarrox.v2.n5 import N5ChunkWrapper
    >>> N5ChunkWrapper("<u2", (2,)).encode(np.array([1, 2], "<u2"))
    b'\\x00\\x00\\x00\\x01\\x00\\x00\\x00\\x02\\x00\\x01\\x00\\x02'
    """

    codec_id = "n5_wrapper"

    def __init__(
        self,
        dtype: npt.DTypeLike,
        chunk_shape: tuple[int, ...],
        compressor_config: Mapping[str, Any] | None = None,
        compressor: Any = None,
    ) -> None:
        if compressor is not None:
            if compressor_config is not None:
                raise ValueError("compressor and compressor_config are aliases: give one of them")
            compressor_config = compressor.get_config()
        self.dtype = np.dtype(dtype)
        self.chunk_shape = tuple(chunk_shape)
        is_raw = compressor_config is None or compressor_config["id"] == "raw"
        self.compressor_config = None if is_raw else get_codec(dict(compressor_config or {})).get_config()

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "dtype": self.dtype.str, "chunk_shape": list(self.chunk_shape)}

    def encode(self, chunk: Any) -> bytes:
        chunk = np.asarray(chunk)
        block = self._block(chunk.shape)
        block.set(..., chunk)
        return block.encoded_chunk((0,) * chunk.ndim) or b""

    def decode(self, chunk: Any, out: Any = None) -> Any:
        # At the edges of an array, blocks are smaller than whole chunks.
        block = self._block(self.chunk_shape)
        block.set_encoded_chunk((0,) * len(self.chunk_shape), bytes(chunk))
        whole = block.get(...)
        if out is None:
            return whole
        np.copyto(np.frombuffer(out, self.dtype).reshape(self.chunk_shape), whole)
        return out

    def _block(self, shape: tuple[int, ...]) -> _native.Array:
        """Returns an N5 array in memory, whose only chunk has this shape."""
        spec = {"format": "n5", "shape": shape, "chunks": False, "dtype": self.dtype.str, "compressor": self.compressor_config}
        array = _native.create_array(_native.Store.memory(), "", json.dumps(spec))
        return array.with_options(write_empty_chunks=True)


register_codec(N5ChunkWrapper)
