"""Stores in directories, archives and databases."""

from __future__ import annotations

import asyncio
import dbm.dumb
import json
import os
import pickle
import sqlite3
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox
import zarrox.v2 as zarr
from zarrox import errors
from zarrox.v2 import storage
from zarrox.v2.storage import (
    DBMStore,
    DirectoryStore,
    FSStore,
    LMDBStore,
    MemoryStore,
    NestedDirectoryStore,
    SQLiteStore,
    TempStore,
    ZipStore,
)
from zarrox.storage import LocalStore


# Directories


def test_files_of_a_directory(tmp_path: Path) -> None:
    path = tmp_path / "new"
    store = DirectoryStore(path)
    assert not path.exists()
    store["foo/bar"] = b"1"
    assert (path / "foo/bar").read_bytes() == b"1"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((path / "foo/bar").stat().st_mode) == 0o666 & ~umask
    assert store.dir_path("foo") == str(path / "foo")
    with pytest.raises(errors.FSPathExistNotDir):
        DirectoryStore(path / "foo/bar")
    with pytest.raises(ValueError, match="file"):
        FSStore(str(path / "foo/bar"))


@pytest.mark.parametrize(
    "make",
    [DirectoryStore, LocalStore, NestedDirectoryStore, lambda path: FSStore(str(path)), lambda path: MemoryStore()],
)
def test_keys_are_values_or_lead_to_others(tmp_path: Path, make: Any) -> None:
    store = make(tmp_path / "a")
    store["a/b"] = b"aaa"
    for key in ("a/b/c", "a/b/c/d"):
        with pytest.raises(KeyError):
            store[key] = b"xxx"
        with pytest.raises(KeyError):
            del store[key]
    store["x/y/z"] = b"xxx"
    store["x/y"] = b"yyy"
    assert store["x/y"] == b"yyy"
    assert "x/y/z" not in store
    store["x"] = b"zzz"
    assert "x/y" not in store
    store["r/s/t"] = b"xxx"
    del store["r/s"]
    assert "r/s/t" not in store


def test_directories_are_equal_by_path(tmp_path: Path) -> None:
    assert DirectoryStore(tmp_path) == DirectoryStore(str(tmp_path))
    assert DirectoryStore(tmp_path) != DirectoryStore(tmp_path / "a")
    assert NestedDirectoryStore(tmp_path) != DirectoryStore(tmp_path / "a")


def test_pickles_of_directories_are_small(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    text = pickle.dumps(store)
    assert len(text) < 80 + len(str(tmp_path))
    pickle.loads(text)["a"] = b"1"
    assert store["a"] == b"1"


def test_lower_case_keys(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path, normalize_keys=True)
    store["FOO"] = b"bar"
    assert "foo" in store
    assert os.listdir(tmp_path) == ["foo"]
    store.clear()
    z = zarr.group(store=store).zeros("Big", shape=3)
    z[:] = 1
    assert sorted(os.listdir(tmp_path / "big")) == [".zarray", "0"]


def test_a_subclass_reads_and_writes_files_its_own_way(tmp_path: Path) -> None:
    class Reversed(DirectoryStore):
        @staticmethod
        def _fromfile(fn: str) -> Any:
            return Path(fn).read_bytes()[::-1]

        @staticmethod
        def _tofile(a: Any, fn: str) -> None:
            Path(fn).write_bytes(bytes(a)[::-1])

    store = Reversed(tmp_path)
    store["a/b"] = b"12"
    assert (tmp_path / "a/b").read_bytes() == b"21"
    assert store["a/b"] == b"12"
    z = zarr.array([1, 2, 3], store=store, path="z", compressor=None, dtype="u1")
    assert (tmp_path / "z/0").read_bytes() == b"\3\2\1"
    assert z[:].tolist() == [1, 2, 3]


def test_nested_chunks(tmp_path: Path) -> None:
    store = NestedDirectoryStore(tmp_path)
    z = zarr.ones((4, 4), chunks=(2, 2), store=store, dtype="u1")
    z[:] = 2
    assert (tmp_path / "1/0").is_file()
    assert store.listdir() == [".zarray", "0.0", "0.1", "1.0", "1.1"]
    store["foo/10.20"] = b"y"
    assert store["foo/10.20"] == b"y"
    assert NestedDirectoryStore(tmp_path, dimension_separator=None)._dimension_separator == "/"
    with pytest.raises(ValueError, match="only supports"):
        NestedDirectoryStore(tmp_path, dimension_separator=".")


@pytest.mark.parametrize("make", [NestedDirectoryStore, lambda path: FSStore(str(path), dimension_separator="/")])
def test_nested_chunks_of_arrays_that_do_not_say_so(tmp_path: Path, make: Any) -> None:
    z = zarr.array(np.arange(16, dtype="u1").reshape(4, 4), chunks=(2, 2), store=make(tmp_path), path="a")
    document = json.loads((tmp_path / "a/.zarray").read_text())
    del document["dimension_separator"]
    (tmp_path / "a/.zarray").write_text(json.dumps(document))
    again = zarr.open_array(make(tmp_path), path="a", mode="r+")
    assert np.array_equal(again[:], z[:])
    again[0, 0] = 99
    assert not (tmp_path / "a/0.0").exists()
    assert zarr.open_group(make(tmp_path))["a"][0, 0] == 99


def test_temporary_directories(tmp_path: Path) -> None:
    store = TempStore(dir=str(tmp_path), prefix="begin", suffix="end", dimension_separator="/")
    assert os.path.basename(store.path).startswith("begin")
    assert store.path.endswith("end")
    assert store._dimension_separator == "/"
    storage.atexit_rmglob(str(tmp_path / "begin*"))
    assert os.listdir(tmp_path) == []
    storage.atexit_rmtree(store.path)


def test_local_stores(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store["a"] = b"1"
    assert store.root == tmp_path
    reader = LocalStore(tmp_path, read_only=True)
    assert reader["a"] == b"1"
    assert reader.read_only
    for change in (lambda: reader.update(a=b"2"), lambda: reader.pop("a"), lambda: asyncio.run(reader.clear())):
        with pytest.raises(PermissionError):
            change()
    assert store["a"] == b"1"


# Archives


def test_archives_are_read_by_others(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        store["foo/bar"] = b"1"
        store["foo/bar"] = b"22"
        with store.zf as archive:
            assert archive.namelist() == ["foo/bar"]
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["foo/bar"]
        assert archive.read("foo/bar") == b"22"
        assert archive.getinfo("foo/bar").external_attr >> 16 & 0o777 == 0o644
    with pytest.raises(ValueError, match="closed"):
        store["foo/bar"]
    with pytest.raises(ValueError, match="closed"):
        store.zf  # noqa: B018


def test_modes_of_archives(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with pytest.raises(FileNotFoundError):
        ZipStore(path, mode="r")
    with ZipStore(path) as store:
        store["a"] = b"1"
    with pytest.raises(FileExistsError):
        ZipStore(path, mode="x")
    with ZipStore(path, mode="r") as store:
        assert store["a"] == b"1"
        assert store.read_only
        store.flush()
        for change in (lambda: store.update(a=b"2"), store.clear):
            with pytest.raises(PermissionError):
                change()
    with ZipStore(path, mode="a") as store:
        assert store.keylist() == ["a"]
    with ZipStore(path, mode="w") as store:
        assert len(store) == 0
    with pytest.raises(ValueError, match="mode"):
        ZipStore(path, mode="rw")


OBJECTS = np.array([object()], dtype=object)


@pytest.mark.parametrize(
    "fails",
    [
        lambda path: zarrox.save_array(path, OBJECTS),
        lambda path: zarrox.save_array(path, np.arange(3), chunks=(0,)),
        lambda path: zarrox.save(path, OBJECTS),
        lambda path: zarrox.save_group(path, a=OBJECTS),
        lambda path: zarrox.open_array(path, mode="w", shape=3, dtype="unknown"),
        lambda path: zarrox.open_array(path, mode="w", shape=3, dtype="i4", chunks=(0,)),
        lambda path: zarrox.open(path, mode="w", shape=3, dtype="i4", chunks=(0,)),
        lambda path: zarrox.open_group(path, mode="w", attributes={"a": OBJECTS}),
        lambda path: zarr.save_array(path, OBJECTS),
        lambda path: zarr.save(path, a=OBJECTS),
        lambda path: zarr.open_array(path, mode="w", shape=3, dtype="i4", chunks=(0,)),
        lambda path: zarr.open(path, mode="w", shape=3, dtype="unknown"),
    ],
)
def test_arguments_are_checked_before_an_archive_is_replaced(tmp_path: Path, fails: Callable[[Path], Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        fails(tmp_path / "new.zip")
    assert not (tmp_path / "new.zip").exists()
    zarrox.save_array(tmp_path / "a.zip", np.arange(5))
    with pytest.raises((TypeError, ValueError)):
        fails(tmp_path / "a.zip")
    np.testing.assert_array_equal(zarrox.load(tmp_path / "a.zip"), np.arange(5))


def test_a_pickled_archive_is_not_emptied(tmp_path: Path) -> None:
    store = ZipStore(tmp_path / "a.zip", mode="w")
    store["a"] = b"1"
    text = pickle.dumps(store)
    store.close()
    again = pickle.loads(text)
    assert again["a"] == b"1"
    again.close()
    assert again == store


def test_what_python_wrote_to_an_archive_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/b", b"1" * 1000)
    with ZipStore(tmp_path / "a.zip", mode="r") as store:
        assert dict(store) == {"a/b": b"1" * 1000}


# Databases


def test_flags_of_dbm(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    for flag in "rw":
        with pytest.raises(FileNotFoundError):
            DBMStore(path, flag=flag)
    with DBMStore(path) as store:
        store["a"] = b"1"
    with DBMStore(path, flag="r") as store:
        assert store["a"] == b"1"
        with pytest.raises(PermissionError):
            store["a"] = b"2"
    with DBMStore(path, flag="n") as store:
        assert len(store) == 0
        store["b"] = b"2"
        store.flush()
        text = pickle.dumps(store)
    assert pickle.loads(text)["b"] == b"2"
    with pytest.raises(ValueError, match="flag"):
        DBMStore(path, flag="x")
    with pytest.raises(ValueError, match="closed"):
        store["b"]


def test_the_kind_of_dbm_is_found_out(tmp_path: Path) -> None:
    path = tmp_path / "dumb"
    with DBMStore(path, open=dbm.dumb.open) as store:
        store["a/b"] = b"1"
    assert dbm.whichdb(str(path)) == "dbm.dumb"
    with DBMStore(path) as store:
        assert dict(store) == {"a/b": b"1"}
    with DBMStore(tmp_path / "gnu") as store:
        store["a"] = b"1"
    assert dbm.whichdb(str(tmp_path / "gnu")) == "dbm.gnu"


def test_databases_that_belong_to_a_thread(tmp_path: Path) -> None:
    sqlite = pytest.importorskip("dbm.sqlite3")
    path = str(tmp_path / "a")
    with DBMStore(path, flag="n", open=sqlite.open) as store:
        z = zarr.zeros((40, 40), chunks=4, store=store)
        z[:] = 1
        assert z[:].sum() == 1600
    assert dbm.whichdb(path) == "dbm.sqlite3"
    with DBMStore(path, flag="r") as store:
        assert len(store) == 101
        assert zarr.open_array(store, mode="r")[0, 0] == 1


def test_gdbm_and_python_s_module_share_files(tmp_path: Path) -> None:
    gnu = pytest.importorskip("dbm.gnu")
    path = str(tmp_path / "a.gdbm")
    with DBMStore(path, open=gnu.open) as store:
        store["a"] = b"1"
    with gnu.open(path, "w") as db:
        assert db[b"a"] == b"1"
        db[b"b"] = b"2"
    with DBMStore(path, "r") as store:
        assert dict(store) == {"a": b"1", "b": b"2"}


def test_sqlite_is_as_zarr_python_has_it(tmp_path: Path) -> None:
    path = tmp_path / "a.sqldb"
    with SQLiteStore(path, timeout=3) as store:
        store["a/b"] = b"1"
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT k, v FROM zarr").fetchall() == [("a/b", b"1")]
    with pytest.raises(TypeError, match="speed"):
        SQLiteStore(path, speed=3)


def test_sqlite_in_memory() -> None:
    store = SQLiteStore(":memory:")
    store["a"] = b"1"
    assert store["a"] == b"1"
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(store)


def test_lmdb(tmp_path: Path) -> None:
    path = tmp_path / "a.lmdb"
    with LMDBStore(path, map_size=2**24, sync=False) as store:
        store["a"] = b"1"
    assert (path / "data.mdb").is_file()
    with LMDBStore(path, readonly=True) as store:
        assert dict(store) == {"a": b"1"}
        with pytest.raises(PermissionError):
            store["a"] = b"2"
    with pytest.raises(TypeError, match="speed"):
        LMDBStore(path, speed=3)
    with pytest.raises(FileNotFoundError):
        LMDBStore(tmp_path / "b.lmdb", readonly=True)
    with pytest.raises(errors.UnsupportedError):
        LMDBStore(tmp_path / "b.lmdb", subdir=False)
