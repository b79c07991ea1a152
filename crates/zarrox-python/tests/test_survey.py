"""Differences, statistics, sizes and chunks, compared with NumPy."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import zarrox as zarr

SHAPE = (13, 7, 9)


def _data(dtype: str) -> np.ndarray[Any, Any]:
    data = (np.arange(np.prod(SHAPE)).reshape(SHAPE) * 7919 % 101 - 40).astype(dtype)
    if data.dtype.kind == "f":
        data[2, :, 3] = np.nan
        data[:, 4, 5] = np.nan
    return data


AXES = [axes for count in (1, 2, 3) for axes in itertools.combinations(range(3), count)]


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f4", "i2", "u1", "i8"])
@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("memory", [1, None])
def test_statistics_along_axes_are_those_of_numpy(dtype: str, axes: tuple[int, ...], memory: int | None) -> None:
    data = _data(dtype)
    z = zarr.array(data, chunks=(4, 3, 5), zarr_format=2)
    with warnings.catch_warnings():
        # If all elements are NaN, there is no mean.
        warnings.simplefilter("ignore", RuntimeWarning)
        wide = data.astype("f8")
        expected = {
            "count": (~np.isnan(wide)).sum(axis=axes),
            "nan": np.isnan(wide).sum(axis=axes),
            "min": np.nanmin(wide, axis=axes),
            "max": np.nanmax(wide, axis=axes),
            "mean": np.nanmean(wide, axis=axes),
            "std": np.nanstd(wide, axis=axes),
        }
    found = zarr.stats(z, axis=axes, memory=memory)
    assert list(found) == list(expected)
    for name, values in expected.items():
        assert found[name].shape == values.shape
        np.testing.assert_allclose(found[name].astype("f8"), values, rtol=1e-12, atol=1e-12, err_msg=name)
    assert found["min"].dtype == data.dtype.newbyteorder("=")


def test_negative_axes_and_wrong_ones() -> None:
    z = zarr.array(_data("i2"))
    np.testing.assert_array_equal(zarr.stats(z, axis=-1, measures="max")["max"], _data("i2").max(axis=-1))
    for arguments in ({"axis": 3}, {"axis": 0, "measures": "mode"}, {"axis": (0, 0)}, {"axis": 0, "unique": 3}, {"axis": 0, "missing": [1]}):
        with pytest.raises(ValueError):
            zarr.stats(z, **arguments)  # type: ignore[arg-type]
    empty = zarr.zeros((0, 3), dtype="i4")
    assert zarr.stats(empty, axis=0, measures=["count", "mean"])["count"].tolist() == [0, 0, 0]
    with pytest.raises(ValueError):
        zarr.stats(empty, axis=0, measures="min")
    with pytest.raises(TypeError):
        zarr.stats(zarr.group())


def test_statistics_of_all_elements() -> None:
    data = _data("f4")
    found = zarr.stats(zarr.array(data, chunks=(4, 3, 5)), histogram=5, range=(-40, 60), percentiles=[50], unique=200)
    assert found["count"] == data.size
    assert found["nan"] == np.isnan(data).sum()
    assert found["mean"] == pytest.approx(np.nanmean(data.astype("f8")))
    assert found["std"] == pytest.approx(np.nanstd(data.astype("f8")))
    assert found["histogram"]["counts"] == np.histogram(data[~np.isnan(data)], 5, (-40, 60))[0].tolist()
    assert sum(one["count"] for one in found["unique"]) == data.size


def test_numbers_that_mean_missing_are_left_out() -> None:
    data = np.array([[3, -9999, 5], [-9999, 9, -9999]], "i2")
    found = zarr.stats(zarr.array(data, chunks=(1, 2)), missing=[-9999, 1e20], percentiles=[50], unique=3)
    assert (found["count"], found["missing"], found["min"], found["max"]) == (6, 3, 3, 9)
    assert found["mean"] == pytest.approx(data[data != -9999].mean())
    assert found["percentiles"] == [{"percent": 50, "value": 5}]
    assert [one["value"] for one in found["unique"]] == ["3", "5", "9"]


def test_differences() -> None:
    left, right = zarr.group(zarr_format=2), zarr.group(zarr_format=3)
    for group in (left, right):
        group.create_array("a/b", data=np.arange(12).reshape(3, 4), chunks=(2, 2))
    assert zarr.diff(left, right) == []
    right["a/b"][1, 2] = 9
    right["a"].attrs["units"] = "m"
    found = {one["property"]: one for one in zarr.diff(left, right)}
    assert found["attribute"]["right"] == "m"
    assert found["values"]["path"] == "/a/b"
    assert (found["values"]["count"], found["values"]["largest_at"]) == (1, [1, 2])
    assert [one["property"] for one in zarr.diff(left, right, metadata_only=True)] == ["attribute"]
    assert [one["property"] for one in zarr.diff(left, right, atol=3)] == ["attribute"]
    with pytest.raises(TypeError):
        zarr.diff(left, 3)


def test_space_and_chunks() -> None:
    root = zarr.group(zarr_format=3)
    z = root.create_array("a/b", shape=(4, 4), chunks=(2, 2), dtype="i4", compressor=None)
    z[:2] = 1
    usage = {one["path"]: one for one in zarr.du(root)}
    assert (usage["/a/b"]["chunks_stored"], usage["/a/b"]["chunks"], usage["/a/b"]["bytes"]) == (2, 4, 64)
    assert usage["/a/b"]["bytes_stored"] > 32
    assert usage["/a"]["node_type"] == "group"
    table = zarr.chunk_table(z)
    assert [(one["index"], one["bytes"]) for one in table] == [((0, 0), 16), ((0, 1), 16)]
    assert table[1]["key"] == "a/b/c/0/1"


def test_nodes_are_found_by_their_properties() -> None:
    root = zarr.group()
    root.create_array("a/temp_min", shape=(2, 3), dtype="f4").attrs["units"] = "K"
    root.create_array("a/temp_max", shape=(2, 4), dtype="f4")
    root.create_group("b/c")
    assert zarr.find(root) == ["a", "a/temp_max", "a/temp_min", "b", "b/c"]
    assert zarr.find(root, name="temp_*", shape=(2, None)) == ["a/temp_max", "a/temp_min"]
    assert zarr.find(root, name="a/*min") == ["a/temp_min"]
    assert zarr.find(root, attrs={"units": "K"}) == ["a/temp_min"]
    assert zarr.find(root, attrs={"units": ...}) == ["a/temp_min"]
    assert zarr.find(root, kind="group", name="?") == ["a", "b", "b/c"]
    assert zarr.find(root, dtype="i4") == []
    with pytest.raises(ValueError):
        zarr.find(root, kind="table")


def test_shards_are_made_and_taken_apart_without_decoding() -> None:
    z = zarr.create((9, 6), chunks=(3, 2), dtype="i4", zarr_format=3)
    z[:] = np.arange(54).reshape(9, 6)
    store: dict[str, bytes] = {}
    sharded = zarr.reshard(z, store, shards=(6, 6), path="a")
    assert (sharded.shards, sharded.chunks) == ((6, 6), (3, 2))
    np.testing.assert_array_equal(sharded[:], z[:])
    assert sorted(key for key in store if "/c/" in key) == ["a/c/0/0", "a/c/1/0"]
    alone = zarr.reshard(sharded, store, shards=None, path="b")
    assert alone.shards is None
    assert {key[1:]: bytes(store[key]) for key in store if key.startswith("b/c")} == {
        f"/c/{index}": bytes(z.store[f"c/{index}"]) for index in ("0/0", "0/1", "0/2", "1/0", "1/1", "1/2", "2/0", "2/1", "2/2")
    }
    with pytest.raises(zarr.errors.ContainsNodeError):
        zarr.reshard(z, store, shards=(6, 6), path="a")
    with pytest.raises(ValueError):
        zarr.reshard(z, store, shards=(4, 4), path="c")
