"""The writes that `to_zarr` rejects before anything is changed, and the state after a failure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cftime
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import zarrox as zarr
from zarrox import v2
from zarrox.xarray import ZarroxBackendEntrypoint, open_zarr, to_zarr

FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])
ENGINE: Any = ZarroxBackendEntrypoint

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::RuntimeWarning")


def opened(place: Any) -> xr.Dataset:
    """Returns a dataset that is loaded immediately."""
    return xr.open_dataset(place, engine=ENGINE).load()


def files(path: Path) -> dict[str, bytes]:
    """Returns all files below a path, with their content."""
    return {str(each.relative_to(path)): each.read_bytes() for each in path.rglob("*") if each.is_file()}


def two(*x: int) -> xr.Dataset:
    """Returns two variables and a coordinate along one dimension."""
    return xr.Dataset({"a": ("x", [n * 10 for n in x]), "b": ("x", [n * 100 for n in x])}, coords={"x": list(x)})


def levels(time: int, *lev: int) -> xr.Dataset:
    """Returns a value for each level at one time."""
    return xr.Dataset(
        {"t": (("time", "lev"), [[n / 100 for n in lev]]), "depth": ("lev", [-n for n in lev])},
        coords={"time": [time], "lev": list(lev)},
    )


#: Writes into `two(1, 2)`: the dataset, the arguments, and a word of the error.
RESULTS: dict[str, tuple[Callable[[], xr.Dataset], dict[str, Any], str]] = {
    "a variable is missing": (lambda: two(3)[["a"]], {"append_dim": "x"}, "'b'"),
    "a variable is missing, a-": (lambda: two(3)[["a"]], {"append_dim": "x", "mode": "a-"}, "'b'"),
    "a coordinate is missing": (lambda: two(3).drop_vars("x"), {"append_dim": "x"}, "'x'"),
    "a new variable beside an append": (lambda: two(3).assign(c=("x", [1])), {"append_dim": "x"}, "'c'"),
    "a new variable in a region": (
        lambda: two(2)[["a"]].rename(a="c"),
        {"mode": "a", "region": "auto"},
        "different lengths",
    ),
    "other coordinates in a region": (lambda: two(7)[["a"]], {"region": {"x": slice(0, 1)}}, "coordinates 'x'"),
    "other coordinates beside others": (lambda: two(7, 8)[["a"]], {"mode": "a"}, "'b'"),
    "a new variable of another length": (lambda: xr.Dataset({"c": ("x", [1])}), {"mode": "a"}, "different lengths"),
    "all faults": (lambda: xr.Dataset({"a": ("y", [1]), "b": ("z", [1])}), {"mode": "a"}, "(?s)'a'.*'b'"),
}


@FORMATS
@pytest.mark.parametrize("case", RESULTS)
def test_a_dataset_that_nobody_could_open_is_refused(tmp_path: Path, zarr_format: Any, case: str) -> None:
    """The resulting dataset is checked as a whole, and nothing is changed."""
    dataset, options, message = RESULTS[case]
    to_zarr(two(1, 2), tmp_path / "s", zarr_format=zarr_format)
    before = files(tmp_path)
    with pytest.raises(ValueError, match=message):
        to_zarr(dataset(), tmp_path / "s", **options)
    assert files(tmp_path) == before
    xr.testing.assert_identical(opened(tmp_path / "s"), two(1, 2))


@FORMATS
@pytest.mark.parametrize("mode", ["a", "a-"])
def test_an_append_with_other_coordinates_is_refused(tmp_path: Path, zarr_format: Any, mode: Any) -> None:
    """The stored coordinates keep their labels; equal coordinates are not written again."""
    to_zarr(levels(0, 100, 200), tmp_path / "s", zarr_format=zarr_format)
    before = files(tmp_path)
    with pytest.raises(ValueError, match="'lev'"):
        to_zarr(levels(1, 200, 100), tmp_path / "s", mode, append_dim="time")
    assert files(tmp_path) == before
    to_zarr(levels(1, 100, 200), tmp_path / "s", mode, append_dim="time")
    assert opened(tmp_path / "s").t.sel(lev=200).values.tolist() == [2.0, 2.0]


def test_an_append_changes_no_other_variables(tmp_path: Path) -> None:
    """With ``a-``, other variables are ignored; with ``a``, they must equal the stored variables."""
    to_zarr(levels(0, 100, 200), tmp_path / "s")
    changed = levels(1, 100, 200).assign(depth=("lev", [5, 6]))
    with pytest.raises(ValueError, match="'depth'"):
        to_zarr(changed, tmp_path / "s", append_dim="time")
    to_zarr(changed, tmp_path / "s", "a-", append_dim="time")
    assert opened(tmp_path / "s").depth.values.tolist() == [-100, -200]


def test_an_interrupted_append_is_noticed(tmp_path: Path) -> None:
    """The error names arrays of different lengths, and the remedy."""
    to_zarr(two(1, 2), tmp_path / "s")
    zarr.open_array(tmp_path / "s" / "a").resize(4)
    with pytest.raises(ValueError, match="'a': 4, .*resize"):
        to_zarr(two(3), tmp_path / "s", append_dim="x")


def packed(values: Any, **encoding: Any) -> xr.Dataset:
    """Returns a variable with an encoding."""
    return xr.Dataset({"v": xr.Variable("i", values, encoding=encoding)})


NOLEAP, DAYS_360 = (
    xr.date_range("2000-01-01", periods=2, calendar=calendar, use_cftime=True) for calendar in ("noleap", "360_day")
)
#: Stored values, and values that their type cannot represent.
CASTS: dict[str, tuple[xr.Dataset, Any]] = {
    "too large": (packed(np.array([1, 2], "i2")), np.array([300_000])),
    "negative": (packed(np.array([1, 2], "u1")), np.array([-1])),
    "a fraction": (packed(np.array([1, 2], "i2")), np.array([1.7])),
    "a float that is too large": (packed(np.array([1, 2], "i2")), np.array([2e6])),
    "nothing": (packed(np.array([1, 2], "i2")), np.array([np.nan])),
    "packed and too large": (packed(np.array([1.0, 2.0]), dtype="i2", scale_factor=0.01, _FillValue=-1), [1000.0]),
    "packed without a fill value": (packed(np.array([1.0, 2.0]), dtype="i2", scale_factor=0.01), [np.nan]),
    "imaginary": (packed(np.array([1.0, 2.0])), np.array([1 + 2j])),
    "too large for a float": (packed(np.array([1.0, 2.0], "f4")), np.array([1e300])),
    "an integer that no float is": (packed(np.array([1.0, 2.0], "f4")), np.array([2**60 + 1])),
    "text that is too long": (packed(np.array(["abc", "de"])), np.array(["abcdef"], dtype=object)),
    "text of a longer type": (packed(np.array(["abc", "de"])), np.array(["abcdef"])),
    "text for numbers": (packed(np.array([1, 2], "i4")), np.array(["a"], dtype=object)),
    "numbers for Booleans": (packed(np.array([True, False])), np.array([2])),
    "times for numbers": (packed(np.array([1, 2], "i8")), np.array(["2000-01-01"], "M8[ns]")),
    "numbers for times": (packed(np.array(["2000-01-01", "2000-01-02"], "M8[ns]")), np.array([3])),
    "durations for times": (packed(np.array(["2000-01-01", "2000-01-02"], "M8[ns]")), np.array([3], "m8[D]")),
    "dates of another calendar": (packed(NOLEAP.values), DAYS_360.values[:1]),
}


@FORMATS
@pytest.mark.parametrize("way", ["append", "region"])
@pytest.mark.parametrize("case", CASTS)
def test_values_do_not_change_on_the_way_into_what_is_there(
    tmp_path: Path, zarr_format: Any, way: str, case: str
) -> None:
    """Values that the stored type cannot represent are rejected, as in assignments to arrays."""
    stored, values = CASTS[case]
    to_zarr(stored, tmp_path / "s", zarr_format=zarr_format)
    before = files(tmp_path)
    options: dict[str, Any] = {"append_dim": "i"} if way == "append" else {"region": {"i": slice(0, 1)}}
    with pytest.raises(ValueError, match="'v'"):
        to_zarr(packed(values), tmp_path / "s", **options)
    assert files(tmp_path) == before


@FORMATS
@pytest.mark.parametrize("chunks", [None, 1], ids=["memory", "dask"])
@pytest.mark.parametrize(
    ("stored", "values", "expected"),
    [
        (packed(np.array([1, 2], "i2")), np.array([3, -4]), [1, 2, 3, -4]),
        (packed(np.array([1, 2], "i2")), np.array([3.0]), [1, 2, 3]),
        (packed(np.array([1.0, 2.0], "f4")), np.array([0.1]), [1, 2, np.float32(0.1)]),
        (packed(np.array([1.0, 2.0]), dtype="i2", scale_factor=0.01, _FillValue=-1), [3.14, np.nan], [1, 2, 3.14, np.nan]),
        (packed(np.array([1.0, 2.0])), np.array([3]), [1, 2, 3]),
        (packed(np.array(["abc", "de"])), np.array(["fgh"], dtype=object), ["abc", "de", "fgh"]),
    ],
    ids=["narrow", "whole", "rounded", "packed", "wide", "text"],
)
def test_values_that_the_type_has_are_appended(
    tmp_path: Path, zarr_format: Any, chunks: Any, stored: xr.Dataset, values: Any, expected: list[Any]
) -> None:
    """A cast is allowed if it loses only the precision that floats and packing always lose."""
    to_zarr(stored, tmp_path / "s", zarr_format=zarr_format)
    more = packed(values)
    to_zarr(more if chunks is None else more.chunk(chunks), tmp_path / "s", append_dim="i")
    found = opened(tmp_path / "s").v.values
    assert found.tolist() == expected if found.dtype.kind in "UO" else np.allclose(found, expected, equal_nan=True)


@FORMATS
def test_pieces_that_do_not_fit_leave_the_old_state(tmp_path: Path, zarr_format: Any) -> None:
    """The values of blocks are known only when they are computed, so the write is undone."""
    to_zarr(packed(np.array([1, 2], "i2")), tmp_path / "s", zarr_format=zarr_format)
    with pytest.raises(ValueError, match="300000"):
        to_zarr(packed(np.array([3, 300_000])).chunk(1), tmp_path / "s", append_dim="i")
    assert opened(tmp_path / "s").v.values.tolist() == [1, 2]


def test_new_values_that_do_not_fit_into_their_encoding_are_refused(tmp_path: Path) -> None:
    """Fractions are rounded, since the encoding requests integers."""
    for values in ([300_000.0], [np.nan]):
        with pytest.raises(ValueError, match="'v'"):
            to_zarr(packed(values), tmp_path / "s", encoding={"v": {"dtype": "i2"}})
    to_zarr(packed([1.7]), tmp_path / "s", encoding={"v": {"dtype": "i2"}})
    assert opened(tmp_path / "s").v.values.tolist() == [2]


def times(*values: str) -> xr.Dataset:
    """Returns times along one dimension."""
    return xr.Dataset({"v": ("i", np.array(values, "M8[ns]"))})


#: Times and durations, with an encoding whose type cannot represent their numbers.
TOO_NARROW: dict[str, tuple[xr.Dataset, dict[str, Any]]] = {
    "days": (times("2200-01-01"), {"units": "days since 2000-01-01", "dtype": "i2"}),
    "seconds": (times("2200-01-01"), {"units": "seconds since 2000-01-01", "dtype": "i4"}),
    "before": (times("1999-12-30"), {"units": "days since 2000-01-01", "dtype": "u1"}),
    "NaT": (times("2000-01-02", "NaT"), {"units": "days since 2000-01-01", "dtype": "i4"}),
    "float": (times("2020-01-01T01:02:03"), {"units": "seconds since 1970-01-01", "dtype": "f4"}),
    "calendar": (
        xr.Dataset({"v": ("i", [cftime.DatetimeNoLeap(2200, 1, 1)])}),
        {"units": "days since 2000-01-01", "dtype": "i2"},
    ),
    "duration": (xr.Dataset({"v": ("i", np.array([300], "m8[D]").astype("m8[ns]"))}), {"units": "days", "dtype": "i1"}),
}


@FORMATS
@pytest.mark.parametrize("chunks", [None, 1], ids=["memory", "dask"])
@pytest.mark.parametrize("case", TOO_NARROW)
def test_times_that_do_not_fit_into_their_encoding_are_refused(
    tmp_path: Path, zarr_format: Any, chunks: Any, case: str
) -> None:
    """The stored times would be different, since casts of integers wrap around."""
    dataset, encoding = TOO_NARROW[case]
    if chunks is not None:
        dataset = dataset.chunk(chunks)
    with pytest.raises(ValueError, match="'v'"):
        to_zarr(dataset, tmp_path / "s", encoding={"v": encoding}, zarr_format=zarr_format)
    assert not files(tmp_path)


@FORMATS
def test_times_that_do_not_fit_into_what_is_there_are_refused(tmp_path: Path, zarr_format: Any) -> None:
    encoding = {"v": {"units": "days since 2000-01-01", "dtype": "i2"}}
    to_zarr(times("2000-01-01"), tmp_path / "s", encoding=encoding, zarr_format=zarr_format)
    with pytest.raises(ValueError, match="'v'"):
        to_zarr(times("2200-01-01"), tmp_path / "s", append_dim="i")
    to_zarr(times("2020-01-01"), tmp_path / "s", append_dim="i")
    assert opened(tmp_path / "s").v.equals(times("2000-01-01", "2020-01-01").v)


@FORMATS
@pytest.mark.parametrize("chunks", [None, 1], ids=["memory", "dask"])
@pytest.mark.parametrize("dtype", ["i2", "f4", "f8"])
def test_times_that_fit_come_back(tmp_path: Path, zarr_format: Any, chunks: Any, dtype: str) -> None:
    """Missing times are preserved as well, if the encoding has a marker for them."""
    dataset = times("2000-01-05", "NaT", "1999-12-30")
    encoding = {"v": {"units": "days since 2000-01-01", "dtype": dtype, "_FillValue": -9999}}
    given = dataset if chunks is None else dataset.chunk(chunks)
    to_zarr(given, tmp_path / "s", encoding=encoding, zarr_format=zarr_format)
    assert zarr.open_array(tmp_path / "s/v").dtype == dtype
    assert opened(tmp_path / "s").v.equals(dataset.v)


class Strange:
    """A value that cannot be an attribute."""


#: Errors of a dataset, or of the arguments of a write.
REFUSED: dict[str, tuple[Any, dict[str, Any]]] = {
    "encoding": (two(1), {"encoding": {"a": {"zlib": True}}}),
    "chunks": (two(1), {"encoding": {"a": {"chunks": (1, 2)}}}),
    "negative chunks": (two(1), {"encoding": {"a": {"chunks": -5}}}),
    "fractional chunks": (two(1), {"encoding": {"a": {"chunks": 2.5}}}),
    "chunks by a word": (two(1), {"encoding": {"a": {"chunks": "x"}}}),
    "chunks of an array": (two(1), {"encoding": {"a": {"chunks": np.array([1, 2])}}}),
    "true chunks": (two(1), {"encoding": {"a": {"chunks": True}}}),
    "chunks by names": (two(1), {"encoding": {"a": {"chunks": {"x": 2}}}}),
    "a codec": (two(1), {"encoding": {"a": {"compressors": "zip"}}}),
    "an attribute": (two(1).assign_attrs(a=Strange()), {}),
    "an attribute of a variable": (two(1).assign(c=("x", [1], {"a": Strange()})), {}),
    "objects": (two(1).assign(c=("x", np.array([{}], dtype=object))), {}),
    "types": (two(1).assign(c=("x", np.zeros(1, dtype="M8[s]").astype("g"))), {}),
    "a name": (xr.Dataset({1: ("x", [1])}), {}),
    "group": (xr.DataTree.from_dict({"/": two(1), "/g": two(1)}), {"encoding": {"/h": {}}}),
    "encoding below": (xr.DataTree.from_dict({"/": two(1), "/g": two(1)}), {"encoding": {"/g": {"a": {"zlib": 1}}}}),
    "empty chunks": (two(1), {"write_empty_chunks": True, "encoding": {"a": {"write_empty_chunks": False}}}),
    "pieces": (
        xr.Dataset({"v": ("x", da.ones(9, chunks=4))}),
        {"align_chunks": False, "encoding": {"v": {"chunks": (3,)}}},
    ),
}


@FORMATS
@pytest.mark.parametrize("kind", ["directory", "memory", "zip", "group"])
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_leaves_the_old_dataset(tmp_path: Path, zarr_format: Any, kind: str, case: str) -> None:
    """``mode="w"`` deletes nothing before the whole write is checked."""
    memory: dict[str, bytes] = {}
    place = {"memory": memory, "zip": str(tmp_path / "s.zip")}.get(kind, tmp_path / "s")
    options: dict[str, Any] = {"group": "g/h"} if kind == "group" else {}
    to_zarr(two(1, 2), place, zarr_format=zarr_format, **options)
    before = files(tmp_path), dict(memory)
    data, wrong = REFUSED[case]
    for mode in ("w", "w-"):
        elsewhere: dict[str, Any] = {"group": "new"} if mode == "w-" else options
        with pytest.raises((ValueError, TypeError, NotImplementedError)):
            to_zarr(data, place, mode, zarr_format=zarr_format, **elsewhere, **wrong)
        assert (files(tmp_path), memory) == before


class Flaky:
    """A function of blocks that fails once."""

    def __init__(self, at: float) -> None:
        self.at = at
        self.failed = False

    def __call__(self, values: Any) -> Any:
        """Returns the values, if the function has failed before."""
        if values.size and values[0] == self.at and not self.failed:
            self.failed = True
            raise OSError("the node died")
        return values


def flaky(at: float = 2) -> xr.Dataset:
    """Returns four values in two blocks. One block fails when it is computed for the first time."""
    values = da.from_array(np.arange(4.0), chunks=2).map_blocks(Flaky(at), dtype="f8", meta=np.zeros(0))
    return xr.Dataset({"v": ("x", values)}, coords={"x": [5, 6, 7, 8]}, attrs={"new": 1})


@FORMATS
def test_an_append_that_fails_is_undone_and_can_be_repeated(tmp_path: Path, zarr_format: Any) -> None:
    """No rows of fill values remain, and no row is stored twice."""
    first = xr.Dataset({"v": ("x", np.arange(4.0))}, coords={"x": [1, 2, 3, 4]})
    to_zarr(first, tmp_path / "s", zarr_format=zarr_format)
    more = flaky()
    with pytest.raises(OSError, match="died"):
        to_zarr(more, tmp_path / "s", append_dim="x")
    xr.testing.assert_identical(opened(tmp_path / "s"), first)
    to_zarr(more, tmp_path / "s", append_dim="x")
    found = opened(tmp_path / "s")
    assert found.x.values.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert found.v.values.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


@FORMATS
@pytest.mark.parametrize("group", [None, "g"])
@pytest.mark.parametrize("mode", ["w", "w-", "a"])
def test_a_write_that_fails_leaves_the_old_state(
    tmp_path: Path, zarr_format: Any, group: str | None, mode: Any
) -> None:
    """New arrays are deleted as well, and the same call succeeds afterwards."""
    old = two(1, 2)
    to_zarr(xr.Dataset(attrs={"root": 1}), tmp_path / "s", zarr_format=zarr_format)
    if mode == "w":
        to_zarr(old, tmp_path / "s", mode, group=group, zarr_format=zarr_format)
    before = files(tmp_path)
    place = tmp_path / ("new" if mode == "w-" and group is None else "s")
    more = flaky()
    with pytest.raises(OSError, match="died"):
        to_zarr(more, place, mode, group=group)
    assert files(tmp_path) == before
    assert not [each for each in tmp_path.iterdir() if each.name != "s"]
    to_zarr(more, place, mode, group=group)
    assert xr.open_dataset(place, engine=ENGINE, group=group).v.values.tolist() == [0, 1, 2, 3]


def test_variables_that_are_written_are_all_there_or_none(tmp_path: Path) -> None:
    """A new variable of an existing group is deleted again if another variable fails."""
    to_zarr(two(1, 2), tmp_path / "s")
    more = flaky().isel(x=slice(2, 4)).drop_vars("x").rename(x="y")
    before = files(tmp_path)
    with pytest.raises(OSError, match="died"):
        to_zarr(more.assign(first=("y", [1, 2])), tmp_path / "s", "a")
    assert files(tmp_path) == before


@FORMATS
@pytest.mark.parametrize("engine", ["zarrox", "zarr"])
@pytest.mark.parametrize("chunks", [None, {}], ids=["lazy", "dask"])
def test_a_lazy_dataset_replaces_what_it_is_read_from(
    tmp_path: Path, zarr_format: Any, engine: str, chunks: Any
) -> None:
    """The old dataset is kept until the new one is complete."""
    to_zarr(two(1, 2), tmp_path / "s", zarr_format=zarr_format)
    of: Any = ENGINE if engine == "zarrox" else engine
    lazy = xr.open_dataset(tmp_path / "s", engine=of, chunks=chunks)
    to_zarr(lazy.assign(a=lazy.a + 1), tmp_path / "s", "w")
    assert opened(tmp_path / "s").a.values.tolist() == [11, 21]
    assert opened(tmp_path / "s").b.values.tolist() == [100, 200]


@FORMATS
@pytest.mark.parametrize("kind", ["memory", "mapping", "later", "overwritten"])
@pytest.mark.parametrize("chunks", [None, {}], ids=["lazy", "dask"])
def test_what_would_be_overwritten_before_it_is_read_is_read_or_refused(
    tmp_path: Path, zarr_format: Any, kind: str, chunks: Any
) -> None:
    """This applies if the old dataset cannot be kept, or if its arrays are overwritten."""
    place: Any = {"memory": v2.MemoryStore(), "mapping": {}}.get(kind, tmp_path / "s")
    to_zarr(two(1, 2), place, zarr_format=zarr_format)
    lazy = xr.open_dataset(place, engine=ENGINE, chunks=chunks)
    swapped = lazy.rename(a="b", b="a") if kind == "overwritten" else lazy.assign(a=lazy.a + 1)
    mode: Any = "r+" if kind == "overwritten" else "w"
    if chunks is not None:
        with pytest.raises(ValueError, match="read from what would be changed"):
            to_zarr(swapped, place, mode, compute=kind != "later")
        xr.testing.assert_identical(opened(place), two(1, 2))
        return
    to_zarr(swapped, place, mode, compute=kind != "later")
    expected = two(1, 2).rename(a="b", b="a") if kind == "overwritten" else two(1, 2).assign(a=("x", [11, 21]))
    xr.testing.assert_identical(opened(place), expected)


def test_what_is_read_from_the_same_store_is_added_to_it(tmp_path: Path) -> None:
    """New variables are computed from stored ones, and appended rows from stored rows."""
    to_zarr(two(1, 2), tmp_path / "s")
    lazy = open_zarr(tmp_path / "s")
    to_zarr(lazy[["a"]].rename(a="c") * 2, tmp_path / "s", "a")
    assert opened(tmp_path / "s").c.values.tolist() == [20, 40]
    to_zarr(open_zarr(tmp_path / "s", chunks=None), tmp_path / "s", append_dim="x")
    assert opened(tmp_path / "s").a.values.tolist() == [10, 20, 10, 20]


def test_the_new_dataset_has_the_mode_of_the_old_directory(tmp_path: Path) -> None:
    """A symbolic link to a directory remains a link, and no temporary directory is left."""
    to_zarr(two(1, 2), tmp_path / "s")
    (tmp_path / "s").chmod(0o750)
    (tmp_path / "link").symlink_to("s")
    to_zarr(two(3), tmp_path / "link", "w")
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "link").is_symlink()
    assert opened(tmp_path / "s").x.values.tolist() == [3]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "s"]


@FORMATS
def test_a_group_is_replaced_and_every_reader_sees_it(tmp_path: Path, zarr_format: Any) -> None:
    """Consolidated metadata at the root is updated."""
    to_zarr(two(1, 2), tmp_path / "s", zarr_format=zarr_format)
    to_zarr(two(1, 2), tmp_path / "s", "a", group="g", consolidated=True)
    to_zarr(two(3)[["b"]], tmp_path / "s", "w", group="g", consolidated=False)
    for engine in (ENGINE, "zarr"):
        found = xr.open_dataset(tmp_path / "s", engine=engine, group="g", consolidated=True)
        xr.testing.assert_identical(found.load(), two(3)[["b"]])


def test_reading_a_part_of_a_coordinate_gives_a_copy(tmp_path: Path) -> None:
    """Changing the copy does not change the dataset."""
    to_zarr(two(1, 2), tmp_path / "s")
    ds = xr.open_dataset(tmp_path / "s", engine=ENGINE, create_default_indexes=False)
    part = ds.x[0:1].values
    part[:] = 99
    assert ds.x.values.tolist() == [1, 2]


def test_times_of_numpy_go_into_calendars_that_agree(tmp_path: Path) -> None:
    """The Gregorian calendar has three names, but dates of cftime in it are different objects."""
    stored = xr.Dataset(coords={"time": pd.date_range("2000", periods=2)})
    to_zarr(stored, tmp_path / "s", encoding={"time": {"calendar": "standard"}})
    to_zarr(stored.assign_coords(time=pd.date_range("2000-01-03", periods=1)), tmp_path / "s", append_dim="time")
    dates = [cftime.DatetimeGregorian(2000, 1, 4)]
    to_zarr(xr.Dataset(coords={"time": dates}), tmp_path / "s", append_dim="time")
    assert opened(tmp_path / "s").time.dt.day.values.tolist() == [1, 2, 3, 4]


@FORMATS
def test_chunks_along_a_dimension_of_length_0_are_those_of_the_encoding(tmp_path: Path, zarr_format: Any) -> None:
    """Rows that are appended later have these chunks."""
    empty = xr.Dataset({"v": (("t", "x"), np.zeros((0, 4)))})
    to_zarr(empty, tmp_path / "s", encoding={"v": {"chunks": (100, 3)}}, zarr_format=zarr_format)
    assert zarr.open_array(tmp_path / "s/v").chunks == (100, 3)
    to_zarr(empty, tmp_path / "t", zarr_format=zarr_format)
    assert zarr.open_array(tmp_path / "t/v").shape == (0, 4)


@FORMATS
def test_a_copy_of_the_metadata_that_an_interrupted_write_left_is_renewed(tmp_path: Path, zarr_format: Any) -> None:
    """The arrays were created, but consolidated metadata does not contain them yet."""
    to_zarr(two(1, 2), tmp_path / "s", zarr_format=zarr_format, consolidated=True)
    name = "zarr.json" if zarr_format == 3 else ".zmetadata"
    old = (tmp_path / "s" / name).read_bytes()
    new = xr.Dataset({"n": ("x", [5, 6])}, coords={"x": [1, 2]})
    for _ in range(2):
        to_zarr(new, tmp_path / "s", mode="a")
        assert xr.open_zarr(tmp_path / "s", consolidated=True).n.values.tolist() == [5, 6]
        assert opened(tmp_path / "s").n.values.tolist() == [5, 6]
        (tmp_path / "s" / name).write_bytes(old)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("mode", ["w", "a"])
def test_files_of_other_programs_stay(tmp_path: Path, zarr_format: Any, mode: Any) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "1.jpg").write_text("photo")
    (tmp_path / "notes.txt").write_text("notes")
    to_zarr(xr.Dataset({"v": ("x", [3, 4])}), tmp_path, mode=mode, zarr_format=zarr_format)
    assert open_zarr(tmp_path)["v"].values.tolist() == [3, 4]
    assert (tmp_path / "photos" / "1.jpg").read_text() == "photo"
    assert (tmp_path / "notes.txt").read_text() == "notes"
