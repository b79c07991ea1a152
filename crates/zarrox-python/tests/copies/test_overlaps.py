"""Copies whose destination is their source under any name: nothing is deleted before it is read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox as zarr
import zarrox.dask

VALUES = np.arange(64.0).reshape(8, 8)


def array(root: Path) -> Any:
    """Returns the array that is copied."""
    return zarr.open_array(root / "s.zarr", path="g/a", mode="r")


def groups(root: Path, target: Path) -> tuple[Any, Any]:
    """Returns the group that is copied, and the same group as a destination."""
    return zarr.open_group(root / "s.zarr", mode="r"), zarr.open_group(target, mode="a")


#: Copies of an array or a group onto itself. The first path is its own; the second is another name of the same
#: directory.
COPIES: dict[str, Callable[[Path, Path], Any]] = {
    "save": lambda root, target: zarr.save(target / "g/a", array(root)),
    "save several": lambda root, target: zarr.save(target / "g", a=array(root), b=VALUES),
    "save above": lambda root, target: zarr.save(target, array(root)),
    "from_array": lambda root, target: zarr.from_array(target, name="g/a", data=array(root), chunks=(2, 2), overwrite=True),
    "array": lambda root, target: zarr.array(array(root), store=target, path="g/a", chunks=(2, 2), overwrite=True),
    "create_array": lambda root, target: zarr.create_array(target, name="g/a", data=array(root), overwrite=True),
    "item": lambda root, target: zarr.open_group(target, mode="a").__setitem__("g/a", array(root)),
    "dask": lambda root, target: zarrox.dask.copy(array(root), target / "g/a", chunks=(2, 2), overwrite=True),
    "copy": lambda root, target: zarr.copy(array(root), groups(root, target)[1]["g"], name="a", if_exists="replace"),
    "copy into itself": lambda root, target: zarr.copy(groups(root, target)[0]["g"], groups(root, target)[1], name="g/sub"),
    "copy_all": lambda root, target: zarr.copy_all(*groups(root, target), if_exists="replace"),
}


@pytest.mark.parametrize("name", ["s.zarr", "link.zarr", "other/../s.zarr"])
@pytest.mark.parametrize("copy", COPIES)
def test_a_copy_onto_itself_is_refused(tmp_path: Path, name: str, copy: str) -> None:
    root = zarr.open_group(tmp_path / "s.zarr", mode="w")
    root.create_array("g/a", shape=(8, 8), chunks=(4, 4), dtype="f8")[...] = VALUES
    (tmp_path / "other").mkdir()
    os.symlink(tmp_path / "s.zarr", tmp_path / "link.zarr")
    with pytest.raises(ValueError, match="replaced first|one contains the other"):
        COPIES[copy](tmp_path, tmp_path / name)
    assert np.array_equal(array(tmp_path)[...], VALUES)


def test_an_archive_is_not_saved_onto_itself(tmp_path: Path) -> None:
    zarr.save(tmp_path / "s.zip", VALUES)
    with zarr.storage.ZipStore(tmp_path / "s.zip", mode="r") as store:
        with pytest.raises(ValueError, match="replaced first"):
            zarr.save(tmp_path / "s.zip", zarr.open_array(store, mode="r"))
    assert np.array_equal(zarr.load(tmp_path / "s.zip"), VALUES)


def test_other_places_are_copied_to(tmp_path: Path) -> None:
    """Nodes beside the source, and data that was read before, can be replaced."""
    root = zarr.open_group(tmp_path / "s.zarr", mode="w")
    root.create_array("g/a", shape=(8, 8), chunks=(4, 4), dtype="f8")[...] = VALUES
    zarr.from_array(tmp_path / "s.zarr", name="g/ab", data=root["g/a"], overwrite=True)
    zarr.from_array(tmp_path / "s.zarr", name="g/ab", data=root["g/a"], overwrite=True)
    zarr.copy(root["g/a"], root, name="g/ab", if_exists="replace")
    assert np.array_equal(root["g/ab"][...], VALUES)
    zarr.from_array(tmp_path / "s.zarr", name="g/a", data=root["g/a"][...] + 1, overwrite=True)
    assert np.array_equal(array(tmp_path)[...], VALUES + 1)
