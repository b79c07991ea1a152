"""The experimental version 3 of zarr-python 2.13 to 2.18 in `zarrox.v2`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox.v2 as zarr
from zarrox.v2._storage import store as base
from zarrox.v2._storage import v3
from zarrox.v2.attrs import Attributes

#: Functions that create each kind of store in a directory.
STORES = {
    "KVStoreV3": lambda _: v3.KVStoreV3({}),
    "MemoryStoreV3": lambda _: v3.MemoryStoreV3(),
    "DirectoryStoreV3": lambda path: v3.DirectoryStoreV3(path / "d"),
    "FSStoreV3": lambda path: v3.FSStoreV3(str(path / "f")),
    "ZipStoreV3": lambda path: v3.ZipStoreV3(path / "z.zip", mode="w"),
    "SQLiteStoreV3": lambda path: v3.SQLiteStoreV3(path / "s.db"),
    "LRUStoreCacheV3": lambda _: v3.LRUStoreCacheV3({}, max_size=None),
}


@pytest.fixture(params=STORES.values(), ids=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Returns a store of each kind."""
    return request.param(tmp_path)


def test_nodes_have_the_format_of_the_store(store: Any) -> None:
    z = zarr.array(np.arange(6), chunks=4, store=store, path="g/a", compressor=zarr.Zlib(1))
    assert (z._version, z._key_prefix, z.chunk_store) == (3, "g/a/", store)
    assert isinstance(store, zarr.storage.BaseStore) and store._store_version == 3
    assert z.compressor == zarr.Zlib(1)
    assert {"meta/root/g.group.json", "meta/root/g/a.array.json", "data/root/g/a/c0", "data/root/g/a/c1"} <= set(store)
    assert zarr.open_group(store, mode="r")["g/a"][:].tolist() == list(range(6))
    assert zarr.Array(store, path="g/a", zarr_version=3).shape == (6,)


def test_keys_are_listed_and_deleted_by_prefixes(store: Any) -> None:
    zarr.zeros(3, store=store, path="a", chunks=2)[:] = 1
    assert sorted(store.list_prefix("data/")) == ["data/root/a/c0", "data/root/a/c1"]
    assert store.list_dir("data/root/") == ([], ["data/root/a/"])
    assert sorted(store.list()) == sorted(store)
    with pytest.raises(ValueError, match="prefix"):
        store.list_prefix("/data")
    if store.is_erasable():
        store.erase("data/root/a/c0")
        store.erase_prefix("data/")
        assert not store.list_prefix("data/")


@pytest.mark.parametrize("cache", [True, False])
def test_attributes_under_a_key_are_a_member_of_the_document(cache: bool) -> None:
    store = v3.KVStoreV3({})
    zarr.array(np.arange(6), store=store, path="a")
    key = "meta/root/a.array.json"
    document = json.loads(store[key]) | {"attributes": {"filters": [{"id": "delta"}], "unit": "K"}}
    store[key] = json.dumps(document).encode()
    attrs = Attributes(store, key=key, cache=cache)
    assert attrs["unit"] == "K" and "shape" not in attrs
    attrs["scale"] = 2
    attrs.put({"title": "t"})
    del attrs["title"]
    attrs.update(unit="m")
    attrs.refresh()
    written = json.loads(store[key])
    # The filters of the array stay, and nothing else in the document changes.
    assert written.pop("attributes") == {"filters": [{"id": "delta"}], "unit": "m"}
    assert written == {name: value for name, value in document.items() if name != "attributes"}
    other = Attributes(store, key="meta/root/other", cache=cache)
    other["foo"] = "bar"
    assert json.loads(store["meta/root/other"]) == {"attributes": {"foo": "bar"}}
    with pytest.raises(PermissionError):
        Attributes(store, key=key, read_only=True)["foo"] = 1


def test_the_environment_decides_what_version_3_is() -> None:
    program = "import zarrox.v2 as z; s = {}; z.zeros(3, store=s, path='a', zarr_version=3); print(*s)"
    for value, is_experimental in (("1", True), ("0", False)):
        environment = {**os.environ, "ZARR_V3_EXPERIMENTAL_API": value}
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        assert ("meta/root/a.array.json" in done.stdout.split()) is is_experimental


def test_names_of_other_modules() -> None:
    assert (base.meta_root, base.data_root) == (zarr.storage.meta_root, zarr.storage.data_root) == ("meta/root/", "data/root/")
    assert base.DEFAULT_ZARR_VERSION == zarr.zeros(3)._version == 2
    assert issubclass(v3.KVStoreV3, zarr.KVStore) and issubclass(v3.KVStoreV3, base.StoreV3)


@pytest.mark.parametrize("order", ["C", "F"])
def test_copies_keep_codecs_and_order(order: str) -> None:
    group = zarr.group(zarr_format="v3-experimental")
    data = np.arange(12.0).reshape(3, 4)
    source = group.create_dataset("a", data=data, chunks=(2, 2), order=order, compressor=zarr.Zlib(3), filters=[zarr.Adler32()])
    assert source.compressor == zarr.Zlib(3)
    zarr.copy(source, group, name="b")
    copied = group["b"]
    assert copied._native.format == "v3-experimental"
    assert (copied.compressor, copied.filters, copied.order) == (source.compressor, source.filters, order)
    assert (copied[:] == data).all()


@pytest.mark.parametrize("path", ["", "a/b"])
def test_digests_and_attributes_are_those_of_the_document(path: str) -> None:
    store = zarr.storage.KVStore({})
    array = zarr.create(5, chunks=2, store=store, path=path, zarr_format="v3-experimental")
    before = array.hexdigest()
    array.attrs["unit"] = "K"
    assert array.attrs.key in store and array.attrs.key.endswith(".array.json")
    assert array.hexdigest() != before
