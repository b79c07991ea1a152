"""Deletes what a failed write has created."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from zarrox import _native
from zarrox.core.array import Array
from zarrox.hierarchy import Group
from zarrox.storage import BaseStore, native_store
from zarrox.storage.directory import DirectoryStore

#: The documents of a group.
_DOCUMENTS = frozenset({"zarr.json", ".zgroup", ".zattrs", ".zmetadata", "attributes.json"})


class Undo:
    """A list of actions that restore the groups after a failed write."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], None]] = []

    def created(self, node: Array | Group) -> None:
        """Records a node that did not exist before the write."""
        delete = _native.delete_node if isinstance(node, Array) else _delete_group
        self._steps.append(partial(delete, native_store(node._store), node.path))

    def will_create_above(self, store: BaseStore, path: str, known: str | None = None) -> None:
        """Records what will be created together with the node at a path: directories, and the groups above the node that do not exist.

        `known` is the path of an existing group above the node.
        """
        if known is None and isinstance(store, DirectoryStore):
            self._steps.append(partial(remove_directories, missing_directories(store.path)))
        native = native_store(store)
        names = path.split("/") if path else []
        above = ["/".join(names[:depth]) for depth in range(len(names))]
        for each in above if known is None else above[above.index(known) + 1 :]:
            if _native.node_kind(native, each) is None:
                self._steps.append(partial(_delete_group, native, each))

    def all(self) -> None:
        """Undoes everything that can be undone, in reverse order."""
        for step in reversed(self._steps):
            # An error that prevents undoing also caused the write to fail; the error of the write is reported.
            with suppress(Exception):
                step()
        self._steps.clear()


def _delete_group(store: _native.Store, path: str) -> None:
    """Deletes a group that has no nodes. If another writer has created nodes in it in the meantime, the group is kept. Other files
    stay, too."""
    if _native.node_kind(store, path) != "group":
        return
    names = set(store.list_dir(path))
    if names <= _DOCUMENTS:
        _native.delete_node(store, path)
    elif not _has_nodes(store, path, names - _DOCUMENTS):
        for name in names & _DOCUMENTS:
            store.delete(f"{path}/{name}" if path else name)


def _has_nodes(store: _native.Store, path: str, names: set[str]) -> bool:
    return any(_native.node_kind(store, f"{path}/{name}" if path else name) is not None for name in names)


def missing_directories(path: str) -> list[str]:
    """Returns those of the directory and its parents that do not exist, starting with the innermost one."""
    path = os.path.realpath(path)
    missing = []
    while not os.path.isdir(path) and path != os.path.dirname(path):
        missing.append(path)
        path = os.path.dirname(path)
    return missing


def remove_directories(paths: list[str]) -> None:
    """Removes directories, starting with the innermost one, up to the first one that is not empty."""
    with suppress(OSError):
        for path in paths:
            os.rmdir(path)
