"""Images of OME-Zarr, exchanged with ome-zarr-py and ngff-zarr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox


def image(path: Path, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    values = np.arange(np.prod(shape), dtype="u2").reshape(shape)
    array = zarrox.create(shape=shape, chunks=(1, *[16] * (len(shape) - 1)), dtype="u2", store=str(path), zarr_format=3)
    array[...] = values
    return values


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_ome_zarr_py_reads_what_is_written(tmp_path: Path, version: Any) -> None:
    from ome_zarr.io import parse_url
    from ome_zarr.reader import Reader

    values = image(tmp_path / "source.zarr", (2, 40, 60))
    levels = zarrox.downsample(
        tmp_path / "source.zarr", tmp_path / "image.zarr", ome=version, axes="cyx", channels=["a:red", "b:green"], scale=[1, 0.5, 0.25]
    )
    location = parse_url(str(tmp_path / "image.zarr"))
    assert location is not None
    node = next(iter(Reader(location)()))
    assert [data.shape for data in node.data] == [level.shape for level in levels]
    np.testing.assert_array_equal(node.data[0], values)
    corner = values[:, :2, :2].astype("f8").mean(axis=(1, 2))
    np.testing.assert_array_equal(np.asarray(node.data[1])[:, 0, 0], np.rint(corner))
    assert [axis["name"] for axis in node.metadata["axes"]] == ["c", "y", "x"]
    assert node.metadata["channel_names"] == ["a", "b"]
    assert node.metadata["coordinateTransformations"][1] == [
        {"type": "scale", "scale": [1, 1, 0.5]},
        {"type": "translation", "translation": [0, 0.25, 0.125]},
    ]


def test_ome_zarr_py_reads_labels(tmp_path: Path) -> None:
    from ome_zarr.io import parse_url
    from ome_zarr.reader import Reader

    image(tmp_path / "source.zarr", (40, 60))
    zarrox.downsample(tmp_path / "source.zarr", tmp_path / "image.zarr")
    zarrox.downsample(tmp_path / "source.zarr", tmp_path / "image.zarr/labels/cells", labels=True)
    location = parse_url(str(tmp_path / "image.zarr"))
    assert location is not None
    names = [str(node.zarr) for node in Reader(location)()]
    assert any("cells" in name for name in names), names
    assert zarrox.validate_ome(tmp_path / "image.zarr") == []


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_ngff_zarr_reads_what_is_written(tmp_path: Path, version: Any) -> None:
    import ngff_zarr

    values = image(tmp_path / "source.zarr", (4, 40, 60))
    levels = zarrox.downsample(
        tmp_path / "source.zarr", tmp_path / "image.zarr", ome=version, axes="zyx", scale=[2, 0.5, 0.25], unit="micrometer"
    )
    read = ngff_zarr.from_ngff_zarr(str(tmp_path / "image.zarr"), validate=True)
    assert [image.data.shape for image in read.images] == [level.shape for level in levels]
    np.testing.assert_array_equal(read.images[0].data, values)
    assert read.images[1].scale == {"z": 4, "y": 1, "x": 0.5}
    assert read.images[1].translation == {"z": 1, "y": 0.25, "x": 0.125}
    assert read.images[0].axes_units["x"] == "micrometer"


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_what_ome_zarr_py_writes_is_valid(tmp_path: Path, version: str) -> None:
    import zarr
    from ome_zarr.format import FormatV04, FormatV05
    from ome_zarr.writer import write_image, write_labels

    path = str(tmp_path / "image.zarr")
    group = zarr.open_group(path, mode="w", zarr_format=2 if version == "0.4" else 3)
    fmt = FormatV04() if version == "0.4" else FormatV05()
    values = np.arange(2 * 64 * 64, dtype="u2").reshape(2, 64, 64)
    write_image(values, group, axes="cyx", scale_factors=[2, 4], fmt=fmt)
    write_labels(values[0] % 7, group, name="cells", axes="yx", scale_factors=[2, 4], fmt=fmt)
    # The package omits the version in the group of labels.
    expected = [] if version == "0.4" else ["warning /labels: 'version' is missing in 'ome'"]
    assert [str(finding) for finding in zarrox.validate_ome(path)] == expected


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_what_ngff_zarr_writes_is_valid(tmp_path: Path, version: str) -> None:
    import ngff_zarr

    values = np.arange(64 * 64, dtype="u2").reshape(64, 64)
    written = ngff_zarr.to_ngff_image(values, dims=["y", "x"], scale={"y": 0.5, "x": 0.5})
    pyramid = ngff_zarr.to_multiscales(written, scale_factors=[2, 4], method=ngff_zarr.Methods.DASK_BIN_SHRINK)
    ngff_zarr.to_ngff_zarr(str(tmp_path / "image.zarr"), pyramid, version=version)
    findings = zarrox.validate_ome(tmp_path / "image.zarr")
    assert [str(finding) for finding in findings] == []
