"""Determines the format of new nodes: the given format, or that of the parent group."""

from __future__ import annotations

import os
from typing import Any

from zarrox import _native
from zarrox.errors import MetadataError, NodeNotFoundError
from zarrox.storage import BaseStore, native_store
from zarrox.storage.directory import DirectoryStore

__all__ = ["format_of_existing", "format_of_new", "one_format"]

v3_api_available = os.environ.get("ZARR_V3_EXPERIMENTAL_API", "0").lower() not in ("0", "false")
"""True if an environment variable requests the experimental version 3 of zarr-python 2.13 to 2.18."""

#: The versions by which zarr-python 2 calls the formats of stores that support only one.
_VERSIONS: dict[str | None, str] = {"n5": "2", "v3-experimental": "3"}


def one_format(zarr_format: Any, zarr_version: Any) -> Any:
    """Returns the format that is given by one of two arguments. The second one is the older name.

    With ``ZARR_V3_EXPERIMENTAL_API=1`` in the environment, ``zarr_version=3`` is the experimental version of zarr-python 2.

    Parameters
    ----------
    zarr_format, zarr_version : int or str, optional
        The arguments.

    Raises
    ------
    ValueError
        If the arguments differ.
    """
    if zarr_format is not None and zarr_version is not None and str(zarr_format) != str(zarr_version):
        raise ValueError(f"zarr_format={zarr_format} and zarr_version={zarr_version} differ: give one of them")
    if zarr_format is not None:
        return zarr_format
    return "v3-experimental" if v3_api_available and str(zarr_version) == "3" else zarr_version


def format_of_existing(store: BaseStore, zarr_format: Any) -> str | None:
    """Returns the native name of the requested format of an existing node; ``None`` if no format is requested.

    Parameters
    ----------
    store : BaseStore
        The store. In a store of N5, version 2 is N5, and in a store of the experimental version 3, version 3 is that format.
    zarr_format : int or str, optional
        The requested format.
    """
    if zarr_format is None:
        return None
    own: str | None = getattr(store, "_format", None)
    return own if _VERSIONS.get(own) == str(zarr_format) else str(zarr_format)


def format_of_new(store: BaseStore, path: str, zarr_format: Any = None, *, default: Any) -> str:
    """Returns the native name of the format of a new node.

    Parameters
    ----------
    store : BaseStore
        The store; some support only one format.
    path : str
        The normalized path of the node.
    zarr_format : int or str, optional
        The requested format.
    default : int or str
        The format without a parent group.
    """
    return str(getattr(store, "_format", None) or zarr_format or _format_above(store, path) or default)


def _format_above(store: BaseStore, path: str) -> str | None:
    """Returns the format of the nearest ancestor group, if there is one."""
    keys = native_store(store)
    while path:
        path = path.rpartition("/")[0]
        format = _format_of_group(keys, path)
        if format is not None:
            return format
    if not isinstance(store, DirectoryStore):
        return None
    # The directory of the store may itself be part of a hierarchy.
    parent = os.path.dirname(os.path.abspath(store.path))
    return _format_of_group(_native.Store.directory(parent), "") if os.path.isdir(parent) else None


def _format_of_group(keys: _native.Store, path: str) -> str | None:
    try:
        node = _native.open_node(keys, path, "r", None, False)
    except (NodeNotFoundError, MetadataError):
        return None
    # Nothing can be created below an array. This is checked later.
    return node.format if isinstance(node, _native.Group) else None
