"""Zarr in Python, implemented in Rust, with the names, defaults and semantics of zarr-python 3. `zarrox.v2` has the names of
zarr-python 2.

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
from importlib import import_module
from typing import TYPE_CHECKING, Any

from zarrox import _native, abc, api, buffer, codecs, dtype, errors, registry, storage, types
from zarrox._native import __version__
from zarrox.api import asynchronous as _asynchronous  # noqa: F401 (accessible as zarrox.api.asynchronous)
from zarrox.api import synchronous as _synchronous
from zarrox.api.synchronous import *  # noqa: F403
from zarrox.config import config
from zarrox.core.array import Array
from zarrox.core.async_array import AsyncArray
from zarrox.elsewhere import OF_2
from zarrox.hierarchy import AsyncGroup, Group
from zarrox.hierarchy._copies import rechunk
from zarrox import adapters as _adapters  # noqa: F401 (lets stores of other packages be taken)

if TYPE_CHECKING:
    # The names that `__getattr__` imports on first use.
    from zarrox.hierarchy._checking import check
    from zarrox.hierarchy._digests import digest, manifest, verify_manifest
    from zarrox.hierarchy._files import export_file, import_file
    from zarrox.hierarchy._pyramid import downsample, validate_ome
    from zarrox.hierarchy._reshard import reshard
    from zarrox.hierarchy._serving import Server, serve
    from zarrox.hierarchy._survey import chunk_table, diff, du, find, stats

__all__ = [
    "Array",
    "AsyncArray",
    "AsyncGroup",
    "Group",
    "Server",
    "__version__",
    "abc",
    "api",
    "buffer",
    "check",
    "chunk_table",
    "codecs",
    "config",
    "diff",
    "digest",
    "downsample",
    "dtype",
    "du",
    "errors",
    "export_file",
    "find",
    "import_file",
    "manifest",
    "print_debug_info",
    "rechunk",
    "registry",
    "reshard",
    "serve",
    "stats",
    "storage",
    "types",
    "validate_ome",
    "verify_manifest",
]
__all__ += _synchronous.__all__

if hasattr(os, "register_at_fork"):
    # Locks that other threads hold, including those in libraries, would never be released in the child process.
    os.register_at_fork(
        before=_native.before_fork,
        after_in_parent=partial(_native.after_fork, False),
        after_in_child=partial(_native.after_fork, True),
    )

#: Modules that are imported on first use, since their dependencies are slow to import or optional.
_LATER = ("dask", "v2", "xarray")

#: The functions of modules that few programs need. A module is imported when one of its functions is first used.
_TOOLS = {
    "_checking": ("check",),
    "_digests": ("digest", "manifest", "verify_manifest"),
    "_files": ("export_file", "import_file"),
    "_pyramid": ("downsample", "validate_ome"),
    "_reshard": ("reshard",),
    "_serving": ("Server", "serve"),
    "_survey": ("chunk_table", "diff", "du", "find", "stats"),
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return import_module(f"zarrox.{name}")
    for module, names in _TOOLS.items():
        if name in names:
            found = getattr(import_module(f"zarrox.hierarchy.{module}"), name)
            globals()[name] = found
            return found
    OF_2.refuse("zarr", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def print_debug_info() -> None:
    """Print the versions of the relevant packages, for bug reports."""
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
