"""Measures how long xarray takes to open a data set of 200 variables: `python crates/zarrox-python/tests/ecosystem/bench_xarray.py`.

Prints the best times of the engines ``zarr`` and ``zarrox`` in milliseconds, and their ratio.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from zarrox.xarray import ZarroxBackendEntrypoint

VARIABLES = 200
ROUNDS = 15


def dataset() -> xr.Dataset:
    """Returns a dataset of small variables, which have attributes and share coordinates."""
    values = np.zeros((10, 5, 6), "f4")
    variables = {
        f"v{n}": (("time", "lat", "lon"), values, {"units": "K", "long_name": f"variable {n}"})
        for n in range(VARIABLES)
    }
    coords = {"time": pd.date_range("2000", periods=10), "lat": np.arange(5.0), "lon": np.arange(6.0)}
    return xr.Dataset(variables, coords=coords)


def milliseconds(path: str, engine: Any, consolidated: bool) -> float:
    """Returns the time for opening a dataset once, in milliseconds."""
    start = time.perf_counter()
    xr.open_dataset(path, engine=engine, consolidated=consolidated).close()
    return 1000 * (time.perf_counter() - start)


def main() -> int:
    """Measures both engines in turns, for both formats, with and without consolidated metadata."""
    warnings.simplefilter("ignore")
    ds = dataset()
    print(f"{'format':>6} {'consolidated':>12} {'zarr':>8} {'zarrox':>8} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as directory:
        for zarr_format in (2, 3):
            for consolidated in (True, False):
                path = f"{directory}/{zarr_format}-{consolidated}.zarr"
                ds.to_zarr(path, zarr_format=zarr_format, consolidated=consolidated)  # type: ignore[call-overload]
                rounds = [
                    [milliseconds(path, engine, consolidated) for engine in ("zarr", ZarroxBackendEntrypoint)]
                    for _ in range(ROUNDS)
                ]
                theirs, ours = (min(times) for times in zip(*rounds, strict=True))
                print(f"{zarr_format:>6} {consolidated!s:>12} {theirs:8.1f} {ours:8.1f} {ours / theirs:6.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
