"""The options of xarray's ``open_zarr`` and ``to_zarr``, trees, and coordinates that are read together."""

from __future__ import annotations

import functools
import http.server
import inspect
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import xarray as xr
import zarr as zarr_python

import zarrox as zarr
from zarrox import v2
from zarrox.xarray import ZarroxBackendEntrypoint, open_zarr, to_zarr
from zarrox.zarr3 import Store

FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])
ENGINE: Any = ZarroxBackendEntrypoint

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::RuntimeWarning")


def weather() -> xr.Dataset:
    """Returns a data set with packed values, times and a coordinate that is not a dimension."""
    values = np.arange(24.0).reshape(6, 4)
    ds = xr.Dataset(
        {"t": (("time", "x"), values, {"units": "K"})},
        coords={"time": pd.date_range("2000", periods=6), "x": [1, 2, 3, 4], "name": ("x", list("abcd"))},
    )
    ds["t"].encoding = {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -1, "chunks": (4, 2)}
    return ds


@pytest.mark.parametrize(
    ("ours", "theirs"), [(open_zarr, xr.open_zarr), (to_zarr, xr.Dataset.to_zarr), (to_zarr, xr.DataTree.to_zarr)]
)
def test_every_argument_is_there(ours: Any, theirs: Any) -> None:
    """Arguments have the names and the order of xarray's."""
    known, wanted = (list(inspect.signature(function).parameters) for function in (ours, theirs))
    assert set(wanted) - {"self", "kwargs"} <= set(known)
    positional = [name for name in wanted if name in ("store", "mode", "group", "encoding")]
    if theirs is not xr.DataTree.to_zarr:
        assert [name for name in known if name in positional] == positional


@FORMATS
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chunks": None},
        {"chunks": {"time": 3}},
        {"chunks": "auto", "overwrite_encoded_chunks": True},
        {"decode_cf": False},
        {"mask_and_scale": False},
        {"decode_times": False},
        {"decode_coords": False},
        {"drop_variables": ["name"]},
        {"consolidated": False},
        {"create_default_indexes": False},
        {"group": "below"},
        {"from_array_kwargs": {"lock": True}},
    ],
    ids=str,
)
def test_open_zarr_is_like_that_of_xarray(tmp_path: Path, zarr_format: Any, options: dict[str, Any]) -> None:
    """Each option changes the data set in the way that xarray's own engine does."""
    path = tmp_path / "w.zarr"
    weather().to_zarr(path, zarr_format=zarr_format, consolidated=False)
    weather().isel(x=slice(2)).to_zarr(path, mode="a", group="below", zarr_format=zarr_format, consolidated=True)
    ours, theirs = open_zarr(path, **options), xr.open_zarr(path, **options)
    assert set(ours.xindexes) == set(theirs.xindexes)
    assert {name: each.chunks for name, each in ours.variables.items()} == {
        name: each.chunks for name, each in theirs.variables.items()
    }
    assert ours.t.encoding.get("chunks") == theirs.t.encoding.get("chunks")
    xr.testing.assert_identical(ours.load(), theirs.load())


def test_unknown_arguments_are_refused(tmp_path: Path) -> None:
    """A misspelt option is an error."""
    to_zarr(weather(), tmp_path / "w.zarr")
    with pytest.raises(TypeError, match="consolidate_"):
        open_zarr(tmp_path / "w.zarr", consolidate_=True)  # type: ignore[call-arg]


def test_pieces_that_share_chunks_are_cut_refused_or_written(tmp_path: Path) -> None:
    """``align_chunks`` splits blocks, ``safe_chunks`` refuses them, and without both the store excludes concurrent
    writers."""
    ds = xr.Dataset({"v": ("x", da.from_array(np.arange(100), chunks=7))})
    encoding = {"v": {"chunks": (10,)}}
    with pytest.raises(ValueError, match="align_chunks=True"):
        to_zarr(ds, tmp_path / "refused.zarr", encoding=encoding, align_chunks=False)
    for name, options in {"cut": {}, "written": {"align_chunks": False, "safe_chunks": False}}.items():
        path = tmp_path / f"{name}.zarr"
        to_zarr(ds, path, encoding=encoding, **options)
        np.testing.assert_array_equal(open_zarr(path, chunks=None).v.values, np.arange(100))


#: Regions of ten elements in chunks of four, by their borders and the lengths of blocks.
REGIONS = [(0, 4, 4), (4, 10, 4), (8, 10, 2), (0, 10, 4), (2, 6, 2), (3, 4, 1), (4, 7, 3), (0, 8, 8), (8, 9, 1), (2, 10, 8)]


@pytest.mark.parametrize("mode", ["a", "r+"])
@pytest.mark.parametrize(("start", "stop", "piece"), REGIONS)
@pytest.mark.parametrize("in_pieces", [False, True], ids=["memory", "dask"])
def test_parts_of_chunks_at_the_borders_of_a_region_are_refused_where_xarray_does(
    tmp_path: Path, mode: Any, start: int, stop: int, piece: int, in_pieces: bool
) -> None:
    """With ``mode="r+"``, other writers may write beside the region, unless the values are in memory."""
    refused = []
    for name in ("ours", "theirs"):
        path = tmp_path / name
        xr.Dataset({"v": ("x", np.arange(10))}).to_zarr(path, zarr_format=3, encoding={"v": {"chunks": (4,)}})
        part = xr.Dataset({"v": ("x", np.arange(stop - start) + 50)})
        part = part.chunk(x=piece) if in_pieces else part
        write = to_zarr if name == "ours" else xr.Dataset.to_zarr
        try:
            write(part, path, mode=mode, region={"x": slice(start, stop)}, align_chunks=False)
            refused.append(False)
        except ValueError:
            refused.append(True)
    assert refused[0] == refused[1]


def test_rectilinear_chunks(tmp_path: Path) -> None:
    """The encoding and Dask have all chunk lengths, and blocks are split at the borders of chunks."""
    path = tmp_path / "r.zarr"
    root = zarr.open_group(path, mode="w", zarr_format=3)
    array = root.create_array("v", shape=(12,), chunks=[[2, 7, 3]], dtype="i4", dimension_names=["x"])
    assert open_zarr(path).v.chunks == ((2, 7, 3),)
    assert open_zarr(path).v.encoding["chunks"] == ((2, 7, 3),)
    ds = xr.Dataset({"v": ("x", da.arange(12, chunks=4, dtype="i4"))})
    to_zarr(ds, path, mode="r+")
    np.testing.assert_array_equal(array[:], np.arange(12))
    with pytest.raises(ValueError, match="share stored chunks"):
        to_zarr(ds, path, mode="r+", align_chunks=False)


def test_a_store_in_memory_and_an_array_of_data() -> None:
    """The default is a new store in memory. A data array is stored as a data set of one variable, with or without a
    name."""
    store = to_zarr(weather().t).group.store
    xr.testing.assert_identical(open_zarr(store).t.load(), weather().t)
    unnamed: dict[str, bytes] = {}
    to_zarr(xr.DataArray([1, 2], dims="x"), unnamed)
    assert xr.open_dataarray(unnamed, engine=ENGINE).name is None  # type: ignore[arg-type]


def test_an_array_of_data_keeps_the_name_of_a_dimension() -> None:
    """The variable gets another name, since the name of a dimension is reserved for its coordinates; xarray restores
    the old name."""
    store: dict[str, bytes] = {}
    named = xr.DataArray(np.arange(12).reshape(3, 4), dims=["x", "y"], name="x")
    to_zarr(named, store)
    xr.testing.assert_identical(xr.open_dataarray(store, engine=ENGINE).load(), named)  # type: ignore[arg-type]


def test_missing_names_are_key_errors_as_those_of_xarray() -> None:
    """An encoding for an unknown variable, and an array without dimension names, raise a `KeyError`."""
    for kind in (KeyError, ValueError):
        with pytest.raises(kind, match="encoding is given for"):
            to_zarr(weather(), {}, encoding={"other": {}})
        root = zarr.open_group({}, mode="w", zarr_format=3)
        root.create_array("v", shape=(3, 5), dtype="f4")
        with pytest.raises(kind, match="needs a name for each"):
            open_zarr(root.store)


def stores_of_zarr_python(path: Path) -> dict[str, Any]:
    """Returns a store of each kind that Rust accesses itself, and of some kinds that it calls back."""
    return {
        "memory": zarr_python.storage.MemoryStore(),
        "directory": zarr_python.storage.LocalStore(path / "directory"),
        "wrapper": zarr_python.storage.LoggingStore(zarr_python.storage.MemoryStore(), log_level="CRITICAL"),
        "archive": zarr_python.storage.ZipStore(path / "a.zip", mode="w"),
        "fsspec": zarr_python.storage.FsspecStore.from_url(f"memory://{path}"),
        "ours": Store(path / "ours"),
    }


@FORMATS
@pytest.mark.parametrize("kind", ["memory", "directory", "wrapper", "archive", "fsspec", "ours"])
def test_stores_of_zarr_python_are_read_and_written(tmp_path: Path, kind: str, zarr_format: Any) -> None:
    """Both engines open a data set in each of these stores."""
    store = stores_of_zarr_python(tmp_path)[kind]
    to_zarr(weather().isel(time=slice(4)), store, zarr_format=zarr_format, consolidated=False)
    to_zarr(weather().isel(time=slice(4, None)), store, append_dim="time", consolidated=False)
    with xr.open_dataset(store, engine=ENGINE) as opened:
        xr.testing.assert_identical(opened.load(), weather())
    if kind == "archive":
        # zarr-python cannot read an archive while it writes it.
        store.close()
        store = zarr_python.storage.ZipStore(tmp_path / "a.zip", mode="r")
    xr.testing.assert_identical(xr.open_zarr(store, consolidated=False).load(), weather())
    # Functions for stores accept such a store as well.
    assert v2.storage.listdir(store, "x")
    assert v2.storage.getsize(store, "x") > 0


def test_a_store_of_zarr_python_that_is_read_only_stays_so(tmp_path: Path) -> None:
    """Nothing is written to the store, whether Rust accesses it itself or calls it back."""
    to_zarr(weather(), tmp_path / "directory")
    inside = zarr_python.storage.MemoryStore()
    to_zarr(weather(), inside)
    for store in (zarr_python.storage.LocalStore(tmp_path / "directory", read_only=True), inside.with_read_only(True)):
        with pytest.raises(PermissionError):
            to_zarr(weather(), store, mode="w")
        xr.testing.assert_identical(open_zarr(store).load(), weather())


def test_options_of_dask_are_passed_on(tmp_path: Path) -> None:
    """The options reach Dask's function, which also gets a lock from xarray."""
    ds = xr.Dataset({"v": ("x", da.ones(4, chunks=2))})
    with pytest.raises(TypeError, match="lock"):
        to_zarr(ds, tmp_path / "v.zarr", chunkmanager_store_kwargs={"lock": True})


def tree() -> xr.DataTree:
    """Returns nested groups that inherit a coordinate."""
    return xr.DataTree.from_dict(
        {
            "/": xr.Dataset(coords={"x": [1, 2]}, attrs={"title": "root"}),
            "/one": xr.Dataset({"a": ("x", [3, 4])}),
            "/one/two": xr.Dataset({"b": ("y", [5.0])}, coords={"y": [6]}),
            "/empty": xr.Dataset(),
        }
    )


@FORMATS
@pytest.mark.parametrize("inherited", [False, True])
def test_trees(tmp_path: Path, zarr_format: Any, inherited: bool) -> None:
    """Zarrox and xarray's own engine read the tree that was written."""
    encoding = {"/one": {"a": {"chunks": (1,)}}}
    to_zarr(
        tree(), tmp_path / "t.zarr", zarr_format=zarr_format, encoding=encoding, write_inherited_coords=inherited
    )
    for engine in (ENGINE, "zarr"):
        found = xr.open_datatree(tmp_path / "t.zarr", engine=engine, consolidated=zarr_format == 2)
        xr.testing.assert_identical(found.load(), tree())
    root = zarr.open_group(tmp_path / "t.zarr", mode="r")
    assert root["one/a"].chunks == (1,)
    assert ("one/x" in root) == inherited


def test_trees_that_are_wrong(tmp_path: Path) -> None:
    """Encodings of unknown groups are rejected before anything is written."""
    with pytest.raises(ValueError, match="/three"):
        to_zarr(tree(), tmp_path / "t.zarr", encoding={"/three": {}})
    assert not (tmp_path / "t.zarr").exists()


class Meeting(dict[str, bytes]):
    """A store in which reads of coordinates wait until all coordinates are being read."""

    def __init__(self, values: dict[str, bytes], count: int) -> None:
        super().__init__(values)
        self.barrier = threading.Barrier(count)
        self.reads = 0

    def __getitem__(self, key: str) -> bytes:
        if key.rpartition("/")[2] == "0":
            self.reads += 1
            self.barrier.wait(timeout=20)
        return super().__getitem__(key)


def test_coordinates_are_read_at_the_same_time() -> None:
    """The coordinates of a data set, and of all groups of a tree, are read together, and each only once."""
    values: dict[str, bytes] = {}
    coords = {name: (name, np.arange(3)) for name in "abc"}
    for group in ("", "g", "g/h"):
        to_zarr(xr.Dataset(coords=coords), values, "a", group=group or None, zarr_format=2)
    ds = xr.open_dataset(Meeting(values, 3), engine=ENGINE)  # type: ignore[arg-type]
    assert ds.b.values.tolist() == [0, 1, 2]
    store = Meeting(values, 9)
    opened = xr.open_datatree(store, engine=ENGINE)  # type: ignore[arg-type]
    assert opened["g/h"].c.values.tolist() == [0, 1, 2]
    assert store.reads == 9


def test_a_damaged_coordinate_is_an_error_of_its_own() -> None:
    """The error is raised when that coordinate is used; the other coordinates are read."""
    values: dict[str, bytes] = {}
    to_zarr(xr.Dataset(coords={"a": ("a", [1, 2]), "b": ("b", [3, 4])}), values, zarr_format=2)
    values["a/0"] = b"damaged"
    with pytest.raises(Exception, match="a/0"):
        xr.open_dataset(values, engine=ENGINE)  # type: ignore[arg-type]
    found = xr.open_dataset(values, engine=ENGINE, drop_variables="a")  # type: ignore[arg-type]
    assert found.b.values.tolist() == [3, 4]


class Slow(http.server.SimpleHTTPRequestHandler):
    """A server of files that waits before each response, and records when the requests began and ended."""

    requests: ClassVar[list[tuple[float, float]]] = []

    def do_GET(self) -> None:
        """Responds after a while."""
        begun = time.monotonic()
        time.sleep(0.05)
        super().do_GET()
        self.requests.append((begun, time.monotonic()))

    def log_message(self, *_: Any) -> None:
        """Prints nothing."""


class SlowServer(http.server.ThreadingHTTPServer):
    """A server that accepts all connections of a client at once."""

    request_queue_size = 128


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[str]:
    """Returns the URL of a slow server for the files of a directory."""
    Slow.requests.clear()
    with SlowServer(("127.0.0.1", 0), functools.partial(Slow, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def rounds(requests: list[tuple[float, float]]) -> int:
    """Returns the length of the longest chain of requests that each began after the one before had ended."""
    count, last = 0, 0.0
    for begun, ended in sorted(requests, key=lambda request: request[1]):
        if begun >= last:
            count, last = count + 1, ended
    return count


def many() -> xr.Dataset:
    """Returns a dataset of small variables of several kinds."""
    numbers = {f"v{index:03}": ("x", np.arange(4) + index) for index in range(100)}
    return xr.Dataset({**numbers, "zero": ((), 7.5), "text": ("x", ["a", "b", "c", "d"])}, {"x": [1, 2, 3, 4]})


@FORMATS
def test_small_variables_in_a_remote_store_are_loaded_in_few_rounds(
    tmp_path: Path, slow: str, zarr_format: Any
) -> None:
    """Loading reads ahead: about four times as many variables each time."""
    to_zarr(many(), tmp_path / "a.zarr", zarr_format=zarr_format, consolidated=True)
    ds = xr.open_dataset(f"{slow}/a.zarr", engine=ENGINE, storage_options={"allow_http": True})
    Slow.requests.clear()
    ds["v050"].load()
    assert rounds(Slow.requests) == 1
    ds.load()
    assert rounds(Slow.requests) < 20
    xr.testing.assert_identical(ds, many())


def test_variables_that_were_read_ahead_do_not_become_stale(
    tmp_path: Path, slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are read again unless they are requested soon."""
    monkeypatch.setattr("zarrox.xarray.ahead._FRESH", 0.0)
    to_zarr(many(), tmp_path / "a.zarr", zarr_format=2)
    ds = xr.open_dataset(f"{slow}/a.zarr", engine=ENGINE, storage_options={"allow_http": True})
    for name in ("v000", "v001", "v002"):
        ds[name].load()
    zarr.open_array(tmp_path / "a.zarr/v003", mode="r+")[:] = 9
    assert ds["v003"].values.tolist() == [9, 9, 9, 9]
