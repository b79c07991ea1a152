"""Properties that arrays and groups of zarr-python 2 have in common. Programs use the private ones as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from zarrox.core.metadata import is_v3
from zarrox.storage.paths import prefix_of

if TYPE_CHECKING:
    from zarrox.core.settings import Settings
    from zarrox.storage import BaseStore

__all__ = ["Internals"]


class Internals:
    """The properties that arrays and groups of zarr-python 2 have in common."""

    __slots__ = ()

    if TYPE_CHECKING:
        _native: Any
        _settings: Settings
        _store: BaseStore

    @property
    def chunk_store(self) -> BaseStore:
        """The store of the chunks."""
        return self._store if self._settings.chunk_store is None else self._settings.chunk_store

    @property
    def meta_array(self) -> npt.NDArray[Any]:
        """An empty array of the class that reading returns."""
        return np.empty(()) if self._settings.meta_array is None else self._settings.meta_array

    @property
    def _version(self) -> int:
        return 3 if is_v3(self._native) else 2

    @property
    def _chunk_store(self) -> BaseStore | None:
        return self._settings.chunk_store

    @property
    def _key_prefix(self) -> str:
        return prefix_of(str(self._native.path))

    @property
    def _cache_metadata(self) -> bool:
        return self._settings.cache_metadata
