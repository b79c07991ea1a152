"""Stores on servers and at URLs."""

from __future__ import annotations

import asyncio
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

import zarrox.v2 as zarr
from zarrox import storage
from zarrox.v2.storage import ABSStore, FSStore, MemoryStore, MongoDBStore, RedisStore
from zarrox.storage import FsspecStore, ObjectStore, StorePath
from zarrox.storage.remote import native_options
from zarrox.storage.native import open_url


def test_options_that_no_store_takes_and_values_that_they_have_not_are_refused() -> None:
    with pytest.raises(ValueError, match="did you mean 'allow_http'"):
        open_url("memory://zarrox-options", {"alow_http": "true"})
    with pytest.raises(ValueError, match="'true' or 'false'"):
        zarr.open_group("s3://bucket/a.zarr", mode="r", storage_options={"allow_http": "flase"})


# Servers: nothing is sent before a store is used


def test_redis() -> None:
    store = RedisStore(prefix="climate", host="example.org", port=7000, db=2, password="secret", ssl=True)
    assert store.url == "rediss://example.org:7000/2"
    assert store._options() == {"prefix": "climate", "password": "secret"}
    assert pickle.loads(pickle.dumps(store)) == store
    assert RedisStore().url == "redis://localhost:6379/0"
    assert RedisStore(host="::1").url == "redis://[::1]:6379/0"
    with pytest.raises(TypeError, match="socket_timeout"):
        RedisStore(socket_timeout=3)


def test_mongodb() -> None:
    store = MongoDBStore(collection="climate", host="example.org", username="me", password="secret")
    assert store.url == "mongodb://example.org:27017/"
    options = {"database": "mongodb_zarr", "collection": "climate", "user": "me", "password": "secret"}
    assert store._options() == options
    assert pickle.loads(pickle.dumps(store)) == store
    assert MongoDBStore(host="mongodb+srv://example.org/?tls=true").url == "mongodb+srv://example.org/?tls=true"
    assert "secret" not in repr(store)


def test_azure() -> None:
    store = ABSStore("data", "a/b", account_name="me", account_key="c2VjcmV0")
    assert store.url == "az://data/a/b"
    assert store._options() == {"account": "me", "access_key": "c2VjcmV0"}
    assert (store.container, store.account_name, store.account_key) == ("data", "me", "c2VjcmV0")
    assert "c2VjcmV0" not in repr(store)
    assert pickle.loads(pickle.dumps(store)) == store
    with pytest.raises(ValueError, match="container"):
        ABSStore()


class BlobClient:
    """The methods of Azure's client that a store needs."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}

    def get_blob_client(self, name: str) -> Any:
        return type("Blob", (), {"exists": lambda _: name in self.blobs})()

    def download_blob(self, name: str) -> Any:
        return type("Download", (), {"readall": lambda _: self.blobs[name]})()

    def upload_blob(self, name: str, value: bytes, overwrite: bool) -> None:
        self.blobs[name] = value

    def delete_blob(self, name: str) -> None:
        del self.blobs[name]

    def list_blobs(self, name_starts_with: str | None) -> Any:
        names = sorted(name for name in self.blobs if name.startswith(name_starts_with or ""))
        return [type("Blob", (), {"name": name})() for name in names]

    def walk_blobs(self, name_starts_with: str | None, delimiter: str) -> Any:
        begin = name_starts_with or ""
        below = [blob.name[len(begin) :] for blob in self.list_blobs(begin)]
        names = {begin + name.partition("/")[0] + ("/" if "/" in name else "") for name in below}
        return [type("Blob", (), {"name": name})() for name in sorted(names)]


def test_azure_s_own_client() -> None:
    client = BlobClient()
    store = ABSStore(client=client, prefix="p")
    z = zarr.array([1, 2, 3], store=store, chunks=2)
    assert sorted(client.blobs) == ["p/.zarray", "p/0", "p/1"]
    assert z[:].tolist() == [1, 2, 3]
    assert store.listdir() == [".zarray", "0", "1"]
    del store["0"]
    assert "0" not in store
    with pytest.raises(KeyError):
        store["0"]
    store.clear()
    zarr.group(store=store).zeros("a/b", shape=3)
    assert list(zarr.open_group(store)) == store.listdir()[1:] == ["a"]


# URLs


@pytest.mark.parametrize(
    ("url", "options", "native"),
    [
        ("s3://b/a", {}, {}),
        ("s3://b/a", {"key": "k", "secret": "s", "token": "t"}, {
            "access_key_id": "k", "secret_access_key": "s", "session_token": "t"}),
        ("s3://b/a", {"client_kwargs": {"endpoint_url": "http://localhost:9000"}, "use_listings_cache": False}, {
            "endpoint": "http://localhost:9000", "allow_http": "true"}),
        ("s3a://b/a", {"anonymous": True}, {"anonymous": "true"}),
        ("s3://b/a", {"requester_pays": True}, None),
        ("gs://b/a", {"token": "anon", "project": "p"}, {"anonymous": "true"}),
        ("gcs://b/a", {"token": "google_default"}, {}),
        ("abfs://c/a", {"account_name": "n", "account_key": "k"}, {"account": "n", "access_key": "k"}),
        ("https://example.org/a", {}, {}),
        ("github://a:b@c/d", {}, None),
        ("simplecache::s3://b/a", {"s3": {"anon": True}}, None),
        ("memory://a", {}, None),
    ],
)  # fmt: skip
def test_options_of_fsspec_are_known_natively(url: str, options: dict[str, Any], native: Any) -> None:
    assert native_options(url, options) == native


def test_stores_at_urls(tmp_path: Path) -> None:
    store = FSStore(f"file://{tmp_path}")
    assert store.path == str(tmp_path)
    store["a/b"] = b"1"
    store["a/c"] = b"2"
    assert (tmp_path / "a/b").read_bytes() == b"1"
    assert store.getitems(["a/b", "a/c", "no"]) == {"a/b": b"1", "a/c": b"2"}
    store.setitems({"x": b"3"})
    store.delitems(["x", "no"])
    assert "x" not in store
    assert "/a/b" in store
    store["a"] = b"a file where a directory was"
    assert list(store) == ["a"]
    assert FSStore(f"file://{tmp_path}") == store
    assert FSStore(f"file://{tmp_path}", mode="r") != store


def test_stores_at_urls_can_be_read_only(tmp_path: Path) -> None:
    FSStore(str(tmp_path))["a"] = b"1"
    store = FSStore(str(tmp_path), mode="r")
    assert store["a"] == b"1"
    changes: list[Any] = [
        lambda: store.update(a=b"2"),
        lambda: store.pop("a"),
        lambda: store.delitems(["a"]),
        lambda: store.setitems({}),
        store.clear,
        store.rmdir,
    ]
    for change in changes:
        with pytest.raises(PermissionError):
            change()


def test_keys_of_stores_at_urls(tmp_path: Path) -> None:
    store = FSStore(str(tmp_path), key_separator="/", dimension_separator=".")
    assert (store.key_separator, store._dimension_separator) == ("/", "/")
    store["a/0.1"] = b"1"
    store["a/.zarray"] = b"{}"
    assert (tmp_path / "a/0/1").is_file()
    assert store["a/0.1"] == store["a/0/1"] == b"1"
    assert store.listdir("a") == [".zarray", "0.1"]
    lower = FSStore(str(tmp_path / "lower"), normalize_keys=True)
    lower["FOO"] = b"1"
    assert os.listdir(lower.path) == ["foo"]


def test_other_file_systems_go_through_fsspec(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    store = FSStore("memory://zarrox-test")
    store["a/b"] = b"1"
    assert fsspec.filesystem("memory").cat_file("/zarrox-test/a/b") == b"1"
    assert store.fs.protocol == "memory"
    assert store.listdir() == ["a"]
    store.clear()
    z = zarr.open("memory://zarrox-test/z", mode="w", shape=5, chunks=2, dtype="u1")
    z[:] = 3
    assert sorted(store) == ["z/.zarray", "z/0", "z/1", "z/2"]
    store.clear()
    cache = tmp_path / "cache"
    (tmp_path / "data").mkdir()
    chained = FSStore(
        f"simplecache::file://{tmp_path}/data", simplecache={"same_names": True, "cache_storage": str(cache)}
    )
    chained["foo"] = b"hello"
    assert (tmp_path / "data/foo").read_bytes() == b"hello"
    assert chained["foo"] == b"hello"
    assert "foo" in os.listdir(cache)


def test_mappers_are_listed_level_by_level(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    mapper = fsspec.get_mapper("memory://zarrox-levels")
    mapper.clear()
    root = zarr.group(store=mapper)
    assert type(root.store) is FSStore
    root.zeros("a/b", shape=4, chunks=1)[:] = 1
    mapper.fs.find = lambda *_, **__: pytest.fail("everything was listed")
    try:
        assert list(zarr.open_group(mapper)["a"]) == ["b"]
        assert zarr.open_group(mapper)["a/b"][:].tolist() == [1] * 4
    finally:
        del mapper.fs.find
    mapper.clear()


def test_errors_that_mean_missing(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    store = FSStore(str(tmp_path), exceptions=(ZeroDivisionError,))
    store["a"] = b"1"
    assert store["a"] == b"1"
    assert store._raw.get("no") is None
    with pytest.raises(KeyError):
        store["no"]


def test_zarr_python_3_s_stores_of_fsspec(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    store = FsspecStore.from_url(f"file://{tmp_path}")
    store["a"] = b"1"
    fs = fsspec.filesystem("file")
    same = FsspecStore(fs, path=str(tmp_path), read_only=True)
    assert same["a"] == b"1"
    assert same.read_only
    assert FsspecStore.from_mapper(fsspec.get_mapper(str(tmp_path)))["a"] == b"1"


def test_stores_of_obstore(tmp_path: Path) -> None:
    obstore = pytest.importorskip("obstore")
    store = ObjectStore(obstore.store.MemoryStore())
    z = zarr.array([1, 2, 3], store=store, chunks=2)
    assert z[:].tolist() == [1, 2, 3]
    assert sorted(store) == [".zarray", "0", "1"]
    del store["0"]
    assert "0" not in store
    asyncio.run(store.clear())
    zarr.group(store=store).zeros("a/b", shape=3)
    assert (store.listdir(), store.listdir("a")) == ([".zgroup", "a"], [".zgroup", "b"])
    assert ObjectStore(store.store, read_only=True).read_only


def test_what_is_below_a_path() -> None:
    store = MemoryStore()
    place = StorePath(store, "a") / "b"
    zarr.zeros(3, store=place)
    assert list(store) == [".zgroup", "a/.zgroup", "a/b/.zarray"]
    assert zarr.open_array(place).shape == (3,)
    assert place == StorePath(store, "a/b")
    reader = StorePath(storage.MemoryStore({}, read_only=True))
    assert reader.read_only


def test_a_given_file_system_is_checked(tmp_path: Path) -> None:
    local = pytest.importorskip("fsspec.implementations.local").LocalFileSystem(auto_mkdir=True)
    store = FSStore(str(tmp_path / "new"), fs=local, check=True, create=True, missing_exceptions=(ZeroDivisionError,))
    store["a"] = b"1"
    assert (tmp_path / "new" / "a").read_bytes() == b"1"
    assert ZeroDivisionError in store.exceptions
    with pytest.raises(ValueError, match="has its options already"):
        FSStore(str(tmp_path), fs=local, anon=True)
