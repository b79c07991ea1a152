"""The format of new nodes: one that is named, else that of the group which they come to be in."""

from __future__ import annotations

import os
from typing import Any

from zarrox import _native
from zarrox.errors import MetadataError, NodeNotFoundError
from zarrox.storage import BaseStore, native_store
from zarrox.storage.directory import DirectoryStore

__all__ = ["format_of_new", "one_format"]

v3_api_available = os.environ.get("ZARR_V3_EXPERIMENTAL_API", "0").lower() not in ("0", "false")
"""True if a variable of the environment asks for the experimental version 3 of zarr-python 2.13 to 2.18."""


def one_format(zarr_format: Any, zarr_version: Any) -> Any:
    """Returns the format that two words name, the second of which is the older one.

    With ``ZARR_V3_EXPERIMENTAL_API=1`` in the environment, ``zarr_version=3`` is the experimental version of zarr-python 2.

    Parameters
    ----------
    zarr_format, zarr_version : int or str, optional
        The words.

    Raises
    ------
    ValueError
        They say different things.
    """
    if zarr_format is not None and zarr_version is not None and str(zarr_format) != str(zarr_version):
        raise ValueError(f"zarr_format={zarr_format} and zarr_version={zarr_version} differ: give one of them")
    if zarr_format is not None:
        return zarr_format
    return "v3-experimental" if v3_api_available and str(zarr_version) == "3" else zarr_version


def format_of_new(store: BaseStore, path: str, zarr_format: Any = None, *, default: Any) -> str:
    """Returns the name that the format of a new node has natively.

    Parameters
    ----------
    store : BaseStore
        The store; some support only one format.
    path : str
        The normalized path of the node.
    zarr_format : int or str, optional
        The format that was asked for.
    default : int or str
        The format where there is no group above.
    """
    return str(getattr(store, "_format", None) or zarr_format or _format_above(store, path) or default)


def _format_above(store: BaseStore, path: str) -> str | None:
    """Returns the format of the nearest group above a node, if there is one."""
    keys = native_store(store)
    while path:
        path = path.rpartition("/")[0]
        format = _format_of_group(keys, path)
        if format is not None:
            return format
    if not isinstance(store, DirectoryStore):
        return None
    # The store is a directory, which can be a part of a hierarchy itself.
    parent = os.path.dirname(os.path.abspath(store.path))
    return _format_of_group(_native.Store.directory(parent), "") if os.path.isdir(parent) else None


def _format_of_group(keys: _native.Store, path: str) -> str | None:
    try:
        node = _native.open_node(keys, path, "r", None, False)
    except (NodeNotFoundError, MetadataError):
        return None
    # Nothing can be created below an array, which is found out later.
    return node.format if isinstance(node, _native.Group) else None
