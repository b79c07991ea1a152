"""Opens groups for xarray."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from zarrox import _native, errors
from zarrox.argument_types import StoreArgument
from zarrox.core.array import Array
from zarrox.core.settings import Settings
from zarrox.hierarchy import Group
from zarrox.storage import native_store, normalize_storage_path, normalize_store_arg

#: The maximum number of groups that are listed concurrently.
_THREADS = 32


def open_for_reading(
    store: StoreArgument,
    group: str | None,
    storage_options: dict[str, Any] | None,
    consolidated: bool | None,
    zarr_format: int | None,
) -> Group:
    """Opens a group for reading."""
    base = normalize_store_arg(store, storage_options=storage_options, mode="r")
    node = _node(
        native_store(base),
        normalize_storage_path(group),
        consolidated,
        None if zarr_format is None else str(zarr_format),
    )
    if isinstance(node, _native.Array):
        raise errors.ContainsArrayError(
            f"{node.path or '/'} is an array, and a dataset is a group: open the group above"
        )
    return Group._of(node, base, Settings(read_only=True))


def _node(
    store: _native.Store, path: str, consolidated: bool | None, zarr_format: str | None
) -> _native.Array | _native.Group:
    """Opens the node at a path, with the consolidated metadata at the root of the store, unless it is disabled."""
    if not path or consolidated is False:
        return _native.open_node(store, path, "r", zarr_format, consolidated)
    try:
        root = _native.open_node(store, "", "r", zarr_format, consolidated)
    except errors.NodeNotFoundError:
        if consolidated:
            raise
        # A store may have no group at its root.
        return _native.open_node(store, path, "r", zarr_format)
    return root.open(path) if isinstance(root, _native.Group) else root


def tree_of(group: Group) -> dict[str, tuple[Group, dict[str, Array]]]:
    """Returns a group and all groups below it with their arrays, by path relative to the group. Groups at the same depth are listed
    concurrently."""
    found: dict[str, tuple[Group, dict[str, Array]]] = {}
    level = [("/", group)]
    with ThreadPoolExecutor(_THREADS) as threads:
        while level:
            members = list(threads.map(lambda each: dict(each[1].members()), level))
            below = []
            for (path, parent), nodes in zip(level, members, strict=True):
                found[path] = parent, {name: node for name, node in nodes.items() if isinstance(node, Array)}
                prefix = path.rstrip("/")
                below += [(f"{prefix}/{name}", node) for name, node in nodes.items() if isinstance(node, Group)]
            level = below
    return found


def is_store(store: StoreArgument) -> bool:
    """Returns true if the argument is an open store, which the caller must close."""
    return not isinstance(store, (str, os.PathLike))
