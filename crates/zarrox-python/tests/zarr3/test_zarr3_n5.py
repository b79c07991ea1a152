"""N5 hierarchies, read and written by zarr-python 3."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

import zarrox
from zarrox import v2
import zarrox.zarr3
from zarrox.v2.n5 import N5ChunkWrapper
from zarrox.zarr3 import Store

VALUES = np.arange(77, dtype="u2").reshape(7, 11)

COMPRESSORS = pytest.mark.parametrize(
    "compressor", [None, v2.GZip(3), v2.Blosc()], ids=["raw", "gzip", "blosc"]
)


@pytest.fixture(autouse=True, params=["zarrox", "own"])
def pipeline(request: pytest.FixtureRequest) -> Any:
    """Runs each test with both pipelines: with each, blocks of N5 are encoded in Python."""
    with zarrox.zarr3.enable() if request.param == "zarrox" else zarrox.zarr3.disable():
        yield


def example(directory: Path, compressor: Any = None) -> Any:
    """Returns a hierarchy that Zarrox has written, opened with zarr-python."""
    group = v2.open_group(v2.N5Store(str(directory / "a.n5")), mode="w")
    group.attrs["name"] = "example"
    group.create_dataset("x/y", data=VALUES, chunks=(3, 4), compressor=compressor)
    return zarr.open_group(Store(directory / "a.n5"), mode="r+", zarr_format=2)


def natively(directory: Path, path: str = "x/y") -> Any:
    """Returns the node of Zarrox at the same location."""
    return v2.open(v2.N5Store(str(directory / "a.n5")), path=path, mode="r")


@COMPRESSORS
def test_it_is_read_as_version_2(compressor: Any, tmp_path: Path) -> None:
    """The documents and keys of N5 are shown in the form of version 2."""
    read = example(tmp_path, compressor)
    assert read.attrs["name"] == "example"
    array = read["x/y"]
    np.testing.assert_array_equal(array[...], VALUES)
    np.testing.assert_array_equal(array[5:, 3:9:2], VALUES[5:, 3:9:2])
    assert dict(read.members(max_depth=None)).keys() == {"x", "x/y"}
    store = Store(tmp_path / "a.n5", read_only=True)
    with pytest.raises(ValueError, match="read-only"):
        zarr.open_group(store, mode="r", zarr_format=2)["x/y"][0] = 1


@pytest.mark.filterwarnings("ignore:not every program that reads N5:RuntimeWarning")
@COMPRESSORS
def test_elements_are_written(compressor: Any, tmp_path: Path) -> None:
    """Whole chunks, parts of chunks and edge chunks are written; chunks of zeros are deleted."""
    array, expected = example(tmp_path, compressor)["x/y"], VALUES.copy()
    for selection, value in ((slice(None), VALUES[::-1]), ((slice(2, 5), slice(1, 10, 3)), 9), ((6, 10), 1000)):
        array[selection] = expected[selection] = value
        np.testing.assert_array_equal(array[...], expected)
        np.testing.assert_array_equal(natively(tmp_path)[...], expected)
    array[:3, :4] = 0
    assert not (tmp_path / "a.n5/x/y/0/0").exists()
    assert not natively(tmp_path)[:3, :4].any()


@pytest.mark.filterwarnings("ignore:not every program that reads N5:RuntimeWarning")
@COMPRESSORS
def test_attributes_groups_and_shapes_are_written(compressor: Any, tmp_path: Path) -> None:
    """A node has two documents in version 2 and one in N5. A write of one keeps the content of the other."""
    root = example(tmp_path, compressor)
    array = root["x/y"]
    before = json.loads((tmp_path / "a.n5/x/y/attributes.json").read_text())
    array.attrs["unit"] = "K"
    array.resize((9, 11))
    after = json.loads((tmp_path / "a.n5/x/y/attributes.json").read_text())
    assert after == before | {"unit": "K", "dimensions": [11, 9]}
    array.append(np.full((1, 11), 5, "u2"))
    assert natively(tmp_path).shape == (10, 11)
    assert natively(tmp_path)[6:, 0].tolist() == [66, 0, 0, 5]
    root.attrs.put({"other": 1})
    root.create_group("z/w", attributes={"a": [1]})
    assert natively(tmp_path, "").attrs.asdict() == {"other": 1}
    assert natively(tmp_path, "z/w").attrs.asdict() == {"a": [1]}
    assert json.loads((tmp_path / "a.n5/z/w/attributes.json").read_text()) == {"n5": "2.0.0", "a": [1]}
    del root["x"]
    assert not (tmp_path / "a.n5/x").exists()


@COMPRESSORS
@pytest.mark.filterwarnings("ignore:not every program that reads N5:RuntimeWarning")
def test_arrays_are_created(compressor: Any, tmp_path: Path) -> None:
    """zarr-python encodes with the given codec, which must be the codec of N5's blocks."""
    store = Store(tmp_path / "a.n5")
    block = N5ChunkWrapper("u2", (3, 4), compressor=compressor)
    options: dict[str, Any] = {"chunks": (3, 4), "zarr_format": 2, "fill_value": 0}
    array = zarr.create_array(store, name="x/y", data=VALUES, compressors=block, attributes={"a": 1}, **options)
    np.testing.assert_array_equal(array[...], VALUES)
    np.testing.assert_array_equal(natively(tmp_path)[...], VALUES)
    assert natively(tmp_path).attrs.asdict() == {"a": 1}
    np.testing.assert_array_equal(zarr.open_array(store, path="x/y", zarr_format=2)[...], VALUES)
    again = pickle.loads(pickle.dumps(array))
    again[0] = 3
    assert (natively(tmp_path)[0] == 3).all()


def test_what_n5_cannot_say_is_refused(tmp_path: Path) -> None:
    """Properties that N5 cannot express are rejected before anything is written."""
    store = Store(tmp_path / "a.n5")
    block = N5ChunkWrapper("u2", (3,))
    options: dict[str, Any] = {"shape": 7, "chunks": 3, "dtype": "u2", "zarr_format": 2, "fill_value": 0, "compressors": block}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"compressors": None}, "headers"),
        ({"chunks": 4}, "headers"),
        ({"dtype": "u4"}, "headers"),
        ({"dtype": ">u2", "compressors": N5ChunkWrapper(">u2", (3,))}, "no data type"),
        ({"dtype": "c8", "compressors": N5ChunkWrapper("c8", (3,))}, "no data type"),
        ({"chunk_key_encoding": {"name": "v2", "separator": "/"}}, "separator"),
        ({"fill_value": 1}, "fill value"),
        ({"zarr_format": 3, "compressors": None}, "zarr_format=2"),
    ]
    for change, message in wrong:
        with pytest.raises(ValueError, match=message):
            zarr.create_array(store, name="x", **options | change)
        assert not (tmp_path / "a.n5/x").exists()
    array = zarr.create_array(store, name="x", overwrite=True, **options)
    with pytest.raises(ValueError, match="dimensions"):
        array.attrs["dimensions"] = [1]
    with pytest.raises(ValueError, match="zmetadata"):
        zarr.consolidate_metadata(store, zarr_format=2)


async def test_keys(tmp_path: Path) -> None:
    """All keys are listed in the form of version 2, and each has a value."""
    example(tmp_path)["x/y"].attrs["a"] = 1
    store = Store(tmp_path / "a.n5")
    keys = [key async for key in store.list()]
    chunks = [f"x/y/{i}.{j}" for i in range(3) for j in range(3)]
    assert sorted(keys) == sorted([".zattrs", ".zgroup", "x/y/.zarray", "x/y/.zattrs", "x/.zgroup", *chunks])
    assert [key async for key in store.list_prefix("x/y/2")] == chunks[6:]
    for key in keys:
        assert await store.exists(key)
        assert await store.getsize(key) > 0
    await store.delete("x/y/.zattrs")
    assert not await store.exists("x/y/.zattrs")
    assert await store.exists("x/y/.zarray")
