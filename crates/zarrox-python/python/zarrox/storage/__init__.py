"""Stores: where arrays and groups are kept.

A store is a mapping from keys to bytes. Any :class:`~collections.abc.MutableMapping` with text as keys can be one; the classes
here read and write natively, and know more: to list directories, to delete and rename them, and to tell sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .paths import array_meta_key, attrs_key, group_meta_key, normalize_storage_path  # isort: skip - others need it
from .archive import ZipStore
from .base import BaseStore, KVStore, NativeStore, Store, StoredBytes, StoreLike
from .databases import DBMStore, LMDBStore, SQLiteStore
from .directory import (
    DirectoryStore,
    LocalStore,
    NestedDirectoryStore,
    TempStore,
    atexit_rmglob,
    atexit_rmtree,
)
from .functions import (
    contains_array,
    contains_group,
    getsize,
    listdir,
    migrate_1to2,
    native_store,
    normalize_store_arg,
    rename,
    rmdir,
)
from .layers import ConsolidatedMetadataStore, LRUStoreCache
from .memory import DictStore, MemoryStore
from .remote import FsspecStore, FSStore, ObjectStore, StorePath
from .servers import ABSStore, MongoDBStore, RedisStore

if TYPE_CHECKING:
    from zarrox.hierarchy._initialize import init_array, init_group, init_store

__all__ = [
    "ABSStore",
    "BaseStore",
    "ConsolidatedMetadataStore",
    "DBMStore",
    "DictStore",
    "DirectoryStore",
    "FSStore",
    "FsspecStore",
    "KVStore",
    "LMDBStore",
    "LRUStoreCache",
    "LocalStore",
    "MemoryStore",
    "MongoDBStore",
    "NativeStore",
    "NestedDirectoryStore",
    "ObjectStore",
    "RedisStore",
    "SQLiteStore",
    "Store",
    "StoreLike",
    "StorePath",
    "StoredBytes",
    "TempStore",
    "ZipStore",
    "array_meta_key",
    "atexit_rmglob",
    "atexit_rmtree",
    "attrs_key",
    "contains_array",
    "contains_group",
    "default_compressor",
    "getsize",
    "group_meta_key",
    "init_array",
    "init_group",
    "init_store",
    "listdir",
    "migrate_1to2",
    "native_store",
    "normalize_storage_path",
    "normalize_store_arg",
    "rename",
    "rmdir",
]

default_compressor: Any
"""The compressor of new arrays of version 2 by default. Set it to another codec, or to ``None``."""


def __getattr__(name: str) -> Any:
    if name != "default_compressor":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from zarrox.codecs import Blosc  # Codecs are not needed to list a directory.

    return globals().setdefault(name, Blosc())


for _name in __all__:
    # Classes are called by the name under which users find them.
    _object = globals().get(_name)
    if isinstance(_object, type):
        _object.__module__ = __name__
del _name, _object
