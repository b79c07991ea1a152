"""Dask on arrays of Zarrox: in threads, and in processes of a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
import xarray as xr
from distributed import Client
from test_xarray import air, close_to, opened

import zarrox as zarr
from zarrox.xarray import to_zarr

FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])
VALUES = np.arange(120_000, dtype="i4").reshape(300, 400)


@pytest.fixture
def array(tmp_path: Path, zarr_format: int) -> zarr.Array:
    """Returns an array in a directory."""
    z = zarr.open(
        tmp_path / "z.zarr", mode="w", shape=VALUES.shape, chunks=(50, 100), dtype="i4", zarr_format=zarr_format
    )
    z[:] = VALUES
    return z


@FORMATS
def test_from_array(array: zarr.Array) -> None:
    """Dask uses the stored chunks, and computes with them."""
    lazy = da.from_array(array)
    assert lazy.dtype == array.dtype
    assert all(size % chunk == 0 for size, chunk in zip(lazy.chunksize, array.chunks, strict=True))
    lazy = da.from_array(array, chunks=array.chunks)
    assert lazy.chunksize == (50, 100)
    assert (lazy + 1).sum().compute() == VALUES.sum(dtype="i8") + VALUES.size
    np.testing.assert_array_equal(lazy[::7, [3, 1]].compute(), VALUES[::7][:, [3, 1]])


@FORMATS
def test_store(tmp_path: Path, zarr_format: int) -> None:
    """Dask writes into arrays, whole and in part."""
    target = zarr.open(
        tmp_path / "t.zarr", mode="w", shape=VALUES.shape, chunks=(50, 100), dtype="i4", zarr_format=zarr_format
    )
    da.store(da.from_array(VALUES, chunks=(50, 100)), target, lock=False)
    np.testing.assert_array_equal(target[:], VALUES)
    da.store(da.zeros((20, 400), dtype="i4", chunks=(10, 40)), target, regions=(slice(5, 25), slice(None)), lock=True)
    assert not target[5:25].any()
    np.testing.assert_array_equal(target[25:], VALUES[25:])


def test_pieces_that_share_chunks(tmp_path: Path) -> None:
    """Threads of a process lose no updates without locks."""
    target = zarr.open(tmp_path / "t.zarr", mode="w", shape=VALUES.shape, chunks=(64, 64), dtype="i4")
    da.store(da.from_array(VALUES, chunks=(30, 30)), target, lock=False)
    np.testing.assert_array_equal(target[:], VALUES)


@FORMATS
def test_cluster(cluster: Client, array: zarr.Array, tmp_path: Path) -> None:
    """Other processes read, compute and write."""
    lazy = da.from_array(array, chunks=array.chunks)
    target = zarr.open_like(array, tmp_path / "t.zarr", mode="w")
    da.store(lazy * 2, target, lock=False)
    np.testing.assert_array_equal(target[:], VALUES * 2)
    assert int(da.from_array(target, chunks=(100, 100)).sum(dtype="i8").compute()) == 2 * int(VALUES.sum(dtype="i8"))


@pytest.mark.parametrize("shards", [None, (128, 128)])
def test_processes_that_share_chunks(cluster: Client, tmp_path: Path, shards: tuple[int, int] | None) -> None:
    """Processes lose no updates without locks if their blocks share chunks, or have chunks in the same shard."""
    target = zarr.create_array(
        tmp_path / "t.zarr", shape=VALUES.shape, chunks=(64, 64), shards=shards, dtype="i4", compressors=None
    )
    for round_ in range(3):
        da.store(da.from_array(VALUES + round_, chunks=(30, 30)), target, lock=False)
        np.testing.assert_array_equal(target[:], VALUES + round_)


@FORMATS
def test_cluster_with_xarray(cluster: Client, tmp_path: Path, zarr_format: Any) -> None:
    """A data set is read, averaged and written by a cluster."""
    to_zarr(
        air(),
        tmp_path / "air.zarr",
        zarr_format=zarr_format,
        encoding={"air": air().air.encoding | {"chunks": (8, 25, 20)}},
    )
    lazy = opened(tmp_path / "air.zarr", chunks={})
    mean = lazy.air.mean("time").compute()
    np.testing.assert_allclose(mean.values, opened(tmp_path / "air.zarr").air.mean("time").values)
    to_zarr(lazy.chunk(time=13), tmp_path / "again.zarr", zarr_format=zarr_format)
    close_to(opened(tmp_path / "again.zarr"), air())
    to_zarr(
        xr.Dataset({"daily": lazy.air.resample(time="1D").mean()}), tmp_path / "daily.zarr", zarr_format=zarr_format
    )
    assert opened(tmp_path / "daily.zarr").daily.shape == (20, 25, 53)


def test_to_and_from_zarr_of_dask(tmp_path: Path) -> None:
    """Zarrox reads arrays that Dask writes with its own functions, and vice versa."""
    lazy = da.from_array(VALUES, chunks=(50, 100))
    lazy.to_zarr(str(tmp_path / "theirs.zarr"))
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "theirs.zarr", mode="r")[:], VALUES)
    zarr.save_array(str(tmp_path / "ours.zarr"), VALUES)
    np.testing.assert_array_equal(da.from_zarr(str(tmp_path / "ours.zarr")).compute(), VALUES)
