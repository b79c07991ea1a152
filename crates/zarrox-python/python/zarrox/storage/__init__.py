"""Stores: the classes of zarr-python 3.

The classes of zarr-python 2 are in `zarrox.v2.storage`; every function accepts both.
"""

from __future__ import annotations

from typing import NoReturn

from .paths import normalize_storage_path  # isort: skip - others need it
from zarrox.elsewhere import OF_2

from .base import BaseStore, StoredBytes, StoreLike
from .native import NativeStore
from .foreign import FsspecStore, ObjectStore
from .functions import native_store, normalize_store_arg
from .store_path import StorePath
from .v3 import LocalStore, ManagedMemoryStore, MemoryStore, ZipStore
from .wrapper import LoggingStore, WrapperStore

__all__ = [
    "BaseStore",
    "FsspecStore",
    "LocalStore",
    "LoggingStore",
    "ManagedMemoryStore",
    "MemoryStore",
    "NativeStore",
    "ObjectStore",
    "StoreLike",
    "StorePath",
    "StoredBytes",
    "WrapperStore",
    "ZipStore",
    "native_store",
    "normalize_storage_path",
    "normalize_store_arg",
]


def __getattr__(name: str) -> NoReturn:
    OF_2.refuse("zarr.storage", name)


# Classes have the module name under which users find them.
for _class in (
    *(FsspecStore, LocalStore, LoggingStore, ManagedMemoryStore, MemoryStore, ObjectStore, StorePath, WrapperStore, ZipStore),
):
    _class.__module__ = __name__
del _class
