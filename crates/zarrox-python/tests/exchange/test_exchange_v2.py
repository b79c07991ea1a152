"""zarr-python 2 and Zarrox on one store, in one process: each reads what the other wrote, and both write the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
from exchange import CHUNKS, NUMBERS, SHAPE, STRUCTURES, TEXTS, TIMES, Values, name, same, texts, values

import zarrox
from zarrox import v2

assert zarr.__version__.startswith("2.18")

DTYPES: list[Any] = [*NUMBERS, *(f">{dtype}" for dtype in NUMBERS if dtype[1:] != "1"), *TIMES, *TEXTS, *STRUCTURES]

CODECS: list[tuple[Any, list[Any]]] = [
    (None, []),
    (numcodecs.Blosc(), []),
    *(
        (numcodecs.Blosc(cname, 3, shuffle), [])
        for cname in ("lz4", "lz4hc", "blosclz", "zstd", "zlib")
        for shuffle in (0, 1, 2)
    ),
    (numcodecs.Zlib(6), []),
    (numcodecs.GZip(6), []),
    (numcodecs.BZ2(5), []),
    (numcodecs.LZMA(preset=1), []),
    (numcodecs.LZ4(), []),
    (numcodecs.Zstd(3), []),
    (numcodecs.Zlib(1), [numcodecs.Delta("i4")]),
    (numcodecs.Zlib(1), [numcodecs.Shuffle(4)]),
    (None, [numcodecs.Delta("i4"), numcodecs.Zstd(1)]),
    (None, [numcodecs.CRC32()]),
    (None, [numcodecs.Adler32()]),
    # The output type of the filters determines whether Blosc gets single bytes.
    *(
        (numcodecs.Blosc("lz4", 5, shuffle), [codec])
        for shuffle in (-1, 1, 2)
        for codec in (numcodecs.Shuffle(4), numcodecs.Base64(), numcodecs.CRC32(), numcodecs.Zlib(1), numcodecs.Delta("i4"))
    ),
    (numcodecs.Blosc(), [numcodecs.Zlib(1), numcodecs.Delta("u1", "i2")]),
]

#: Compressors that numcodecs compiles with another library: the bytes may differ, but the values may not.
OTHER_LIBRARIES = ("zlib", "gzip")


def both(values: Values, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the stores after both libraries have written the same values with the same options."""
    theirs: dict[str, Any] = {}
    ours: dict[str, Any] = {}
    for library, store in ((zarr, theirs), (v2, ours)):
        # Releases of zarr-python 2 have different defaults for chunks of zeros.
        array = library.create(store=store, shape=values.shape, dtype=values.dtype, write_empty_chunks=True, **options)
        array[...] = values
        array.attrs["name"] = "é"
    return theirs, ours


def check(values: Values, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Checks that each library reads the array of the other, and that both wrote the same documents."""
    same(v2.open_array(theirs, mode="r")[...], values)
    same(zarr.open_array(ours, mode="r")[...], values)
    assert metadata(theirs) == metadata(ours)
    assert set(theirs) == set(ours)


def chunks(store: dict[str, Any]) -> dict[str, bytes]:
    """Returns the stored chunks."""
    return {key: bytes(value) for key, value in store.items() if not key.startswith(".")}


def metadata(store: dict[str, Any]) -> Any:
    """Returns the metadata of an array, without members that newer releases of numcodecs add to codecs."""
    found = json.loads(store[".zarray"])
    for codec in [found["compressor"], *(found["filters"] or [])]:
        if codec is not None and codec["id"] == "zstd":
            codec.pop("checksum", None)
    return found


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", DTYPES, ids=name)
def test_types(dtype: Any, order: str) -> None:
    """Every type is exchanged, in both orders."""
    made = values(dtype)
    theirs, ours = both(made, chunks=CHUNKS, order=order)
    check(made, theirs, ours)
    assert zarr.open_array(ours).hexdigest() == v2.open_array(theirs).hexdigest()
    assert {key: bytes(value) for key, value in theirs.items()} == {key: bytes(value) for key, value in ours.items()}


@pytest.mark.parametrize(("compressor", "filters"), CODECS, ids=name)
def test_codecs(compressor: Any, filters: list[Any]) -> None:
    """Every codec is exchanged. The bytes are equal if both use the same compression library."""
    made = values("i4")
    theirs, ours = both(made, chunks=CHUNKS, compressor=compressor, filters=filters or None)
    check(made, theirs, ours)
    used = [codec.codec_id for codec in [compressor, *filters] if codec is not None]
    if not any(codec in OTHER_LIBRARIES for codec in used):
        assert chunks(theirs) == chunks(ours)
    if "zstd" not in used and not any(codec in OTHER_LIBRARIES for codec in used):
        assert zarr.open_array(theirs).hexdigest() == v2.open_array(ours).hexdigest()


@pytest.mark.parametrize("separator", [".", "/"])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("write_empty_chunks", [False, True])
def test_layouts(tmp_path: Path, separator: str, order: str, write_empty_chunks: bool) -> None:
    """Directories with all separators, orders and treatments of empty chunks are exchanged."""
    made = values("f8")
    made[:3, :4] = 0
    options = {
        "chunks": CHUNKS,
        "order": order,
        "dimension_separator": separator,
        "write_empty_chunks": write_empty_chunks,
    }
    for library, place in ((zarr, tmp_path / "theirs.zarr"), (v2, tmp_path / "ours.zarr")):
        array = library.create(store=str(place), shape=SHAPE, dtype="f8", fill_value=0, **options)
        array[...] = made
    files = [
        sorted(str(p.relative_to(tmp_path / d)) for p in (tmp_path / d).rglob("*"))
        for d in ("theirs.zarr", "ours.zarr")
    ]
    assert files[0] == files[1]
    same(v2.open_array(tmp_path / "theirs.zarr", mode="r")[...], made)
    same(zarr.open_array(str(tmp_path / "ours.zarr"), mode="r")[...], made)


def test_default_digest() -> None:
    """The digests of data are equal to those of zarr-python 2."""
    made = np.arange(1_000_000, dtype="i4").reshape(1000, 1000)
    theirs, ours = zarr.array(made), v2.array(made)
    assert ours.chunks == theirs.chunks
    assert ours.hexdigest() == theirs.hexdigest()
    assert ours.hexdigest("sha256") == theirs.hexdigest("sha256")
    assert ours.digest() == theirs.digest()


@pytest.mark.parametrize("fill_value", [None, 0, 1.5, np.nan, np.inf, -np.inf])
def test_fill_values(fill_value: float | None) -> None:
    """Elements that were never written are the same for both libraries."""
    stores: list[dict[str, Any]] = [{}, {}]
    for library, store in zip((zarr, v2), stores, strict=True):
        library.create(store=store, shape=SHAPE, chunks=CHUNKS, dtype="f4", fill_value=fill_value)[0, 0] = 3
    for library, store in zip((v2, zarr), stores, strict=True):
        array = library.open_array(store, mode="r")
        np.testing.assert_equal(array.fill_value, fill_value)
        if fill_value is not None:
            assert array[0, 0] == 3
            np.testing.assert_equal(array[6], np.full(SHAPE[1], fill_value, dtype="f4"))


@pytest.mark.parametrize(
    "codec",
    [numcodecs.VLenUTF8(), numcodecs.JSON(), numcodecs.MsgPack(), numcodecs.Categorize(list("abc"), dtype=object)],
    ids=name,
)
def test_objects(codec: Any) -> None:
    """Text is exchanged with every codec for objects."""
    made = texts() if codec.codec_id != "categorize" else np.array(list("abcab"), dtype=object)
    theirs: dict[str, Any] = {}
    ours: dict[str, Any] = {}
    for library, store in ((zarr, theirs), (v2, ours)):
        array = library.create(store=store, shape=made.shape, chunks=3, dtype=object, object_codec=codec)
        array[...] = made
    check(made, theirs, ours)
    assert chunks(theirs) == chunks(ours)


def test_pickles_are_refused() -> None:
    """Pickles are programs, which run when they are read."""
    with pytest.raises(zarrox.errors.UnsupportedError, match="program.*pickle"):
        v2.create(shape=3, dtype=object, object_codec=numcodecs.Pickle())
    store: dict[str, Any] = {}
    zarr.create(store=store, shape=3, dtype=object, object_codec=numcodecs.Pickle())[:] = [1, "a", None]
    with pytest.raises(zarrox.errors.UnsupportedError, match="program.*pickle"):
        v2.open_array(store, mode="r")[:]


@pytest.fixture
def pickles_allowed() -> Iterator[None]:
    """Allows pickles, as a program does that trusts its data."""
    with zarrox.config.set({"array.allow_unsafe_pickle_decode": True}):
        yield


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.usefixtures("pickles_allowed")
def test_pickles_are_read_and_written_where_they_are_allowed(order: Any) -> None:
    """Pickles of any objects are exchanged, in either order of the elements."""
    made = np.empty((3, 4), dtype=object)
    made.ravel()[:] = [1, "a", None, {2}, (3, [4]), 1.5, b"x", {"y": 2}, 2 + 1j, 10**30, range(3), "z"]
    theirs: dict[str, Any] = {}
    ours: dict[str, Any] = {}
    for library, store in ((zarr, theirs), (v2, ours)):
        settings: dict[str, Any] = {"dtype": object, "object_codec": numcodecs.Pickle(), "order": order}
        library.create(store=store, shape=made.shape, chunks=2, **settings)[...] = made
    assert metadata(theirs) == metadata(ours)
    for library, store in ((v2, theirs), (zarr, ours), (v2, ours)):
        array = library.open_array(store, mode="r+")
        assert array[...].tolist() == made.tolist()
        assert (array[1, 0], array[2, 1:3].tolist()) == (made[1, 0], made[2, 1:3].tolist())
        array[1, 1:3] = np.array(["new", {5: 6}], dtype=object)
        assert array[1].tolist() == [made[1, 0], "new", {5: 6}, made[1, 3]]
        array[1] = made[1]
    assert isinstance(v2.open_array(ours).filters[0], numcodecs.Pickle)


@pytest.mark.parametrize("fill", [None, (b"fill", 7)])
@pytest.mark.usefixtures("pickles_allowed")
def test_structures_with_objects(fill: Any) -> None:
    """Each library reads the structures of the other, and the fill value of unwritten chunks."""
    dtype = np.dtype([("name", object), ("count", "<i4")])
    made = np.array([(b"aaa", 1), ("b", 2), (None, 3), ([4], 4), (5.5, 5)], dtype=dtype)
    stores: list[dict[str, Any]] = [{}, {}]
    for library, store in zip((zarr, v2), stores, strict=True):
        settings: dict[str, Any] = {"object_codec": numcodecs.Pickle(), "fill_value": fill}
        array = library.create(store=store, shape=7, chunks=2, dtype=dtype, **settings)
        array[:5] = made
    assert metadata(stores[0]).keys() == metadata(stores[1]).keys()
    for store in stores:
        for library in (zarr, v2):
            array = library.open_array(store, mode="r+")
            assert array.dtype == dtype
            assert array[:5].tolist() == made.tolist()
            assert array[1].tolist() == ("b", 2)
            assert array["count"][:5].tolist() == [1, 2, 3, 4, 5]
            if fill is not None:
                assert array[6].tolist() == fill
            array[2:4] = made[:2]
            assert array[1:5].tolist() == [("b", 2), (b"aaa", 1), ("b", 2), (5.5, 5)]
            array[2:4] = made[2:4]


def test_structures_with_objects_need_a_codec_and_trust() -> None:
    """Without an object codec, or without permission for pickles, no array is created."""
    dtype = np.dtype([("name", object), ("count", "<i4")])
    with pytest.raises(ValueError, match="object_codec"):
        v2.create(shape=3, dtype=dtype)
    with pytest.raises(zarrox.errors.UnsupportedError, match="pickle"):
        v2.create(shape=3, dtype=dtype, object_codec=numcodecs.Pickle())


def test_ragged() -> None:
    """Arrays whose elements are arrays are exchanged."""
    made = np.empty(3, dtype=object)
    made[:] = [np.array([1, 2]), np.array([3]), np.array([4, 5, 6])]
    theirs: dict[str, Any] = {}
    ours: dict[str, Any] = {}
    for library, store in ((zarr, theirs), (v2, ours)):
        library.create(store=store, shape=3, dtype="array:i8")[:] = made
    for library, store in ((v2, theirs), (zarr, ours)):
        found = library.open_array(store, mode="r")[:]
        assert [element.tolist() for element in found] == [element.tolist() for element in made]
    assert chunks(theirs) == chunks(ours)
    assert metadata(theirs) == metadata(ours)


@pytest.mark.parametrize("consolidated", [False, True])
def test_hierarchies(tmp_path: Path, consolidated: bool) -> None:
    """Groups, attributes and consolidated metadata are exchanged in both directions."""
    for writer, reader, place in ((zarr, v2, "theirs.zarr"), (v2, zarr, "ours.zarr")):
        path = str(tmp_path / place)
        root = writer.open_group(path, mode="w")
        root.attrs["title"] = "all"
        data = root.create_group("a/b").create_dataset("c", data=values("f4"), chunks=CHUNKS)
        data.attrs["units"] = ["m", 1, None, {"deep": 1.5}]
        root.require_group("empty")
        if consolidated:
            writer.consolidate_metadata(path)
        found = reader.open_consolidated(path) if consolidated else reader.open_group(path, mode="r")
        assert found.attrs["title"] == "all"
        assert sorted(found.group_keys()) == ["a", "empty"]
        same(found["a/b/c"][...], values("f4"))
        assert found["a/b/c"].attrs.asdict() == {"units": ["m", 1, None, {"deep": 1.5}]}
        assert str(found.tree()) == str(writer.open_group(path).tree())


def test_both_change_one_array(tmp_path: Path) -> None:
    """Both libraries change an array in turn, and each sees the changes of the other."""
    path = str(tmp_path / "shared.zarr")
    theirs = zarr.open_array(path, mode="w", shape=10, chunks=3, dtype="i4", cache_metadata=False)
    ours = v2.open_array(path, mode="r+", cache_metadata=False)
    theirs[:5] = 1
    ours[5:] = 2
    assert theirs[:].tolist() == ours[:].tolist() == [1] * 5 + [2] * 5
    ours.append(np.array([3, 3], dtype="i4"))
    assert theirs.shape == (12,)
    theirs.resize(4)
    assert ours.shape == (4,)
    assert ours[:].tolist() == [1] * 4
    assert ours.hexdigest() == theirs.hexdigest()
