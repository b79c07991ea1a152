"""`zarrox.dask`: reading and writing of Dask arrays, and copies of arrays by threads and processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

import zarrox as zarr
import zarrox.dask

FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])
VALUES = np.arange(120_000, dtype="i4").reshape(300, 400)


@pytest.fixture(scope="module")
def cluster(workers: LocalCluster) -> Iterator[Client]:
    """Returns a client of the workers that is used only by calls with ``client=``."""
    with Client(workers, set_as_default=False) as client:
        yield client


@FORMATS
def test_what_is_written_is_read(tmp_path: Path, zarr_format: Any) -> None:
    """A new array has the largest chunks of the Dask array. It is read by its path, and lazily."""
    lazy = da.from_array(VALUES, chunks=(70, 100))
    zarrox.dask.to_zarr(lazy, tmp_path / "z.zarr", component="a/b", zarr_format=zarr_format)
    found = zarrox.dask.from_zarr(tmp_path / "z.zarr", component="a/b")
    assert found.chunks == ((70, 70, 70, 70, 20), (100,) * 4)
    np.testing.assert_array_equal(found[::7, [5, 3]].compute(), VALUES[::7][:, [5, 3]])
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "z.zarr/a/b", mode="r")[:], VALUES)


def test_what_is_there_stays(tmp_path: Path) -> None:
    """An existing array is replaced only with ``mode="w"`` or ``overwrite=True``."""
    zeros = da.zeros(4, chunks=2)
    zarrox.dask.to_zarr(zeros, tmp_path / "z.zarr")
    with pytest.raises(zarr.errors.ContainsNodeError):
        zarrox.dask.to_zarr(zeros, tmp_path / "z.zarr")
    zarrox.dask.to_zarr(zeros + 1, tmp_path / "z.zarr", mode="w")
    assert zarrox.dask.from_zarr(tmp_path / "z.zarr").sum().compute() == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"region": (slice(2),)}, "pass the array"),
        ({"mode": "r"}, "mode must be 'a', 'w' or 'w-'"),
    ],
    ids=str,
)
def test_bad_arguments(tmp_path: Path, arguments: Any, message: str) -> None:
    """Each invalid argument is rejected before anything is created."""
    with pytest.raises(ValueError, match=message):
        zarrox.dask.to_zarr(da.zeros(4), tmp_path / "z.zarr", **arguments)
    assert not (tmp_path / "z.zarr").exists()


def test_words_of_dasks_own_function(tmp_path: Path) -> None:
    """``overwrite`` deletes, ``name`` is the component, and one slice is a region."""
    zarrox.dask.to_zarr(da.zeros(4, chunks=2), tmp_path / "z.zarr", name="a")
    zarrox.dask.to_zarr(da.ones(4, chunks=2), tmp_path / "z.zarr", component="a", overwrite=True)
    array = zarr.open_array(tmp_path / "z.zarr", path="a")
    assert array[:].sum() == 4
    zarrox.dask.to_zarr(da.zeros(3, chunks=2), array, region=slice(0, 3))
    assert array[:].tolist() == [0, 0, 0, 1]
    for wrong in ({"overwrite": True, "mode": "w-"}, {"component": "a", "name": "b"}):
        with pytest.raises(ValueError, match="give one of them"):
            zarrox.dask.to_zarr(da.ones(4), tmp_path / "z.zarr", **wrong)
    with pytest.raises(ValueError, match="exists already"):
        zarrox.dask.to_zarr(da.ones(4), array, overwrite=True)
    assert array[:].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,)], ids=str)
@pytest.mark.parametrize("layout", [{}, {"shards": 4}], ids=str)
def test_dimensions_of_length_0(tmp_path: Path, shape: tuple[int, ...], layout: dict[str, Any]) -> None:
    """Arrays with dimensions of length 0 are read, written and copied."""
    sizes = {name: (length,) * len(shape) for name, length in layout.items()}
    zarr.create_array(tmp_path / "z", shape=shape, chunks=(2,) * len(shape), dtype="i4", **sizes)
    lazy = zarrox.dask.from_zarr(tmp_path / "z")
    assert lazy.shape == lazy.compute().shape == shape
    zarrox.dask.to_zarr(lazy, tmp_path / "y")
    zarrox.dask.rechunk(tmp_path / "z", tmp_path / "y")
    zarrox.dask.copy(tmp_path / "z", tmp_path / "x")
    assert zarr.open_array(tmp_path / "y").shape == zarr.open_array(tmp_path / "x").shape == shape


@pytest.mark.parametrize("inline", [False, True])
def test_data_does_not_delete_what_it_is_read_from(tmp_path: Path, inline: bool) -> None:
    """The old array would be deleted before it is read, so the write is rejected."""
    zarrox.dask.to_zarr(da.ones(4, chunks=2), tmp_path / "z")
    lazy = zarrox.dask.from_zarr(tmp_path / "z", inline_array=inline) + 1
    with pytest.raises(ValueError, match="read from"):
        zarrox.dask.to_zarr(lazy, tmp_path / "z", mode="w")
    assert zarr.open_array(tmp_path / "z")[:].sum() == 4


def test_unknown_lengths_are_refused(tmp_path: Path) -> None:
    """The message names the function to call."""
    lazy = da.from_array(VALUES[:, 0], chunks=50)
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        zarrox.dask.to_zarr(lazy[lazy > 3], tmp_path / "z.zarr")


def test_later_and_stored(tmp_path: Path) -> None:
    """``compute=False`` writes when the result is computed, and ``return_stored`` returns the stored array."""
    later = zarrox.dask.to_zarr(da.ones(4, chunks=2), tmp_path / "z.zarr", compute=False)
    assert zarr.open_array(tmp_path / "z.zarr", mode="r")[:].sum() == 0
    later.compute()
    assert zarr.open_array(tmp_path / "z.zarr", mode="r")[:].sum() == 4
    stored = zarrox.dask.to_zarr(da.ones(4, chunks=2), tmp_path / "y.zarr", return_stored=True)
    assert stored.sum().compute() == 4


@pytest.mark.parametrize("layout", [{}, {"shards": (128, 128)}, {"chunks": [[50, 250], 64]}], ids=str)
def test_pieces_that_share_chunks_need_no_lock(cluster: Client, tmp_path: Path, layout: dict[str, Any]) -> None:
    """Blocks that share chunks are written in threads and in processes, also to a region."""
    options: dict[str, Any] = {"chunks": (64, 64), "dtype": "i4"} | layout
    target = zarr.create_array(tmp_path / "t.zarr", shape=VALUES.shape, **options)
    lazy = da.from_array(VALUES, chunks=(30, 30))
    zarrox.dask.to_zarr(lazy, target)
    np.testing.assert_array_equal(target[:], VALUES)
    with cluster.as_current():
        zarrox.dask.to_zarr(lazy[:200, :300] + 1, target, region=(slice(7, 207), slice(9, 309)))
    expected = VALUES.copy()
    expected[7:207, 9:309] = VALUES[:200, :300] + 1
    np.testing.assert_array_equal(target[:], expected)


def test_chunks_that_differ_in_length_are_those_of_dask(tmp_path: Path) -> None:
    """Dask reads each chunk once."""
    z = zarr.create_array(tmp_path / "z.zarr", shape=(12,), chunks=[[2, 7, 3]], dtype="i4")
    assert zarrox.dask.from_zarr(z).chunks == ((2, 7, 3),)


def test_names_follow_from_what_is_stored(tmp_path: Path) -> None:
    """Equal arrays have equal names, so that Dask reads them once; other arrays have other names."""
    a, b = (zarr.open(tmp_path / name, mode="w", shape=4, chunks=2) for name in "ab")
    name = zarrox.dask.from_zarr(a).name
    assert name == zarrox.dask.from_zarr(tmp_path / "a").name
    assert name != zarrox.dask.from_zarr(b).name
    assert name != zarrox.dask.from_zarr(a, chunks=4).name
    a.resize(6)
    assert name != zarrox.dask.from_zarr(a).name


@pytest.mark.parametrize("who", ["threads", "processes"])
@pytest.mark.parametrize("scratch", [False, True])
def test_rechunk(cluster: Client, tmp_path: Path, who: str, scratch: bool) -> None:
    """Rows become columns with little memory, and the intermediate array is deleted."""
    rows = zarr.open(tmp_path / "rows.zarr", mode="w", shape=VALUES.shape, chunks=(1, 400), dtype="i4")
    rows[:] = VALUES
    columns = zarr.open(tmp_path / "columns.zarr", mode="w", shape=VALUES.shape, chunks=(300, 1), dtype="i4")
    zarrox.dask.rechunk(
        rows,
        columns,
        client=cluster if who == "processes" else None,
        memory=200_000,
        scratch=tmp_path / "scratch.zarr" if scratch else None,
    )
    np.testing.assert_array_equal(columns[:], VALUES)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["columns.zarr", "rows.zarr"]


def test_rechunk_is_done_by_the_workers(cluster: Client, tmp_path: Path) -> None:
    """The tasks run in other processes: this process reads nothing."""
    source = zarr.open(tmp_path / "s.zarr", mode="w", shape=VALUES.shape, chunks=(10, 10), dtype="i4")
    source[:] = VALUES
    target = zarr.open(tmp_path / "t.zarr", mode="w", shape=VALUES.shape, chunks=(30, 40), dtype="i4")
    before = cluster.run(_count)
    zarrox.dask.rechunk(source, target, client=cluster, memory=40_000)
    after = cluster.run(_count)
    assert all(after[worker] > before[worker] for worker in before)
    np.testing.assert_array_equal(target[:], VALUES)


def _count(dask_worker: Any) -> int:
    """Returns the number of tasks that a worker has finished."""
    return int(dask_worker.state.executed_count)


def test_what_cannot_be_rechunked(cluster: Client, tmp_path: Path) -> None:
    """Errors of tasks reach the caller, and arrays in memory are rejected, since processes cannot share them."""
    z = zarr.open(tmp_path / "z.zarr", mode="w", shape=4, chunks=2, dtype="i4")
    z[:] = 1
    with pytest.raises(ValueError, match="shape"):
        zarrox.dask.rechunk(z, zarr.open(tmp_path / "y.zarr", mode="w", shape=5), client=cluster)
    with pytest.raises(zarr.errors.DataTypeMismatchError):
        zarrox.dask.rechunk(z, zarr.open(tmp_path / "x.zarr", mode="w", shape=4, dtype="f4"), client=cluster)
    with pytest.raises(ValueError, match="memory of this process"):
        zarrox.dask.rechunk(z, zarr.zeros(4, dtype="i4"), client=cluster)
    with pytest.raises(zarr.errors.ReadOnlyError):
        zarrox.dask.rechunk(z, zarr.open(tmp_path / "z.zarr", mode="r"))
    (tmp_path / "z.zarr/c/0").write_bytes(b"damaged")
    target = zarr.open(tmp_path / "w.zarr", mode="w", shape=4, chunks=2, dtype="i4")
    with pytest.raises(Exception, match="z.zarr.*c/0"):
        zarrox.dask.rechunk(z, target, client=cluster)


@pytest.mark.parametrize("who", ["threads", "processes"])
@pytest.mark.parametrize("formats", [(2, 3), (3, 2), (2, 2)], ids=str)
def test_copy_and_convert(cluster: Client, tmp_path: Path, who: str, formats: tuple[int, int]) -> None:
    """Groups are copied with all nodes below them, also to the other format."""
    root = zarr.open_group(tmp_path / "s.zarr", mode="w", zarr_format=formats[0])
    root.attrs["title"] = "root"
    numbers = root.create_array("a/numbers", shape=VALUES.shape, chunks=(50, 50), dtype="i4", fill_value=7)
    numbers.attrs["units"] = "K"
    numbers[:] = VALUES
    words = root.create_array("a/words", shape=(3,), chunks=(2,), dtype=str)
    words[:] = np.array(["one", "two", "three"], dtype=object)
    root.create_array("scalar", shape=(), dtype="f8")[...] = 2.5
    client = cluster if who == "processes" else None
    copied: Any = zarrox.dask.convert(root, tmp_path / "t.zarr", zarr_format=formats[1], client=client)
    assert copied.attrs.asdict() == {"title": "root"}
    assert {path for path, _ in copied.members(max_depth=None)} == {path for path, _ in root.members(max_depth=None)}
    assert copied["a/numbers"].metadata.zarr_format == formats[1]
    assert copied["a/numbers"].attrs.asdict() == {"units": "K"}
    assert (copied["a/numbers"].fill_value, copied["a/numbers"].chunks) == (7, (50, 50))
    np.testing.assert_array_equal(copied["a/numbers"][:], VALUES)
    assert copied["a/words"][:].tolist() == ["one", "two", "three"]
    assert copied["scalar"][()] == 2.5
    with pytest.raises(zarr.errors.ContainsNodeError):
        zarrox.dask.copy(root, tmp_path / "t.zarr", client=client)


def test_names_of_dimensions_are_converted(tmp_path: Path) -> None:
    """Dimension names are xarray's attribute in format 2, and a member in format 3."""
    z = zarr.open(tmp_path / "2.zarr", mode="w", shape=(2, 3), zarr_format=2)
    z.attrs.update({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "K"})
    new: Any = zarrox.dask.convert(z, tmp_path / "3.zarr", zarr_format=3)
    assert (new.metadata.dimension_names, new.attrs.asdict()) == (("y", "x"), {"units": "K"})
    old: Any = zarrox.dask.convert(new, tmp_path / "again.zarr", zarr_format=2)
    assert old.attrs.asdict() == z.attrs.asdict()


def test_zarr_python_is_not_needed(tmp_path: Path) -> None:
    """The functions work without zarr-python, which Dask's own functions import."""
    program = f"""
import sys
sys.modules["zarr"] = None
import dask.array as da, zarrox.dask
zarrox.dask.to_zarr(da.ones(4, chunks=2), {str(tmp_path / "z.zarr")!r})
assert zarrox.dask.from_zarr({str(tmp_path / "z.zarr")!r}).sum().compute() == 4
"""
    subprocess.run([sys.executable, "-c", program], check=True)
