"""Stores with symbolic links under the pipeline: zarr-python can still read them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import zarr
from zarr.storage import FsspecStore, LocalStore

import zarrox.zarr3


def _array(path: Path) -> Any:
    array = zarr.create_array(path, shape=(4,), chunks=(2,), dtype="i4")
    array[:] = 5
    return array


def _link_a_chunk(path: Path) -> None:
    (path.parent / "annex").mkdir()
    os.rename(path / "c" / "0", path.parent / "annex" / "key")
    (path / "c" / "0").symlink_to("../../annex/key")


def _link_all_chunks(path: Path) -> None:
    os.rename(path / "c", path.parent / "scratch")
    (path / "c").symlink_to(path.parent / "scratch")


@pytest.mark.parametrize("link", [_link_a_chunk, _link_all_chunks])
def test_linked_chunks_are_read_and_written(tmp_path: Path, link: Any) -> None:
    """Links lead to a file or directory outside of the store, as with git-annex or several disks."""
    path = tmp_path / "a"
    _array(path)
    link(path)
    url = path.as_uri()
    with zarrox.zarr3.enable():
        for store in (path, LocalStore(path), FsspecStore.from_url(url)):
            read = zarr.open_array(store, mode="r")
            assert (zarrox.zarr3.explain(read).chunks, zarrox.zarr3.explain(read).store) == ("rust", "rust")
            assert read[:].tolist() == [5, 5, 5, 5]
        array = zarr.open_array(path, mode="r+")
        array[1:] = 7
        assert array[:].tolist() == [5, 7, 7, 7]
    assert zarr.open_array(path, mode="r")[:].tolist() == [5, 7, 7, 7]


def test_an_array_that_is_linked_into_a_group_is_read(tmp_path: Path) -> None:
    """The array is outside of the group's directory."""
    _array(tmp_path / "other")
    zarr.create_group(tmp_path / "group")
    (tmp_path / "group" / "sub").symlink_to("../other")
    with zarrox.zarr3.enable():
        group = zarr.open_group(tmp_path / "group", mode="r")
        assert [name for name, _ in group.arrays()] == ["sub"]
        assert group["sub"][:].tolist() == [5, 5, 5, 5]


def test_a_link_to_nothing_is_an_error(tmp_path: Path) -> None:
    """zarr-python alone treats the link as a missing chunk with the fill value: data that was not fetched would be
    zeros."""
    path = tmp_path / "a"
    _array(path)
    _link_a_chunk(path)
    os.remove(tmp_path / "annex" / "key")
    with zarrox.zarr3.enable(), pytest.raises(OSError, match="git annex get"):
        zarr.open_array(path, mode="r")[:]


def test_our_store_follows_links_where_it_is_told_to(tmp_path: Path) -> None:
    """The store has the same option as other stores."""
    path = tmp_path / "a"
    _array(path)
    _link_a_chunk(path)
    with zarrox.zarr3.enable():
        store = zarrox.zarr3.Store(path, storage_options={"follow_links": True})
        assert zarr.open_array(store, mode="r")[:].tolist() == [5, 5, 5, 5]
        with pytest.raises(PermissionError, match="follow_links"):
            zarr.open_array(zarrox.zarr3.Store(path), mode="r")[:]
