"""Stores with the option to flush writes to the disk."""

import pickle

import pytest
import zarrox as zarr
from zarrox.v2 import storage


def _is_synced(store):
    """Returns true if a store waits until its writes are on the disk."""
    return store._options.get("sync") == "true" if hasattr(store, "_options") else store._sync


@pytest.mark.parametrize(
    "create", ["create", "open_array", "open_group", "group", "create_group", "create_array", "open"]
)
@pytest.mark.parametrize("name", ["data.zarr", "data.n5", "data.zip"])
def test_paths_are_opened_with_sync(tmp_path, create, name):
    if name == "data.n5" and create in ("create_group", "create_array"):
        pytest.skip("these make version 3 only")
    needs_shape = create in ("create", "open_array", "create_array")
    arguments = {"shape": 3, "dtype": "i4"} if needs_shape else {}
    node = getattr(zarr, create)(store=str(tmp_path / name), sync=True, **arguments)
    assert _is_synced(node.store)
    node.attrs["a"] = 1
    again = pickle.loads(pickle.dumps(node.store))
    assert _is_synced(again)
    assert not _is_synced(zarr.open(str(tmp_path / name), mode="r").store)


def test_what_is_no_path_is_refused(tmp_path):
    for store in [{}, storage.MemoryStore(), storage.DirectoryStore(tmp_path / "a"), None]:
        with pytest.raises(ValueError, match="sync is for paths"):
            zarr.create(3, store=store, sync=True)
    with pytest.raises(ValueError, match="URL"):
        zarr.open_group("memory://a", sync=True)


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize(
    "kind", ["DirectoryStore", "NestedDirectoryStore", "ZipStore", "SQLiteStore", "LMDBStore", "DBMStore"]
)
def test_store_classes_take_sync(tmp_path, kind, sync):
    path = tmp_path / "data"
    with getattr(storage, kind)(str(path), sync=sync) as store:
        z = zarr.zeros(4, chunks=2, store=store)
        z[:] = 5
        store["key"] = b"value"
    with getattr(storage, kind)(str(path)) as store:
        assert bytes(store["key"]) == b"value"
        assert zarr.open(store, mode="r")[:].tolist() == [5, 5, 5, 5]


def test_a_new_directory_for_a_while_takes_sync():
    assert _is_synced(storage.TempStore(sync=True))


def test_arrays_like_others_take_sync(tmp_path):
    like = zarr.zeros(3, dtype="i4")
    assert _is_synced(zarr.zeros_like(like, store=str(tmp_path / "a"), sync=True).store)
    assert _is_synced(zarr.open_like(like, str(tmp_path / "b"), sync=True).store)
    assert _is_synced(zarr.array([1, 2], store=str(tmp_path / "c"), sync=True).store)
