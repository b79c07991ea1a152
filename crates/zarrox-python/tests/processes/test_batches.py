"""Batches of rows: their values, their reads, and their use in other processes."""

from __future__ import annotations

import importlib.util
import multiprocessing
import pickle
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox as zarr

VALUES = np.arange(1000 * 3, dtype="f4").reshape(1000, 3)
ORDER = np.random.default_rng(0).permutation(1000)


@pytest.fixture
def z(tmp_path: Path) -> zarr.Array:
    """Returns an array with rows in chunks and shards."""
    array = zarr.create_array(tmp_path / "z.zarr", shape=VALUES.shape, chunks=(10, 3), shards=(100, 3), dtype="f4")
    array[:] = VALUES
    return array


@pytest.mark.parametrize("size", [1, 7, 64, 1000, 2000])
@pytest.mark.parametrize("prefetch", [1, 4])
def test_all_rows_in_order(z: zarr.Array, size: int, prefetch: int) -> None:
    """Each batch has its rows in the order of the indices, and the last batch has the remaining rows."""
    batches = z.batches(ORDER, size, prefetch=prefetch)
    found = list(batches)
    assert len(found) == len(batches) == -(-1000 // size)
    assert all(len(batch) == size for batch in found[:-1])
    np.testing.assert_array_equal(np.concatenate(found), VALUES[ORDER])
    np.testing.assert_array_equal(batches[-1], found[-1])
    assert len(z.batches(ORDER, 300, drop_last=True)) == 3


def test_repeated_and_negative_rows(z: zarr.Array) -> None:
    """Indices may be repeated, and may be negative."""
    wanted = [5, -1, 5, 0, -1000]
    np.testing.assert_array_equal(np.concatenate(list(z.batches(wanted, 2))), VALUES[wanted])
    assert list(z.batches([], 2)) == []


@pytest.mark.parametrize(
    ("indices", "size", "error", "message"),
    [
        ([1000], 1, IndexError, "row 1000 is out of bounds"),
        ([-1001], 1, IndexError, "row -1001 is out of bounds"),
        ([0.5], 1, IndexError, "integers"),
        ([True], 1, IndexError, "integers"),
        ([[1]], 1, ValueError, "2 dimensions"),
        ([1], 0, ValueError, "positive"),
    ],
)
def test_bad_arguments(z: zarr.Array, indices: Any, size: int, error: type[Exception], message: str) -> None:
    """Invalid arguments are rejected when the batches are created."""
    with pytest.raises(error, match=message):
        z.batches(indices, size)
    with pytest.raises(ValueError, match="without dimensions"):
        zarr.zeros(()).batches([], 1)


def test_batches_are_handed_on(z: zarr.Array) -> None:
    """Batches are passed on by DLPack without a copy, and each has separate memory."""
    first, second, *_ = z.batches(ORDER, 100)
    shared = np.from_dlpack(first)
    assert np.shares_memory(shared, first)
    assert not np.shares_memory(first, second)
    assert first.flags.c_contiguous
    assert first.flags.writeable
    assert first.flags.owndata


class Counted(dict[str, bytes]):
    """A store that counts the reads of chunks."""

    reads = 0

    def __getitem__(self, key: str) -> bytes:
        self.reads += key[0].isdigit()
        return super().__getitem__(key)


def test_chunks_are_read_once_for_several_batches() -> None:
    """If all batches are prefetched, every chunk is read once, although each batch alone needs almost all chunks."""
    store = Counted()
    zarr.array(VALUES, chunks=(100, 3), store=store, zarr_format=2)
    z = zarr.open_array(store, mode="r")
    z[0]  # The first read of old metadata detects the separator of chunk keys.
    counts = []
    for prefetch in (1, 10):
        store.reads = 0
        assert sum(map(len, z.batches(ORDER, 100, prefetch=prefetch))) == 1000
        counts.append(store.reads)
    assert counts == [100, 10]


def test_an_iteration_that_ends_early_leaves_no_thread(z: zarr.Array) -> None:
    """The background thread ends with the iteration."""
    iteration = iter(z.batches(ORDER, 10))
    next(iteration)
    iteration.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("zarrox-batches")]


def test_errors_of_reading(z: zarr.Array, tmp_path: Path) -> None:
    """An error in the background is raised by the iterator."""
    batches = z.batches(range(1000), 100, prefetch=1)
    (tmp_path / "z.zarr/c/5/0").write_bytes(b"damaged")
    found = []
    with pytest.raises(Exception, match="c/5/0"):
        found.extend(batches)


def _sum_of(batches: Any) -> float:
    return float(sum(batch.sum() for batch in batches))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(z: zarr.Array, method: str) -> None:
    """Forked and spawned processes iterate, also while this process iterates."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"processes do not {method} here")
    batches = z.batches(ORDER, 50)
    iteration = iter(batches)
    next(iteration)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(_sum_of, [batches, batches]).get(timeout=120) == [_sum_of(batches)] * 2
    assert len(list(iteration)) == 19
    assert _sum_of(pickle.loads(pickle.dumps(batches))) == _sum_of(batches)


def test_workers_share_the_batches(z: zarr.Array, monkeypatch: pytest.MonkeyPatch) -> None:
    """An iteration in a PyTorch worker returns the batches of that worker."""

    class Worker:
        id, num_workers = 1, 3

    class Data:
        get_worker_info = staticmethod(Worker)

    monkeypatch.setitem(sys.modules, "torch.utils.data", Data)  # type: ignore[arg-type]
    batches = z.batches(ORDER, 100)
    share = list(batches)
    np.testing.assert_array_equal(np.stack(share), np.stack([batches[1], batches[4], batches[7]]))


if importlib.util.find_spec("torch") is not None:

    @pytest.mark.parametrize(("style", "method"), [("map", "fork"), ("map", "spawn"), ("iterable", "fork")])
    def test_data_loader_of_torch(z: zarr.Array, style: str, method: str) -> None:
        """The workers return tensors of all batches, whether they request batches by index or iterate."""
        import torch
        from torch.utils.data import DataLoader, IterableDataset

        batches = z.batches(ORDER, 50)
        dataset: Any = batches
        if style == "iterable":
            dataset = type("Iterable", (IterableDataset,), {"__iter__": lambda _: iter(batches)})()
        loader = DataLoader(dataset, batch_size=None, num_workers=2, multiprocessing_context=method)
        found = torch.cat(list(loader)).numpy()
        expected = VALUES[ORDER] if style == "map" else VALUES
        np.testing.assert_array_equal(found if style == "map" else found[np.argsort(found[:, 0])], expected)
        assert torch.from_dlpack(batches[0]).shape == (50, 3)
