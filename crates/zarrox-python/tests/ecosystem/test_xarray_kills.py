"""The state that `to_zarr` leaves when its process is killed, and the state that readers see while it works."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr

import zarrox as zarr
from zarrox import v2
from zarrox.xarray import ZarroxBackendEntrypoint, to_zarr
from zarrox.xarray import replacing as module_of_replacing
from zarrox.xarray import writing as module_of_writing

FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])
ENGINE: Any = ZarroxBackendEntrypoint

pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning", "ignore::FutureWarning", "ignore::RuntimeWarning", "ignore::DeprecationWarning"
)


def rows(*x: int) -> xr.Dataset:
    """Returns two variables and a coordinate along one dimension, in chunks that cross the border of an append."""
    dataset = xr.Dataset({"a": ("x", [n * 10 for n in x]), "b": ("x", [n * 100 for n in x])}, coords={"x": list(x)})
    for variable in dataset.variables.values():
        variable.encoding["chunks"] = (2,)
    return dataset


def more(*x: int) -> xr.Dataset:
    """Returns the same dataset without encoding, for an append."""
    return rows(*x).drop_encoding()


def opened(place: Any) -> xr.Dataset:
    """Returns a dataset that is loaded immediately."""
    return xr.open_dataset(place, engine=ENGINE).load()


def in_child(work: Callable[[], Any]) -> int:
    """Starts work in another process, and returns the id of the process."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with dask.config.set(scheduler="synchronous"):
                work()
            code = 0
        except BaseException:  # noqa: BLE001, the parent only sees the exit code
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def killed(work: Callable[[], Any]) -> bool:
    """Runs work in another process; returns true if the process was killed."""
    _, status = os.waitpid(in_child(work), 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def die() -> None:
    """Kills this process."""
    os.kill(os.getpid(), signal.SIGKILL)


class Mortal(MutableMapping[str, bytes]):
    """A store in a directory that kills its process before the change of a given value."""

    def __init__(self, path: Path, changes: int) -> None:
        self.path = path
        self.changes = changes

    def _change(self) -> None:
        if self.changes == 0:
            die()
        self.changes -= 1

    def __getitem__(self, key: str) -> bytes:
        try:
            return (self.path / key).read_bytes()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise KeyError(key) from None

    def __setitem__(self, key: str, value: bytes) -> None:
        self._change()
        (self.path / key).parent.mkdir(parents=True, exist_ok=True)
        (self.path / key).write_bytes(bytes(value))

    def __delitem__(self, key: str) -> None:
        self[key]
        self._change()
        (self.path / key).unlink()

    def __iter__(self) -> Iterator[str]:
        return (str(each.relative_to(self.path)) for each in self.path.rglob("*") if each.is_file())

    def __len__(self) -> int:
        return sum(1 for _ in self)


def lengths(path: Path) -> list[int]:
    """Returns the lengths of all arrays of a dataset."""
    return [array.shape[0] for _, array in sorted(zarr.open_group(path, "r", use_consolidated=False).arrays())]


def lengths_by_copy(path: Path) -> set[int]:
    """Returns the lengths of all arrays in consolidated metadata."""
    documents = json.loads((path / ".zmetadata").read_bytes())["metadata"]
    return {document["shape"][0] for key, document in documents.items() if key.endswith(".zarray")}


@FORMATS
def test_an_append_that_is_killed_anywhere_is_there_once_when_the_same_call_is_given_again(
    tmp_path: Path, zarr_format: Any
) -> None:
    """An append that is killed between the shapes is undone. After a kill behind the last shape, its rows are not
    appended again."""
    points = 0
    for changes in range(100):
        path = tmp_path / str(changes)
        to_zarr(rows(1, 2, 3), path, zarr_format=zarr_format)
        wanted = more(4, 5).assign_attrs(appended="yes")
        if not killed(lambda path=path, changes=changes, wanted=wanted: to_zarr(wanted, Mortal(path, changes), append_dim="x")):
            break
        points += 1
        found = lengths(path)
        if zarr_format == 2:
            assert lengths_by_copy(path) in ({3}, {5})
        if set(found) == {3}:
            xr.testing.assert_identical(opened(path), rows(1, 2, 3))
        assert found[2] == 3 or set(found) == {5}, "the coordinate comes last"
        to_zarr(wanted, path, append_dim="x")
        expected = rows(1, 2, 3, 4, 5).assign_attrs(appended="yes")
        xr.testing.assert_identical(opened(path), expected)
        xr.testing.assert_identical(xr.open_dataset(path, engine=ENGINE, consolidated=False).load(), expected)
        assert leftovers(path) == []
    assert points >= 13, "all chunks and documents, and the mark"


def leftovers(path: Path) -> list[str]:
    """Returns the marks of unfinished work."""
    return [each.name for each in path.rglob(".zarrox*")]


def killed_after_the_shapes(path: Path, dataset: xr.Dataset, **options: Any) -> None:
    """Creates a dataset to which a process appended another one, before it was killed between the last shape and the
    rest."""

    def work() -> None:
        module_of_writing.set_attributes = lambda *_: die()
        to_zarr(dataset, path, append_dim="x", **options)

    assert killed(work)


@FORMATS
def test_another_append_after_one_that_was_killed_behind_its_last_shape_keeps_its_rows(
    tmp_path: Path, zarr_format: Any
) -> None:
    """Only the same rows count as the same call, and only once."""
    path = tmp_path / "s"
    to_zarr(rows(1, 2, 3), path, zarr_format=zarr_format)
    killed_after_the_shapes(path, more(4, 5))
    to_zarr(more(4, 6).chunk(1), path, append_dim="x")
    xr.testing.assert_identical(opened(path), rows(1, 2, 3, 4, 5, 4, 6))
    killed_after_the_shapes(path, more(7).chunk())
    for _ in range(2):
        to_zarr(more(7).chunk(), path, append_dim="x")
    xr.testing.assert_identical(opened(path), rows(1, 2, 3, 4, 5, 4, 6, 7, 7))
    assert leftovers(path) == []


def test_an_append_without_values_that_was_killed_is_undone(tmp_path: Path) -> None:
    """The rows are removed, since no process will compute them."""
    path = tmp_path / "s"
    to_zarr(rows(1, 2, 3), path, zarr_format=3)
    killed_after_the_shapes(path, more(4, 5).chunk(), compute=False)
    assert lengths(path) == [5, 5, 5]
    to_zarr(more(6), path, append_dim="x")
    xr.testing.assert_identical(opened(path), rows(1, 2, 3, 6))


def test_a_check_tells_of_an_append_that_was_killed_and_repairs_it(tmp_path: Path) -> None:
    """Between the shapes, the append is undone; after the last shape, only the mark is removed."""
    path = tmp_path / "s"
    seen = set()
    for changes in range(100):
        path = tmp_path / str(changes)
        to_zarr(rows(1, 2, 3), path, zarr_format=3)
        if not killed(lambda path=path, changes=changes: to_zarr(more(4, 5), Mortal(path, changes), append_dim="x")):
            break
        if not leftovers(path):
            continue
        found = [each for each in zarr.check(path) if each.kind == "unfinished-work"]
        assert len(found) == 1
        seen.add(found[0].message)
        zarr.check(path, repair=True)
        assert leftovers(path) == []
        assert lengths(path) in ([3, 3, 3], [5, 5, 5])
        assert zarr.check(path).ok
    assert len(seen) == 3


@pytest.mark.parametrize("kind", ["directory", "sqlite", "lmdb"])
@FORMATS
def test_processes_that_append_one_dataset_wait_for_one_another(tmp_path: Path, zarr_format: Any, kind: str) -> None:
    """Each append is stored once and in one piece, in any order of the processes."""
    place = {"directory": "", "sqlite": "sqlite://", "lmdb": "lmdb://"}[kind] + str(tmp_path / "s.db")

    def waited(child: int) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    # A database is opened only in the child processes.
    assert waited(in_child(lambda: to_zarr(rows(0), place, zarr_format=zarr_format))) == 0
    parts = [(10 * number + 1, *range(10 * number + 2, 10 * number + 2 + number % 3)) for number in range(1, 7)]
    children = [in_child(lambda part=part: to_zarr(more(*part), place, append_dim="x")) for part in parts]
    assert [waited(child) for child in children] == [0] * len(parts)

    def judge() -> None:
        found = opened(place)
        xr.testing.assert_identical(found, rows(*found.x.values.tolist()))
        values = found.x.values.tolist()
        assert sorted(values) == sorted([0, *(x for part in parts for x in part)])
        for part in parts:
            start = values.index(part[0])
            assert values[start : start + len(part)] == list(part)

    assert waited(in_child(judge)) == 0


def dying(*x: int, at: int) -> xr.Dataset:
    """Returns rows in blocks. One block kills the process that computes it."""

    def values(block: Any) -> Any:
        if at in block:
            die()
        return block

    lazy = da.from_array(np.array(x), chunks=1).map_blocks(values, dtype="i8", meta=np.zeros(0, "i8"))
    return more(*x).assign(b=("x", lazy * 100))


@FORMATS
@pytest.mark.parametrize("at", [4, 5, 6])
def test_an_append_in_pieces_that_is_killed_leaves_the_old_rows(tmp_path: Path, zarr_format: Any, at: int) -> None:
    """The rows of the killed append are outside of the shapes, and no later append or resize makes them visible."""
    path = tmp_path / "s"
    to_zarr(rows(1, 2, 3), path, zarr_format=zarr_format)
    assert killed(lambda: to_zarr(dying(4, 5, 6, at=at), path, append_dim="x"))
    xr.testing.assert_identical(opened(path), rows(1, 2, 3))
    to_zarr(more(7), path, append_dim="x")
    xr.testing.assert_identical(opened(path), rows(1, 2, 3, 7))
    assert killed(lambda: to_zarr(dying(4, 5, 6, at=at), path, append_dim="x"))
    zarr.open_array(path / "b", "r+").resize(9)
    assert zarr.open_array(path / "b")[4:].tolist() == [0] * 5


def test_an_append_of_a_part_beside_leftovers_of_a_killed_one_shows_none_of_them(tmp_path: Path) -> None:
    """Rows that are written only in part have fill values in their other elements."""
    path = tmp_path / "s"
    old = xr.Dataset({"b": (("x", "y"), np.ones((1, 2), "i8"))})
    to_zarr(old, path)

    def kill(block: Any) -> Any:
        if 9 in block:
            die()
        return block

    lazy = da.from_array(np.array([[7, 7], [9, 9]]), chunks=1).map_blocks(kill, dtype="i8", meta=np.zeros((0, 0), "i8"))
    assert killed(lambda: to_zarr(xr.Dataset({"b": (("x", "y"), lazy)}), path, append_dim="x"))
    part = xr.Dataset({"b": (("x", "y"), np.full((1, 1), 5))})
    to_zarr(part, path, "a", append_dim="x", region={"y": slice(1, 2)})
    assert zarr.open_array(path / "b")[:].tolist() == [[1, 1], [0, 5]]


class Seen:
    """A function of blocks that reads the dataset while its blocks are written to it."""

    def __init__(self, path: Any) -> None:
        self.path = path
        self.seen: list[xr.Dataset] = []

    def __call__(self, block: Any) -> Any:
        """Returns the block unchanged."""
        if block.size:
            self.seen.append(opened(self.path))
        return block


@FORMATS
@pytest.mark.parametrize("kind", ["directory", "mapping", "memory", "sqlite", "lmdb"])
def test_readers_see_the_old_rows_until_all_are_there(tmp_path: Path, zarr_format: Any, kind: str) -> None:
    """This holds for every kind of store, with locks and with reservations."""
    stores: dict[str, Callable[[], Any]] = {
        "directory": lambda: tmp_path / "s",
        "mapping": dict,
        "memory": v2.MemoryStore,
        "sqlite": lambda: v2.SQLiteStore(str(tmp_path / "s.sqlite")),
        "lmdb": lambda: v2.LMDBStore(str(tmp_path / "s.lmdb")),
    }
    place = stores[kind]()
    to_zarr(rows(1, 2, 3), place, zarr_format=zarr_format)
    seen = Seen(place)
    lazy = da.from_array(np.array([4, 5]), chunks=1).map_blocks(seen, dtype="i8", meta=np.zeros(0, "i8"))
    to_zarr(more(4, 5).assign(b=("x", lazy * 100)), place, append_dim="x")
    assert len(seen.seen) == 2
    for found in seen.seen:
        xr.testing.assert_identical(found, rows(1, 2, 3))
    xr.testing.assert_identical(opened(place), rows(1, 2, 3, 4, 5))


@FORMATS
def test_two_who_append_the_same_dataset_come_one_after_the_other(tmp_path: Path, zarr_format: Any) -> None:
    """The second append waits, and appends after the first."""
    path = tmp_path / "s"
    to_zarr(rows(1, 2, 3), path, zarr_format=zarr_format)
    thread = threading.Thread(target=lambda: to_zarr(more(6, 7), path, append_dim="x"))

    def start(block: Any) -> Any:
        if block.size and not thread.is_alive():
            thread.start()
        return block

    lazy = da.from_array(np.array([4, 5]), chunks=2).map_blocks(start, dtype="i8", meta=np.zeros(0, "i8"))
    to_zarr(more(4, 5).assign(b=("x", lazy * 100)), path, append_dim="x")
    thread.join()
    xr.testing.assert_identical(opened(path), rows(1, 2, 3, 4, 5, 6, 7))


def test_ctrl_c_ends_the_wait_for_another_append(tmp_path: Path) -> None:
    """The other append continues, and nothing is appended twice."""
    path = tmp_path / "s"
    to_zarr(rows(1, 2, 3), path)

    def wait() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(KeyboardInterrupt):
            to_zarr(more(6, 7), path, append_dim="x")

    def interrupt(block: Any) -> Any:
        if block.size:
            child, begun = in_child(wait), time.monotonic()
            time.sleep(1)
            os.kill(child, signal.SIGINT)
            assert os.waitpid(child, 0)[1] == 0
            # Without the signal, the process would wait for a minute.
            assert time.monotonic() - begun < 40
        return block

    lazy = da.from_array(np.array([4, 5]), chunks=2).map_blocks(interrupt, dtype="i8", meta=np.zeros(0, "i8"))
    with dask.config.set(scheduler="synchronous"):
        to_zarr(more(4, 5).assign(b=("x", lazy * 100)), path, append_dim="x")
    xr.testing.assert_identical(opened(path), rows(1, 2, 3, 4, 5))


def test_a_dataset_that_is_replaced_is_never_missing(tmp_path: Path, monkeypatch: Any) -> None:
    """The old and the new dataset are exchanged in one step."""
    path = tmp_path / "s"
    to_zarr(rows(1, 2, 3), path)
    rename = os.rename

    def renamed(source: Any, target: Any) -> None:
        rename(source, target)
        assert path.is_dir()

    monkeypatch.setattr(module_of_replacing.os, "rename", renamed)
    to_zarr(rows(4, 5), path, "w")
    xr.testing.assert_identical(opened(path), rows(4, 5))

    def replace() -> None:
        for _ in range(20):
            to_zarr(rows(4, 5), path, "w")

    thread = threading.Thread(target=replace)
    thread.start()
    while thread.is_alive():
        assert zarr.open_group(path, "r", use_consolidated=False)["a"].shape == (2,)
    assert [each.name for each in tmp_path.iterdir()] == ["s"]


@FORMATS
@pytest.mark.parametrize("group", [None, "g/h"])
def test_a_replacement_that_is_killed_leaves_the_old_or_the_new_dataset(
    tmp_path: Path, zarr_format: Any, group: str | None
) -> None:
    """The dataset is complete, whether the process is killed while it writes or while it deletes the old dataset."""
    path = tmp_path / "s"
    there = path / (group or "")
    to_zarr(rows(1, 2, 3), path, group=group, zarr_format=zarr_format)
    assert killed(lambda: to_zarr(dying(4, 5, 6, at=5), path, "w", group=group))
    xr.testing.assert_identical(opened(there), rows(1, 2, 3))

    child = os.fork()
    if child == 0:
        try:
            to_zarr(rows(4, 5), path, "w", group=group)
            os.kill(os.getpid(), signal.SIGSTOP)
        finally:
            os._exit(1)
    old = there.stat().st_ino
    while there.stat().st_ino == old:
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    xr.testing.assert_identical(xr.open_dataset(there, engine=ENGINE, consolidated=False).load(), rows(4, 5))


def test_a_replacement_waits_for_those_who_write_into_the_old_dataset(tmp_path: Path) -> None:
    """Writes to the old dataset do not reach the new one."""
    path = tmp_path / "s"
    to_zarr(rows(1, 2, 3), path)
    replaced = threading.Event()

    def replace() -> None:
        to_zarr(rows(7, 8, 9), path, "w")
        replaced.set()

    thread = threading.Thread(target=replace)

    def look(block: Any) -> Any:
        if block.size:
            thread.start()
            assert not replaced.wait(0.2)
        return block

    lazy = da.from_array(np.array([4, 5]), chunks=2).map_blocks(look, dtype="i8", meta=np.zeros(0, "i8"))
    to_zarr(more(4, 5).assign(b=("x", lazy * 100)), path, append_dim="x")
    thread.join()
    xr.testing.assert_identical(opened(path), rows(7, 8, 9))


# This test is the last one, since the cluster runs until all tests of a module are done.
def test_processes_of_dask_append_outside_of_the_shapes(tmp_path: Path, cluster: Any) -> None:
    """The arrays are pickled with their future shapes."""
    path = tmp_path / "s"
    to_zarr(rows(1, 2, 3), path, zarr_format=3)
    to_zarr(more(4, 5, 6).chunk(1), path, append_dim="x")
    xr.testing.assert_identical(opened(path), rows(1, 2, 3, 4, 5, 6))
