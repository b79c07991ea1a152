"""Stores of N5."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox
import zarrox.v2 as zarr
from zarrox.v2 import N5FSStore, N5Store, codecs
from zarrox.v2.meta import decode_array_metadata, decode_group_metadata, encode_array_metadata, encode_group_metadata
from zarrox.v2.n5 import (
    N5ChunkWrapper,
    array_metadata_to_n5,
    array_metadata_to_zarr,
    compressor_config_to_n5,
    compressor_config_to_zarr,
    invert_chunk_coords,
    is_chunk_key,
)
from zarrox.v2.storage import FSStore, NestedDirectoryStore, init_array, init_group


@pytest.fixture(params=[N5Store, N5FSStore])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return request.param(str(tmp_path / "a.n5"))


def test_arrays_are_n5_s(store: Any) -> None:
    x = np.arange(20, dtype="<i2").reshape(4, 5)
    z = zarr.array(x, chunks=(2, 3), store=store, compressor=None)
    assert np.array_equal(z[:], x)
    document = json.loads(Path(store.path, "attributes.json").read_text())
    assert document["dimensions"] == [5, 4]
    assert document["blockSize"] == [3, 2]
    assert (document["dataType"], document["compression"]["type"]) == ("int16", "raw")
    block = Path(store.path, "1/0").read_bytes()
    assert block[:12] == bytes([0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2])
    assert np.array_equal(np.frombuffer(block[12:], ">i2").reshape(2, 3)[:, :2], x[:2, 3:])
    assert np.array_equal(zarr.open_array(store, mode="r")[:], x)


def test_version_2_is_n5_in_stores_of_n5(store: Any) -> None:
    root = zarr.open_group(store, mode="w", zarr_version=2)
    root.zeros("a", shape=3, chunks=2, dtype="i4")[:] = 1
    assert list(zarr.Group(store, zarr_version=2)) == ["a"]
    assert zarr.Array(store, path="a", zarr_version=2)[:].tolist() == [1, 1, 1]
    assert zarr.open_array(store, mode="r", path="a", zarr_version=2).shape == (3,)
    for mode in ("r", "r+", "a"):
        assert list(zarr.open_group(store, mode=mode, zarr_version=2)) == ["a"]
        assert list(zarr.open(store, mode=mode, zarr_format=2)) == ["a"]
    assert zarr.load(store, path="a", zarr_version=2).tolist() == [1, 1, 1]
    with pytest.raises(zarr.errors.ArrayNotFoundError):
        zarr.Array(store, path="a", zarr_version=3)


def test_groups_are_n5_s(store: Any) -> None:
    root = zarr.group(store=store)
    a = root.create_dataset("foo/bar", shape=(4, 4), chunks=2, dtype="u1", compressor=codecs.GZip())
    a[...] = 3
    a.attrs["unit"] = "K"
    again = zarr.open_group(store, mode="r")
    assert list(again) == ["foo"]
    assert (again["foo/bar"][:] == 3).all()
    assert again["foo/bar"].attrs.asdict() == {"unit": "K"}
    assert json.loads(Path(store.path, "foo/bar/attributes.json").read_text())["unit"] == "K"
    assert not list(Path(store.path).rglob(".z*"))


def test_keys_of_documents(store: Any) -> None:
    init_array(store, shape=(100, 20), chunks=(10, 5), path="foo/bar", compressor=codecs.Zlib(1))
    found = decode_array_metadata(store["foo/bar/.zarray"])
    assert (found["shape"], found["chunks"], found["dtype"]) == ((100, 20), (10, 5), np.dtype("f8"))
    assert (found["fill_value"], found["dimension_separator"]) == (0, ".")
    assert found["compressor"]["compressor_config"] == {"id": "zlib", "level": 1}
    assert "foo/bar/.zarray" in store
    assert "foo/bar/.zgroup" not in store
    assert "foo/bar/.zattrs" not in store
    for key in ("foo/bar/.zattrs", "foo/bar/.zgroup", "no/.zarray"):
        with pytest.raises(KeyError):
            store[key]
    init_group(store, path="g")
    assert decode_group_metadata(store[".zgroup"]) == {"zarr_format": 2}


def test_documents_are_set_by_keys_of_version_2(store: Any) -> None:
    store[".zgroup"] = encode_group_metadata()
    assert ".zgroup" in store
    store[".zattrs"] = b'{"a": 1}'
    store[".zattrs"] = b'{"b": 2}'
    assert json.loads(store[".zattrs"]) == {"b": 2}
    assert json.loads(store["attributes.json"]) == {"n5": "2.0.0", "b": 2}
    meta = {
        "shape": (4, 6), "chunks": (2, 3), "dtype": np.dtype("<u2"), "compressor": None, "fill_value": 0, "order": "C",
        "filters": None,
    }  # fmt: skip
    store["a/.zarray"] = encode_array_metadata(meta)
    z = zarr.open_array(store, path="a", mode="r+")
    assert (z.shape, z.chunks, z.dtype) == ((4, 6), (2, 3), np.dtype("<u2"))
    z[:] = 1
    assert store.listdir("a") == [".zarray", "0.0", "0.1", "1.0", "1.1"]
    assert store.listdir() == [".zattrs", ".zgroup", "a"]
    with pytest.warns(UserWarning, match="reserved"):
        store["a/.zattrs"] = b'{"dimensions": [1]}'
    del store["a/.zarray"]
    assert "a/.zarray" not in store


def test_keys_of_chunks(store: Any) -> None:
    store["0.0"] = b"xxx"
    store["foo/10.20.30"] = b"yyy"
    store["42"] = b"zzz"
    assert "foo/10.20.30" in store
    assert store["foo/10.20.30"] == store["foo/30/20/10"] == b"yyy"
    assert (store["0.0"], store["42"]) == (b"xxx", b"zzz")
    assert Path(store.path, "foo/30/20/10").read_bytes() == b"yyy"
    del store["foo/10.20.30"]
    assert "foo/30/20/10" not in store
    assert is_chunk_key("foo/0.0")
    assert not is_chunk_key("foo/0")
    assert invert_chunk_coords("a.b") == "a.b"


def test_a_chunk_s_codec_reads_what_is_stored(store: Any) -> None:
    x = np.arange(12, dtype="<f4").reshape(3, 4)
    zarr.array(x, chunks=(2, 3), store=store, compressor=codecs.GZip(1))
    config = json.loads(store[".zarray"])["compressor"]
    codec = N5ChunkWrapper.from_config({name: value for name, value in config.items() if name != "id"})
    assert np.array_equal(codec.decode(store["0.0"]), x[:2, :3])
    edge = codec.decode(store["1.1"])
    assert (edge[0, 0], edge[1, 2]) == (x[2, 3], 0)
    out = np.empty((2, 3), "<f4")
    assert codec.decode(codec.encode(x[:2, :3]), out) is out
    assert np.array_equal(out, x[:2, :3])
    inner = {"id": "gzip", "level": 1}
    assert codec.get_config() == {"id": "n5_wrapper", "compressor_config": inner, "dtype": "<f4", "chunk_shape": [2, 3]}
    assert codecs.get_codec(codec.get_config()) == codec
    assert codecs.get_codec(dict(config)) == codec
    with pytest.raises(ValueError, match="one"):
        N5ChunkWrapper("<f4", (2,), {"id": "gzip", "level": 1}, codecs.GZip())


def test_what_n5_cannot_say_is_refused(tmp_path: Path) -> None:
    store = N5Store(tmp_path / "a.n5")
    with pytest.raises(ValueError, match="N5"):
        store[".zarray"] = encode_array_metadata(
            {"shape": (4,), "chunks": (2,), "dtype": np.dtype("<u2"), "compressor": None, "fill_value": 1, "order": "C",
             "filters": None})  # fmt: skip
    meta = {
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<u2", "compressor": None, "fill_value": 0, "order": "C",
        "filters": None,
    }  # fmt: skip
    for change in ({"order": "F", "shape": [4, 4], "chunks": [2, 2]}, {"filters": [{"id": "delta"}]}):
        with pytest.raises(ValueError, match="N5"):
            array_metadata_to_n5({**meta, **change})
    again = array_metadata_to_zarr(array_metadata_to_n5(meta))
    assert (again["shape"], again["dtype"]) == ([4], "<u2")


@pytest.mark.parametrize(
    "config",
    [
        None,
        {"id": "bz2", "level": 3},
        {"id": "zlib", "level": 1},
        {"id": "gzip", "level": 1},
        {"id": "lzma", "format": 1, "check": -1, "preset": 6, "filters": None},
        {"id": "zstd", "level": 3, "checksum": False},
    ],
)
def test_compressors(config: Any) -> None:
    assert compressor_config_to_zarr(compressor_config_to_n5(config)) == config
    assert compressor_config_to_n5({"id": "n5_wrapper", "compressor_config": config}) == compressor_config_to_n5(config)


def test_compressors_that_others_may_not_know() -> None:
    config = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
    with pytest.warns(RuntimeWarning, match="blosc"):
        assert compressor_config_to_zarr(compressor_config_to_n5(config)) == config
    with pytest.raises(ValueError, match="N5"):
        compressor_config_to_n5({"id": "lzma", "format": 2, "check": 1, "preset": 3, "filters": None})


def test_stores_are_equal_and_pickled(tmp_path: Path) -> None:
    store = N5Store(tmp_path / "a.n5")
    assert isinstance(store, NestedDirectoryStore)
    assert store == N5Store(str(tmp_path / "a.n5")) == pickle.loads(pickle.dumps(store))
    other = N5FSStore(str(tmp_path / "a.n5"))
    assert isinstance(other, FSStore)
    assert other == pickle.loads(pickle.dumps(other))
    with pytest.warns(UserWarning, match="dimension_separator"):
        N5FSStore(str(tmp_path), dimension_separator="/")


def test_lower_case_keys(tmp_path: Path) -> None:
    store = N5Store(tmp_path / "a.n5", normalize_keys=True)
    zarr.group(store=store).zeros("Big", shape=(2, 2), chunks=1)[:] = 1
    assert sorted(os.listdir(tmp_path / "a.n5/big")) == ["0", "1", "attributes.json"]
    assert "Big/.zarray" in store


def test_paths_that_end_in_n5(tmp_path: Path) -> None:
    path = str(tmp_path / "a.n5")
    z = zarr.open(path, mode="w", shape=(3, 3), chunks=2)
    z[:] = 1
    assert type(z.store) is N5Store
    assert (zarr.open(path, mode="r")[:] == 1).all()


def test_what_is_in_an_array_is_no_group(tmp_path: Path) -> None:
    """The directories of chunks are not groups, although other directories without documents are."""
    store = N5Store(str(tmp_path / "a.n5"))
    root = zarr.open_group(store, mode="w")
    root.create_group("g/h")
    z = root.create_dataset("g/x", shape=(4, 4), chunks=(1, 1), dtype="i4")
    z[:] = 1
    assert "g/h" in root and "g/x" in root
    for inside in ("g/x/0", "g/x/0/1"):
        assert inside not in root
        with pytest.raises(zarrox.errors.GroupNotFoundError):
            zarr.open_group(store, path=inside, mode="r")
        with pytest.raises(KeyError):
            del root[inside]
    assert z[:].sum() == 16
