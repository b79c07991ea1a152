"""Groups that are written beside the place where they will be, and put there when they are complete."""

from __future__ import annotations

import copy
import os
import shutil
from uuid import uuid4

from zarrox import _native
from zarrox.errors import ContainsGroupError
from zarrox.storage import BaseStore
from zarrox.storage.directory import DirectoryStore


class Beside:
    """A directory beside that of a group, in which the group is written that will take its place.

    Attributes
    ----------
    store : zarrox.storage.DirectoryStore
        The store of the directory, at whose root the new group is written.
    """

    def __init__(self, store: DirectoryStore, target: str, parent: str) -> None:
        self._target = target
        self._new = os.path.join(parent, f".replacing-{os.path.basename(target)}-{uuid4().hex[:8]}")
        self.store = copy.copy(store)
        self.store.path = self._new

    def put_in_place(self, overwrite: bool) -> None:
        """Gives the new directory the name of the group, in one step where the system can. What had the name before is deleted.

        Raises
        ------
        ContainsGroupError
            Something has the name by now, and must not be replaced.
        """
        if overwrite and os.path.isdir(self._target):
            shutil.copymode(self._target, self._new)
            _native.replace_directory(self._new, self._target)
            return
        try:
            os.rename(self._new, self._target)
        except OSError as error:
            if os.path.isdir(self._target):
                raise ContainsGroupError(f"there is something at {self._target} by now: nothing was replaced") from error
            raise

    def discard(self) -> None:
        """Deletes the new directory, unless it is in its place: then what it has replaced, if that is left."""
        shutil.rmtree(self._new, ignore_errors=True)


def beside(store: BaseStore, path: str) -> Beside | None:
    """Where a group can be written instead of at its place; ``None`` where it has to be written at its place."""
    if not isinstance(store, DirectoryStore) or store._custom or store._format is not None:
        return None
    target = os.path.realpath(os.path.join(store.path, path))
    parent = os.path.dirname(os.path.realpath(store.path))
    if path and not os.path.isdir(target):
        # The groups above are not there either.
        return None
    os.makedirs(parent, exist_ok=True)
    if os.path.exists(target):
        is_one_device = os.stat(target).st_dev == os.stat(parent).st_dev
        if os.path.ismount(target) or not is_one_device or not os.access(os.path.dirname(target), os.W_OK):
            return None
    return Beside(store, target, parent) if os.access(parent, os.W_OK) else None
