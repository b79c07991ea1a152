"""Handles that outlive what they were opened for, over stores of every kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox as zarr
from zarrox import storage, v2

VALUES = np.arange(64).reshape(8, 8)
FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])


def made(store: Any, zarr_format: int, chunks: tuple[int, int]) -> Any:
    """An array in a group, created anew."""
    group = zarr.open_group(store, mode="a", zarr_format=zarr_format)
    array = group.create_array("a", shape=(8, 8), chunks=chunks, dtype="i4", fill_value=-1, overwrite=True)
    array[...] = VALUES
    return array


def again(store: Any, zarr_format: int) -> None:
    """Creates the array again with other chunks."""
    made(store, zarr_format, (2, 8))


def moved(store: Any, _: int) -> None:
    """Moves the array."""
    zarr.open_group(store, mode="a").move("a", "b")


def deleted(store: Any, _: int) -> None:
    """Deletes the array."""
    del zarr.open_group(store, mode="a")["a"]


#: What is done to an array, and the handle of it that others have.
CHANGES: list[Callable[[Any, int], None]] = [again, moved, deleted]


def neither_reads_nor_writes(array: Any) -> None:
    """That a handle refuses to be used."""
    with pytest.raises((ValueError, zarr.errors.NodeNotFoundError)):
        array[...]
    with pytest.raises((ValueError, zarr.errors.NodeNotFoundError, PermissionError)):
        array[:3, :3] = 1000


@FORMATS
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["dict", "KVStore", "MemoryStore", "ZipStore", "memory"])
def test_handles_in_one_process(tmp_path: Path, zarr_format: int, change: Any, kind: str) -> None:
    """Dictionaries and archives tell as well whether an array was replaced."""
    store: Any = {
        "dict": dict,
        "KVStore": lambda: v2.KVStore({}),
        "MemoryStore": storage.MemoryStore,
        "ZipStore": lambda: storage.ZipStore(tmp_path / "s.zip", mode="a"),
        "memory": lambda: f"memory://{tmp_path.name}",
    }[kind]()
    made(store, zarr_format, (4, 4))
    old = zarr.open_group(store, mode="r+")["a"]
    assert np.array_equal(old[...], VALUES)
    change(store, zarr_format)
    neither_reads_nor_writes(old)


#: Ways to open an array of a directory by a copy of its document.
COPIES: dict[str, Callable[[Path], Any]] = {
    "consolidated": lambda path: zarr.open_consolidated(path, mode="r+")["a"],
    "store": lambda path: zarr.open_group(
        v2.storage.ConsolidatedMetadataStore(v2.DirectoryStore(path)),
        mode="r",
        chunk_store=v2.DirectoryStore(path),
    )["a"],
    "cache": lambda path: zarr.open_group(v2.LRUStoreCache(v2.DirectoryStore(path), None), mode="r+")["a"],
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    ("way", "zarr_format"),
    [("consolidated", 2), ("consolidated", 3), ("store", 2), ("cache", 2), ("cache", 3)],
)
def test_handles_by_a_copy_of_the_document(tmp_path: Path, zarr_format: int, change: Any, way: str) -> None:
    """The copy does not change when the array does."""
    made(tmp_path, zarr_format, (4, 4))
    zarr.consolidate_metadata(tmp_path)
    old = COPIES[way](tmp_path)
    assert np.array_equal(old[...], VALUES)
    change(tmp_path, zarr_format)
    neither_reads_nor_writes(old)


@FORMATS
def test_an_old_copy_is_not_read_by(tmp_path: Path, zarr_format: int) -> None:
    """Another program changed the array, and left consolidated metadata as it was."""
    made(tmp_path, zarr_format, (4, 4))
    zarr.consolidate_metadata(tmp_path)
    name = "zarr.json" if zarr_format == 3 else ".zmetadata"
    old = (tmp_path / name).read_bytes()
    made(tmp_path, zarr_format, (2, 8))
    (tmp_path / name).write_bytes(old)
    try:
        found = zarr.open_consolidated(tmp_path, mode="r")["a"][...]
    except zarr.errors.MetadataError as error:
        assert "out of date" in str(error)
    else:
        assert np.array_equal(found, VALUES)


def test_a_cache_of_a_directory_goes_on_with_the_new_array(tmp_path: Path) -> None:
    """Chunks of the old array are forgotten with its document."""
    made(tmp_path, 3, (4, 4))
    cache = v2.LRUStoreCache(v2.DirectoryStore(tmp_path), None)
    assert np.array_equal(zarr.open_group(cache, mode="r")["a"][...], VALUES)
    made(tmp_path, 3, (2, 8))[...] = VALUES * 2
    assert np.array_equal(zarr.open_group(cache, mode="r")["a"][...], VALUES * 2)
