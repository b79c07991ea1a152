"""Adapters for the stores of other packages, which functions accept as stores. A package is used only if the program has imported it."""

from __future__ import annotations

import sys

from zarrox.storage.base import BaseStore, adapters

__all__: list[str] = []


def _of_zarr_python(store: object) -> BaseStore | None:
    module = sys.modules.get("zarr.abc.store")
    if module is None or not isinstance(store, module.Store):
        return None
    from zarrox.zarr3.adapted import adapted

    return adapted(store)


adapters.append(_of_zarr_python)
