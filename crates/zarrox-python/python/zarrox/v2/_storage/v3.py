"""The stores for the experimental version 3 in zarr-python 2.13 to 2.18. Nodes in them have that format."""

from __future__ import annotations

from zarrox.v2 import storage
from zarrox.v2._storage.store import StoreV3

__all__ = [
    "ABSStoreV3",
    "ConsolidatedMetadataStoreV3",
    "DBMStoreV3",
    "DirectoryStoreV3",
    "FSStoreV3",
    "KVStoreV3",
    "LMDBStoreV3",
    "LRUStoreCacheV3",
    "MemoryStoreV3",
    "MongoDBStoreV3",
    "RedisStoreV3",
    "SQLiteStoreV3",
    "StoreV3",
    "ZipStoreV3",
]

class ABSStoreV3(StoreV3, storage.ABSStore):
    __doc__ = storage.ABSStore.__doc__


class ConsolidatedMetadataStoreV3(StoreV3, storage.ConsolidatedMetadataStore):
    __doc__ = storage.ConsolidatedMetadataStore.__doc__


class DBMStoreV3(StoreV3, storage.DBMStore):
    __doc__ = storage.DBMStore.__doc__


class DirectoryStoreV3(StoreV3, storage.DirectoryStore):
    __doc__ = storage.DirectoryStore.__doc__


class FSStoreV3(StoreV3, storage.FSStore):
    __doc__ = storage.FSStore.__doc__


class KVStoreV3(StoreV3, storage.KVStore):
    __doc__ = storage.KVStore.__doc__


class LMDBStoreV3(StoreV3, storage.LMDBStore):
    __doc__ = storage.LMDBStore.__doc__


class LRUStoreCacheV3(StoreV3, storage.LRUStoreCache):
    __doc__ = storage.LRUStoreCache.__doc__


class MemoryStoreV3(StoreV3, storage.MemoryStore):
    __doc__ = storage.MemoryStore.__doc__


class MongoDBStoreV3(StoreV3, storage.MongoDBStore):
    __doc__ = storage.MongoDBStore.__doc__


class RedisStoreV3(StoreV3, storage.RedisStore):
    __doc__ = storage.RedisStore.__doc__


class SQLiteStoreV3(StoreV3, storage.SQLiteStore):
    __doc__ = storage.SQLiteStore.__doc__


class ZipStoreV3(StoreV3, storage.ZipStore):
    __doc__ = storage.ZipStore.__doc__
