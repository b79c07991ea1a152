"""Imports and exports of files of other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox as zarr


def test_a_group_goes_through_hdf5_and_netcdf(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "a.zarr", mode="w")
    values = np.arange(12, dtype="i2").reshape(3, 4)
    root.create_array("g/depth", data=values, chunks=(2, 2))
    root["g/depth"].attrs["units"] = "m"
    for suffix in ("h5", "nc"):
        file = tmp_path / f"a.{suffix}"
        zarr.export_file(tmp_path / "a.zarr", file)
        assert zarr.import_file(file, tmp_path / f"{suffix}.zarr", chunks=(3, 2), zarr_format=2) == []
        depth = zarr.open_group(tmp_path / f"{suffix}.zarr", mode="r")["g/depth"]
        np.testing.assert_array_equal(depth[...], values)
        assert (depth.chunks, depth.attrs["units"], depth.metadata.zarr_format) == ((3, 2), "m", 2)
        with pytest.raises(Exception, match="already exists"):
            zarr.export_file(tmp_path / "a.zarr", file)
        zarr.export_file(tmp_path / "a.zarr", file, overwrite=True)


def test_tables(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,day,x\n1,2024-05-01,0.5\n2,,\n")
    zarr.import_file(tmp_path / "a.csv", tmp_path / "a.zarr", columns={"id": "uint8"})
    for suffix in ("parquet", "csv"):
        zarr.export_file(tmp_path / "a.zarr", tmp_path / f"b.{suffix}", columns=["x", "id"], selection="1:")
        zarr.import_file(tmp_path / f"b.{suffix}", tmp_path / f"{suffix}.zarr")
        root = zarr.open_group(tmp_path / f"{suffix}.zarr", mode="r")
        assert sorted(root) == ["id", "x"]
        assert root["id"][:].tolist() == [2]
        assert np.isnan(root["x"][:]).all()
    day = zarr.open_array(tmp_path / "a.zarr" / "day", mode="r")[:]
    np.testing.assert_array_equal(day, np.array(["2024-05-01", "NaT"], "M8[D]"))
    with pytest.raises(ValueError, match="no column"):
        zarr.import_file(tmp_path / "a.csv", tmp_path / "c.zarr", columns={"z": "uint8"})


@pytest.mark.parametrize(
    "values",
    [
        np.arange(24, dtype="<f4").reshape(2, 3, 4),
        np.arange(24, dtype=">i2").reshape(4, 6),
        np.asfortranarray(np.arange(24, dtype="i8").reshape(2, 3, 4)),
        np.array(["a", "bcd", ""], dtype="U4"),
        np.array(["2024-05-01", "NaT"], dtype="M8[D]"),
        np.array([(1, 2.5), (3, 4.5)], dtype=[("n", ">i2"), ("x", "<f8")]),
        np.array(7, dtype="u1"),
        np.zeros((0, 3), dtype="c16"),
    ],
    ids=lambda values: str(values.dtype),
)
def test_arrays_of_numpy(tmp_path: Path, values: np.ndarray[Any, Any]) -> None:
    file = tmp_path / "a.npy"
    np.save(file, values)
    for zarr_format in (2, 3):
        zarr.import_file(file, tmp_path / "a.zarr", overwrite=True, zarr_format=zarr_format)
        array = zarr.open_array(tmp_path / "a.zarr", mode="r")
        np.testing.assert_array_equal(array[...], values)
        assert array.shape == values.shape


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives_of_numpy(tmp_path: Path, save: Any) -> None:
    x, y = np.arange(6000, dtype="i4").reshape(60, 100), np.array(["a", "bc"])
    save(tmp_path / "a.npz", x=x, y=y)
    zarr.import_file(tmp_path / "a.npz", tmp_path / "a.zarr")
    root = zarr.open_group(tmp_path / "a.zarr", mode="r")
    np.testing.assert_array_equal(root["x"][...], x)
    np.testing.assert_array_equal(root["y"][...], y)
    zarr.import_file(tmp_path / "a.npz", tmp_path / "x.zarr", node="x", chunks=(30, 50), dtype="f8")
    array = zarr.open_array(tmp_path / "x.zarr", mode="r")
    assert (array.chunks, array.dtype) == ((30, 50), np.dtype("f8"))
    np.testing.assert_array_equal(array[...], x)


def test_objects_of_numpy_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}, None], dtype=object), allow_pickle=True)
    with pytest.raises(Exception, match="pickled Python objects"):
        zarr.import_file(tmp_path / "a.npy", tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr").exists()


def test_pictures(tmp_path: Path) -> None:
    zarr.save_array(tmp_path / "a.zarr", np.arange(24, dtype="u1").reshape(2, 3, 4))
    zarr.export_file(tmp_path / "a.zarr", tmp_path / "a.png", selection="1", cmap="gray", value_range=(12.0, 23.0))
    zarr.import_file(tmp_path / "a.png", tmp_path / "b.zarr")
    pixels = zarr.open_array(tmp_path / "b.zarr", mode="r")[...]
    assert pixels.shape == (3, 4, 4)
    np.testing.assert_array_equal(pixels[..., 0].ravel(), np.round(np.arange(12) / 11 * 255))
    wrong: tuple[dict[str, Any], ...] = ({"cmap": "rainbow"}, {"value_range": (1.0, 0.0)}, {"format": "gif"}, {"selection": "7"})
    for bad in wrong:
        with pytest.raises((ValueError, IndexError)):
            zarr.export_file(tmp_path / "a.zarr", tmp_path / "c.png", **bad)


def _months(tmp_path: Path) -> list[Path]:
    """Creates two NetCDF files. The second file lacks an array."""
    files = []
    for month in range(2):
        root = zarr.open_group(tmp_path / f"{month}.zarr", mode="w", zarr_format=3)
        for name, dtype in (("time", "i4"), ("depth", "i2"), ("heat", "f4")):
            if month == 0 or name != "depth":
                root.create_array(name, data=np.arange(3, dtype=dtype) + 3 * month, dimension_names=["time"])
        files.append(tmp_path / f"{month}.nc")
        assert zarr.export_file(tmp_path / f"{month}.zarr", files[-1], unlimited=["time"]) == []
    return files


def test_many_files_become_one(tmp_path: Path) -> None:
    files = _months(tmp_path)
    with pytest.raises(Exception, match="missing"):
        zarr.import_file(files, tmp_path / "a", concat="time")
    with pytest.raises(Exception, match="depth.*no missing value"):
        zarr.import_file(files, tmp_path / "b", concat="time", fill_missing=True)
    zarr.import_file(files, tmp_path / "c", concat="time", fill_missing=-9, chunks={"time": 2})
    root = zarr.open_group(tmp_path / "c", mode="r")
    assert root["depth"][:].tolist() == [0, 1, 2, -9, -9, -9]
    assert root["depth"].chunks == (2,)
    zarr.import_file(files[0], tmp_path / "d", exclude=["depth"])
    zarr.import_file(files[1], tmp_path / "d", concat="time", append=True)
    assert zarr.open_array(tmp_path / "d" / "heat", mode="r")[:].tolist() == [0, 1, 2, 3, 4, 5]
    zarr.import_file(files[0], tmp_path / "e", node=["time", "heat"], select={"time": slice(1, None)}, dtype="float64")
    root = zarr.open_group(tmp_path / "e", mode="r")
    assert sorted(root) == ["heat", "time"]
    assert root["heat"][:].tolist() == [1, 2]
    assert root["heat"].dtype == np.float64
    for wrong in ({"conflicts": "last"}, {"select": {"time": "0:1:0"}}, {"allow": ["all"]}, {"exclude": ["["]}):
        with pytest.raises(Exception):  # noqa: B017, PT011
            zarr.import_file(files[0], tmp_path / "f", **wrong)  # type: ignore[arg-type]


def test_images_and_what_files_do_not_have(tmp_path: Path) -> None:
    zarr.save_array(tmp_path / "a.zarr", np.arange(24, dtype="u1").reshape(2, 3, 4))
    zarr.export_file(tmp_path / "a.zarr", tmp_path / "a.tif", compression="zstd", selection="1")
    zarr.import_file(tmp_path / "a.tif", tmp_path / "b.zarr", ome=True)
    assert zarr.open_array(tmp_path / "b.zarr" / "0", mode="r")[...].ravel().tolist() == list(range(12, 24))
    zarr.export_file(tmp_path / "a.zarr", tmp_path / "slices", stack="png")
    assert sorted(path.name for path in (tmp_path / "slices").iterdir()) == ["0000.png", "0001.png"]
    zarr.export_file(tmp_path / "a.zarr", tmp_path / "z%d.tif")
    assert (tmp_path / "z1.tif").exists()
    root = zarr.open_group(tmp_path / "g.zarr", mode="w")
    root.create_array("half", data=np.zeros(2, "f2"))
    with pytest.raises(Exception, match="half"):
        zarr.export_file(tmp_path / "g.zarr", tmp_path / "g.nc")
    left_out = zarr.export_file(tmp_path / "g.zarr", tmp_path / "g.nc", skip_unsupported=True)
    assert [path for path, _ in left_out] == ["/half"]


def test_what_is_no_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(Exception, match="known kind"):
        zarr.import_file(tmp_path / "a.txt", tmp_path / "a.zarr")
    with pytest.raises(FileNotFoundError):
        zarr.import_file(tmp_path / "none.h5", tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr").exists()
