"""Tests of every store: one suite for all of them."""

from __future__ import annotations

import array
import dbm.dumb
import pickle
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox.v2 as zarr
from zarrox import errors
from zarrox.v2 import storage
from zarrox.v2.meta import decode_array_metadata, encode_array_metadata, encode_group_metadata
from zarrox.v2.storage import (
    BaseStore,
    DBMStore,
    DirectoryStore,
    FSStore,
    KVStore,
    LMDBStore,
    LRUStoreCache,
    MemoryStore,
    NestedDirectoryStore,
    SQLiteStore,
    TempStore,
    ZipStore,
    contains_array,
    contains_group,
    getsize,
    init_array,
    init_group,
    listdir,
    rename,
    rmdir,
)
from zarrox.storage import LocalStore, StorePath
from zarrox.storage.awaited import AwaitedStore


class OwnStore(BaseStore):
    """A user-defined store."""

    def __init__(self) -> None:
        self.values_by_key: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        return self.values_by_key[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.values_by_key[key] = bytes(memoryview(value))

    def __delitem__(self, key: str) -> None:
        del self.values_by_key[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self.values_by_key))

    def __len__(self) -> int:
        return len(self.values_by_key)


class Mapping(MutableMapping[str, bytes]):
    """A mapping that is neither a ``dict`` nor a store."""

    def __init__(self) -> None:
        self.inner: dict[str, bytes] = {}

    def __getitem__(self, key: str) -> bytes:
        return self.inner[key]

    def __setitem__(self, key: str, value: bytes) -> None:
        self.inner[key] = bytes(value)

    def __delitem__(self, key: str) -> None:
        del self.inner[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self.inner))

    def __len__(self) -> int:
        return len(self.inner)


def fsspec_store(path: Path) -> FSStore:
    fsspec = pytest.importorskip("fsspec")
    return FSStore(fsspec.get_mapper(str(path / "fs"), auto_mkdir=True))


MAKERS: dict[str, Callable[[Path], BaseStore]] = {
    "dict": lambda path: KVStore({}),
    "mapping": lambda path: KVStore(Mapping()),
    "own": lambda path: OwnStore(),
    "default": lambda path: storage.normalize_store_arg(None),
    "memory": lambda path: MemoryStore(),
    "memory of a dict": lambda path: MemoryStore({}),
    "directory": lambda path: DirectoryStore(path / "dir"),
    "nested": lambda path: NestedDirectoryStore(path / "nested"),
    "lower case": lambda path: DirectoryStore(path / "lower", normalize_keys=True),
    "local": lambda path: LocalStore(path / "local"),
    "temporary": lambda path: TempStore(dir=str(path)),
    "zip": lambda path: ZipStore(path / "a.zip", mode="w"),
    "deflated": lambda path: ZipStore(path / "b.zip", mode="w", compression=8),
    "gdbm": lambda path: DBMStore(path / "a.gdbm", flag="n"),
    "dumb": lambda path: DBMStore(path / "a.dumb", flag="n", open=dbm.dumb.open),
    "lmdb": lambda path: LMDBStore(path / "a.lmdb"),
    "sqlite": lambda path: SQLiteStore(path / "a.sqlite"),
    "fs": lambda path: FSStore(str(path / "fs")),
    "fs nested": lambda path: FSStore(f"file://{path}/fs", dimension_separator="/"),
    "fsspec": fsspec_store,
    "cached": lambda path: LRUStoreCache(DirectoryStore(path / "dir"), max_size=2**20),
    "cached dict": lambda path: LRUStoreCache({}, max_size=None),
    "below": lambda path: StorePath(DirectoryStore(path / "dir"), "x/y"),
}


@pytest.fixture(params=MAKERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    made = MAKERS[request.param](tmp_path)
    yield made
    made.close()


def content(store: MutableMapping[str, Any]) -> dict[str, bytes]:
    return {key: bytes(value) for key, value in store.items()}


def test_values_are_set_read_and_deleted(store: BaseStore) -> None:
    assert "foo" not in store
    with pytest.raises(KeyError):
        store["foo"]
    store["foo"] = b"bar"
    assert "foo" in store
    assert store["foo"] == b"bar"
    store["foo"] = b"other"
    assert store["foo"] == b"other"
    del store["foo"]
    assert "foo" not in store
    with pytest.raises(KeyError):
        store["foo"]
    with pytest.raises(KeyError):
        del store["foo"]


def test_what_is_no_key_is_missing(store: BaseStore) -> None:
    store["c/d"] = b"1"
    for key in ("c", "c/", "", "/c/d", "c//d", "c/d/x"):
        if isinstance(store, FSStore) and key == "/c/d":
            continue  # This store treats keys as paths.
        assert key not in store, key
        with pytest.raises(KeyError):
            store[key]


def test_buffers_of_all_kinds_are_values(store: BaseStore) -> None:
    values = {
        "bytes": b"bar",
        "bytearray": bytearray(b"bar"),
        "view": memoryview(b"bar"),
        "array": array.array("B", b"bar"),
        "numpy": np.frombuffer(b"bar", "u1"),
    }
    store.update(values)
    assert {key: bytes(store[key]) for key in values} == dict.fromkeys(values, b"bar")
    store["empty"] = b""
    assert store["empty"] == b""


def test_arrays_of_numbers_are_values(store: BaseStore) -> None:
    x = np.arange(6, dtype="<i4").reshape(2, 3)
    store["x"] = x
    assert bytes(store["x"]) == x.tobytes()


def test_what_has_no_buffer_is_refused(store: BaseStore) -> None:
    if isinstance(store, KVStore):
        return  # A user's mapping decides which keys it accepts.
    with pytest.raises(TypeError):
        store["foo"] = object()


def test_iteration(store: BaseStore) -> None:
    assert (len(store), set(store), list(store.values()), list(store.items())) == (0, set(), [], [])
    values = {"a": b"aaa", "b": b"bbb", "c/d": b"ddd", "c/e/f": b"fff"}
    store.update(values)
    assert len(store) == 4
    assert set(store) == set(store.keys()) == set(values)
    assert content(store) == values
    assert {bytes(value) for value in store.values()} == set(values.values())


def _of_version_2(store: BaseStore) -> None:
    """Skips stores of zarr-python 3, whose methods of these names are asynchronous."""
    if isinstance(store, (AwaitedStore, StorePath)):
        pytest.skip("methods of these names are awaited")


def test_methods_of_mappings(store: BaseStore) -> None:
    _of_version_2(store)
    store.update(foo=b"bar", baz=b"qux")
    assert store.get("foo") == b"bar"
    assert store.get("no") is None
    assert store.pop("foo") == b"bar"
    assert store.pop("foo", b"default") == b"default"
    with pytest.raises(KeyError):
        store.pop("foo")
    assert store.setdefault("baz", b"no") == b"qux"
    assert store.popitem() == ("baz", b"qux")
    with pytest.raises(KeyError):
        store.popitem()
    store.update(a=b"1", b=b"2")
    store.clear()
    assert len(store) == 0
    assert "a" not in store


def test_levels(store: BaseStore) -> None:
    _of_version_2(store)
    store.update({"a": b"aaa", "b": b"bbb", "c/d": b"ddd", "c/e/f": b"fff", "c/e/g": b"ggg"})
    sizes = {
        None: 6, "a": 3, "b": 3, "c": 3, "c/d": 3, "c/e": 6, "c/e/f": 3, "x": 0, "a/x": 0, "c/x/y": 0, "c/d/y": 0, "c/d/y/z": 0,
    }  # fmt: skip
    assert {path: store.getsize(path) for path in sizes} == sizes
    assert store.listdir() == ["a", "b", "c"]
    assert store.listdir("c") == ["d", "e"]
    assert store.listdir("/c//e/") == ["f", "g"]
    for path in ("x", "a/x", "c/x/y", "c/d/y/z", "c/e/f"):
        assert store.listdir(path) == [], path


def test_renaming(store: BaseStore) -> None:
    store.update({"a": b"a", "c/d": b"d", "c/e/f": b"f", "c/e/g": b"g"})
    store.rename("c/e", "c/e2")
    assert content(store) == {"a": b"a", "c/d": b"d", "c/e2/f": b"f", "c/e2/g": b"g"}
    store.rename("c", "c1/c2/c3")
    assert set(store) == {"a", "c1/c2/c3/d", "c1/c2/c3/e2/f", "c1/c2/c3/e2/g"}
    store.rename("c1/c2/c3", "c")
    assert set(store) == {"a", "c/d", "c/e2/f", "c/e2/g"}
    store.rename("a", "b")
    assert store["b"] == b"a"
    assert "a" not in store


def test_deleting_what_is_below(store: BaseStore) -> None:
    store.update({"a": b"a", "c/d": b"d", "c/e/f": b"f", "cc": b"1"})
    for path in ("x", "a/x", "c/x/y", "c/d/y/z", "c/e/f"):
        store.rmdir(path)
    assert set(store) == {"a", "c/d", "c/e/f", "cc"}
    store.rmdir("c/e")
    assert set(store) == {"a", "c/d", "cc"}
    store.rmdir("c")
    assert set(store) == {"a", "cc"}
    store.rmdir()
    assert len(store) == 0


def test_functions_about_stores(store: BaseStore) -> None:
    store.update({"a": b"a", "c/d": b"dd"})
    assert getsize(store, "c") == 2
    assert listdir(store, "c") == ["d"]
    rename(store, "c", "e")
    rmdir(store, "a")
    assert set(store) == {"a", "e/d"}
    rmdir(store)
    assert len(store) == 0


def test_pickling(store: BaseStore) -> None:
    store.update(foo=b"bar", baz=b"quux")
    text = pickle.dumps(store)
    store.close()
    if not isinstance(store, (OwnStore, LRUStoreCache)):
        assert pickle.dumps(store) == text, "closing changes nothing"
    again = pickle.loads(text)
    assert type(again) is type(store)
    assert content(again) == {"foo": b"bar", "baz": b"quux"}
    again["foo"] = b"other"
    assert again["foo"] == b"other"
    again.close()


def test_capabilities(store: BaseStore) -> None:
    assert store.is_readable()
    assert store.is_writeable()
    assert store.is_erasable()
    assert store.is_listable()
    assert not store.read_only


def test_context_manager(store: BaseStore) -> None:
    with store as entered:
        assert entered is store
        store["foo"] = b"bar"
        assert store["foo"] == b"bar"


def test_equality(store: BaseStore) -> None:
    assert store == store
    assert store != KVStore({"other": b"1"})
    assert store != 1


def test_arrays_are_kept(store: BaseStore) -> None:
    x = np.arange(100, dtype="<i4").reshape(10, 10)
    z = zarr.array(x, chunks=(5, 4), store=store, compressor=None)
    assert np.array_equal(zarr.open_array(store, mode="r")[:], x)
    separator = "/" if store._dimension_separator == "/" else "."
    first = np.frombuffer(store[f"0{separator}0"], "<i4").reshape(5, 4)
    assert np.array_equal(first, x[:5, :4])
    document = decode_array_metadata(bytes(store[".zarray"]))
    assert (document["shape"], document.get("dimension_separator", ".")) == ((10, 10), separator)
    z[2:7, 3:8] = -1
    x[2:7, 3:8] = -1
    assert np.array_equal(z[:], x)


def test_groups_are_kept(store: BaseStore) -> None:
    root = zarr.group(store=store)
    root.attrs["unit"] = "K"
    a = root.create_dataset("foo/bar", shape=10, chunks=5, dtype="i2", fill_value=7)
    a[:3] = 1
    again = zarr.open_group(store, mode="r")
    assert again.attrs.asdict() == {"unit": "K"}
    assert list(again) == ["foo"]
    assert again["foo/bar"][:].tolist() == [1] * 3 + [7] * 7
    assert {".zgroup", "foo"} <= set(store.listdir())
    assert contains_group(store)
    assert contains_group(store, "foo")
    assert contains_array(store, "/foo/bar")
    assert not contains_array(store, "foo")
    assert not contains_group(store, "no")


def test_new_nodes(store: BaseStore) -> None:
    init_array(store, shape=1000, chunks=100, path="foo/bar")
    document = decode_array_metadata(bytes(store["foo/bar/.zarray"]))
    assert (document["shape"], document["chunks"], document["dtype"]) == ((1000,), (100,), np.dtype("f8"))
    assert document["fill_value"] is None
    assert document["compressor"] == storage.default_compressor.get_config()
    assert ".zgroup" in store
    assert "foo/.zgroup" in store
    with pytest.raises(ValueError, match="foo/bar"):
        init_array(store, shape=1, path="foo/bar")
    with pytest.raises(ValueError, match="foo"):
        init_array(store, shape=1, path="foo")
    with pytest.raises(ValueError, match="foo/bar"):
        init_group(store, path="foo/bar")
    with pytest.raises(ValueError, match="foo"):
        init_group(store, path="foo")
    init_array(store, shape=5, path="foo/bar", overwrite=True)
    assert decode_array_metadata(bytes(store["foo/bar/.zarray"]))["shape"] == (5,)
    init_group(store, path="foo", overwrite=True)
    assert not contains_array(store, "foo/bar")
    assert contains_group(store, "foo")
    init_array(store, shape=3, path="foo", overwrite=True)
    for overwrite in (False, True):
        with pytest.raises(errors.ContainsArrayError, match="above it"):
            init_group(store, path="foo/bar", overwrite=overwrite)
        with pytest.raises(errors.ContainsArrayError, match="above it"):
            init_array(store, shape=1, path="foo/bar", overwrite=overwrite)
    assert contains_array(store, "foo")


def test_documents_that_others_wrote(store: BaseStore) -> None:
    store["g/.zgroup"] = encode_group_metadata()
    meta = {
        "shape": (4,), "chunks": (2,), "dtype": np.dtype("<u2"), "compressor": None, "fill_value": 3, "order": "C",
        "filters": None,
    }  # fmt: skip
    store["g/a/.zarray"] = encode_array_metadata(meta)
    store["g/a/0"] = np.array([1, 2], "<u2")
    assert zarr.open_array(store, path="g/a", mode="r")[:].tolist() == [1, 2, 3, 3]


def test_separate_chunks(tmp_path: Path, store: BaseStore) -> None:
    chunks = DirectoryStore(tmp_path / "chunks")
    z = zarr.zeros(10, chunks=5, store=store, chunk_store=chunks, dtype="i4")
    z[:] = 1
    assert set(store) == {".zarray"}
    assert set(chunks) == {"0", "1"}
    init_array(store, shape=3, chunk_store=chunks, overwrite=True)
    assert set(store) == {".zarray"}
    assert len(chunks) == 0
