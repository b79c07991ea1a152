"""Each parameter of ``to_zarr`` and each key of an encoding: Zarrox stores the same as xarray's own engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import numcodecs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
import zarr.codecs

from zarrox.xarray import to_zarr

FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::RuntimeWarning")


def weather(start: int = 0) -> xr.Dataset:
    """Returns variables of floats, integers, booleans, times, durations and text, with coordinates of dimensions and
    others."""
    rng = np.random.default_rng(start)
    values = np.round(rng.normal(280, 10, size=(4, 6)), 1)
    values[0, 0] = np.nan
    return xr.Dataset(
        {
            "t": (("time", "x"), values, {"units": "K"}),
            "n": (("time",), np.arange(4, dtype="i2")),
            "wet": (("time",), np.array([True, False, True, True])),
            "name": (("x",), np.array(list("abcdef"))),
            "text": (("x",), np.array(["", "é", "b", "cc", "d", "e"], dtype=object)),
            "step": ((), np.timedelta64(6, "h").astype("m8[ns]")),
        },
        coords={
            "time": pd.date_range("2000", periods=4) + pd.Timedelta(days=4 * start),
            "x": np.linspace(0, 1, 6),
            "height": ("x", np.arange(6.0) * 100),
        },
        attrs={"title": "weather", "version": np.int64(3), "bounds": np.array([1.5, 2.5])},
    )


def pieces(start: int = 0) -> xr.Dataset:
    """Returns the same variables as Dask arrays."""
    return weather(start).chunk({"time": 2, "x": 3})


def stored(path: Path) -> dict[str, Any]:
    """Returns the properties of stored arrays, and the attributes."""
    root = zarr.open_group(path, mode="r", use_consolidated=False)
    found: dict[str, Any] = {"/": dict(root.attrs)}
    for name, node in root.members(max_depth=None):
        found[name] = dict(node.attrs)
        if isinstance(node, zarr.Array):
            fill = np.asarray(node.fill_value)
            found[name] |= {
                "the shape": node.shape,
                "the chunks": (node.chunks, node.shards),
                "the type": node.dtype,
                "the fill value": str(fill),
                "the codecs": str((node.filters, node.compressors)),
                "the names": getattr(node.metadata, "dimension_names", None) or (),
            }
    return found


def same(ours: Path, theirs: Path, group: str | None = None, codecs_of: str | None = None) -> None:
    """Compares the stored arrays, and the datasets that both engines read."""
    found, expected = stored(ours), stored(theirs)
    for name, members in (*found.items(), *expected.items()):
        if name != codecs_of:
            # Without an encoding, each library has its own default codecs.
            members.pop("the codecs", None)
    for name in expected:
        assert found[name] == expected[name], name
    assert found.keys() == expected.keys()
    for engine in ("zarr", "zarrox"):
        options: dict[str, Any] = {"engine": _engine(engine), "group": group, "consolidated": False}
        one, other = (xr.open_dataset(path, **options).load() for path in (ours, theirs))
        xr.testing.assert_identical(one, other)


def _engine(name: str) -> Any:
    from zarrox.xarray import ZarroxBackendEntrypoint

    return name if name == "zarr" else ZarroxBackendEntrypoint


#: Encodings of one variable, with the formats that support them.
ENCODINGS: dict[str, tuple[str, Callable[[], dict[str, Any]], tuple[int, ...]]] = {
    "chunks": ("t", lambda: {"chunks": (3, 2)}, (2, 3)),
    "one length of chunks": ("n", lambda: {"chunks": (3,)}, (2, 3)),
    "automatic chunks": ("t", lambda: {"chunks": "auto"}, (2, 3)),
    "automatic chunks of text": ("text", lambda: {"chunks": "auto"}, (2, 3)),
    "automatic chunks of one value": ("step", lambda: {"chunks": "auto"}, (2, 3)),
    "automatic chunks and shards": ("t", lambda: {"chunks": "auto", "shards": "auto"}, (3,)),
    "automatic chunks in one shard": ("t", lambda: {"chunks": "auto", "shards": -1}, (3,)),
    "no chunks": ("t", lambda: {"chunks": None}, (2, 3)),
    "an empty list of chunks": ("t", lambda: {"chunks": []}, (2, 3)),
    "chunks that are false": ("t", lambda: {"chunks": False}, (2, 3)),
    "chunks of an iterator": ("t", lambda: {"chunks": iter((3, 2))}, (2, 3)),
    "whole dimensions": ("t", lambda: {"chunks": (-1, 2)}, (2, 3)),
    "one length for all": ("t", lambda: {"chunks": 3}, (2, 3)),
    "shards": ("t", lambda: {"chunks": (1, 2), "shards": (2, 4)}, (3,)),
    "one length of shards": ("t", lambda: {"chunks": (2, 2), "shards": 4}, (3,)),
    "automatic shards": ("t", lambda: {"chunks": (2, 2), "shards": "auto"}, (3,)),
    "shards with the index at the start": (
        "t", lambda: {"chunks": (2, 2), "shards": {"shape": (4, 4), "index_location": "start"}}, (3,)
    ),
    "automatic compression": ("t", lambda: {"compressors": "auto"}, (2, 3)),
    "automatic filters": ("t", lambda: {"filters": "auto"}, (2, 3)),
    "automatic serializer": ("t", lambda: {"serializer": "auto"}, (2, 3)),
    "compressors as in metadata": (
        "t", lambda: {"compressors": [{"name": "gzip", "configuration": {"level": 2}}]}, (3,)
    ),
    "compressors of an iterator": ("t", lambda: {"compressors": iter([zarr.codecs.GzipCodec(level=3)])}, (3,)),
    "compressors that the array completes": ("t", lambda: {"compressors": [zarr.codecs.BloscCodec(cname="lz4")]}, (3,)),
    "filters of 3": ("t", lambda: {"filters": [zarr.codecs.TransposeCodec(order=(1, 0))]}, (3,)),
    "fill_value of floats": ("t", lambda: {"fill_value": -7.5}, (3,)),
    "fill_value that is not a number": ("t", lambda: {"fill_value": "NaN"}, (3,)),
    "no shards": ("t", lambda: {"chunks": (1, 2), "shards": None}, (2, 3)),
    "compressors of 2": ("t", lambda: {"compressors": (numcodecs.Zlib(3),)}, (2,)),
    "compressors of 3": ("t", lambda: {"compressors": (zarr.codecs.GzipCodec(level=3),)}, (3,)),
    "no compressors": ("t", lambda: {"compressors": None}, (2, 3)),
    "an empty list of compressors": ("t", lambda: {"compressors": ()}, (2, 3)),
    "filters of 2": ("t", lambda: {"filters": [numcodecs.Delta("<f8")], "compressors": [numcodecs.Zstd()]}, (2,)),
    "no filters": ("t", lambda: {"filters": None}, (2, 3)),
    "serializer": ("t", lambda: {"serializer": zarr.codecs.BytesCodec(endian="big")}, (3,)),
    "fill_value": ("n", lambda: {"fill_value": -7}, (3,)),
    "write_empty_chunks": ("n", lambda: {"write_empty_chunks": True}, (2, 3)),
    "no empty chunks": ("n", lambda: {"write_empty_chunks": False}, (2, 3)),
    "chunk_key_encoding": ("n", lambda: {"chunk_key_encoding": {"name": "v2", "separator": "/"}}, (2, 3)),
    "dtype": ("n", lambda: {"dtype": "i4"}, (2, 3)),
    "dtype of Booleans": ("wet", lambda: {"dtype": "i1"}, (2, 3)),
    "scale_factor": ("t", lambda: {"dtype": "i2", "scale_factor": 0.1, "_FillValue": -1}, (2, 3)),
    "add_offset": ("t", lambda: {"dtype": "i2", "scale_factor": 0.1, "add_offset": 280.0, "_FillValue": -1}, (2, 3)),
    "_FillValue": ("t", lambda: {"_FillValue": -9.0}, (2, 3)),
    "_FillValue of integers": ("n", lambda: {"_FillValue": -9}, (2, 3)),
    "no _FillValue": ("t", lambda: {"_FillValue": None}, (2, 3)),
    "no _FillValue of a coordinate": ("x", lambda: {"_FillValue": None}, (2, 3)),
    "missing_value": ("t", lambda: {"missing_value": -9.0}, (2, 3)),
    "units": ("time", lambda: {"units": "hours since 1999-01-01"}, (2, 3)),
    "calendar": ("time", lambda: {"units": "days since 1999-01-01", "calendar": "noleap"}, (2, 3)),
    "type of times": ("time", lambda: {"units": "days since 1999-01-01", "dtype": "f8"}, (2, 3)),
    "units of durations": ("step", lambda: {"units": "minutes"}, (2, 3)),
    "_Unsigned": ("n", lambda: {"_Unsigned": "true", "dtype": "i1", "_FillValue": -1}, (2, 3)),
    "characters": ("name", lambda: {"dtype": "S1"}, (2, 3)),
    "preferred_chunks": ("t", lambda: {"preferred_chunks": {"x": 2}}, (2, 3)),
}


@FORMATS
@pytest.mark.parametrize("dask", [False, True], ids=["memory", "dask"])
@pytest.mark.parametrize("where", ["argument", "variable"])
@pytest.mark.parametrize("case", ENCODINGS)
def test_every_encoding(tmp_path: Path, zarr_format: Any, dask: bool, where: str, case: str) -> None:
    """Each encoding is given as an argument, and as an attribute of the variable."""
    name, encoding, formats = ENCODINGS[case]
    if zarr_format not in formats:
        return
    ours, theirs = (pieces() if dask else weather() for _ in range(2))
    if dask:
        # If the encoding has lengths of chunks, xarray's engine requires blocks of these lengths.
        ours, theirs = (each.chunk(-1) for each in (ours, theirs))
    asked: list[dict[str, Any]] = [{}, {}]
    if where == "argument":
        asked = [{"encoding": {name: encoding()}} for _ in asked]
    else:
        ours[name].encoding, theirs[name].encoding = encoding(), encoding()
    to_zarr(ours, tmp_path / "ours", zarr_format=zarr_format, consolidated=False, **asked[0])
    theirs.to_zarr(tmp_path / "theirs", zarr_format=zarr_format, consolidated=False, **asked[1])
    same(tmp_path / "ours", tmp_path / "theirs", codecs_of=name if "compressors" in case or "filters of" in case else None)
    keys = {str(each.relative_to(tmp_path / "ours")) for each in (tmp_path / "ours" / name).rglob("*")}
    assert keys == {str(each.relative_to(tmp_path / "theirs")) for each in (tmp_path / "theirs" / name).rglob("*")}


#: Second writes: the dataset, and the arguments.
WRITES: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "store": (weather, {"mode": "w"}),
    "pieces": (pieces, {"mode": "w"}),
    "group": (weather, {"group": "a/b", "mode": "w"}),
    "mode a": (lambda: weather()[["n"]].rename(n="m"), {"mode": "a"}),
    "mode r+": (lambda: weather()[["t", "n"]] * 2, {"mode": "r+"}),
    "append_dim": (lambda: weather(1), {"append_dim": "time", "mode": "a-"}),
    "region": (lambda: weather()[["t", "n"]].drop_vars(["height", "x"]).isel(time=slice(1, 3)) * 2, {"region": {"time": slice(1, 3)}}),
    "region in two": (
        lambda: weather()[["t"]].isel(time=slice(1, 3), x=slice(2, 4)).drop_vars("height") * 2,
        {"region": {"time": slice(1, 3), "x": "auto"}},
    ),
    "region auto": (lambda: weather()[["t", "n"]].drop_vars(["height", "x"]).isel(time=slice(1, 3)) * 2, {"region": "auto"}),
    "region of pieces": (
        lambda: pieces()[["t"]].drop_vars(["height", "x"]).isel(time=slice(2, 4)) * 2,
        {"region": {"time": slice(2, 4)}, "safe_chunks": False},
    ),
    "write_empty_chunks": (lambda: weather()[["t", "n"]] * 0, {"mode": "w", "write_empty_chunks": True}),
    "no empty chunks": (lambda: weather()[["t", "n"]] * 0, {"mode": "w", "write_empty_chunks": False}),
    "align_chunks": (lambda: pieces().chunk(time=3), {"mode": "w", "align_chunks": True}),
    "compute": (pieces, {"mode": "w", "compute": False}),
    "chunkmanager_store_kwargs": (pieces, {"mode": "w", "chunkmanager_store_kwargs": {"return_stored": False}}),
    "consolidated": (weather, {"mode": "w", "consolidated": True}),
    "lengths of 0": (lambda: weather().isel(time=slice(0, 0)), {"mode": "w"}),
    "nothing": (lambda: xr.Dataset(attrs={"a": 1}), {"mode": "w"}),
    "an array of data": (lambda: weather().t, {"mode": "w"}),
    "an array without a name": (lambda: weather().t.rename(None), {"mode": "w"}),
    "a tree": (lambda: xr.DataTree.from_dict({"/": weather(), "/g/h": weather()[["n"]] + 1}), {"mode": "w"}),
}


@FORMATS
@pytest.mark.parametrize("case", WRITES)
def test_every_parameter(tmp_path: Path, zarr_format: Any, case: str) -> None:
    """The result of a second write is the same with both engines."""
    data, options = WRITES[case]
    asked = {"t": {"chunks": (2, 3)}, "n": {"chunks": (2,)}}
    for name in ("ours", "theirs"):
        weather().to_zarr(tmp_path / name, zarr_format=zarr_format, consolidated=False, encoding=asked)
    if "consolidated" not in options:
        options = options | {"consolidated": False}
    if options.get("mode") == "w":
        options = options | {"zarr_format": zarr_format}
    ours, theirs = data(), data()
    if isinstance(ours, xr.Dataset) and options.get("append_dim"):
        ours, theirs = (each.drop_vars(["step", "text", "name"]) for each in (ours, theirs))
    written = to_zarr(ours, tmp_path / "ours", **options)
    other = theirs.to_zarr(tmp_path / "theirs", **options)
    if options.get("compute") is False:
        written.compute()
        other.compute()
    same(tmp_path / "ours", tmp_path / "theirs", options.get("group"))
    if options["consolidated"]:
        one, two = (zarr.open_consolidated(tmp_path / name) for name in ("ours", "theirs"))
        assert set(one) == set(two)


@FORMATS
def test_a_first_append_to_lengths_of_0(tmp_path: Path, zarr_format: Any) -> None:
    """Rows are appended to a store that was created without rows."""
    empty = xr.Dataset({"v": (("t", "x"), da.zeros((0, 3), chunks=(0, 2)))})
    to_zarr(empty, tmp_path / "s", zarr_format=zarr_format, encoding={"v": {"chunks": (2, 3)}})
    for _ in range(2):
        to_zarr(xr.Dataset({"v": (("t", "x"), da.ones((3, 3), chunks=(1, 2)))}), tmp_path / "s", append_dim="t")
    found = xr.open_dataset(tmp_path / "s", engine="zarr", consolidated=False)
    assert found.v.shape == (6, 3)
    assert found.v.values.sum() == 18


@FORMATS
@pytest.mark.parametrize("mask", [None, True])
def test_attributes_that_mask(tmp_path: Path, zarr_format: Any, mask: bool | None) -> None:
    """An attribute marks missing values, even if fill values are requested as markers."""
    ds = xr.Dataset({"v": ("x", np.array([0, 100, 3]))})
    ds.to_zarr(tmp_path / "s", zarr_format=zarr_format, consolidated=False, encoding={"v": {"_FillValue": 100}})
    found, expected = (
        xr.open_dataset(tmp_path / "s", engine=_engine(engine), consolidated=False, use_zarr_fill_value_as_mask=mask)
        for engine in ("zarrox", "zarr")
    )
    xr.testing.assert_identical(found.load(), expected.load())


def test_a_dimension_without_a_name(tmp_path: Path) -> None:
    """The array and the other arrays of its group are opened."""
    root = zarr.create_group(tmp_path / "s", zarr_format=3)
    root.create_array("a", shape=(2, 3), dtype="i4", dimension_names=["x", None])
    root.create_array("b", shape=(2,), dtype="i4", dimension_names=["x"])
    found, expected = (
        xr.open_dataset(tmp_path / "s", engine=_engine(engine), consolidated=False) for engine in ("zarrox", "zarr")
    )
    assert found.a.dims == expected.a.dims == ("x", None)
    assert found.b.shape == (2,)
