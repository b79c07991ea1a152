"""Handles of arrays that were changed or deleted meanwhile, over stores of every kind."""

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
    """Creates an array in a group."""
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


#: Changes of an array for which another handle exists.
CHANGES: list[Callable[[Any, int], None]] = [again, moved, deleted]


def neither_reads_nor_writes(array: Any) -> None:
    """Checks that the use of a handle is an error."""
    with pytest.raises((ValueError, zarr.errors.NodeNotFoundError)):
        array[...]
    with pytest.raises((ValueError, zarr.errors.NodeNotFoundError, PermissionError)):
        array[:3, :3] = 1000


@FORMATS
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["dict", "KVStore", "MemoryStore", "ZipStore", "memory"])
def test_handles_in_one_process(tmp_path: Path, zarr_format: int, change: Any, kind: str) -> None:
    """Replaced arrays are also detected in dictionaries and archives."""
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


#: Ways to open an array in a directory with a copy of its document.
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
    """The handle detects the change, although the copy of the document does not change."""
    made(tmp_path, zarr_format, (4, 4))
    zarr.consolidate_metadata(tmp_path)
    old = COPIES[way](tmp_path)
    assert np.array_equal(old[...], VALUES)
    change(tmp_path, zarr_format)
    neither_reads_nor_writes(old)


@FORMATS
def test_an_old_copy_is_not_read_by(tmp_path: Path, zarr_format: int) -> None:
    """A stale copy is not used after another program changed the array without consolidated metadata."""
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
    """Cached chunks of the old array are dropped with its document."""
    made(tmp_path, 3, (4, 4))
    cache = v2.LRUStoreCache(v2.DirectoryStore(tmp_path), None)
    assert np.array_equal(zarr.open_group(cache, mode="r")["a"][...], VALUES)
    made(tmp_path, 3, (2, 8))[...] = VALUES * 2
    assert np.array_equal(zarr.open_group(cache, mode="r")["a"][...], VALUES * 2)
