"""`zarrox.dask` on S3, by a cluster of processes: `cargo xtask test --stores s3` starts the server."""

from __future__ import annotations

import os
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
import pytest
from distributed import Client

import zarrox as zarr
import zarrox.dask

VALUES = np.arange(60_000, dtype="i4").reshape(200, 300)
#: The access keys of the test server.
OPTIONS = {
    "endpoint": os.environ["ZARROX_TEST_S3"],
    "access_key_id": "AKIAEXAMPLE",
    "secret_access_key": "secretkey",
    "allow_http": "true",
}


@pytest.fixture
def place() -> str:
    """Returns an unused URL."""
    return f"s3://zarrox/{uuid4().hex}"


def created(url: str, **options: Any) -> zarr.Array:
    """Creates an array on the server."""
    return zarr.create_array(url, shape=VALUES.shape, dtype="i4", storage_options=OPTIONS, **options)


def test_what_is_written_is_read(cluster: Client, place: str) -> None:
    """Processes write an array and read it."""
    zarrox.dask.to_zarr(da.from_array(VALUES, chunks=(50, 100)), place, storage_options=OPTIONS)
    found = zarrox.dask.from_zarr(place, storage_options=OPTIONS)
    assert found.chunksize == (50, 100)
    np.testing.assert_array_equal(found.compute(), VALUES)


@pytest.mark.parametrize("shards", [None, (128, 128)])
def test_pieces_that_share_chunks_need_no_lock(cluster: Client, place: str, shards: Any) -> None:
    """The server compares versions, so that no update is lost."""
    target = created(place, chunks=(64, 64), shards=shards)
    zarrox.dask.to_zarr(da.from_array(VALUES, chunks=(50, 50)), target)
    np.testing.assert_array_equal(target[:], VALUES)


@pytest.mark.parametrize("scratch", [False, True])
def test_rechunk(cluster: Client, place: str, scratch: bool, tmp_path: Any) -> None:
    """Rows become columns, in tasks that run in other processes."""
    rows, columns = created(f"{place}/rows", chunks=(10, 300)), created(f"{place}/columns", chunks=(200, 15))
    rows[:] = VALUES
    zarrox.dask.rechunk(
        rows, columns, client=cluster, memory=100_000, scratch=tmp_path / "scratch.zarr" if scratch else None
    )
    np.testing.assert_array_equal(columns[:], VALUES)


def test_convert(cluster: Client, place: str) -> None:
    """A group is converted to the other format."""
    root = zarr.open_group(f"{place}/old", mode="w", zarr_format=2, storage_options=OPTIONS)
    root.create_array("a/b", shape=VALUES.shape, chunks=(64, 64), dtype="i4")[:] = VALUES
    new: Any = zarrox.dask.convert(root, f"{place}/new", zarr_format=3, storage_options=OPTIONS, client=cluster)
    np.testing.assert_array_equal(new["a/b"][:], VALUES)
