"""Writes groups to a temporary directory, which is renamed once they are complete."""

from __future__ import annotations

import copy
import os
import shutil
from uuid import uuid4

from zarrox import _native
from zarrox.errors import ContainsGroupError
from zarrox.storage import BaseStore, native_store
from zarrox.storage.directory import DirectoryStore
from zarrox.xarray.undo import missing_directories, remove_directories


class Beside:
    """A temporary directory beside a group, for the group that will replace it.

    Attributes
    ----------
    store : zarrox.storage.DirectoryStore
        The store of the directory. The new group is written at its root.
    """

    def __init__(self, store: DirectoryStore, target: str, parent: str, missing: list[str]) -> None:
        self._target = target
        self._missing = missing
        self._new = os.path.join(parent, f".replacing-{os.path.basename(target)}-{uuid4().hex[:8]}")
        self.store = copy.copy(store)
        self.store.path = self._new

    def put_in_place(self, overwrite: bool) -> None:
        """Renames the new directory to the group, atomically if the system supports it, and deletes the old group.

        Raises
        ------
        ContainsGroupError
            If a node that must not be replaced was created meanwhile.
        """
        if overwrite and os.path.isdir(self._target):
            shutil.copymode(self._target, self._new)
            _native.replace_directory(self._new, self._target)
            return
        try:
            os.rename(self._new, self._target)
        except OSError as error:
            if os.path.isdir(self._target):
                raise ContainsGroupError(f"{self._target} was created meanwhile: nothing was replaced") from error
            raise

    def discard(self) -> None:
        """Deletes the new directory and the directories that were created for it, or the replaced directory."""
        shutil.rmtree(self._new, ignore_errors=True)
        remove_directories(self._missing)


def beside(store: BaseStore, path: str) -> Beside | None:
    """Returns the temporary directory for a group; ``None`` if the group must be written in place."""
    if not isinstance(store, DirectoryStore) or store._custom or store._format is not None:
        return None
    target = os.path.realpath(os.path.join(store.path, path))
    parent = os.path.dirname(os.path.realpath(store.path))
    if path and not os.path.isdir(target):
        # The parent groups do not exist, either.
        return None
    if os.path.exists(target):
        if os.listdir(target) and _native.node_kind(native_store(store), path) is None:
            # Files of other programs are kept.
            return None
        is_one_device = os.stat(target).st_dev == os.stat(parent).st_dev
        if os.path.ismount(target) or not is_one_device or not os.access(os.path.dirname(target), os.W_OK):
            return None
    missing = missing_directories(parent)
    above = os.path.dirname(missing[-1]) if missing else parent
    return Beside(store, target, parent, missing) if os.access(above, os.W_OK) else None
