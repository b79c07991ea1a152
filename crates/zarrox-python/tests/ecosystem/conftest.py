"""The fixtures for tests with other packages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from distributed import Client, LocalCluster


@pytest.fixture(scope="module")
def workers() -> Iterator[LocalCluster]:
    """Starts two processes with two threads each."""
    # Dask is not in the environment of zarr-python 2.
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set({"distributed.worker.memory.terminate": False, "distributed.comm.timeouts.connect": "60s"}),
        LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None) as workers,
    ):
        yield workers


@pytest.fixture(scope="module")
def cluster(workers: LocalCluster) -> Iterator[Client]:
    """Returns a client of the workers, on which Dask computes by default."""
    from distributed import Client

    with Client(workers) as client:
        yield client
