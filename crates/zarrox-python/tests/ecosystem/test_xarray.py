"""xarray with ``engine="zarrox"``: reading lazily, writing, and exchange with xarray's own engine."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import dask.array as da
import netCDF4
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import zarrox as zarr
from zarrox import v2
from zarrox.xarray import ZarroxBackendEntrypoint, to_zarr

FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])

# xarray's own engine warns about consolidated metadata in format 3, and about types that are not in its specification.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::RuntimeWarning")

#: The class of the engine, since a package that runs from its sources has no entry point.
ENGINE: Any = ZarroxBackendEntrypoint


def air(days: int = 20, start: str = "2013-01-01") -> xr.Dataset:
    """Returns a data set like that of xarray's tutorial: temperatures every six hours on a grid, packed into 16
    bits."""
    time = pd.date_range(start, periods=days * 4, freq="6h")
    lat, lon = np.arange(75.0, 14.9, -2.5), np.arange(200.0, 330.1, 2.5)
    rng = np.random.default_rng(0)
    values = 270 + 20 * np.cos(np.deg2rad(lat))[None, :, None] + rng.normal(size=(len(time), len(lat), len(lon)))
    values = np.round(values, 2)
    values[0, 0, 0] = np.nan
    ds = xr.Dataset(
        {
            "air": (("time", "lat", "lon"), values, {"units": "degK", "valid_range": np.array([180, 330], dtype="i2")}),
            "station": ("lat", [f"station {n}" for n in range(len(lat))]),
            "warm": (("time",), np.nanmean(values, axis=(1, 2)) > 280),
            "step": ((), np.timedelta64(6, "h").astype("m8[ns]")),
        },
        coords={"time": time, "lat": ("lat", lat, {"units": "degrees_north"}), "lon": lon},
        attrs={"title": "Air", "version": np.int64(4)},
    )
    ds["air"].encoding = {"dtype": "int16", "scale_factor": 0.01, "add_offset": 270.0, "_FillValue": -32767}
    return ds


def opened(path: Any, **options: Any) -> xr.Dataset:
    """Opens a data set with Zarrox."""
    return xr.open_dataset(path, engine=ENGINE, **options)


def close_to(found: xr.Dataset, expected: xr.Dataset) -> None:
    """Compares data sets; packed values must be equal up to the precision of the packing."""
    xr.testing.assert_allclose(found, expected, atol=0.006, rtol=0)
    assert set(found.coords) == set(expected.coords)
    assert found.attrs == expected.attrs


@FORMATS
def test_round_trip(tmp_path: Path, zarr_format: Any) -> None:
    """Values, coordinates, attributes and CF encodings are preserved."""
    path = tmp_path / "air.zarr"
    to_zarr(air(), path, zarr_format=zarr_format)
    found = opened(path)
    close_to(found, air())
    assert found.air.dtype == np.float64
    assert found.air.encoding["dtype"] == np.int16
    assert found.air.encoding["scale_factor"] == 0.01
    assert found.air.attrs == {"units": "degK", "valid_range": [180, 330]}
    assert np.isnan(found.air[0, 0, 0])
    assert found.warm.dtype == bool
    assert found.station.values.tolist() == air().station.values.tolist()


@FORMATS
def test_xarray_reads_what_we_write(tmp_path: Path, zarr_format: Any) -> None:
    """xarray's own engine reads the same data set."""
    path = tmp_path / "air.zarr"
    to_zarr(air(), path, zarr_format=zarr_format)
    theirs = xr.open_dataset(path, engine="zarr")
    xr.testing.assert_identical(theirs.load(), opened(path).load())
    close_to(theirs, air())


@FORMATS
@pytest.mark.parametrize("consolidated", [False, True])
def test_we_read_what_xarray_writes(tmp_path: Path, zarr_format: Any, consolidated: bool) -> None:
    """Zarrox reads the same as xarray's own engine, consolidated or not."""
    path = tmp_path / "air.zarr"
    air().to_zarr(path, zarr_format=zarr_format, consolidated=consolidated)
    found = opened(path)
    xr.testing.assert_identical(found.load(), xr.open_dataset(path, engine="zarr", consolidated=consolidated).load())
    assert opened(path, consolidated=False).equals(found)
    if consolidated:
        assert opened(path, consolidated=True).equals(found)


def test_consolidated_is_demanded(tmp_path: Path) -> None:
    """``consolidated=True`` fails without consolidated metadata."""
    to_zarr(air(), tmp_path / "air.zarr", consolidated=False)
    with pytest.raises((ValueError, KeyError)):
        opened(tmp_path / "air.zarr", consolidated=True)


@pytest.mark.parametrize(
    "selection",
    [
        {"time": 3},
        {"time": slice(2, 40, 7), "lat": slice(None, None, -1)},
        {"lat": [3, 1, 1], "lon": [-1, 0]},
        {"lat": np.array([True, False] * 12 + [True])},
        {"lat": xr.DataArray([1, 2, 3], dims="point"), "lon": xr.DataArray([4, 4, 0], dims="point")},
        {"time": xr.DataArray([[1, 2], [3, 4]], dims=("a", "b"))},
        {"time": slice(0, 0)},
        {"time": -1, "lat": -2, "lon": -3},
    ],
    ids=["row", "slices", "lists", "mask", "points", "vectors", "nothing", "element"],
)
def test_selections_are_lazy(tmp_path: Path, selection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Selections equal those of values in memory. Nothing is read before it is used, and then only the required
    chunks."""
    to_zarr(air()[["air"]], tmp_path / "air.zarr", encoding={"air": {"chunks": (10, 10, 10)}})
    lazy = opened(tmp_path / "air.zarr").air
    assert not lazy._in_memory
    part = lazy.isel(selection)
    assert not part._in_memory
    np.testing.assert_allclose(part.values, air().air.isel(selection).values, atol=0.006)


@FORMATS
def test_dask(tmp_path: Path, zarr_format: Any) -> None:
    """With ``chunks={}``, Dask uses the chunks of the store; computed blocks are written in parallel."""
    path, other = tmp_path / "air.zarr", tmp_path / "warmer.zarr"
    to_zarr(air(), path, zarr_format=zarr_format, encoding={"air": {"chunks": (10, 25, 53)}})
    found = opened(path, chunks={})
    assert found.air.chunks is not None
    assert found.air.chunksizes["time"] == (10,) * 8
    warmer = found.air.astype("f8") + 1
    warmer.encoding.clear()
    to_zarr(warmer.to_dataset(name="air"), other, zarr_format=zarr_format)
    written = opened(other)
    assert written.air.encoding["chunks"] == (10, 25, 53)
    np.testing.assert_allclose(written.air.values, air().air.values + 1, atol=0.006)


@pytest.mark.parametrize("shards", [None, (12,)])
def test_pieces_of_dask_do_not_share_chunks(tmp_path: Path, shards: Any) -> None:
    """Blocks of a Dask array are split at the borders of chunks or shards."""
    values = np.arange(50)
    ds = xr.Dataset({"v": ("x", da.from_array(values, chunks=7))})
    encoding = {"v": {"chunks": (4,)} | ({} if shards is None else {"shards": shards})}
    to_zarr(ds, tmp_path / "v.zarr", encoding=encoding, zarr_format=3)
    array = zarr.open_group(tmp_path / "v.zarr", mode="r")["v"]
    assert array.chunks == (4,)
    assert array.shards == shards
    np.testing.assert_array_equal(array[:], values)


def test_later(tmp_path: Path) -> None:
    """``compute=False`` writes metadata immediately, and values when they are computed."""
    ds = xr.Dataset({"v": ("x", da.ones(10, chunks=5))})
    delayed = to_zarr(ds, tmp_path / "v.zarr", compute=False)
    assert np.isnan(opened(tmp_path / "v.zarr").v.values).all() or not opened(tmp_path / "v.zarr").v.values.all()
    delayed.compute()
    assert opened(tmp_path / "v.zarr").v.values.tolist() == [1.0] * 10


@FORMATS
def test_modes(tmp_path: Path, zarr_format: Any) -> None:
    """Each mode keeps, replaces or changes existing data as documented."""
    path = tmp_path / "m.zarr"
    first = xr.Dataset({"a": ("x", [1, 2, 3])})
    to_zarr(first, path, zarr_format=zarr_format)
    with pytest.raises(zarr.errors.ContainsNodeError):
        to_zarr(first, path, zarr_format=zarr_format)
    to_zarr(xr.Dataset({"b": ("x", [4, 5, 6])}), path, "a")
    assert set(opened(path).variables) == {"a", "b"}
    to_zarr(xr.Dataset({"a": ("x", [7, 8, 9])}), path, "r+")
    assert opened(path).a.values.tolist() == [7, 8, 9]
    with pytest.raises(ValueError, match="mode='r\\+'"):
        to_zarr(xr.Dataset({"c": ("x", [7, 8, 9])}), path, "r+")
    with pytest.raises(ValueError, match="append_dim"):
        to_zarr(xr.Dataset({"a": ("x", [7])}), path, "a")
    to_zarr(xr.Dataset({"c": ("y", [1])}), path, "w", zarr_format=zarr_format)
    assert set(opened(path).variables) == {"c"}


@FORMATS
def test_append(tmp_path: Path, zarr_format: Any) -> None:
    """Appended times have the units of the store."""
    path = tmp_path / "air.zarr"
    whole = air(20)
    to_zarr(
        whole.isel(time=slice(0, 30)),
        path,
        zarr_format=zarr_format,
        encoding={"air": whole.air.encoding | {"chunks": (7, 25, 53)}},
    )
    to_zarr(whole.isel(time=slice(30, None)).drop_vars("step"), path, append_dim="time")
    close_to(opened(path), whole)
    with pytest.raises(ValueError, match="append_dim"):
        to_zarr(whole, path, append_dim="height")


def days(*numbers: int) -> xr.Dataset:
    """Returns a dataset with a value for each of these days."""
    return xr.Dataset({"rain": ("day", [n / 2 for n in numbers])}, coords={"day": list(numbers)})


def seen_by_all(path: Path, group: str | None = None) -> xr.Dataset:
    """Returns the dataset that readers see through consolidated metadata: Zarrox, and xarray with zarr-python."""
    ours, theirs = (
        xr.open_dataset(path, engine=engine, group=group, consolidated=True).load() for engine in (ENGINE, "zarr")
    )
    xr.testing.assert_identical(ours, theirs)
    return theirs


#: Second writes, with the days at the root afterwards.
WRITES: dict[str, tuple[Callable[[Path], Any], list[int]]] = {
    "append": (lambda path: to_zarr(days(3, 4), path, append_dim="day"), [1, 2, 3, 4]),
    "unconsolidated": (lambda path: to_zarr(days(3), path, append_dim="day", consolidated=False), [1, 2, 3]),
    "what grows": (lambda path: to_zarr(days(3), path, "a-", append_dim="day", consolidated=False), [1, 2, 3]),
    "more": (lambda path: to_zarr(days(1, 2).rename(rain="snow"), path, "a", consolidated=False), [1, 2]),
    "attributes": (lambda path: to_zarr(days(1, 2).assign_attrs(t="t"), path, "a", consolidated=False), [1, 2]),
    "new group": (lambda path: to_zarr(days(5), path, "a", group="new/group", consolidated=False), [1, 2]),
    "below": (lambda path: to_zarr(days(3), path, append_dim="day", group="g", consolidated=False), [1, 2]),
}


@FORMATS
@pytest.mark.parametrize("write", WRITES)
def test_every_reader_sees_what_was_written(tmp_path: Path, zarr_format: Any, write: str) -> None:
    """Every kind of write updates the consolidated metadata of xarray and zarr-python."""
    path = tmp_path / "rain.zarr"
    days(1, 2).to_zarr(path, zarr_format=zarr_format, consolidated=False)
    days(1, 2).to_zarr(path, group="g", mode="a", zarr_format=zarr_format, consolidated=False)
    pytest.importorskip("zarr").consolidate_metadata(str(path))
    second, expected = WRITES[write]
    second(path)
    found, below = seen_by_all(path), seen_by_all(path, "g")
    assert found.day.values.tolist() == expected
    assert below.day.values.tolist() == ([1, 2, 3] if write == "below" else [1, 2])
    assert ("snow" in found) == (write == "more")
    assert found.attrs == ({"t": "t"} if write == "attributes" else {})
    if write == "new group":
        assert seen_by_all(path, "new/group").day.values.tolist() == [5]


@FORMATS
@pytest.mark.parametrize("place", ["group", "array", "opened with consolidated metadata"])
def test_every_reader_sees_arrays_that_grew(tmp_path: Path, zarr_format: Any, place: str) -> None:
    """Consolidated metadata is updated even if the array was opened by its own path."""
    path = tmp_path / "rain.zarr"
    days(1, 2).to_zarr(path, zarr_format=zarr_format, consolidated=True)
    for name in ("rain", "day"):
        if place == "array":
            array = zarr.open_array(path / name, mode="r+")
        else:
            array = zarr.open_group(path, mode="r+", use_consolidated=place != "group" or None)[name]
        array.append(np.array([3, 4], dtype=array.dtype))
        array.attrs["note"] = "longer"
        array.resize(3)
        assert array.shape == (3,)
    found = seen_by_all(path)
    assert found.day.values.tolist() == [1, 2, 3]
    assert found.rain.values.tolist() == [0.5, 1, 3]
    assert found.rain.attrs == {"note": "longer"}


def test_what_cannot_be_brought_up_to_date_is_warned_of(tmp_path: Path) -> None:
    """The change is stored, and the warning names the command."""
    path = tmp_path / "rain.zarr"
    to_zarr(days(1, 2), path, zarr_format=2)
    (path / ".zmetadata").write_text("{")
    with pytest.warns(zarr.errors.ZarrUserWarning, match=f"`zarrox consolidate {path}`"):
        zarr.open_group(path, mode="r+").create_group("new")
    assert "new" in zarr.open_group(path, mode="r")


def test_append_of_times_between_the_units(tmp_path: Path) -> None:
    """Appended hours are not truncated to the whole days of the store."""
    path = tmp_path / "t.zarr"
    days = xr.Dataset(coords={"time": pd.date_range("2000-01-01", periods=3)})
    to_zarr(days, path, encoding={"time": {"units": "days since 2000-01-01", "dtype": "int64"}})
    to_zarr(days.assign_coords(time=days.time + np.timedelta64(3, "D")), path, append_dim="time")
    with pytest.raises(ValueError, match="time"):
        to_zarr(days.assign_coords(time=days.time + np.timedelta64(150, "h")), path, append_dim="time")
    np.testing.assert_array_equal(opened(path).time.values, pd.date_range("2000-01-01", periods=6).values)


def test_append_leaves_others_alone(tmp_path: Path) -> None:
    """``a-`` writes only arrays that grow."""
    path = tmp_path / "a.zarr"
    first = xr.Dataset({"a": ("x", [1, 2]), "b": ("y", [1])})
    to_zarr(first, path)
    to_zarr(xr.Dataset({"a": ("x", [3]), "b": ("y", [9])}), path, "a-", append_dim="x")
    assert opened(path).a.values.tolist() == [1, 2, 3]
    assert opened(path).b.values.tolist() == [1]


def test_a_wrong_append_changes_nothing(tmp_path: Path) -> None:
    """Data that does not fit is detected before any array grows."""
    path = tmp_path / "a.zarr"
    to_zarr(xr.Dataset({"a": (("x", "y"), np.ones((2, 3))), "b": (("x", "z"), np.ones((2, 4)))}), path)
    with pytest.raises(ValueError, match="'b'"):
        to_zarr(
            xr.Dataset({"a": (("x", "y"), np.ones((1, 3))), "b": (("x", "z"), np.ones((1, 5)))}), path, append_dim="x"
        )
    assert opened(path).sizes == {"x": 2, "y": 3, "z": 4}


@FORMATS
@pytest.mark.parametrize("region", ["auto", {"time": slice(10, 30)}, {"time": "auto"}], ids=str)
def test_region(tmp_path: Path, zarr_format: Any, region: Any) -> None:
    """A region is written at its position."""
    path = tmp_path / "air.zarr"
    whole = air().drop_vars(["step", "station"])
    to_zarr(whole.assign(air=whole.air * np.nan), path, zarr_format=zarr_format, encoding={"air": whole.air.encoding})
    part = whole.isel(time=slice(10, 30))
    to_zarr(part, path, region=region)
    found = opened(path)
    np.testing.assert_allclose(found.air[10:30].values, part.air.values, atol=0.006)
    assert np.isnan(found.air[:10].values).all()
    assert np.isnan(found.air[30:].values).all()
    with pytest.raises(ValueError, match="region"):
        to_zarr(part, path, region={"height": slice(0, 1)})


@FORMATS
def test_encodings(tmp_path: Path, zarr_format: Any) -> None:
    """Chunks, codecs and fill values are stored, and unknown encodings are rejected."""
    path = tmp_path / "e.zarr"
    ds = xr.Dataset({"a": ("x", np.arange(100.0))})
    codec = v2.Zstd(level=7) if zarr_format == 2 else zarr.codecs.ZstdCodec(level=7)
    to_zarr(
        ds,
        path,
        zarr_format=zarr_format,
        encoding={"a": {"chunks": (30,), "compressors": (codec,), "_FillValue": -1.0}},
    )
    found = opened(path)
    assert found.a.encoding["chunks"] == (30,)
    assert found.a.encoding["preferred_chunks"] == {"x": 30}
    assert len(found.a.encoding["compressors"]) == 1
    assert found.a.encoding["_FillValue"] == -1.0
    # A dataset that was read keeps its encoding.
    to_zarr(found, tmp_path / "again.zarr", zarr_format=zarr_format)
    again = opened(tmp_path / "again.zarr")
    assert again.a.encoding["chunks"] == (30,)
    assert str(again.a.encoding["compressors"]) == str(found.a.encoding["compressors"])
    # The encoding is also kept in another format, except for members that the format does not support.
    other = 5 - zarr_format
    to_zarr(found, tmp_path / "other.zarr", zarr_format=other)
    xr.testing.assert_equal(opened(tmp_path / "other.zarr"), ds)
    assert opened(tmp_path / "other.zarr").a.encoding["chunks"] == (30,)
    with pytest.raises(ValueError, match="zlib"):
        to_zarr(ds, tmp_path / "wrong.zarr", encoding={"a": {"zlib": True}})
    with pytest.raises(ValueError, match="'b'"):
        to_zarr(ds, tmp_path / "wrong.zarr", encoding={"b": {}})
    with pytest.raises(ValueError, match="encoding"):
        to_zarr(ds, path, "a", encoding={"a": {"chunks": (5,)}})


@FORMATS
def test_types(tmp_path: Path, zarr_format: Any) -> None:
    """Data types other than numbers are preserved."""
    ds = xr.Dataset(
        {
            "text": ("x", np.array(["a", "é€", ""], dtype=object)),
            "fixed": ("x", np.array(["a", "é€", ""])),
            "bytes": ("x", np.array([b"a", b"bc", b""])),
            "flag": ("x", [True, False, True]),
            "when": ("x", np.array(["2000-01-01", "2000-01-02T03:04:05", "NaT"], dtype="M8[ns]")),
            "complex": ("x", np.array([1 + 2j, np.nan, 0])),
        }
    )
    to_zarr(ds, tmp_path / "t.zarr", zarr_format=zarr_format)
    found = opened(tmp_path / "t.zarr").load()
    for name in ds.variables:
        assert found[name].values.tolist() == ds[name].values.tolist() or name in ("when", "complex")
    np.testing.assert_array_equal(found.when.values, ds.when.values)
    np.testing.assert_array_equal(found.complex.values, ds.complex.values)
    assert found.flag.dtype == bool
    xr.testing.assert_identical(found, xr.open_dataset(tmp_path / "t.zarr", engine="zarr").load())


@pytest.mark.parametrize("shape", [(25,), ()], ids=["list", "one"])
@pytest.mark.parametrize("dask", [None, {}], ids=["lazy", "dask"])
def test_text_keeps_its_type_and_its_chunks(tmp_path: Path, shape: tuple[int, ...], dask: Any) -> None:
    """Text in format 3 has the type and the chunks that xarray's own engine gives it."""
    path = tmp_path / "t.zarr"
    array = zarr.create_array(
        path / "t", shape=shape, chunks=(10,) * len(shape), dtype=str, zarr_format=3, dimension_names=["x"] * len(shape)
    )
    array[...] = np.array([f"t{n}é" for n in range(array.size)], dtype=object).reshape(shape)
    zarr.open_group(path, mode="a", zarr_format=3)
    found, theirs = (xr.open_dataset(path, engine=engine, chunks=dask).t for engine in (ENGINE, "zarr"))
    assert found.dtype == theirs.dtype == array.dtype
    assert found.chunks == theirs.chunks == (((10, 10, 5),) if dask is not None and shape else None)
    for name in ("chunks", "preferred_chunks", "dtype"):
        assert found.encoding[name] == theirs.encoding[name]
    assert found.encoding["chunks"] == (10,) * len(shape)
    assert found._in_memory == theirs._in_memory
    xr.testing.assert_identical(found.load(), theirs.load())
    to_zarr(found.to_dataset(), tmp_path / "again.zarr", zarr_format=3)
    again = zarr.open_group(tmp_path / "again.zarr", mode="r")["t"]
    assert (again.dtype, again.chunks) == (array.dtype, (10,) * len(shape))


@FORMATS
def test_booleans_as_numbers(tmp_path: Path, zarr_format: Any) -> None:
    """Booleans are stored as integers if the encoding requests integers, as in netCDF."""
    ds = xr.Dataset({"flag": ("x", [True, False])})
    to_zarr(ds, tmp_path / "f.zarr", zarr_format=zarr_format, encoding={"flag": {"dtype": "int8"}})
    assert zarr.open_group(tmp_path / "f.zarr", mode="r")["flag"].dtype == np.int8
    assert opened(tmp_path / "f.zarr").flag.values.tolist() == [1, 0]


def test_what_netcdf_had(tmp_path: Path) -> None:
    """Encodings of a netCDF file without an equivalent in Zarr are dropped."""
    air(1).drop_vars("step").to_netcdf(tmp_path / "air.nc", engine="netcdf4")
    with xr.open_dataset(tmp_path / "air.nc", engine="netcdf4") as ds:
        assert "zlib" in ds.air.encoding
        to_zarr(ds, tmp_path / "air.zarr")
        close_to(opened(tmp_path / "air.zarr"), ds)


@pytest.mark.parametrize("dimensions", ["both", "netCDF's"])
def test_what_netcdf_writes_as_zarr(tmp_path: Path, dimensions: str) -> None:
    """Arrays of the netCDF library, which stores dimension names in two conventions, are read."""
    path = tmp_path / "nc.zarr"
    with netCDF4.Dataset(f"{path.as_uri()}#mode=nczarr,file", "w") as file:
        file.title = "t"
        file.createDimension("x", 3)
        file.createVariable("v", "f4", ("x",))[:] = [1, 2, 3]
    if dimensions != "both":
        del zarr.open_group(path)["v"].attrs["_ARRAY_DIMENSIONS"]
    found = opened(path)
    assert found.attrs == {"title": "t"}
    assert found.v.dims == ("x",)
    assert found.v.attrs == {}
    assert found.v.values.tolist() == [1, 2, 3]


@FORMATS
@pytest.mark.parametrize("mask", [None, False, True])
def test_fill_values_as_missing(tmp_path: Path, zarr_format: Any, mask: bool | None) -> None:
    """By default the fill value stands for missing values in format 2, and not in format 3."""
    root = zarr.open_group(tmp_path / "f.zarr", mode="w", zarr_format=zarr_format)
    options: dict[str, Any] = {"dimension_names": ["x"]} if zarr_format == 3 else {}
    array = root.create_array("a", shape=(3,), chunks=(1,), dtype="i4", fill_value=7, **options)
    if zarr_format == 2:
        array.attrs["_ARRAY_DIMENSIONS"] = ["x"]
    array[:2] = [7, 8]
    found = opened(tmp_path / "f.zarr", use_zarr_fill_value_as_mask=mask).a
    masked = mask if mask is not None else zarr_format == 2
    np.testing.assert_array_equal(found.values, [np.nan, 8, np.nan] if masked else [7, 8, 7])


def test_groups_and_trees(tmp_path: Path) -> None:
    """A group is opened by its path, and all groups are opened as a tree."""
    path = tmp_path / "tree.zarr"
    to_zarr(xr.Dataset(attrs={"level": 0}), path)
    to_zarr(xr.Dataset({"a": ("x", [1])}), path, "a", group="one")
    to_zarr(xr.Dataset({"b": ("x", [2])}), path, "a", group="one/two")
    assert opened(path, group="one/two").b.item() == 2
    tree = xr.open_datatree(path, engine=ENGINE)
    assert set(tree.groups) == {"/", "/one", "/one/two"}
    assert tree["one/two"].b.item() == 2
    below = xr.open_datatree(path, engine=ENGINE, group="one")
    assert set(below.groups) == {"/", "/two"}
    theirs = xr.open_datatree(path, engine="zarr", consolidated=False)
    xr.testing.assert_identical(tree.load(), theirs.load())


@pytest.mark.parametrize("kind", ["path", "text", "mapping", "store", "zip", "url"])
def test_places(tmp_path: Path, kind: str) -> None:
    """Every kind of store is accepted."""
    places: dict[str, Any] = {
        "path": tmp_path / "a.zarr",
        "text": str(tmp_path / "a.zarr"),
        "mapping": {},
        "store": v2.MemoryStore(),
        "zip": str(tmp_path / "a.zip"),
        "url": (tmp_path / "a.zarr").as_uri(),
    }
    to_zarr(air(1), places[kind])
    close_to(opened(places[kind]), air(1))


def test_pickle(tmp_path: Path) -> None:
    """Lazy data sets can be pickled for other processes."""
    to_zarr(air(1), tmp_path / "air.zarr")
    lazy = opened(tmp_path / "air.zarr")
    copy = pickle.loads(pickle.dumps(lazy))
    assert not copy.air._in_memory
    xr.testing.assert_identical(copy.load(), lazy.load())


def test_arrays_without_names_of_dimensions(tmp_path: Path) -> None:
    """The message names the array and the remedy."""
    root = zarr.open_group(tmp_path / "n.zarr", mode="w")
    root.create_array("a/b", shape=(2, 2), dtype="f8")
    with pytest.raises(ValueError, match="/a/b.*_ARRAY_DIMENSIONS"):
        opened(tmp_path / "n.zarr", group="a")


def test_an_array_is_no_dataset(tmp_path: Path) -> None:
    """Opening an array as a dataset is an error, which says that it is an array."""
    zarr.save_array(tmp_path / "a.zarr", np.ones(3))
    with pytest.raises(zarr.errors.ContainsArrayError, match="dataset"):
        opened(tmp_path / "a.zarr")


def test_nothing_there(tmp_path: Path) -> None:
    """A missing hierarchy is an error, like a missing file."""
    with pytest.raises(FileNotFoundError):
        opened(tmp_path / "missing.zarr")


def test_the_engine_is_found_by_endings() -> None:
    """The engine recognises the suffixes of hierarchies."""
    engine = ZarroxBackendEntrypoint()
    assert engine.guess_can_open("data/a.zarr/")
    assert engine.guess_can_open(Path("a.zarr"))
    assert not engine.guess_can_open("a.nc")
    assert not engine.guess_can_open(b"CDF")
    assert all(
        point.load() is ZarroxBackendEntrypoint for point in entry_points(group="xarray.backends", name="zarrox")
    )
