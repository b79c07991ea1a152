"""A failed `to_zarr` deletes all that it created, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
import xarray as xr

import zarrox as zarr
from zarrox import v2
from zarrox.xarray import to_zarr

FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])
MODES = pytest.mark.parametrize("mode", ["w", "w-", "a"])

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::RuntimeWarning")


def paths(path: Path) -> dict[str, bytes | None]:
    """All files below a path with their bytes, and all directories."""
    return {str(each.relative_to(path)): each.read_bytes() if each.is_file() else None for each in path.rglob("*")}


def failing(before: Callable[[], Any] = lambda: None) -> xr.Dataset:
    """Returns two variables. The values of one variable call a function and then fail when they are computed."""

    def fail(values: Any) -> Any:
        if values.size:
            before()
            raise OSError("the node died")
        return values

    values = da.zeros(4, chunks=2, dtype="i8").map_blocks(fail, dtype="i8", meta=np.zeros(0, dtype="i8"))
    return xr.Dataset({"v": ("x", values), "u": ("x", np.arange(4))}, attrs={"new": 1})


def old() -> xr.Dataset:
    """A dataset that exists before."""
    return xr.Dataset({"a": ("x", [1, 2])}, coords={"x": [0, 1]}, attrs={"old": 1})


DATA: dict[str, Callable[[], Any]] = {
    "dataset": failing,
    "tree": lambda: xr.DataTree.from_dict({"/": old(), "/p/q": failing().rename(x="y")}),
}


@FORMATS
@MODES
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("consolidated", [False, True])
@pytest.mark.parametrize("group", [None, "g", "g/h", "g/h/i"])
@pytest.mark.parametrize("existing", [None, "", "g", "g/h"])
def test_groups_and_directories_that_a_failed_write_created_are_deleted(
    tmp_path: Path, zarr_format: Any, mode: Any, data: str, consolidated: bool, group: str | None, existing: str | None
) -> None:
    """Those above the group too; consolidated metadata is that of before."""
    options: dict[str, Any] = {"zarr_format": zarr_format, "consolidated": consolidated}
    place = tmp_path / "new" / "s"
    if existing is not None:
        to_zarr(old(), place, "w", group=existing, **options)
    before = paths(tmp_path)
    with pytest.raises((OSError, ValueError)):
        to_zarr(DATA[data](), place, mode, group=group, **options)
    assert paths(tmp_path) == before


@FORMATS
@MODES
@pytest.mark.parametrize("kind", ["memory", "mapping", "zip", "sqlite"])
@pytest.mark.parametrize("existing", [False, True])
def test_groups_that_a_failed_write_created_in_other_stores_are_deleted(
    tmp_path: Path, zarr_format: Any, mode: Any, kind: str, existing: bool
) -> None:
    """Archives, databases and memory have no directories."""
    places: dict[str, Callable[[], Any]] = {"memory": zarr.storage.MemoryStore, "mapping": dict}
    place = places.get(kind, lambda: str(tmp_path / f"s.{kind}"))()

    def content() -> dict[str, bytes]:
        store = zarr.storage.normalize_store_arg(place, mode="a")
        return {key: bytes(store[key]) for key in store}

    if existing:
        to_zarr(old(), place, zarr_format=zarr_format)
    before = content()
    with pytest.raises(OSError, match="died"):
        to_zarr(failing(), place, mode, group="g/h", zarr_format=zarr_format)
    assert content() == before


@FORMATS
@MODES
def test_groups_into_which_others_write_meanwhile_stay(tmp_path: Path, zarr_format: Any, mode: Any) -> None:
    """A group that a failed write created is not deleted with what others have created in it."""
    place = tmp_path / "s"

    def other() -> None:
        zarr.open_group(place, path="g/other", mode="a", zarr_format=zarr_format)

    with pytest.raises(OSError, match="died"):
        to_zarr(failing(other), place, mode, group="g/h", zarr_format=zarr_format)
    found = zarr.open_group(place, mode="r", use_consolidated=False)
    assert [path for path, _ in found.members(max_depth=None)] == ["g", "g/other"]


@FORMATS
@MODES
@pytest.mark.parametrize("group", [None, "g", "g/h"])
def test_files_that_were_there_before_stay(tmp_path: Path, zarr_format: Any, mode: Any, group: str | None) -> None:
    """A directory that became a group by the write is a directory again."""
    (tmp_path / "s" / "g").mkdir(parents=True)
    for readme in (tmp_path / "s" / "README", tmp_path / "s" / "g" / "README"):
        readme.write_text("mine")
    before = paths(tmp_path)
    with pytest.raises(OSError, match="died"):
        to_zarr(failing(), tmp_path / "s", mode, group=group, zarr_format=zarr_format)
    assert paths(tmp_path) == before


@FORMATS
def test_groups_above_a_variable_are_deleted(tmp_path: Path, zarr_format: Any) -> None:
    """A name with slashes is a path."""
    to_zarr(old(), tmp_path / "s", zarr_format=zarr_format)
    before = paths(tmp_path)
    with pytest.raises(OSError, match="died"):
        to_zarr(failing().rename(u="b/c/u", x="y"), tmp_path / "s", "a")
    assert paths(tmp_path) == before


def test_no_directories_are_made_for_what_is_refused(tmp_path: Path) -> None:
    """A dataset that is refused leaves no parents of the store."""
    with pytest.raises(ValueError, match="zip"):
        to_zarr(old(), tmp_path / "new" / "s", encoding={"a": {"compressors": "zip"}})
    assert not paths(tmp_path)


def test_groups_of_n5(tmp_path: Path) -> None:
    """They have no consolidated metadata, and a failed write leaves nothing."""
    store = v2.N5Store(tmp_path / "s")
    with pytest.raises(OSError, match="died"):
        to_zarr(failing(), store, group="g/h")
    assert not paths(tmp_path)
    to_zarr(old(), store, group="g/h")
    with pytest.raises(ValueError, match="consolidated"):
        to_zarr(old(), store, "w", group="g/k", consolidated=True)
    assert list(zarr.open_group(store, path="g", mode="r")) == ["h"]
