"""Tests of user objects as stores, of stores in memory, and of wrappers of stores."""

from __future__ import annotations

import gc
import json
import pickle
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox.storage
import zarrox.v2 as zarr
from zarrox import errors
from zarrox.v2 import storage
from zarrox.v2.storage import (
    BaseStore,
    ConsolidatedMetadataStore,
    DictStore,
    DirectoryStore,
    FSStore,
    KVStore,
    LRUStoreCache,
    MemoryStore,
    RedisStore,
    ZipStore,
    normalize_storage_path,
    normalize_store_arg,
)
from zarrox.storage import native_store


class CountingDict(dict[str, Any]):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.reads: list[str] = []
        self.listings = 0

    def __getitem__(self, key: str) -> Any:
        self.reads.append(key)
        return super().__getitem__(key)

    def keys(self) -> Any:
        self.listings += 1
        return super().keys()

    def __iter__(self) -> Any:
        self.listings += 1
        return super().__iter__()


# Store arguments


def test_arguments_become_stores(tmp_path: Path) -> None:
    assert type(normalize_store_arg(None)) is KVStore
    assert type(normalize_store_arg({})) is KVStore
    assert type(normalize_store_arg(tmp_path)) is DirectoryStore
    assert type(normalize_store_arg(str(tmp_path / "a.zarr"))) is DirectoryStore
    assert type(normalize_store_arg(str(tmp_path / "a.zip"), mode="w")) is ZipStore
    assert type(normalize_store_arg(tmp_path / "a.n5")) is zarr.N5Store
    assert type(normalize_store_arg("file://" + str(tmp_path))) is FSStore
    store = MemoryStore()
    assert normalize_store_arg(store) is store
    with pytest.raises(ValueError, match="storage_options"):
        normalize_store_arg(str(tmp_path), storage_options={"a": "b"})
    with pytest.raises(ValueError, match="not a store"):
        normalize_store_arg(3)
    with pytest.raises(FileNotFoundError):
        normalize_store_arg(str(tmp_path / "b.zip"), mode="r")


def test_any_object_with_a_mapping_s_methods_is_a_store() -> None:
    class Ducks:
        def __init__(self) -> None:
            inner: dict[str, Any] = {}
            for name in ("keys", "values", "get"):
                setattr(self, name, getattr(inner, name))
            self.inner = inner

        def __getitem__(self, key: str) -> Any:
            return self.inner[key]

        def __setitem__(self, key: str, value: Any) -> None:
            self.inner[key] = value

        def __delitem__(self, key: str) -> None:
            del self.inner[key]

        def __contains__(self, key: str) -> bool:
            return key in self.inner

    assert type(BaseStore._ensure_store(Ducks())) is KVStore
    assert BaseStore._ensure_store(None) is None


@pytest.mark.parametrize(
    ("path", "normal"),
    [(None, ""), ("", ""), ("/", ""), ("/a/", "a"), ("a\\b", "a/b"), (b"a//b", "a/b"), ("a/b", "a/b"), (3, "3")],
)
def test_paths_are_normalised(path: Any, normal: str) -> None:
    assert normalize_storage_path(path) == normal


@pytest.mark.parametrize("path", [".", "a/../b", "./a"])
def test_paths_stay_inside(path: str) -> None:
    with pytest.raises(ValueError, match=r"'\.'"):
        normalize_storage_path(path)


def test_other_mappings_are_listed_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="listdir"):
        assert storage.listdir({"a/b": 1}) == ["a"]
    values: dict[str, Any] = {"a": b"1"}
    storage.rename(values, "a", "b")
    assert values == {"b": b"1"}
    assert storage.getsize(values) == 1
    assert storage.getsize({"a": object()}) == -1
    assert storage.getsize(object()) == -1
    storage.rmdir(values)
    assert values == {}


def test_the_default_compressor_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert storage.default_compressor == zarr.Blosc()
    monkeypatch.setattr(storage, "default_compressor", zarr.Zlib(level=1))
    assert zarr.zeros(3).compressor == zarr.Zlib(level=1)
    with pytest.raises(AttributeError, match="nothing"):
        storage.nothing  # noqa: B018


def test_names_of_classes() -> None:
    for cls in (KVStore, MemoryStore, DirectoryStore, ZipStore, FSStore, LRUStoreCache):
        assert cls.__module__ == "zarrox.v2.storage"
    assert type(zarr.zeros(3).store) is KVStore


# Mappings of users


def test_a_dict_holds_bytes_with_to_bytes() -> None:
    store: dict[str, Any] = {}
    z = zarr.zeros(3, store=store, dtype="i8")
    assert json.loads(store[".zarray"].to_bytes())["dtype"] == "<i8"
    z[:] = 1
    assert isinstance(store["0"], bytes)
    assert type(pickle.loads(pickle.dumps(store["0"]))) is bytes


def test_a_dict_is_written_at_once_and_read_anew() -> None:
    store: dict[str, Any] = {}
    z = zarr.zeros(4, chunks=2, store=store, dtype="u1", compressor=None)
    z[:] = 5
    store["0"] = b"\1\2"
    del store["1"]
    assert z[:].tolist() == [1, 2, 0, 0]


def test_a_user_s_class_is_asked() -> None:
    class Louder(MemoryStore):
        def __getitem__(self, key: str) -> Any:
            value = super().__getitem__(key)
            return value if key.startswith(".z") else bytes(byte + 1 for byte in value)

    store = Louder()
    z = zarr.zeros(4, chunks=2, store=store, dtype="u1", compressor=None)
    z[:] = 5
    assert z[:].tolist() == [6] * 4
    assert zarr.group(store=Louder()).create_dataset("a", data=[1, 2], compressor=None, dtype="u1")[:].tolist() == [2, 3]


def test_a_user_s_store_is_not_kept_alive() -> None:
    class Own(MemoryStore):
        def __getitem__(self, key: str) -> Any:
            return super().__getitem__(key)

    store = Own()
    z = zarr.zeros(4, store=store)
    z[:] = 1
    gone = weakref.ref(store)
    del store, z
    gc.collect()
    assert gone() is None


def test_representations(tmp_path: Path) -> None:
    assert repr(KVStore({"a": b"1"})).startswith("<KVStore: \n{'a': b'1'}\n at 0x")
    assert repr(DirectoryStore(tmp_path)) == f"DirectoryStore('{tmp_path}')"
    assert "password" not in repr(RedisStore(password="secret"))


def test_native_stores_have_their_parts(tmp_path: Path) -> None:
    store, chunks = MemoryStore(), DirectoryStore(tmp_path)
    native = native_store(store, chunks, zarr.ThreadSynchronizer())
    native.set("a/.zarray", b"{}")
    native.set("a/0.0", b"1")
    assert (list(store), list(chunks)) == (["a/.zarray"], ["a/0.0"])


# Memory


def test_memory_of_a_given_mapping() -> None:
    values: dict[str, Any] = {}
    store = MemoryStore(values)
    store["a/b"] = b"1"
    assert values == {"a/b": b"1"}
    tree = MemoryStore({"a": {"b": b"1"}, "c": b"2"})
    assert sorted(tree) == ["a/b", "c"]
    assert tree.root == {"a": {"b": b"1"}, "c": b"2"}


def test_memory_can_be_read_only() -> None:
    store = zarrox.storage.MemoryStore({"a": b"1"}, read_only=True)
    assert store["a"] == b"1"
    assert store.read_only
    with pytest.raises(errors.ReadOnlyError):
        store["a"] = b"2"
    again = pickle.loads(pickle.dumps(store))
    assert again.read_only
    assert again == store


def test_the_old_name_of_memory() -> None:
    with pytest.warns(DeprecationWarning, match="MemoryStore"):
        assert isinstance(DictStore(), MemoryStore)


# Layers


def test_a_cache_keeps_values() -> None:
    slow = CountingDict(foo=b"xxx", bar=b"yyy")
    cache = LRUStoreCache(slow, max_size=None)
    assert [cache["foo"], cache["foo"], cache["bar"]] == [b"xxx", b"xxx", b"yyy"]
    assert slow.reads == ["foo", "bar"]
    assert (cache.hits, cache.misses) == (1, 2)
    cache["foo"] = b"zzz"
    assert cache["foo"] == b"zzz"
    assert slow.reads == ["foo", "bar"]
    assert slow["foo"] == b"zzz"
    slow["bar"] = b"new"
    assert cache["bar"] == b"yyy"
    cache.invalidate_values()
    assert cache["bar"] == b"new"
    del cache["bar"]
    assert "bar" not in slow
    with pytest.raises(KeyError):
        cache["bar"]
    cache.invalidate()
    assert cache["foo"] == b"zzz"


def test_a_cache_has_a_size() -> None:
    slow = CountingDict({key: b"12345" for key in "abc"})
    cache = LRUStoreCache(slow, max_size=10)
    for key in "abab":
        assert cache[key] == b"12345"
    assert cache.hits == 2
    assert cache["c"] == b"12345"
    assert cache["a"] == b"12345"
    assert slow.reads == ["a", "b", "c", "a"]
    small = LRUStoreCache(slow, max_size=3)
    assert [small["a"], small["a"]] == [b"12345"] * 2
    assert (small.hits, small.misses) == (0, 2)


def test_a_cache_keeps_keys() -> None:
    slow = CountingDict(foo=b"xxx")
    cache = LRUStoreCache(slow, max_size=None)
    before = slow.listings
    assert (sorted(cache), len(cache), "foo" in cache, "no" in cache) == (["foo"], 1, True, False)
    once = slow.listings
    assert (sorted(cache), cache.listdir(), cache.listdir()) == (["foo"], ["foo"], ["foo"])
    assert once - before <= 2
    slow["other"] = b"1"
    assert "other" not in cache
    cache.invalidate_keys()
    assert "other" in cache


def test_arrays_behind_a_cache() -> None:
    slow = CountingDict()
    zarr.array(np.arange(10), chunks=5, store=slow)
    cache = LRUStoreCache(slow, max_size=2**20)
    z = zarr.open_array(cache, mode="r")
    assert z[:].tolist() == z[:].tolist() == list(range(10))
    assert cache.hits >= 2
    assert slow.reads.count("0") == 1


def test_consolidated_metadata() -> None:
    store: dict[str, Any] = {}
    root = zarr.group(store=store)
    root.zeros("a", shape=3)
    root.attrs["x"] = 1
    zarr.consolidate_metadata(store)
    meta = ConsolidatedMetadataStore(store)
    documents = json.loads(store[".zmetadata"])["metadata"]
    assert dict(meta) == documents
    assert meta["a/.zarray"]["shape"] == [3]
    assert len(meta) == len(documents)
    assert meta.read_only
    assert meta.listdir() == [".zattrs", ".zgroup", "a"]
    assert json.loads(meta.native.get("a/.zarray") or b"")["shape"] == [3]
    for change in (lambda: meta.update(a=b"1"), lambda: meta.pop(".zgroup")):
        with pytest.raises(PermissionError):
            change()
    again = zarr.Group(meta, chunk_store=store)
    assert again["a"].shape == (3,)
    assert pickle.loads(pickle.dumps(meta))["a/.zarray"]["shape"] == [3]


def test_unknown_consolidated_metadata() -> None:
    with pytest.raises(errors.MetadataError, match="0"):
        ConsolidatedMetadataStore({".zmetadata": b'{"zarr_consolidated_format": 0, "metadata": {}}'})


# Version 1


def test_migration_of_version_1() -> None:
    document = {
        "chunks": [100], "compression": "zlib", "compression_opts": 1, "dtype": "<f8", "fill_value": None, "order": "C",
        "shape": [1000], "zarr_format": 1,
    }  # fmt: skip
    store: dict[str, Any] = {"meta": json.dumps(document).encode(), "attrs": b'{"a": 1}'}
    storage.migrate_1to2(store)
    assert "meta" not in store
    assert "attrs" not in store
    assert json.loads(store[".zarray"])["compressor"] == {"id": "zlib", "level": 1}
    assert json.loads(store[".zattrs"]) == {"a": 1}
    assert zarr.open_array(store).shape == (1000,)
