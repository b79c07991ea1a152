"""What is special to each kind of store."""

from __future__ import annotations

import dbm.dumb
import gc
import json
import os
import pickle
import sqlite3
import stat
import weakref
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox as zarr
from zarrox import errors, storage
from zarrox.storage import (
    ABSStore,
    BaseStore,
    ConsolidatedMetadataStore,
    DBMStore,
    DictStore,
    DirectoryStore,
    FsspecStore,
    FSStore,
    KVStore,
    LMDBStore,
    LocalStore,
    LRUStoreCache,
    MemoryStore,
    MongoDBStore,
    NestedDirectoryStore,
    ObjectStore,
    RedisStore,
    SQLiteStore,
    StorePath,
    TempStore,
    ZipStore,
    native_store,
    normalize_storage_path,
    normalize_store_arg,
)
from zarrox.storage.remote import native_options


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


# What users give as a store


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
    with pytest.raises(ValueError, match="no store"):
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
        assert cls.__module__ == "zarrox.storage"
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


def test_levels_of_memory_are_values_or_lead_to_others() -> None:
    check_levels(MemoryStore())


def check_levels(store: BaseStore) -> None:
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


def test_memory_of_a_given_mapping() -> None:
    values: dict[str, Any] = {}
    store = MemoryStore(values)
    store["a/b"] = b"1"
    assert values == {"a/b": b"1"}
    tree = MemoryStore({"a": {"b": b"1"}, "c": b"2"})
    assert sorted(tree) == ["a/b", "c"]
    assert tree.root == {"a": {"b": b"1"}, "c": b"2"}


def test_memory_can_be_read_only() -> None:
    store = MemoryStore(store_dict={"a": b"1"}, read_only=True)
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


@pytest.mark.parametrize("make", [DirectoryStore, LocalStore, NestedDirectoryStore])
def test_levels_of_directories(tmp_path: Path, make: Any) -> None:
    check_levels(make(tmp_path / "a"))


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
    for change in (lambda: reader.update(a=b"2"), lambda: reader.pop("a"), reader.clear):
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
    """As much of Azure's client as a store needs."""

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
    assert type(root.store) is KVStore
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
    store.clear()
    zarr.group(store=store).zeros("a/b", shape=3)
    assert (store.listdir(), store.listdir("a")) == ([".zgroup", "a"], [".zgroup", "b"])
    assert ObjectStore(store.store, read_only=True).read_only


def test_what_is_below_a_path() -> None:
    store = MemoryStore()
    place = StorePath(store, "a") / "b"
    zarr.zeros(3, store=place)
    assert list(store) == ["a/b/.zarray"]
    assert zarr.open_array(place).shape == (3,)
    assert place == StorePath(store, "a/b")
    reader = StorePath(MemoryStore(store_dict={}, read_only=True))
    assert reader.read_only


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
