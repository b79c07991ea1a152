"""Threads and processes that read and write the same arrays, and their interruption."""

from __future__ import annotations

import collections
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox.v2 as zarr

ROWS, COLUMNS = 64, 1000
METHODS = [method for method in multiprocessing.get_all_start_methods() if method in ("fork", "spawn")]

# Python warns about every fork in a process with threads, which is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def values() -> np.ndarray[Any, np.dtype[np.int64]]:
    """Returns the values of the arrays."""
    return np.arange(ROWS * COLUMNS, dtype="i8").reshape(ROWS, COLUMNS)


def row_sum(task: tuple[zarr.Array, int]) -> int:
    """Reads one row in another process."""
    array, row = task
    return int(array[row].sum())


def write_rows(task: tuple[zarr.Array, int, int]) -> None:
    """Writes some rows in another process."""
    array, start, stop = task
    array[start:stop] = values()[start:stop]


def add_one(task: tuple[zarr.Array, int]) -> None:
    """Changes one element of a chunk that other processes change as well."""
    array, index = task
    array[index] = index + 1


@pytest.fixture(params=METHODS)
def pool(request: pytest.FixtureRequest) -> Any:
    """Returns a pool of two processes."""
    with ProcessPoolExecutor(2, multiprocessing.get_context(request.param)) as executor:
        yield executor


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_processes_read(pool: ProcessPoolExecutor, tmp_path: Path, zarr_format: int) -> None:
    """A process that is forked after decoding must not wait for threads that it does not have."""
    z = zarr.open(
        tmp_path / "z.zarr", mode="w", shape=(ROWS, COLUMNS), chunks=(8, 100), dtype="i8", zarr_format=zarr_format
    )
    z[:] = values()
    # From here on, threads of Zarrox run.
    np.testing.assert_array_equal(z[:], values())
    sums = list(pool.map(row_sum, [(z, row) for row in range(ROWS)], timeout=60))
    assert sums == values().sum(axis=1).tolist()


def test_processes_read_what_is_in_memory(pool: ProcessPoolExecutor) -> None:
    """An array in memory is pickled with its values."""
    z = zarr.array(values(), chunks=(8, 100))
    sums = list(pool.map(row_sum, [(z, row) for row in range(4)], timeout=60))
    assert sums == values().sum(axis=1)[:4].tolist()


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_processes_write_chunks_of_their_own(pool: ProcessPoolExecutor, tmp_path: Path, zarr_format: int) -> None:
    """No locks are needed if no chunk is shared."""
    z = zarr.open(
        tmp_path / "z.zarr", mode="w", shape=(ROWS, COLUMNS), chunks=(8, 100), dtype="i8", zarr_format=zarr_format
    )
    list(pool.map(write_rows, [(z, start, start + 8) for start in range(0, ROWS, 8)], timeout=60))
    np.testing.assert_array_equal(z[:], values())


def test_processes_share_a_chunk_behind_a_synchronizer(pool: ProcessPoolExecutor, tmp_path: Path) -> None:
    """With file locks, no change is lost."""
    synchronizer = zarr.ProcessSynchronizer(str(tmp_path / "z.sync"))
    z = zarr.open_array(tmp_path / "z.zarr", mode="w", shape=200, chunks=100, dtype="i8", synchronizer=synchronizer)
    list(pool.map(add_one, [(z, index) for index in range(200)], timeout=120))
    assert z[:].tolist() == list(range(1, 201))


def write_chunks(array: zarr.Array, writer: int) -> None:
    """Writes a part of each fourth chunk."""
    for chunk in range(writer, 16, 4):
        array[chunk * 4 + 1 : chunk * 4 + 3] = chunk


@pytest.mark.skipif("fork" not in METHODS, reason="this system cannot fork")
def test_forked_processes_do_not_share_temporary_files(tmp_path: Path) -> None:
    # The first write of a process determines the names of its temporary files.
    zarr.open_array(str(tmp_path / "parent"), mode="w", shape=4, chunks=4, dtype="i8")[:] = 1
    context = multiprocessing.get_context("fork")
    for turn in range(25):
        path = str(tmp_path / f"children{turn}")
        # The directory is new to each of the writers.
        create = dict(mode="w", shape=(64, 8), chunks=(4, 8), dtype="i8", compressor=None)
        creator = context.Process(target=zarr.open_array, args=(path,), kwargs=create)
        creator.start()
        creator.join()
        array = zarr.open_array(path, mode="r+")
        writers = [context.Process(target=write_chunks, args=(array, writer)) for writer in range(4)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        for chunk in range(16):
            assert (array[chunk * 4 + 1 : chunk * 4 + 3] == chunk).all(), f"chunk {chunk} in turn {turn}"


def test_threads_read(tmp_path: Path) -> None:
    """Threads read concurrently, and all read the same values."""
    z = zarr.open(tmp_path / "z.zarr", mode="w", shape=(ROWS, COLUMNS), chunks=(8, 100), dtype="i8")
    z[:] = values()
    with ThreadPoolExecutor(8) as threads:
        for found in threads.map(lambda _: z[:], range(32)):
            np.testing.assert_array_equal(found, values())


@pytest.mark.parametrize("store", [None, "z.zarr"], ids=["memory", "directory"])
@pytest.mark.parametrize("synchronized", [False, True])
def test_threads_share_chunks(tmp_path: Path, store: str | None, synchronized: bool) -> None:
    """No partial write of a chunk is lost, also without a synchronizer."""
    place = None if store is None else str(tmp_path / store)
    synchronizer = zarr.ThreadSynchronizer() if synchronized else None
    z = zarr.create(shape=500, chunks=100, dtype="i8", store=place, synchronizer=synchronizer)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add_one, [(z, index) for index in range(500)]))
    assert z[:].tolist() == list(range(1, 501))


def test_threads_share_a_mapping() -> None:
    """Threads of Zarrox call a Python mapping with the GIL."""
    store: dict[str, bytes] = {}
    z = zarr.create(shape=(ROWS, COLUMNS), chunks=(8, 100), dtype="i8", store=store)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write_rows, [(z, start, start + 8) for start in range(0, ROWS, 8)]))
    np.testing.assert_array_equal(z[:], values())
    assert isinstance(store["0.0"], bytes)


def test_other_threads_run_while_one_reads() -> None:
    """Reading releases the GIL."""
    z = zarr.array(np.arange(8_000_000), chunks=100_000)
    done = False

    def read() -> None:
        nonlocal done
        for _ in range(5):
            z[:]
        done = True

    with ThreadPoolExecutor(1) as threads:
        work = threads.submit(read)
        turns = 0
        while not done and not work.done():
            turns += 1
            time.sleep(0)
        work.result()
    assert turns > 10


#: Enables Ctrl-C, which programs ignore if a shell starts them in the background.
LISTENING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
"""

#: A program that reads for minutes from a store with slow reads.
ENDLESS = LISTENING + """
import collections, sys, time
import zarrox.v2 as zarr

class Slow(collections.UserDict):
    def __getitem__(self, key):
        if key[0].isdigit():
            print("reading", flush=True)
            time.sleep(0.05)
        return super().__getitem__(key)

z = zarr.create(shape=20_000, chunks=1, dtype="i1", store=Slow(), compressor=None)
z[:] = 1
try:
    z[:]
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""


def test_control_c_ends_a_long_read() -> None:
    """The read, which would take minutes, ends within seconds."""
    if os.name == "nt":  # Only Unix sends signals to other processes.
        return
    program = [sys.executable, "-c", ENDLESS]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reading\n"
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 7, err
    assert out.endswith("interrupted\n")


def test_a_signal_handler_may_read_during_a_long_read() -> None:
    """Both reads need the single thread that works for the main thread."""
    if os.name == "nt":
        return

    class Slow(collections.UserDict[str, bytes]):
        def __getitem__(self, key: str) -> bytes:
            if key[0].isdigit():
                time.sleep(0.05)
            return super().__getitem__(key)

    z = zarr.create(shape=40, chunks=1, dtype="i1", store=Slow(), compressor=None)
    z[:] = 1
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(int(z[3])))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.06)
        assert z[:].sum() == 40
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen == [1]


def test_control_c_ends_a_read_of_a_directory(tmp_path: Path) -> None:
    """The read ends although no Python code runs meanwhile."""
    if os.name == "nt":
        return
    program = LISTENING + f"""
import sys, zarrox as zarr
z = zarr.open({str(tmp_path / "z.zarr")!r}, mode="w", shape=(400, 1_000_000), chunks=(1, 1_000_000), dtype="i4")
z[0] = 1
print("reading", flush=True)
try:
    while True:
        z[:]
except KeyboardInterrupt:
    sys.exit(7)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 7
