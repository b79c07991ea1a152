"""The store for zarr-python 3, tested with zarr-python's own tests of stores."""

from __future__ import annotations

import asyncio
import functools
import http.server
import itertools
import pickle
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import Buffer, cpu, default_buffer_prototype
from zarr.storage import LocalStore
from zarr.testing.stateful import ZarrHierarchyStateMachine, ZarrStoreStateMachine
from zarr.testing.store import StoreTests

import zarrox
import zarrox.zarr3
from zarrox import v2
from zarrox.zarr3 import Store, explain

KINDS = ("directory", "memory", "sqlite", "redb", "lmdb", "zip", "mapping", "ours")


def place(kind: str, directory: Path) -> Any:
    """Returns a place of each kind."""
    if kind == "mapping":
        return {}
    if kind == "ours":
        return v2.SQLiteStore(str(directory / "ours.sqlite"))
    files = {"sqlite": "sqlite://", "redb": "redb://", "lmdb": "lmdb://"}
    if kind in files:
        return f"{files[kind]}{directory / kind}.{kind}"
    if kind == "memory":
        return f"memory://{uuid.uuid4()}"
    return directory / ("a.zip" if kind == "zip" else "a")


class Suite(StoreTests[Store, cpu.Buffer]):
    """zarr-python's tests of stores."""

    store_cls = Store
    buffer_cls = cpu.Buffer
    kind: str

    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        """Returns the arguments with the place."""
        return {"place": place(self.kind, tmp_path)}

    @pytest.fixture
    def store(self, open_kwargs: dict[str, Any]) -> Iterator[Store]:
        """Returns an open store."""
        with asyncio.run(Store.open(**open_kwargs)) as store:
            yield store

    @pytest.fixture
    def store_not_open(self, store_kwargs: dict[str, Any]) -> Store:
        """Returns a store that is opened on first use."""
        return Store(**store_kwargs)

    async def get(self, store: Store, key: str) -> Buffer:
        """Reads a value from the native store alone."""
        assert store.native is not None
        value = store.native.get(key)
        assert value is not None
        return cpu.Buffer.from_bytes(value)

    async def set(self, store: Store, key: str, value: Buffer) -> None:
        """Writes a value to the native store alone."""
        assert store.native is not None
        store.native.set(key, value.to_bytes())

    def test_store_repr(self, store: Store) -> None:
        """The text form of the store names the place."""
        assert repr(store).startswith("Store(")
        assert str(store) in repr(store)

    def test_store_supports_writes(self, store: Store) -> None:
        """All of these stores support writes."""
        assert store.supports_writes

    def test_store_supports_listing(self, store: Store) -> None:
        """All of these stores support listing."""
        assert store.supports_listing


class TestDirectory(Suite):
    """Files."""

    kind = "directory"


class TestMemory(Suite):
    """Memory of Rust."""

    kind = "memory"


class TestSQLite(Suite):
    """A database in a file."""

    kind = "sqlite"


class TestRedb(Suite):
    """A database in a file."""

    kind = "redb"


class TestLMDB(Suite):
    """A database that is mapped into memory."""

    kind = "lmdb"


class TestZip(Suite):
    """An archive."""

    kind = "zip"


class TestMapping(Suite):
    """A Python dictionary."""

    kind = "mapping"


class TestOurs(Suite):
    """A store of `zarrox.storage`."""

    kind = "ours"


QUICK = settings(max_examples=15, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck))


# A directory cannot have a value above another one.
@pytest.mark.parametrize("kind", ["memory", "sqlite", "redb", "mapping"])
def test_zarr_pythons_state_machine_of_stores(kind: str, tmp_path: Path) -> None:
    """Random operations have the same results as on a dictionary."""
    number = itertools.count()

    def machine() -> ZarrStoreStateMachine:
        (directory := tmp_path / str(next(number))).mkdir()
        return ZarrStoreStateMachine(Store(place(kind, directory)))

    run_state_machine_as_test(machine, settings=QUICK)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("pipeline", ["zarrox", "own"])
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_zarr_pythons_state_machine_of_hierarchies(kind: str, pipeline: str, tmp_path: Path) -> None:
    """Random operations on arrays and groups have the same results as in zarr-python's memory store."""
    number = itertools.count()

    def machine() -> ZarrHierarchyStateMachine:
        (directory := tmp_path / str(next(number))).mkdir()
        return ZarrHierarchyStateMachine(Store(place(kind, directory)))

    with zarrox.zarr3.enable() if pipeline == "zarrox" else zarrox.zarr3.disable():
        run_state_machine_as_test(machine, settings=QUICK)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("kind", KINDS)
def test_the_pipeline_reads_and_writes_without_calling_the_store(kind: str, tmp_path: Path) -> None:
    """Rust accesses the values itself."""
    with zarrox.zarr3.enable():
        array = zarr.create_array(Store(place(kind, tmp_path)), shape=(20, 7), chunks=(4, 3), shards=(8, 6), dtype="f4")
    assert explain(array).store == "rust"
    values = np.random.default_rng(0).random((20, 7), dtype="f4")
    array[...] = values
    array[3:5] = 1
    values[3:5] = 1
    np.testing.assert_array_equal(array[2:, ::2], values[2:, ::2])
    with zarrox.zarr3.disable():
        other = zarr.open_array(array.store_path.store, mode="r")
    np.testing.assert_array_equal(other[...], values)


@pytest.mark.parametrize("kind", KINDS)
def test_many_ranges_are_parts_of_one_value(kind: str, tmp_path: Path) -> None:
    """Ranges beyond the end are truncated, and a missing value is an exception group."""
    store = Store(place(kind, tmp_path))
    store.set_sync("a/b", cpu.Buffer.from_bytes(bytes(range(10))))
    requests = [RangeByteRequest(2, 4), SuffixByteRequest(3), OffsetByteRequest(8), None, RangeByteRequest(8, 20)]
    wanted = [bytes(range(10))[part] for part in (slice(2, 4), slice(-3, None), slice(8, None), slice(None), slice(8, 20))]
    found = store.get_ranges_sync("a/b", requests, prototype=default_buffer_prototype())
    assert [part.to_bytes() for _, part in sorted(found, key=lambda one: one[0]) if part is not None] == wanted

    async def asynchronously(key: str) -> dict[int, bytes]:
        groups = store.get_ranges(key, requests, prototype=default_buffer_prototype())
        return {index: part.to_bytes() async for group in groups for index, part in group if part is not None}

    assert asyncio.run(asynchronously("a/b")) == dict(enumerate(wanted))
    with pytest.RaisesGroup(FileNotFoundError, allow_unwrapped=False):
        store.get_ranges_sync("a/c", requests, prototype=default_buffer_prototype())


@pytest.mark.parametrize("kind", ["directory", "memory", "sqlite", "redb", "mapping"])
def test_only_one_of_many_writers_makes_a_value(kind: str, tmp_path: Path) -> None:
    """No other writer writes between the check and the write."""
    store = Store(place(kind, tmp_path))
    written = []

    def write(number: int) -> None:
        assert store._handle.native is not None
        written.append(store._handle.native.set_if_absent("a", bytes([number])))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(written) == [False] * 7 + [True]


def test_stores_of_other_places_are_not_equal(tmp_path: Path) -> None:
    """Stores are equal if their places are equal, whatever their modes are."""
    one = Store(tmp_path / "a")
    assert one == Store(str(tmp_path / "a"), read_only=True)
    assert one != Store(tmp_path / "b")
    assert one != LocalStore(tmp_path / "a")
    assert pickle.loads(pickle.dumps(one)) == one


def test_nothing_is_written_to_a_store_that_is_read_only(tmp_path: Path) -> None:
    """Neither the methods of the store nor the pipeline write to it."""
    zarr.create_array(Store(tmp_path / "a"), data=np.arange(4))
    store = Store(tmp_path / "a", read_only=True)
    for act in (store.set, store.set_if_not_exists):
        with pytest.raises(ValueError, match="read-only"):
            asyncio.run(act("c/0", cpu.Buffer.from_bytes(b"")))
    for remove in (store.delete_dir("c"), store.clear(), store.delete("c/0")):
        with pytest.raises(ValueError, match="read-only"):
            asyncio.run(remove)
    with zarrox.zarr3.enable():
        array = zarr.open_array(store, mode="r")
    with pytest.raises(ValueError, match="read-only"):
        array[:] = 1
    assert array[:].tolist() == [0, 1, 2, 3]


def test_storage_options_that_a_place_does_not_have_are_refused(tmp_path: Path) -> None:
    """The error says which kinds of places have options."""
    with pytest.raises(ValueError, match="storage_options of a directory are"):
        Store(tmp_path, storage_options={"anon": True})


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """Returns the URL of a server for the files of a directory."""
    handler = functools.partial(Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server that does not print."""

    def log_message(self, *_: Any) -> None:
        """Prints nothing."""


def test_an_array_on_a_server_is_read(served: str, tmp_path: Path) -> None:
    """Rust sends the requests."""
    zarr.create_array(tmp_path / "a.zarr", data=np.arange(100).reshape(10, 10), chunks=(3, 3))
    store = Store(f"{served}/a.zarr", read_only=True, storage_options={"allow_http": True})
    with zarrox.zarr3.enable():
        array = zarr.open_array(store, mode="r")
    assert explain(array).store == "rust"
    assert not store.supports_writes
    np.testing.assert_array_equal(array[2:, 1:5], np.arange(100).reshape(10, 10)[2:, 1:5])


@pytest.mark.parametrize("url", ["{}/a.zip", "{}/a.zip|zip:", "zip://::{}/a.zip"])
def test_an_archive_on_a_server_is_read(url: str, served: str, tmp_path: Path) -> None:
    """A store inside of another store is opened by a single URL."""
    with Store(tmp_path / "a.zip") as archive:
        zarr.create_array(archive, name="x", data=np.arange(100).reshape(10, 10), chunks=(3, 3))
    store = Store(url.format(served), read_only=True, storage_options={"allow_http": True})
    with zarrox.zarr3.enable():
        array = zarr.open_group(store, mode="r")["x"]
    assert explain(array).store == "rust"
    np.testing.assert_array_equal(array[2:, 1:5], np.arange(100).reshape(10, 10)[2:, 1:5])


@pytest.mark.parametrize("pipeline", ["zarrox", "own"])
def test_v2_is_read_as_it_is(pipeline: str, tmp_path: Path) -> None:
    """The documents of version 2 are ordinary values of the store."""
    zarrox.open(str(tmp_path / "a"), mode="w", shape=(10,), chunks=(3,), dtype="i4", zarr_format=2)[:] = np.arange(10)
    with zarrox.zarr3.enable() if pipeline == "zarrox" else zarrox.zarr3.disable():
        array = zarr.open_array(Store(tmp_path / "a"), mode="r")
    assert array.metadata.zarr_format == 2
    np.testing.assert_array_equal(array[:], np.arange(10))
