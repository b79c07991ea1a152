"""Tests of threads, forks, signals and garbage collection: no update is lost, nothing hangs, and exceptions are
unchanged."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numcodecs.abc import Codec
from numcodecs.registry import register_codec

import zarrox
import zarrox.v2 as zarr
from zarrox.v2.storage import DBMStore, DirectoryStore, KVStore, MemoryStore, NestedDirectoryStore, SQLiteStore

THREADS = 8


def together(work: Callable[[int], Any]) -> list[Any]:
    """Runs work in many threads, which start at the same moment."""
    barrier = threading.Barrier(THREADS)

    def run(index: int) -> Any:
        barrier.wait()
        return work(index)

    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(run, range(THREADS)))


class Custom(zarr.storage.Store):
    """A custom store in a dictionary."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values_ = values

    def __getitem__(self, key: str) -> Any:
        return self.values_[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.values_[key] = value

    def __delitem__(self, key: str) -> None:
        del self.values_[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self.values_))

    def __len__(self) -> int:
        return len(self.values_)


class Wrapped(KVStore):
    """A custom store around a mapping."""

    def __getitem__(self, key: str) -> Any:
        return super().__getitem__(key)


#: Ways to open several handles of one location, each with a separate store.
HANDLES: dict[str, Callable[[dict[str, Any], Path], Any]] = {
    "dict": lambda values, path: values,
    "KVStore": lambda values, path: KVStore(values),
    "MemoryStore": lambda values, path: MemoryStore(values),
    "KVStore in KVStore": lambda values, path: KVStore(KVStore(values)),
    "subclass of KVStore": lambda values, path: Wrapped(values),
    "nested": lambda values, path: NestedDirectoryStore(path / "nested"),
}


@pytest.mark.parametrize("handle", HANDLES)
def test_handles_of_one_mapping_share_their_locks(tmp_path: Path, handle: str) -> None:
    """No partial write and no append of the threads is lost, although each thread has a separate store."""
    values: dict[str, Any] = {}
    opened = HANDLES[handle]
    zarr.create(shape=400, chunks=400, dtype="i4", store=opened(values, tmp_path), path="a")
    zarr.create(shape=0, chunks=100, dtype="i4", store=opened(values, tmp_path), path="b")

    def write(index: int) -> None:
        a = zarr.open_array(opened(values, tmp_path), path="a", mode="r+")
        b = zarr.open_array(opened(values, tmp_path), path="b", mode="r+")
        for n in range(index, 400, THREADS):
            a[n] = n
            if n % 20 < THREADS:
                b.append(np.array([n]))

    together(write)
    assert zarr.open_array(opened(values, tmp_path), path="a")[:].tolist() == list(range(400))
    appended = zarr.open_array(opened(values, tmp_path), path="b")[:]
    assert sorted(appended.tolist()) == [n for n in range(400) if n % 20 < THREADS]


@pytest.mark.parametrize("place", ["memory", "dict", "directory"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_threads_that_require_the_same_node_all_get_it(tmp_path: Path, place: str, zarr_format: Any) -> None:
    for turn in range(10):
        store: Any = {"memory": MemoryStore(), "dict": {}, "directory": DirectoryStore(tmp_path / f"{turn}")}[place]

        def require(index: int, store: Any = store) -> None:
            root = zarr.open_group(store, mode="a", zarr_format=zarr_format)
            root.require_group("g").attrs[f"a{index}"] = index
            array = root.require_dataset("g/x", shape=THREADS, chunks=1, dtype="i4", fill_value=-1)
            array[index] = index
            same = zarrox.open_group(store, mode="r+").require_array("y", shape=(THREADS,), dtype="i4")
            again = zarr.open_array(store, path="z", mode="a", shape=THREADS, chunks=1, dtype="i4", zarr_format=zarr_format)
            same[index], again[index] = index, index

        together(require)
        root = zarr.open_group(store, mode="r", zarr_format=zarr_format)
        assert dict(root["g"].attrs) == {f"a{index}": index for index in range(THREADS)}
        for path in ("g/x", "y", "z"):
            assert root[path][:].tolist() == list(range(THREADS)), path


def test_what_is_not_consolidated_is_said_not_to_be() -> None:
    store: dict[str, Any] = {}
    zarr.open_group(store, mode="w")
    for mode in ("a", "r+", "r"):
        with pytest.raises(zarrox.errors.GroupNotFoundError, match="consolidated"):
            zarrox.open_group(store, mode=mode, use_consolidated=True)


class Failing(Codec):
    """A codec that raises a given exception."""

    codec_id = "zarrox_test_failing"
    error: type[BaseException] | None = None

    def encode(self, buf: Any) -> bytes:
        return self._bytes(buf)

    def decode(self, buf: Any, out: Any = None) -> bytes:
        return self._bytes(buf)

    def _bytes(self, buf: Any) -> bytes:
        if type(self).error is not None:
            try:
                raise LookupError("why")
            except LookupError as cause:
                raise type(self).error("of the codec's own") from cause
        return bytes(memoryview(buf).cast("B"))


register_codec(Failing)


class OwnError(Exception):
    """An exception that only this test defines."""


@pytest.mark.parametrize("error", [KeyboardInterrupt, OwnError, SystemExit, ValueError])
@pytest.mark.parametrize("chunks", [10, 500])
def test_exceptions_of_a_codec_reach_the_caller(monkeypatch: Any, error: type[BaseException], chunks: int) -> None:
    """Exceptions of a codec reach the caller unchanged, with their cause and location."""
    z = zarr.create(shape=500, chunks=chunks, dtype="i4", compressor=Failing())
    z[:] = 1
    monkeypatch.setattr(Failing, "error", error)
    for work in (lambda: z[:], lambda: z[3], lambda: z.__setitem__(slice(None), 2), lambda: z.__setitem__(3, 2)):
        with pytest.raises(error, match=r"of the codec.s own") as raised:
            work()
        assert raised.type is error
        assert isinstance(raised.value.__cause__, LookupError)
        assert any(entry.name == "_bytes" for entry in raised.traceback)
    monkeypatch.setattr(Failing, "error", None)
    assert z[:].tolist() == [1] * 500


class Slow(Failing):
    """A slow codec in Python."""

    codec_id = "zarrox_test_slow"

    def decode(self, buf: Any, out: Any = None) -> bytes:
        time.sleep(0.05)
        return super().decode(buf)


register_codec(Slow)


def test_ctrl_c_in_a_codec_is_a_keyboard_interrupt() -> None:
    if not hasattr(signal, "pthread_kill"):
        pytest.skip("signals are sent to a process in another way")
    z = zarr.create(shape=400, chunks=10, dtype="i4", compressor=Slow())
    z[:] = 1
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT))
    # Shells start background programs with the signal ignored, and Python keeps this setting.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            z[:]
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)


def database(kind: str, path: Path) -> Any:
    return SQLiteStore(path / "a.sqlite") if kind == "sqlite" else DBMStore(path / "a.gdbm")


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("kind", ["sqlite", "gdbm"])
def test_a_fork_while_a_thread_reads_a_database_goes_on(tmp_path: Path, kind: str) -> None:
    """The child reads and writes as well, or gets an error with the reason."""
    if not hasattr(os, "fork"):
        pytest.skip("no process is forked here")
    store = database(kind, tmp_path)
    z = zarr.create(shape=2000, chunks=20, dtype="i4", store=store, overwrite=True)
    z[:] = np.arange(2000)
    done = False

    def read() -> None:
        while not done:
            z[:]

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(20):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    assert z[:].sum() == np.arange(2000).sum()
                    if kind == "sqlite":
                        z[turn] = turn
                    status = 0
                except BaseException as error:
                    # Another process holds the lock of the file.
                    status = 0 if "another process has locked the GDBM file" in str(error) else 1
                    if status:
                        print(repr(error), file=sys.stderr)
                finally:
                    os._exit(status)
            end = time.monotonic() + 60
            while (found := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < end:
                time.sleep(0.005)
            if found[0] == 0:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            assert found == (child, 0), "the child hangs, or has failed"
    finally:
        done = True
        for thread in threads:
            thread.join()
    assert z[:].tolist() == list(range(2000))


def holding(kind: str) -> tuple[Any, Any]:
    """Returns a store that refers to its own array and group, and the objects that must be collected with it."""
    mapping: Any = Custom({}) if kind == "store" else Wrapped({}) if kind == "wrapped" else Mapping()
    z = zarr.create(shape=10, dtype="i4", store=mapping, path="a")
    z[:] = 3
    mapping.kept = z, zarr.open_group(mapping, mode="a"), zarr.open_group(mapping, mode="a").attrs
    return mapping, z


class Mapping(MutableMapping[str, Any]):
    """A mapping that is not a store."""

    def __init__(self) -> None:
        self.values_: dict[str, Any] = {}

    __getitem__ = Custom.__getitem__
    __setitem__ = Custom.__setitem__
    __delitem__ = Custom.__delitem__
    __iter__ = Custom.__iter__
    __len__ = Custom.__len__


@pytest.mark.parametrize("kind", ["store", "wrapped", "mapping"])
def test_a_store_that_holds_its_own_array_is_collected(kind: str) -> None:
    store, z = holding(kind)
    gone = weakref.ref(store)
    del store
    gc.collect()
    # The array needs the mapping.
    assert gone() is not None
    assert z[3] == 3
    attrs = zarr.open_group(Custom({}), mode="a").attrs
    gc.collect()
    attrs["x"] = 1
    assert attrs["x"] == 1
    del z
    gc.collect()
    assert gone() is None
