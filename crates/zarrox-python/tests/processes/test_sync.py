"""Locks between threads and between processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox.v2 as zarr
from zarrox.v2 import ProcessSynchronizer, ThreadSynchronizer
from zarrox.v2.attrs import Attributes

PROCESSES = multiprocessing.get_context("spawn")


@pytest.fixture(params=["threads", "processes"])
def synchronizer(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return ThreadSynchronizer() if request.param == "threads" else ProcessSynchronizer(tmp_path / "sync")


def test_threads_exclude_each_other(synchronizer: Any) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work(_: int) -> None:
        for _ in range(20):
            with synchronizer["foo/0.0"]:
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    with ThreadPool(8) as pool:
        pool.map(work, range(8))
    assert max(most) == 1


def test_other_keys_are_free(synchronizer: Any) -> None:
    entered = threading.Event()
    with synchronizer["a"]:
        other = threading.Thread(target=lambda: synchronizer["b"].__enter__() and entered.set())
        other.start()
        assert entered.wait(10)
        other.join()


def test_a_thread_may_enter_again(synchronizer: Any) -> None:
    with synchronizer["a"], synchronizer["a"], synchronizer["b"]:
        free = threading.Thread(target=lambda: synchronizer["c"].__enter__())
        free.start()
        free.join(10)
        assert not free.is_alive()
    waited = []

    def enter() -> None:
        with synchronizer["a"]:
            waited.append(True)

    later = threading.Thread(target=enter)
    later.start()
    later.join(10)
    assert waited == [True]


def test_an_error_inside_leaves_the_lock_free(synchronizer: Any) -> None:
    with pytest.raises(ZeroDivisionError), synchronizer["a"]:
        raise ZeroDivisionError
    entered = threading.Event()
    other = threading.Thread(target=lambda: synchronizer["a"].__enter__() and entered.set())
    other.start()
    assert entered.wait(10)
    other.join()


def test_synchronizers_are_pickled(synchronizer: Any) -> None:
    with synchronizer["a"]:
        again = pickle.loads(pickle.dumps(synchronizer))
    assert type(again) is type(synchronizer)
    with again["a"]:
        assert getattr(again, "path", None) == getattr(synchronizer, "path", None)


def test_locks_of_one_file_are_one(tmp_path: Path) -> None:
    first, second = ProcessSynchronizer(tmp_path), ProcessSynchronizer(str(tmp_path))
    assert first == second
    assert first["a/b"] is second["a/b"]
    with first["a/b"]:
        assert (tmp_path / "a/b").is_file()


def test_unused_locks_are_forgotten() -> None:
    synchronizer = ThreadSynchronizer()
    for key in range(100):
        with synchronizer[str(key)]:
            assert str(key) in synchronizer.locks
    assert len(synchronizer.locks) == 0


def _count(arguments: tuple[str, str]) -> None:
    sync, path = arguments
    for _ in range(50):
        with ProcessSynchronizer(sync)["counter"]:
            value = int(Path(path).read_text())
            Path(path).write_text(str(value + 1))


def test_processes_exclude_each_other(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    with PROCESSES.Pool(4) as pool:
        pool.map(_count, [(str(tmp_path / "sync"), str(counter))] * 8, chunksize=1)
    assert counter.read_text() == "400"


def _try_lock(path: str) -> bool:
    import fcntl

    with open(path, "r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def test_the_locks_are_those_that_other_programs_see(tmp_path: Path) -> None:
    synchronizer = ProcessSynchronizer(tmp_path)
    with PROCESSES.Pool(1) as pool:
        with synchronizer["a"], synchronizer["a"]:
            assert not pool.apply(_try_lock, (str(tmp_path / "a"),))
        assert pool.apply(_try_lock, (str(tmp_path / "a"),))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_holds_no_locks(tmp_path: Path) -> None:
    if not hasattr(os, "fork"):
        return  # This platform cannot fork.
    synchronizer = ProcessSynchronizer(tmp_path)
    reader, writer = os.pipe()
    with synchronizer["a"]:
        child = os.fork()
        if child == 0:  # pragma: no cover
            with synchronizer["b"]:
                os.write(writer, b"b")
            with synchronizer["a"]:
                os.write(writer, b"a")
            os._exit(0)
        assert os.read(reader, 1) == b"b"
        os.set_blocking(reader, False)
        with pytest.raises(BlockingIOError):
            os.read(reader, 1)
        os.set_blocking(reader, True)
    assert os.read(reader, 1) == b"a"
    assert os.waitpid(child, 0)[1] == 0


def test_arrays_are_written_by_threads(synchronizer: Any) -> None:
    z = zarr.zeros(10_000, chunks=999, dtype="i4", synchronizer=synchronizer)

    def write(part: int) -> None:
        z[part * 100 : part * 100 + 100] = np.arange(part * 100, part * 100 + 100)

    with ThreadPool(8) as pool:
        pool.map(write, range(100))
    assert np.array_equal(z[:], np.arange(10_000))


def _write(arguments: tuple[Any, int]) -> None:
    z, part = arguments
    z[part * 100 : part * 100 + 100] = np.arange(part * 100, part * 100 + 100)


def test_arrays_are_written_by_processes(tmp_path: Path) -> None:
    synchronizer = ProcessSynchronizer(tmp_path / "sync")
    z = zarr.open_array(
        str(tmp_path / "a.zarr"), mode="w", shape=2000, chunks=333, dtype="i4", synchronizer=synchronizer
    )
    with PROCESSES.Pool(4) as pool:
        pool.map(_write, [(z, part) for part in range(20)], chunksize=1)
    assert np.array_equal(z[:], np.arange(2000))
    assert (tmp_path / "sync").is_dir()


def test_attributes_are_changed_by_threads(synchronizer: Any) -> None:
    store: dict[str, Any] = {}
    z = zarr.zeros(3, store=store)
    of_a_node = Attributes(z._native, synchronizer=synchronizer)
    of_a_key = Attributes(store, key="attrs", synchronizer=synchronizer)

    def write(number: int) -> None:
        of_a_node[f"a{number}"] = number
        of_a_key[f"a{number}"] = number

    with ThreadPool(8) as pool:
        pool.map(write, range(50))
    assert len(of_a_node) == len(of_a_key) == 50
