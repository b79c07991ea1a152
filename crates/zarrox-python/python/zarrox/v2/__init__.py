"""Zarr in Python, implemented in Rust, with the names, defaults and semantics of zarr-python 2.

Examples
--------
>>> import zarrox.v2 as zarr
>>> z = zarr.zeros((1000, 1000), chunks=(100, 100), dtype="i4")
>>> z[0, :3] = [1, 2, 3]
>>> z[0, :5]
array([1, 2, 3, 0, 0], dtype=int32)
>>> z
<zarrox.v2.core.Array (1000, 1000) int32>
"""

from __future__ import annotations

from typing import Any

from zarrox._native import __version__
from zarrox.elsewhere import OF_3
from zarrox.v2 import attrs, codecs, convenience, creation, errors, hierarchy, indexing, meta, storage, util
from zarrox.v2._initialize import init_array, init_group, init_store
from zarrox.v2.codecs import *  # noqa: F403 (zarr-python 2 has them here)
from zarrox.v2.convenience import *  # noqa: F403
from zarrox.v2.core import Array
from zarrox.v2.creation import *  # noqa: F403
from zarrox.v2.errors import CopyError, MetadataError
from zarrox.v2.hierarchy import *  # noqa: F403
from zarrox.v2.n5 import N5FSStore, N5Store
from zarrox.v2.storage import (
    ABSStore,
    DBMStore,
    DictStore,
    DirectoryStore,
    FSStore,
    KVStore,
    LMDBStore,
    LRUStoreCache,
    MemoryStore,
    MongoDBStore,
    NestedDirectoryStore,
    RedisStore,
    SQLiteStore,
    TempStore,
    ZipStore,
)
from zarrox.v2.sync import *  # noqa: F403

__all__ = ["Array", "CopyError", "MetadataError", "__version__", "attrs", "codecs", "errors", "indexing", "meta", "storage", "util"]
__all__ += ["N5FSStore", "N5Store", "init_array", "init_group", "init_store"]
__all__ += ["ABSStore", "DBMStore", "DictStore", "DirectoryStore", "FSStore", "KVStore", "LMDBStore", "LRUStoreCache", "MemoryStore"]
__all__ += ["MongoDBStore", "NestedDirectoryStore", "RedisStore", "SQLiteStore", "TempStore", "ZipStore"]
__all__ += ["ProcessSynchronizer", "ThreadSynchronizer"]
__all__ += codecs.__all__
__all__ += convenience.__all__
__all__ += creation.__all__
__all__ += hierarchy.__all__

# In zarr-python 2, these functions are in `zarr.storage`; here they are separate, since they create arrays and groups, which are built
# on stores.
vars(storage).update(init_array=init_array, init_group=init_group, init_store=init_store)


def __getattr__(name: str) -> Any:
    OF_3.refuse("zarr", name)
