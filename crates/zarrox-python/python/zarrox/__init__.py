"""Zarr in Python, over Rust: the functions of zarr-python 2.11, and those of zarr-python 3 that programs use today.

Examples
--------
>>> import zarrox as zarr
>>> z = zarr.zeros((1000, 1000), chunks=(100, 100), dtype="i4")
>>> z[0, :3] = [1, 2, 3]
>>> z[0, :5]
array([1, 2, 3, 0, 0], dtype=int32)
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

from zarrox import _native, adapters, codecs, errors, storage  # noqa: F401 (stores of other packages are taken by it)
from zarrox._native import __version__
from zarrox.codecs import *  # noqa: F403 (codecs are at top level in zarr-python 2)
from zarrox.hierarchy._checking import check
from zarrox.hierarchy._pyramid import downsample, validate_ome
from zarrox.config import config
from zarrox.convenience import (
    consolidate_metadata,
    copy,
    copy_all,
    copy_store,
    load,
    open,
    open_consolidated,
    rechunk,
    save,
    save_array,
    save_group,
    tree,
)
from zarrox.core import Array
from zarrox.creation import (
    array,
    create,
    create_array,
    empty,
    empty_like,
    from_array,
    full,
    full_like,
    ones,
    ones_like,
    open_array,
    open_like,
    zeros,
    zeros_like,
)
from zarrox.errors import CopyError, MetadataError
from zarrox.hierarchy import Group, create_group, create_hierarchy, group, open_group
from zarrox.hierarchy._files import export_file, import_file
from zarrox.hierarchy._digests import digest, manifest, verify_manifest
from zarrox.hierarchy._reshard import reshard
from zarrox.hierarchy._survey import chunk_table, diff, du, find, stats
from zarrox.hierarchy._initialize import init_array, init_group, init_store
from zarrox.hierarchy._serving import Server, serve
from zarrox.n5 import N5FSStore, N5Store
from zarrox.storage import (
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
from zarrox.sync import ProcessSynchronizer, ThreadSynchronizer

if TYPE_CHECKING:
    from types import ModuleType

__all__ = [
    "ABSStore",
    "Array",
    "CopyError",
    "DBMStore",
    "DictStore",
    "DirectoryStore",
    "FSStore",
    "Group",
    "KVStore",
    "LMDBStore",
    "LRUStoreCache",
    "MemoryStore",
    "MetadataError",
    "MongoDBStore",
    "N5FSStore",
    "N5Store",
    "NestedDirectoryStore",
    "ProcessSynchronizer",
    "RedisStore",
    "SQLiteStore",
    "Server",
    "TempStore",
    "ThreadSynchronizer",
    "ZipStore",
    "__version__",
    "array",
    "check",
    "chunk_table",
    "config",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "create",
    "create_array",
    "create_group",
    "create_hierarchy",
    "diff",
    "digest",
    "downsample",
    "du",
    "empty",
    "empty_like",
    "errors",
    "export_file",
    "find",
    "from_array",
    "full",
    "full_like",
    "group",
    "import_file",
    "load",
    "manifest",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "open_like",
    "print_debug_info",
    "rechunk",
    "reshard",
    "save",
    "save_array",
    "save_group",
    "serve",
    "stats",
    "storage",
    "tree",
    "validate_ome",
    "verify_manifest",
    "zeros",
    "zeros_like",
]
__all__ += codecs.__all__

# They create arrays and groups, which stand above stores; zarr-python 2 has them in `zarr.storage`.
vars(storage).update(init_array=init_array, init_group=init_group, init_store=init_store)

if hasattr(os, "register_at_fork"):
    # What other threads hold, in libraries as well, would be held for ever in the child.
    os.register_at_fork(
        before=_native.before_fork,
        after_in_parent=partial(_native.after_fork, False),
        after_in_child=partial(_native.after_fork, True),
    )

#: Modules that are imported when they are first asked for, since what they stand on is slow to import or not always there.
_LATER = ("asynchronous", "dask", "indexing", "xarray")


def __getattr__(name: str) -> ModuleType | Any:
    if name not in _LATER:
        raise AttributeError(f"module 'zarrox' has no attribute {name!r}")
    from importlib import import_module

    return import_module(f"zarrox.{name}")


def print_debug_info() -> None:
    """Print the versions of everything that matters, for reports of errors."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    def found(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "not installed"

    print(f"platform: {platform.platform()}")
    print(f"python: {platform.python_version()}")
    print(f"zarrox: {__version__}")
    for package in ("numpy", "numcodecs", "fsspec", "xarray", "dask", "h5py"):
        print(f"{package}: {found(package)}")
