"""Reads and writes Zarr in xarray with Zarrox: ``engine="zarrox"``, `open_zarr` and `to_zarr`.

Stores have the same contents as those of xarray's own engine ``zarr``: variables are arrays whose dimensions are named by the attribute
``_ARRAY_DIMENSIONS`` (format 2) or by ``dimension_names`` (format 3). xarray itself encodes and decodes the CF conventions.
"""

from __future__ import annotations

from zarrox.xarray.backend import ZarroxBackendEntrypoint
from zarrox.xarray.reading import open_zarr
from zarrox.xarray.store import ZarroxStore
from zarrox.xarray.writing import to_zarr

__all__ = ["ZarroxBackendEntrypoint", "ZarroxStore", "open_zarr", "to_zarr"]
