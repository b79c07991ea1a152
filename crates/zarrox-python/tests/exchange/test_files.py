"""Files of other formats are imported and exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox as zarr


def test_a_group_goes_through_hdf5_and_netcdf(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "a.zarr", mode="w")
    values = np.arange(12, dtype="i2").reshape(3, 4)
    root.create_dataset("g/depth", data=values, chunks=(2, 2))
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


def test_what_is_no_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(Exception, match="known kind"):
        zarr.import_file(tmp_path / "a.txt", tmp_path / "a.zarr")
    with pytest.raises(FileNotFoundError):
        zarr.import_file(tmp_path / "none.h5", tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr").exists()
