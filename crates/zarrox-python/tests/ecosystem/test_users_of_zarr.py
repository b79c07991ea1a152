"""Packages that use zarr-python with Zarrox's pipeline: Zarrox reads their files, and they read files of Zarrox."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest
import xarray as xr
import zarr as zarr_python

import zarrox as zarr
import zarrox.dask
import zarrox.xarray
from zarrox.zarr3 import ZarroxCodecPipeline, disable, enable, explain

pytestmark = pytest.mark.filterwarnings("ignore")

VALUES = np.arange(2 * 64 * 64, dtype="u2").reshape(2, 64, 64)


@pytest.fixture(autouse=True)
def _pipeline() -> Iterator[None]:
    """Switches Zarrox's pipeline on, and off again, since some packages change zarr-python's configuration when they
    are imported."""
    before = copy.deepcopy(zarr_python.config.config)
    enable()
    assert isinstance(zarr_python.ones(3)._async_array.codec_pipeline, ZarroxCodecPipeline)
    yield
    zarr_python.config.config.clear()
    zarr_python.config.config.update(before)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_anndata(tmp_path: Path, zarr_format: Any) -> None:
    """Both sides read matrices, data frames with categories and text, and nested values."""
    anndata, sparse = pytest.importorskip("anndata"), pytest.importorskip("scipy.sparse")
    cells = pd.DataFrame(
        {"kind": pd.Categorical(list("ab") * 10), "n": np.arange(20)}, index=[f"cell {n}" for n in range(20)]
    )
    matrix = sparse.random(20, 10, density=0.3, format="csr", random_state=0, dtype="f4")
    data = anndata.AnnData(
        X=matrix,
        obs=cells,
        layers={"dense": np.arange(200.0).reshape(20, 10)},
        uns={"title": "cells", "nested": {"x": np.arange(3)}},
    )
    with anndata.settings.override(zarr_write_format=zarr_format):
        data.write_zarr(tmp_path / "theirs.zarr")
    group = zarr.open_group(tmp_path / "theirs.zarr", mode="r")
    assert group.metadata.zarr_format == zarr_format
    np.testing.assert_array_equal(group["X/data"][:], matrix.data)
    np.testing.assert_array_equal(group["layers/dense"][:], data.layers["dense"])
    assert group["obs/kind/categories"][:].tolist() == ["a", "b"]
    assert group["uns/title"][()] == "cells"

    zarrox.dask.convert(group, tmp_path / "ours.zarr", zarr_format=5 - zarr_format)
    found = anndata.read_zarr(tmp_path / "ours.zarr")
    assert (found.X != matrix).nnz == 0
    pd.testing.assert_frame_equal(found.obs, data.obs)
    np.testing.assert_array_equal(found.layers["dense"], data.layers["dense"])
    assert found.uns["title"] == "cells"


def image(path: Path) -> None:
    """Writes an image of OME-Zarr 0.4 in two resolutions with Zarrox."""
    root = zarr.open_group(path, mode="w", zarr_format=2)
    datasets = []
    for level, factor in enumerate((1, 2)):
        values = VALUES[:, ::factor, ::factor]
        array = root.create_array(
            str(level), shape=values.shape, chunks=(1, 32, 32), dtype="u2", chunk_key_encoding={"name": "v2", "separator": "/"}
        )
        array[:] = values
        scale = {"type": "scale", "scale": [1.0, factor, factor]}
        datasets.append({"path": str(level), "coordinateTransformations": [scale]})
    axes = [{"name": "c", "type": "channel"}, {"name": "y", "type": "space"}, {"name": "x", "type": "space"}]
    root.attrs["multiscales"] = [{"version": "0.4", "name": "image", "axes": axes, "datasets": datasets}]


def test_ome_zarr_writes(tmp_path: Path) -> None:
    """Zarrox reads all resolutions and the metadata."""
    writer = pytest.importorskip("ome_zarr.writer")
    writer.write_image(VALUES, zarr_python.open_group(tmp_path / "image.zarr", mode="w"), axes="cyx")
    group = zarr.open_group(tmp_path / "image.zarr", mode="r")
    datasets = group.attrs["ome"]["multiscales"][0]["datasets"]
    np.testing.assert_array_equal(group[datasets[0]["path"]][:], VALUES)
    assert group[datasets[1]["path"]].shape == (2, 32, 32)


def test_ome_zarr_reads(tmp_path: Path) -> None:
    """The reader of ome-zarr-py returns the resolutions that Zarrox wrote."""
    io, reader = pytest.importorskip("ome_zarr.io"), pytest.importorskip("ome_zarr.reader")
    image(tmp_path / "image.zarr")
    levels = next(iter(reader.Reader(io.parse_url(tmp_path / "image.zarr"))())).data
    np.testing.assert_array_equal(levels[0].compute(), VALUES)
    np.testing.assert_array_equal(levels[1].compute(), VALUES[:, ::2, ::2])


def test_readers_of_napari(tmp_path: Path) -> None:
    """The plug-in for OME-Zarr and napari's own reader of single arrays read files of Zarrox, without a window."""
    plugin, own = pytest.importorskip("napari_ome_zarr"), pytest.importorskip("napari_builtins.io")
    path = str(tmp_path / "image.zarr")
    image(tmp_path / "image.zarr")
    layers = plugin.napari_get_reader(path)(path)
    channels = [layer[0][0] for layer in layers if layer[2] == "image"]
    np.testing.assert_array_equal(np.concatenate([np.asarray(each).reshape(-1, 64, 64) for each in channels]), VALUES)

    path = str(tmp_path / "plain.zarr")
    zarr.save_array(path, VALUES)
    ((data, *_),) = own.napari_get_reader(path)(path)
    np.testing.assert_array_equal(np.asarray(data), VALUES)


@pytest.fixture
def hdf5(tmp_path: Path) -> Path:
    """Creates a file with a chunked and compressed data set."""
    with h5py.File(tmp_path / "data.h5", "w") as file:
        values = np.arange(4000.0).reshape(200, 20)
        file.create_dataset("g/v", data=values, chunks=(50, 20), compression="gzip", shuffle=True)
    return tmp_path / "data.h5"


def test_kerchunk(tmp_path: Path, hdf5: Path) -> None:
    """Zarrox reads the chunks of the file through kerchunk's references, as zarr-python does through fsspec."""
    kerchunk, fsspec = pytest.importorskip("kerchunk.hdf"), pytest.importorskip("fsspec")
    references = kerchunk.SingleHdf5ToZarr(str(hdf5)).translate()
    (tmp_path / "references.json").write_text(json.dumps(references))
    group = zarr.open_group(f"reference://::{(tmp_path / 'references.json').as_uri()}", mode="r")
    expected = np.arange(4000.0).reshape(200, 20)
    np.testing.assert_array_equal(group["g/v"][:], expected)

    files = fsspec.filesystem("reference", fo=references, asynchronous=True, remote_protocol="file")
    theirs = zarr_python.open_group(zarr_python.storage.FsspecStore(files, read_only=True), mode="r")
    np.testing.assert_array_equal(theirs["g/v"][:], expected)


def test_virtualizarr(tmp_path: Path) -> None:
    """VirtualiZarr finds the chunks of a data set of Zarrox, and Zarrox reads them through the references."""
    virtualizarr, parsers = pytest.importorskip("virtualizarr"), pytest.importorskip("virtualizarr.parsers")
    registry, obstore = pytest.importorskip("virtualizarr.registry"), pytest.importorskip("obstore.store")
    ds = xr.Dataset({"v": (("x", "y"), np.arange(400.0).reshape(20, 20))}, coords={"x": np.arange(20)})
    path = tmp_path / "source.zarr"
    zarrox.xarray.to_zarr(ds, path, encoding={"v": {"chunks": (5, 20)}}, zarr_format=3)
    stores = registry.ObjectStoreRegistry({"file://": obstore.LocalStore()})
    virtual = virtualizarr.open_virtual_dataset(path.as_uri(), registry=stores, parser=parsers.ZarrParser())
    virtual.vz.to_kerchunk(tmp_path / "references.json", format="json")
    found = zarrox.xarray.open_zarr(f"reference://::{(tmp_path / 'references.json').as_uri()}")
    xr.testing.assert_equal(found.load(), ds)


def test_cubed(tmp_path: Path) -> None:
    """Cubed rechunks arrays of Zarrox, which it gets as paths and as objects, and Zarrox reads the result."""
    cubed = pytest.importorskip("cubed")
    source = zarr.open(tmp_path / "source.zarr", mode="w", shape=(40, 40), chunks=(4, 40), dtype="f8")
    source[:] = values = np.arange(1600.0).reshape(40, 40)
    spec = cubed.Spec(work_dir=str(tmp_path), allowed_mem="100MB")
    for name, lazy in {
        "by path": cubed.from_zarr(str(tmp_path / "source.zarr"), spec=spec),
        "as it is": cubed.from_array(source, chunks=source.chunks, spec=spec),
    }.items():
        cubed.to_zarr(lazy.rechunk((40, 4)), str(tmp_path / f"{name}.zarr"))
        target = zarr.open_array(tmp_path / f"{name}.zarr", mode="r")
        assert target.chunks == (40, 4)
        np.testing.assert_array_equal(target[:], values)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_python_takes_arrays_of_zarrox(tmp_path: Path, zarr_format: Any) -> None:
    """`from_array` and `create_array` of zarr-python accept arrays of Zarrox as data, and vice versa."""
    ours = zarr.open(tmp_path / "ours", mode="w", shape=(64, 64), chunks=(16, 64), dtype="u2", zarr_format=zarr_format)
    ours[:] = VALUES[0]
    copies = [
        zarr_python.from_array(tmp_path / "a", data=ours, chunks=ours.chunks, zarr_format=zarr_format),  # type: ignore[arg-type]
        zarr_python.create_array(tmp_path / "b", data=ours, chunks=(32, 32), zarr_format=zarr_format),  # type: ignore[arg-type]
    ]
    for theirs in copies:
        np.testing.assert_array_equal(theirs[:], VALUES[0])
        np.testing.assert_array_equal(zarr.from_array({}, data=theirs)[:], VALUES[0])
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "b", mode="r")[:], VALUES[0])


@pytest.mark.parametrize("layout", [{"chunks": (16, 16)}, {"chunks": (8, 8), "shards": (32, 32)}], ids=["chunks", "shards"])
def test_icechunk(tmp_path: Path, layout: dict[str, Any]) -> None:
    """A store with transactions is called back, and has the same versions as without the pipeline."""
    icechunk = pytest.importorskip("icechunk")
    repository = icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "repository")))
    session = repository.writable_session("main")
    array = zarr_python.create_array(session.store, name="a", shape=(64, 64), dtype="u2", **layout)
    assert (explain(array).chunks, explain(array).store) == ("rust", "python")
    array[...] = VALUES[0]
    first = session.commit("all")
    session = repository.writable_session("main")
    array = zarr_python.open_array(session.store, path="a")
    array[10:50, 3::7] = 9
    session.commit("some")
    for snapshot, expected in ((first, VALUES[0]), (None, VALUES[0].copy())):
        if snapshot is None:
            expected[10:50, 3::7] = 9
        found = {"snapshot_id": snapshot} if snapshot else {"branch": "main"}
        store = repository.readonly_session(**found).store
        for reader in (enable, disable):
            with reader():
                again = zarr_python.open_array(store, path="a", mode="r")
            np.testing.assert_array_equal(again[...], expected)
            np.testing.assert_array_equal(again.oindex[[60, 2], 5:], expected[[60, 2], 5:])
