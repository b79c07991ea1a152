"""Dask's own functions `from_zarr` and `to_zarr` with arrays of Zarrox, as arrays of zarr-python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
import zarr as zarr_python
from distributed import Client

import zarrox as zarr
from zarrox import v2
from zarrox.zarr3 import as_zarr, explain

VALUES = np.arange(120_000, dtype="i4").reshape(300, 400)


def stored(directory: Path, **options: Any) -> zarr.Array:
    """Creates an array in a directory."""
    z = zarr.create_array(directory / "z.zarr", shape=VALUES.shape, chunks=(50, 100), dtype="i4", **options)
    z[:] = VALUES
    return z


@pytest.mark.parametrize("options", [{}, {"shards": (100, 200)}, {"zarr_format": 2}], ids=str)
@pytest.mark.parametrize("who", ["threads", "processes"])
def test_they_read_and_write(options: dict[str, Any], who: str, cluster: Client, tmp_path: Path) -> None:
    """Chunks are read and written in Rust, also in other processes."""
    z = stored(tmp_path, **options)
    theirs = as_zarr(z)
    assert isinstance(theirs, zarr_python.Array)
    assert (explain(theirs).chunks, explain(theirs).store) == ("rust", "rust")
    scheduler: Any = cluster if who == "processes" else "threads"
    lazy = da.from_zarr(theirs)
    assert lazy.chunks == da.from_array(VALUES, chunks=z.chunks).chunks
    np.testing.assert_array_equal(lazy.compute(scheduler=scheduler), VALUES)
    da.to_zarr(da.from_array(VALUES * 2, chunks=(30, 70)), theirs, compute=False).compute(scheduler=scheduler)
    np.testing.assert_array_equal(z[:], VALUES * 2)
    region = (slice(100, 200), slice(0, 400))
    da.to_zarr(da.zeros((100, 400), dtype="i4", chunks=(50, 100)), theirs, region=region)
    assert not z[region].any()
    assert z[99, 1] == VALUES[99, 1] * 2


def test_other_nodes(tmp_path: Path) -> None:
    """Groups, arrays in memory, read-only nodes and N5 are converted as well."""
    root = zarr.group()
    root.create_array("a/b", data=VALUES, chunks=(50, 100))
    group = as_zarr(root)
    np.testing.assert_array_equal(da.from_zarr(group["a/b"]).compute(), VALUES)
    group["a/b"][0] = 7
    assert (root["a/b"][0] == 7).all()
    stored(tmp_path)
    theirs = as_zarr(zarr.open(tmp_path / "z.zarr", mode="r"))
    with pytest.raises(ValueError, match="read-only"):
        theirs[0] = 1
    blocks = zarr.array(VALUES, chunks=(50, 100), store=v2.N5Store(tmp_path / "blocks"), compressor=None)
    np.testing.assert_array_equal(da.from_zarr(as_zarr(blocks)).compute(), VALUES)
    as_zarr(blocks)[0] = 5
    assert (blocks[0] == 5).all()
    with pytest.raises(TypeError, match="ndarray"):
        as_zarr(VALUES)  # type: ignore[call-overload]
