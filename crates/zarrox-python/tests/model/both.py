"""Both interfaces as one, for random operations: each name comes from the interface that has it."""

from __future__ import annotations

from typing import Any

import zarrox
from zarrox import v2


class _Names:
    """The names of several modules; a name comes from the first module that has it."""

    def __init__(self, *modules: Any) -> None:
        self._modules = modules

    def __getattr__(self, name: str) -> Any:
        return next(getattr(module, name) for module in self._modules if hasattr(module, name))


class Both(_Names):
    """All names, and functions that choose the interface by the format."""

    def __init__(self) -> None:
        super().__init__(v2, zarrox)
        self.codecs = _Names(v2.codecs, zarrox.codecs)
        self.storage = _Names(v2.storage, zarrox.storage)

    def empty_like(self, source: Any, **options: Any) -> Any:
        return (zarrox if source._native.format == "3" else v2).empty_like(source, **options)

    def group(self, store: Any = None, zarr_format: Any = None) -> Any:
        return (zarrox if str(zarr_format) == "3" else v2).group(store, zarr_format=zarr_format)

    def open_group(self, store: Any, mode: str) -> Any:
        group = v2.open_group(store, mode=mode)
        return zarrox.open_group(group.store, mode=mode) if group._native.format == "3" else group

    def array_in(self, group: Any, path: str, data: Any) -> Any:
        return group._new_array(v2.creation.array, path, {}, data)

    def shown(self, array: Any) -> Any:
        """Returns the array of the interface with methods for views."""
        return v2.Array(array.store, array.path)
