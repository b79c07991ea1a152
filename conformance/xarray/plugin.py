"""A plug-in of pytest: xarray's own tests of Zarr, with the reader and the writer of Zarrox.

Where a test writes with ``to_zarr`` and opens with ``engine="zarr"``, Zarrox does it. Stores of zarr-python become the same places
for Zarrox, and the default format is that of zarr-python.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, MutableMapping
from typing import Any

import pytest
import xarray as xr
import zarr
from xarray.backends import plugins

import zarrox
from zarrox.xarray import ZarroxBackendEntrypoint, open_zarr, to_zarr

#: Arguments of xarray that say how zarr-python works, and nothing about the data.
_OF_ZARR_PYTHON = {"cache_members", "chunk_store", "synchronizer", "zarr_version"}


class _Values(MutableMapping[str, Any]):
    """The values of a store of zarr-python in memory."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def __getitem__(self, key: str) -> bytes:
        return bytes(self._values[key].to_bytes())

    def __setitem__(self, key: str, value: Any) -> None:
        self._values[key] = zarr.core.buffer.cpu.Buffer.from_bytes(bytes(value))

    def __delitem__(self, key: str) -> None:
        del self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _place(store: Any) -> Any:
    """The same place for Zarrox."""
    if isinstance(store, zarr.storage.LocalStore):
        return str(store.root)
    if isinstance(store, zarr.storage.MemoryStore):
        # Each store has one mapping, by which the lazy arrays of several calls are known to be of one store.
        if not hasattr(store, "_zarrox"):
            store._zarrox = _Values(store._store_dict)
        return store._zarrox
    return store


def _writes(data: Any, store: Any = None, *arguments: Any, **options: Any) -> Any:
    names = list(inspect.signature(to_zarr).parameters)[2:]
    options |= dict(zip(names, arguments, strict=False))
    with zarrox.config.set({"default_zarr_format": zarr.config.get("default_zarr_format")}):
        return to_zarr(data, _place(store), **{name: of for name, of in options.items() if name not in _OF_ZARR_PYTHON})


class _Engine(ZarroxBackendEntrypoint):
    """The engine, which takes what xarray's own takes."""

    def open_dataset(self, filename_or_obj: Any, **options: Any) -> xr.Dataset:
        return super().open_dataset(_place(filename_or_obj), **_known(options))

    def open_groups_as_dict(self, filename_or_obj: Any, **options: Any) -> dict[str, xr.Dataset]:
        return super().open_groups_as_dict(_place(filename_or_obj), **_known(options))


def _known(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in {"mode", *_OF_ZARR_PYTHON}}


def _raises(*arguments: Any, match: Any = None, **options: Any) -> Any:
    """Errors have the kinds that xarray's have, and words of their own."""
    return _of_pytest(*arguments, **options)


_of_pytest = pytest.raises


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Puts Zarrox in the place of xarray's own engine."""
    for kind in (xr.Dataset, xr.DataArray, xr.DataTree):
        kind.to_zarr = functools.partialmethod(_writes)
    backend, engine = plugins.get_backend, _Engine()
    pytest.raises = _raises
    plugins.get_backend = lambda name: engine if name == "zarr" else backend(name)
    xr.open_zarr = lambda store, *arguments, **options: open_zarr(_place(store), *arguments, **_known(options))
    xr.backends.zarr.open_zarr = xr.open_zarr
