"""Hierarchies with the layouts of other projects: anndata's tables of cells, and OME-Zarr's image pyramids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox as zarr
from zarrox import v2

FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])


def write_text(group: zarr.Group, name: str, values: list[str]) -> None:
    """Writes a column of text in the layout of anndata."""
    array = group.create_array(name, shape=len(values), dtype=object, object_codec=v2.VLenUTF8())
    array[:] = np.array(values, dtype=object)
    array.attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})


def write_frame(parent: zarr.Group, name: str, index: list[str], columns: dict[str, Any]) -> None:
    """Writes a table, whose columns are arrays, and whose column order is an attribute."""
    frame = parent.create_group(name)
    frame.attrs.update(
        {"encoding-type": "dataframe", "encoding-version": "0.2.0", "_index": "_index", "column-order": list(columns)}
    )
    write_text(frame, "_index", index)
    for column, values in columns.items():
        if isinstance(values, list):
            codes, categories = frame.create_group(column), sorted(set(values))
            codes.attrs.update({"encoding-type": "categorical", "encoding-version": "0.2.0", "ordered": False})
            codes.create_array("codes", data=np.array([categories.index(value) for value in values], dtype="i1"))
            write_text(codes, "categories", categories)
        else:
            frame.create_array(column, data=values)


def test_table_of_cells(tmp_path: Path) -> None:
    """Sparse matrices, tables, text and null values are written and read in the layout of anndata."""
    path = str(tmp_path / "cells.zarr")
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.3, size=(50, 20)).astype("f4")
    rows, columns = np.nonzero(dense)
    root = zarr.open_group(path, mode="w")
    root.attrs.setdefault("encoding-type", "anndata")
    root.attrs.setdefault("encoding-version", "0.1.0")
    x = root.create_group("X")
    x.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": [50, 20]})
    x.create_array("data", data=dense[rows, columns], chunks=100)
    x.create_array("indices", data=columns.astype("i4"), chunks=100)
    x.create_array("indptr", data=np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))]).astype("i4"))
    write_frame(root, "obs", [f"cell {n}" for n in range(50)], {"kind": ["T", "B"] * 25, "depth": dense.sum(axis=1)})
    write_frame(root, "var", [f"gene {n}" for n in range(20)], {})
    for name in ("layers", "obsm", "obsp", "varm", "varp", "uns"):
        root.create_group(name).attrs["encoding-type"] = "dict"
    root["obsm"].create_array("X_pca", data=rng.normal(size=(50, 5)))
    scalar = root["uns"].create_array("title", shape=(), dtype=object, object_codec=v2.VLenUTF8())
    scalar[()] = "cells"
    zarr.consolidate_metadata(path)

    for found in (zarr.open_group(path, mode="r"), zarr.open_consolidated(path, mode="r")):
        assert found.attrs["encoding-type"] == "anndata"
        assert sorted(found.group_keys()) == ["X", "layers", "obs", "obsm", "obsp", "uns", "var", "varm", "varp"]
        assert found["obs"].attrs["column-order"] == ["kind", "depth"]
        assert found["obs/_index"][:3].tolist() == ["cell 0", "cell 1", "cell 2"]
        kinds = found["obs/kind/categories"][:][found["obs/kind/codes"][:]]
        assert kinds.tolist() == ["T", "B"] * 25
        assert found["uns/title"][()] == "cells"
        again = np.zeros_like(dense)
        pointers = found["X/indptr"][:]
        for row in range(50):
            part = slice(pointers[row], pointers[row + 1])
            again[row, found["X/indices"][part]] = found["X/data"][part]
        np.testing.assert_array_equal(again, dense)

    # Rows are appended in the way of anndata's backed tables.
    root["X/data"].append(np.ones(3, dtype="f4"))
    assert zarr.open_group(path)["X/data"].shape == (len(rows) + 3,)


@FORMATS
def test_pyramid_of_an_image(tmp_path: Path, zarr_format: Any) -> None:
    """Levels of half the size are described by the attributes of OME-NGFF, and stored in nested directories."""
    path = tmp_path / "image.ome.zarr"
    image = np.random.default_rng(0).integers(0, 2**16, (2, 3, 64, 64), dtype="u2")
    root = zarr.open_group(path, mode="w", zarr_format=zarr_format)
    levels = []
    level = image
    for number in range(3):
        options: dict[str, Any] = {"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}}}
        if zarr_format == 3:
            options = {"dimension_names": ["c", "z", "y", "x"]}
        array = root.create_array(str(number), shape=level.shape, chunks=(1, 1, 32, 32), dtype="u2", **options)
        array[...] = level
        scale = [1.0, 1.0, 2.0**number, 2.0**number]
        levels.append({"path": str(number), "coordinateTransformations": [{"type": "scale", "scale": scale}]})
        level = level[:, :, ::2, ::2]
    axes = [{"name": "c", "type": "channel"}, *({"name": n, "type": "space", "unit": "micrometer"} for n in "zyx")]
    multiscales = [{"version": "0.4" if zarr_format == 2 else "0.5", "axes": axes, "datasets": levels, "name": "image"}]
    described = {"multiscales": multiscales}
    root.attrs.update(described if zarr_format == 2 else {"ome": described})
    labels = root.create_group("labels")
    labels.attrs["labels"] = ["cells"]
    labels.create_group("cells").attrs["image-label"] = {"colors": [{"label-value": 1, "rgba": [255, 255, 255, 128]}]}

    found = zarr.open_group(path, mode="r")
    attributes = found.attrs.asdict() if zarr_format == 2 else found.attrs["ome"]
    assert attributes["multiscales"] == multiscales
    for number, entry in enumerate(attributes["multiscales"][0]["datasets"]):
        step = 2**number
        np.testing.assert_array_equal(found[entry["path"]][...], image[:, :, ::step, ::step])
    np.testing.assert_array_equal(found["0"][1, 2, 10:50, 20:21], image[1, 2, 10:50, 20:21])
    assert found["labels/cells"].attrs["image-label"]["colors"][0]["rgba"] == [255, 255, 255, 128]
    first = "0/1/2/1/0" if zarr_format == 2 else "0/c/1/2/1/0"
    assert (path / first).is_file()
    name = ".zattrs" if zarr_format == 2 else "zarr.json"
    assert "multiscales" in json.dumps(json.loads((path / name).read_text()))


def test_plate_of_many_images(tmp_path: Path) -> None:
    """The wells and fields of a plate are groups, and each group is opened without reading the others."""
    root = zarr.open_group(tmp_path / "plate.zarr", mode="w")
    wells = [f"{row}/{column}" for row in "AB" for column in range(1, 4)]
    root.attrs["plate"] = {"wells": [{"path": well} for well in wells], "version": "0.4"}
    for well in wells:
        group = root.require_group(well)
        group.attrs["well"] = {"images": [{"path": "0"}]}
        group.require_group("0").create_array(
            "0", data=np.full((4, 4), ord(well[0]), dtype="u1"), dimension_separator="/"
        )
    found = zarr.open_group(tmp_path / "plate.zarr", mode="r")
    for well in found.attrs["plate"]["wells"]:
        images = found[well["path"]].attrs["well"]["images"]
        assert (found[f"{well['path']}/{images[0]['path']}/0"][:] == ord(well["path"][0])).all()
    assert found.nmembers(None) == 2 + 6 * 3
