"""Directories of symbolic links, such as those of git-annex, DataLad and DVC."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox as zarr
from zarrox import v2


def _annex(path: Path, name: str) -> Path:
    """Moves a value to another location, and leaves a link to it."""
    value = path.parent / "annex" / name.replace("/", "-")
    value.parent.mkdir(exist_ok=True)
    os.rename(path / name, value)
    (path / name).symlink_to(os.path.relpath(value, (path / name).parent))
    return value


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """Returns the directory of an array whose first chunk is a link to a file outside of it."""
    path = tmp_path / "linked"
    array = zarr.open_array(path, mode="w", shape=4, chunks=2, dtype="i4", zarr_format=2)
    array[:] = 5
    _annex(path, "0")
    return path


_WAYS: dict[str, Callable[[Path], Any]] = {
    "a path": lambda path: zarr.open(str(path), mode="r", storage_options={"follow_links": True}),
    "a path as an object": lambda path: zarr.open_array(path, mode="r", storage_options={"follow_links": True}),
    "a URL": lambda path: zarr.open(path.as_uri(), mode="r", storage_options={"follow_links": True}),
    "a store": lambda path: zarr.open(v2.DirectoryStore(path, follow_links=True), mode="r"),
    "a nested store": lambda path: zarr.open(v2.NestedDirectoryStore(path, follow_links=True), mode="r"),
    "a store of zarr-python 3's name": lambda path: zarr.open(zarr.storage.LocalStore(path, follow_links=True), mode="r"),
    "a store at a URL": lambda path: zarr.open(v2.FSStore(path.as_uri(), follow_links=True), mode="r"),
    "a store that was pickled": lambda path: zarr.open(
        pickle.loads(pickle.dumps(v2.DirectoryStore(path, follow_links=True))), mode="r"
    ),
}


@pytest.mark.parametrize("way", _WAYS)
def test_links_that_lead_out_are_followed_where_that_is_asked_for(linked: Path, way: str) -> None:
    """The option reaches the store, however the directory is given."""
    assert _WAYS[way](linked)[:].tolist() == [5, 5, 5, 5]


def test_links_that_lead_out_are_refused_otherwise(linked: Path) -> None:
    """The error names the option."""
    with pytest.raises(PermissionError, match="follow_links"):
        zarr.open_array(linked, mode="r")[:]


def test_options_that_directories_do_not_have_are_refused(linked: Path) -> None:
    """A misspelled option is an error."""
    with pytest.raises(ValueError, match="follow_links.*and not 'follow_link'"):
        zarr.open_array(linked, mode="r", storage_options={"follow_link": True})


@pytest.mark.parametrize("follow_links", [False, True])
def test_a_link_to_nothing_is_an_error_and_no_fill_value(linked: Path, follow_links: bool) -> None:
    """The link represents data that was not fetched. Reading, changing a part and inspecting the array are errors."""
    os.remove(linked.parent / "annex" / "0")
    array = zarr.open_array(linked, mode="r+", storage_options={"follow_links": follow_links})
    with pytest.raises(OSError, match="git annex get"):
        array[:]
    with pytest.raises(OSError, match="git annex get"):
        array[0] = 1
    assert array[2:].tolist() == [5, 5]
    found = zarr.check(linked, storage_options={"follow_links": follow_links})
    assert [(one.severity, one.chunk) for one in found] == [("error", (0,))]
    assert "git annex get" in found[0].message
    with pytest.raises(OSError, match="git annex get"):
        zarr.copy(array, zarr.open_group(linked.parent / "copy", mode="w"), name="a")
    array[:2] = 7
    assert array[:].tolist() == [7, 7, 5, 5]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_array_that_is_linked_into_a_group_is_opened_or_named_with_the_reason(
    tmp_path: Path, zarr_format: int
) -> None:
    """All ways to open the array give the same result."""
    other = zarr.open_array(tmp_path / "other", mode="w", shape=4, dtype="i4", zarr_format=zarr_format)
    other[:] = 3
    group = zarr.open_group(tmp_path / "group", mode="w", zarr_format=zarr_format)
    group.create_group("own")
    (tmp_path / "group" / "sub").symlink_to("../other")
    following = zarr.open_group(tmp_path / "group", mode="r", storage_options={"follow_links": True})
    assert sorted(following.array_keys()) == ["sub"]
    assert following["sub"][:].tolist() == [3, 3, 3, 3]
    strict = zarr.open_group(tmp_path / "group", mode="r")
    assert ("sub" in strict, sorted(strict)) == (True, ["own", "sub"])
    with pytest.raises(PermissionError, match="follow_links"):
        strict["sub"]
    assert "follow_links" in str(strict.tree())
    for look in (strict.arrays, strict.groups):
        with pytest.warns(zarr.errors.ZarrUserWarning, match="'sub' in group '/' is skipped.*follow_links"):
            list(look())


def test_threads_that_reach_an_array_by_two_names_lose_nothing(tmp_path: Path) -> None:
    """Locks belong to files, not to names."""
    group = zarr.open_group(tmp_path, mode="w", zarr_format=3)
    group.create_array("a", shape=(64,), chunks=(64,), dtype="i4")
    (tmp_path / "b").symlink_to("a")
    arrays = [group["a"], zarr.open_array(tmp_path / "b", mode="r+")]

    def write(first: int) -> None:
        for place in range(first, 64, 2):
            arrays[first][place] = 1

    for _ in range(5):
        arrays[0][:] = 0
        threads = [threading.Thread(target=write, args=(first,)) for first in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(arrays[0][:], 1)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_documents_with_a_byte_order_mark_are_read_changed_and_copied(tmp_path: Path, zarr_format: int) -> None:
    """Some editors write a byte order mark, which zarr-python 3 ignores."""
    group = zarr.open_group(tmp_path, mode="w", zarr_format=zarr_format)
    group.create_array("a", shape=(4,), chunks=(2,), dtype="i4")[:] = 7
    for file in [*tmp_path.rglob("zarr.json"), *tmp_path.rglob(".z*")]:
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    array = zarr.open_array(tmp_path / "a", mode="r+")
    array.attrs["x"] = 1
    array.resize((6,))
    zarr.consolidate_metadata(tmp_path)
    read = zarr.open_consolidated(tmp_path)["a"]
    assert (read[:].tolist(), dict(read.attrs)) == ([7, 7, 7, 7, 0, 0], {"x": 1})
