"""Tests of the properties that new arrays take over from other arrays: chunks, shards, grids, codecs and types."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox as zarr
from zarrox import v2
from zarrox.core.base import ArrayBase
from zarrox.v2.codecs import JSON, LZMA, Delta, MsgPack, VLenArray, VLenBytes, VLenUTF8
from zarrox.hierarchy import Group


def filled(z: zarr.Array) -> zarr.Array:
    z[...] = np.arange(z.size).reshape(z.shape)
    return z


def sharded() -> zarr.Array:
    return filled(zarr.create_array({}, shape=100, chunks=16, shards=64, dtype="i4", name="z"))


def rectilinear(**kwargs: Any) -> zarr.Array:
    return filled(zarr.create_array({}, shape=(7, 10), chunks=[[3, 4], 5], dtype="i4", name="z", **kwargs))


# Shards


@pytest.mark.parametrize(("shape", "shards"), [(100, 64), (1000, 1024), (13, 64), (0, 64), (128, 64)])
def test_shards_longer_than_the_array_are_copied(shape: int, shards: int) -> None:
    z = filled(zarr.create_array({}, shape=shape, chunks=64, shards=shards, dtype="i4", name="z"))
    for create_kws in ({}, {"fill_value": 5}):
        root = zarr.group(zarr_format=3)
        zarr.copy(z, root, **create_kws)
        assert (root["z"].chunks, root["z"].shards) == ((64,), (shards,))
        np.testing.assert_array_equal(root["z"][:], z[:])
    like = zarr.empty_like(z)
    assert (like.chunks, like.shards, like.shape) == ((64,), (shards,), (shape,))


def test_arrays_that_were_resized_below_their_shard_are_copied() -> None:
    z = sharded()
    z.resize(20)
    source, root = zarr.group(zarr_format=3), zarr.group(zarr_format=3)
    zarr.copy(z, source)
    zarr.copy_all(source, root)
    assert (root["z"].shape, root["z"].chunks, root["z"].shards) == ((20,), (16,), (64,))
    np.testing.assert_array_equal(root["z"][:], np.arange(20))
    root["z"].resize(200)
    assert not root["z"][20:].any()


@pytest.mark.parametrize("location", ["start", "end"])
def test_shards_that_say_where_their_index_is(location: str) -> None:
    z = zarr.create_array({}, shape=13, chunks=3, shards={"shape": 6, "index_location": location}, dtype="i4", name="z")
    filled(z)
    assert (z.chunks, z.shards) == ((3,), (6,))
    for copy in (zarr.from_array({}, data=z), zarr.from_array({}, data=z, chunks=2), zarr.zeros_like(z)):
        assert copy.shards == (6,)
        assert json.loads(copy._native.codecs)[0]["configuration"]["index_location"] == location


def test_a_hierarchy_is_created_from_the_metadata_of_sharded_arrays() -> None:
    for z in (sharded(), rectilinear(), zarr.create_array({}, shape=13, chunks=3, shards=6, dtype="i1")):
        for metadata in (z.metadata, z.metadata.to_dict()):
            made = dict(zarr.create_hierarchy(store={}, nodes={"": zarr.hierarchy.GroupMetadata(), "a": metadata}))["a"]
            assert (made.chunks, made.shards, made.shape) == (z.chunks, z.shards, z.shape)
            assert made.write_chunk_sizes == z.write_chunk_sizes


@pytest.mark.parametrize(
    ("chunks", "shards"),
    [(32, (64,)), (10, (70,)), ((100,), (100,)), ((None,), (64,)), (False, None), (64, (64,)), ("auto", (100,))],
)
def test_kept_shards_fit_other_chunks(chunks: Any, shards: Any) -> None:
    z, root = sharded(), zarr.group(zarr_format=3)
    copy = zarr.from_array({}, data=z, chunks=chunks)
    zarr.copy(z, root, chunks=chunks)
    assert copy.shards == root["z"].shards == shards
    np.testing.assert_array_equal(copy[:], z[:])
    np.testing.assert_array_equal(root["z"][:], z[:])


def test_what_is_missing_beside_other_chunks_or_shards_is_said() -> None:
    z = sharded()
    with pytest.raises(ValueError, match=r"not multiples of the source's chunks \(16,\): give chunks as well"):
        zarr.from_array({}, data=z, shards=50)
    assert zarr.from_array({}, data=z, shards=50, chunks=25).shards == (50,)
    with pytest.raises(ValueError, match="give shards as well, or shards=None"):
        zarr.from_array({}, data=z, chunks=[[40, 60]])
    assert zarr.from_array({}, data=z, chunks=[[40, 60]], shards=None).read_chunk_sizes == ((40, 60),)
    with pytest.raises(ValueError, match="give chunks as well"):
        zarr.from_array({}, data=rectilinear(), shards=(10, 10))
    uneven = zarr.create_array({}, shape=10, chunks=2, shards=[[4, 6]], dtype="i4")
    assert zarr.from_array({}, data=uneven, chunks=1).write_chunk_sizes == ((4, 6),)
    with pytest.raises(ValueError, match=r"not multiples of the chunks \(4,\): give shards as well"):
        zarr.from_array({}, data=uneven, chunks=4)


def test_chunks_that_nobody_said_fit_into_shards() -> None:
    z = zarr.create_array({}, shape=10_000_000, shards=1_000_000, dtype="f8")
    assert z.chunks == (125_000,)
    assert zarr.create_array({}, shape=(13, 50), chunks=(3, None), shards=(-1, 20), dtype="f8").shards == (15, 20)


# Objects


OBJECTS: list[tuple[Any, list[Any]]] = [
    (VLenUTF8(), ["", "Zürich", "a"]),
    (VLenBytes(), [b"", b"\0\1", b"a"]),
    (JSON(), [{"a": [1, None]}, "text", 3]),
    (MsgPack(), [{"a": [1, None]}, "text", 3]),
    (VLenArray("<i4"), [np.arange(3, dtype="i4"), np.arange(0, dtype="i4"), np.arange(1, dtype="i4")]),
]


def of_objects(codec: Any, values: list[Any]) -> zarr.Array:
    z = v2.create(3, chunks=2, dtype=object, object_codec=codec, fill_value=None, compressor=None, path="z")
    for index, value in enumerate(values):
        z[index] = value
    return z


def assert_same_objects(found: Any, z: zarr.Array) -> None:
    assert len(found) == len(z)
    for one, other in zip(found[:], z[:], strict=True):
        np.testing.assert_array_equal(one, other)


def through(store: dict[str, Any], act: Callable[[dict[str, Any]], object]) -> Any:
    act(store)
    return zarr.load(store)


COPIES: dict[str, Callable[[zarr.Array, Group], Any]] = {
    "from_array": lambda z, g: zarr.from_array({}, data=z),
    "from_array, chunks": lambda z, g: zarr.from_array({}, data=z, chunks=3),
    "create_array": lambda z, g: zarr.create_array({}, data=z, zarr_format=2),
    "copy": lambda z, g: zarr.copy(z, g) and g["z"],
    "copy, chunks": lambda z, g: zarr.copy(z, g, chunks=1) and g["z"],
    "copy, compressor": lambda z, g: zarr.copy(z, g, compressor=v2.Zlib()) and g["z"],
    "copy_all": lambda z, g: v2.copy_all(v2.open_group(z.store), g) and g["z"],
    "array": lambda z, g: v2.array(z),
    "Group.array": lambda z, g: g.array("x", z),
    "item": lambda z, g: (g.__setitem__("x", z), g["x"])[1],
    "save": lambda z, g: through({}, lambda store: v2.save(store, z)),
    "save, several": lambda z, g: through({}, lambda store: v2.save(store, a=z, b=z))["b"],
    "like": lambda z, g: (made := g.empty_like("x", z), made.__setitem__(slice(None), z[:]))[0],
}


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES.keys())
@pytest.mark.parametrize(("codec", "values"), OBJECTS, ids=lambda value: getattr(value, "codec_id", ""))
def test_objects_are_copied_with_their_codec(codec: Any, values: list[Any], copy: Any) -> None:
    z = of_objects(codec, values)
    made = copy(z, v2.group())
    assert_same_objects(made, z)
    if isinstance(made, ArrayBase):
        assert made._filters == (codec,)
        assert made._metadata.data_type == z._metadata.data_type


@pytest.mark.parametrize("given", ["chunks", "nothing"])
def test_text_and_bytes_are_copied_between_formats(given: str) -> None:
    options: dict[str, Any] = {"chunks": 3} if given == "chunks" else {}
    for codec, values in OBJECTS[:2]:
        z = of_objects(codec, values)
        v3 = zarr.from_array({}, data=z, zarr_format=3, **options)
        assert_same_objects(v3, z)
        root = v2.group()
        for back in (zarr.from_array({}, data=v3, zarr_format=2, **options), root.array("x", v3), v2.array(v3)):
            assert back._filters == (codec,)
            assert_same_objects(back, z)


def test_objects_that_v3_has_no_type_for_are_refused_with_words() -> None:
    for codec, values in OBJECTS[2:]:
        with pytest.raises(ValueError, match="v3 has no data type for objects that the codec"):
            zarr.from_array({}, data=of_objects(codec, values), zarr_format=3)


def test_another_type_leaves_the_codec_of_objects_behind() -> None:
    z = of_objects(VLenUTF8(), ["a", "b", "c"])
    assert v2.empty_like(z, dtype="i4").filters is None
    assert v2.empty_like(z, dtype=object).filters == [VLenUTF8()]
    assert v2.empty_like(z, object_codec=JSON()).filters == [JSON()]
    assert v2.zeros_like(zarr.create_array({}, shape=3, dtype="u1"), dtype="f8")[:].tolist() == [0, 0, 0]


# Codecs


def test_elements_that_are_shown_as_others_are_copied_as_they_are_shown() -> None:
    for zarr_format in (2, 3):
        z = v2.array(np.array([1, 2, 300]), dtype="i2", zarr_format=zarr_format, fill_value=7)
        view = z.astype("f4")
        for copy in (zarr.from_array({}, data=view), v2.array(view), v2.full_like(view, fill_value=1.5)):
            assert copy.dtype == np.dtype("f4")
        assert zarr.from_array({}, data=view)[:].tolist() == [1, 2, 300]
        assert v2.full_like(view, fill_value=1.5)[0] == 1.5


def test_the_byte_order_of_numbers_is_copied() -> None:
    z = filled(v2.create((3, 4), chunks=2, dtype=">i4", order="F", filters=[Delta(">i4")], path="z"))
    assert z._metadata.data_type.to_native_dtype() == np.dtype(">i4")
    copy = zarr.from_array({}, data=z)
    assert (copy.dtype, copy.order, copy._filters) == (z.dtype, "F", z._filters)
    np.testing.assert_array_equal(zarr.from_array({}, data=z, zarr_format=3)[:], z[:])


@pytest.mark.parametrize("compressor", ["default", None, v2.GZip(3), v2.Zlib(2), v2.BZ2(), v2.Blosc(), LZMA()])
@pytest.mark.filterwarnings("ignore:not every program that reads N5")
def test_compressors_are_copied_within_n5_and_out_of_it(tmp_path: Path, compressor: Any) -> None:
    root = v2.group(v2.N5Store(str(tmp_path / "a.n5")))
    z = filled(root.create_dataset("z", shape=(5, 7), chunks=(2, 3), dtype="i4", compressor=compressor))
    document = json.loads((tmp_path / "a.n5/z/attributes.json").read_text())
    v2.copy(z, root, name="copied")
    root.empty_like("empty", z)
    v2.empty_like(z, store=v2.N5Store(str(tmp_path / "b.n5")))
    for place in ("a.n5/copied", "a.n5/empty", "b.n5"):
        assert json.loads((tmp_path / place / "attributes.json").read_text())["compression"] == document["compression"]
    np.testing.assert_array_equal(root["copied"][:], z[:])
    for out in (zarr.from_array({}, data=z), v2.array(z), v2.empty_like(z)):
        assert out._native.format == "2"
        assert out.compressor is None or out.compressor.codec_id != "n5_wrapper"


# Grids


def test_chunks_that_differ_in_length_are_created_from_lists() -> None:
    z = rectilinear()
    assert json.loads(z.store["z/zarr.json"])["chunk_grid"] == {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[3, 4], 5]},
    }
    assert z.read_chunk_sizes == z.write_chunk_sizes == ((3, 4), (5, 5))
    assert zarr.create_array({}, shape=7, chunks=[[3, 4]], dtype="i4").read_chunk_sizes == ((3, 4),)
    runs = zarr.create_array({}, shape=(100, 6), chunks=(np.array([30, 30, 40]), -1), dtype="i4")
    assert runs.metadata.chunk_grid["configuration"]["chunk_shapes"] == [[[30, 2], 40], 6]
    assert zarr.create(7, chunks=[[3, 4]], zarr_format=3).read_chunk_sizes == ((3, 4),)
    with pytest.raises(ValueError, match="end at 7"):
        zarr.create_array({}, shape=8, chunks=[[3, 4]], dtype="i4")
    with pytest.raises(ValueError, match="too many dimensions"):
        zarr.create_array({}, shape=8, chunks=[[3, 5], [8]], dtype="i4")
    with pytest.raises(ValueError, match="need zarr_format=3"):
        zarr.create(7, chunks=[[3, 4]], zarr_format=2)


def test_shards_that_differ_in_length_are_created_from_lists() -> None:
    z = zarr.create_array({}, shape=13, chunks=2, shards=[[4, 6, 4]], dtype="i4")
    filled(z)
    assert (z.write_chunk_sizes, z.chunks) == (((4, 6, 3),), (2,))
    assert z.read_chunk_sizes == ((2, 2, 2, 2, 2, 2, 1),)
    assert zarr.from_array({}, data=z).write_chunk_sizes == z.write_chunk_sizes
    start = zarr.create_array({}, shape=10, chunks=2, shards={"shape": [[4, 6]], "index_location": "start"}, dtype="i4")
    assert start.write_chunk_sizes == ((4, 6),)
    with pytest.raises(ValueError, match="need chunks"):
        zarr.create_array({}, shape=10, shards=[[4, 6]], dtype="i4")
    with pytest.raises(ValueError, match="in shards have the same shape"):
        zarr.create_array({}, shape=10, chunks=[[4, 6]], shards=(10,), dtype="i4")


def test_a_grid_of_chunks_that_differ_is_kept() -> None:
    z, root = rectilinear(), zarr.group(zarr_format=3)
    made = [
        *(zarr.empty_like(z), zarr.zeros_like(z), zarr.ones_like(z), zarr.full_like(z, fill_value=3)),
        *(zarr.from_array({}, data=z), zarr.array(z, zarr_format=3), zarr.open_like(z, {})),
        *(root.zeros_like("zeros", z), zarr.copy(z, root, fill_value=1) and root["z"]),
    ]
    for like in made:
        assert like.read_chunk_sizes == ((3, 4), (5, 5))
    np.testing.assert_array_equal(zarr.from_array({}, data=z)[:], z[:])
    z.resize((5, 10))
    assert zarr.from_array({}, data=z).metadata.chunk_grid == z.metadata.chunk_grid
    assert z.read_chunk_sizes == ((3, 2), (5, 5))


def test_a_grid_of_chunks_that_differ_gets_one_more_where_the_array_grows() -> None:
    z = rectilinear()
    before = z[:]
    z.append(np.full((2, 10), 9, dtype=z.dtype))
    assert (z.shape, z.read_chunk_sizes) == ((9, 10), ((3, 4, 2), (5, 5)))
    np.testing.assert_array_equal(z[:], np.concatenate([before, np.full((2, 10), 9)]))
    z.resize((15, 12))
    assert z.metadata.chunk_grid["configuration"]["chunk_shapes"] == [[3, 4, 2, 6], 5]
    np.testing.assert_array_equal(z[:9, :10], np.concatenate([before, np.full((2, 10), 9)]))


def test_formats_without_such_grids_get_the_largest_chunk() -> None:
    z = rectilinear()
    for copy in (zarr.from_array({}, data=z, zarr_format=2), zarr.array(z, zarr_format=2), zarr.empty_like(z, zarr_format=2)):
        assert copy.chunks == (4, 5)
    np.testing.assert_array_equal(zarr.array(z)[:], z[:])


def test_info_has_the_lengths_of_all_chunks() -> None:
    assert "Chunk shape : ([3, 4], 5)" in str(rectilinear().info)
    uneven = zarr.create_array({}, shape=13, chunks=2, shards=[[4, 6, 4]], dtype="i4")
    assert "Shard shape : ([4, 6, 4],)\nChunk shape : (2,)" in str(uneven.info)
    long = zarr.create_array({}, shape=60, chunks=[[1, 2] * 20], dtype="i1")
    assert "([1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, … 28 more],)" in str(long.info)


# Metadata


def test_metadata_of_objects_names_their_codec() -> None:
    for codec, values in OBJECTS[2:]:
        metadata = of_objects(codec, values)._metadata
        assert metadata.data_type.to_json(zarr_format=2) == {"name": "|O", "object_codec_id": codec.codec_id}
        assert metadata.filters == (codec,)


def test_metadata_of_structures_with_fields_that_are_arrays() -> None:
    dtype = np.dtype([("a", ">i2", (2, 3)), ("b", [("c", "f4", (2,))]), ("d", "S3")])
    z = v2.zeros(3, chunks=2, dtype=dtype, path="z")
    z[1] = np.ones((), dtype)[()]
    data_type = z._metadata.data_type
    assert data_type.to_native_dtype() == dtype
    assert data_type.to_json(zarr_format=2)["name"] == [["a", ">i2", [2, 3]], ["b", [["c", "<f4", [2]]]], ["d", "|S3"]]
    assert type(data_type).from_json(data_type.to_json(zarr_format=2), zarr_format=2) == data_type
    assert data_type.default_scalar() == np.zeros((), dtype)
    for copy in (zarr.from_array({}, data=z), zarr.from_array({}, data=z, chunks=3)):
        assert copy.dtype == dtype
        np.testing.assert_array_equal(copy[:], z[:])
    with pytest.raises(ValueError, match="field 'a' is an array"):
        zarr.from_array({}, data=z, zarr_format=3)


def test_what_programs_note_on_a_type_is_passed_over() -> None:
    noted = np.dtype([("a", "i4"), ("b", np.dtype("S2", metadata={"h5py_encoding": "ascii"}))])
    for zarr_format in (2, 3):
        z = zarr.zeros(3, dtype=noted, zarr_format=zarr_format)
        assert z.dtype == noted
        z[0] = (1, b"xy")
        np.testing.assert_array_equal(zarr.from_array({}, data=z)[:], z[:])
    assert v2.meta.encode_dtype(noted) == [("a", "<i4"), ("b", "|S2")]


# Destinations


def test_open_like_opens_what_is_there(tmp_path: Path) -> None:
    for store in ({}, v2.N5Store(str(tmp_path / "a.n5"))):
        there = zarr.open_like(zarr.zeros(3, dtype="i4"), store)
        there[0] = 7
        assert zarr.open_like(there, store)[0] == 7
    assert zarr.open_like(zarr.zeros(3), zarr.create_array({}, shape=4, dtype="i4").store).shape == (4,)


def test_a_node_is_opened_by_its_place(tmp_path: Path) -> None:
    for store in ({}, v2.MemoryStore(), v2.DirectoryStore(str(tmp_path / "a"))):
        root = zarr.group(store)
        z = root.create_array("a/b", data=np.arange(4))
        assert isinstance(z.store_path, zarr.storage.StorePath)
        np.testing.assert_array_equal(zarr.open(z.store_path, mode="r")[:], z[:])
        assert list(zarr.open(root["a"].store_path)) == ["b"]
        assert zarr.open(z.store_path).store_path == z.store_path
        zarr.open(root.store_path / "a" / "b")[0] = 9
        assert z[0] == 9
