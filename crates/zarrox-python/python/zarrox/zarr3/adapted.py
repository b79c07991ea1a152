"""Adapts zarr-python's stores to stores of this package, for functions that take stores."""

from __future__ import annotations

import os
from typing import Any

import zarr.storage
from zarr.abc.store import Store
from zarr.core import sync

from zarrox import _native
from zarrox.storage import BaseStore
from zarrox.storage.native import NativeStore
from zarrox.storage.directory import DirectoryStore

from . import versions
from .access import StoreAccess, callback_access, direct_access

__all__ = ["StoreOfZarrPython", "adapted"]


class StoreOfZarrPython(NativeStore):
    """Any zarr-python store.

    Parameters
    ----------
    store : zarr.abc.store.Store
        The store, which stays open when this one is closed.
    """

    _identity = ("store",)
    _transient = (*NativeStore._transient, "_access")
    _access: StoreAccess | None = None
    """The object whose methods the native store calls. The native store has only a weak reference to it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._read_only = store.read_only

    def _connect(self) -> _native.Store:
        self._access = direct_access(self.store) or callback_access(self.store, sync._get_loop())
        return self._access.native


def adapted(store: Any) -> BaseStore:
    """Returns the store of this package for a zarr-python store.

    Parameters
    ----------
    store : zarr.abc.store.Store
        The store.

    Examples
    --------
    >>> import zarr.storage, zarrox
    >>> values = zarr.storage.MemoryStore()
    >>> z = zarrox.array([1, 2, 3], store=values)
    >>> zarr.open_array(values)[1:]
    array([2, 3])
    """
    if not versions.is_known():
        versions.refuse()
    if type(store) is not zarr.storage.LocalStore:
        return StoreOfZarrPython(store)
    # zarr-python follows all symbolic links.
    directory = DirectoryStore(os.fspath(store.root), follow_links=True)
    directory._read_only = store.read_only
    return directory
