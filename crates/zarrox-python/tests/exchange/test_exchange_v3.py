"""zarr-python 3 and Zarrox on one directory, in one process: each reads what the other wrote."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr.codecs as codecs
from exchange import CHUNKS, NUMBERS, SHAPE, STRUCTURES, TEXTS, TIMES, name, same, texts, values

import zarrox

assert zarr.__version__.startswith("3.")

# zarr-python 3 warns about types that are not in the specification.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")

DTYPES: list[Any] = [*NUMBERS, *TIMES, *TEXTS, *STRUCTURES]

#: Filters, serializer and compressors, in the form that both libraries accept.
CHAINS: dict[str, dict[str, Any]] = {
    "none": {"compressors": None},
    "default": {},
    "gzip": {"compressors": codecs.GzipCodec(level=5)},
    "zstd": {"compressors": codecs.ZstdCodec(level=3, checksum=True)},
    "blosc lz4": {"compressors": codecs.BloscCodec(cname="lz4", shuffle="shuffle", typesize=4)},
    "blosc zstd": {"compressors": codecs.BloscCodec(cname="zstd", shuffle="bitshuffle", typesize=4)},
    "two": {"compressors": [codecs.GzipCodec(), codecs.Crc32cCodec()]},
    "big": {"serializer": codecs.BytesCodec(endian="big")},
    "transpose": {"filters": codecs.TransposeCodec(order=(1, 0))},
}


def ways(tmp_path: Path) -> list[tuple[Any, Any, str]]:
    """Returns the library that writes, the library that reads, and the directory."""
    return [(zarr, zarrox, str(tmp_path / "theirs.zarr")), (zarrox, zarr, str(tmp_path / "ours.zarr"))]


def documents(tmp_path: Path, name: str) -> list[Any]:
    """Returns the metadata that both libraries wrote."""
    return [json.loads((tmp_path / place / name).read_text()) for place in ("theirs.zarr", "ours.zarr")]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", DTYPES, ids=name)
def test_types(tmp_path: Path, dtype: Any, zarr_format: int) -> None:
    """Every type is exchanged in both formats, with the same metadata."""
    made = values(dtype)
    for writer, reader, path in ways(tmp_path):
        array = writer.create_array(store=path, shape=SHAPE, chunks=CHUNKS, dtype=made.dtype, zarr_format=zarr_format)
        array[...] = made
        found = reader.open_array(path, mode="r")
        same(found[...], made)
        assert found.dtype == made.dtype
        # The same fill value can be written in several forms.
        same(*(np.array(each.fill_value, made.dtype) for each in (found, array)))
    theirs, ours = documents(tmp_path, "zarr.json" if zarr_format == 3 else ".zarray")
    key = "data_type" if zarr_format == 3 else "dtype"
    assert theirs[key] == ours[key]


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("chain", sorted(CHAINS))
def test_codecs(tmp_path: Path, chain: str, sharded: bool) -> None:
    """Every codec is exchanged, with and without shards. Codec objects of zarr-python 3 are accepted like those of
    Zarrox."""
    made = values("i4")
    for writer, reader, path in ways(tmp_path):
        options = {"shards": (6, 8)} if sharded else {}
        array = writer.create_array(store=path, shape=SHAPE, chunks=CHUNKS, dtype="i4", **options, **CHAINS[chain])
        array[...] = made
        found = reader.open_array(path, mode="r")
        same(found[...], made)
        assert found.chunks == CHUNKS
        assert found.shards == ((6, 8) if sharded else None)
    theirs, ours = documents(tmp_path, "zarr.json")
    # An empty configuration is equivalent to a missing one.
    names = [
        [(codec["name"], codec.get("configuration", {})) for codec in document["codecs"]] for document in (theirs, ours)
    ]
    assert names[0] == names[1]
    assert theirs["chunk_grid"] == ours["chunk_grid"]


@pytest.mark.parametrize("encoding", ["default", "v2"])
@pytest.mark.parametrize("separator", [".", "/"])
def test_chunk_keys(tmp_path: Path, encoding: str, separator: str) -> None:
    """Both libraries write chunks under the same keys."""
    made = values("f8")
    for writer, reader, path in ways(tmp_path):
        keys = {"name": encoding, "configuration": {"separator": separator}}
        if writer is zarr:
            keys = {"name": encoding, "separator": separator}
        array = writer.create_array(store=path, shape=SHAPE, chunks=CHUNKS, dtype="f8", chunk_key_encoding=keys)
        array[...] = made
        same(reader.open_array(path, mode="r")[...], made)
    names = [
        sorted(str(p.relative_to(tmp_path / d)) for p in (tmp_path / d).rglob("*"))
        for d in ("theirs.zarr", "ours.zarr")
    ]
    assert names[0] == names[1]


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_orders(tmp_path: Path, order: str, zarr_format: int) -> None:
    """Arrays in both memory orders are exchanged."""
    made = values("i2")
    for writer, reader, path in ways(tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = writer.create_array(
                store=path, shape=SHAPE, chunks=CHUNKS, dtype="i2", order=order, zarr_format=zarr_format
            )
        array[...] = made
        same(reader.open_array(path, mode="r")[...], made)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_text(tmp_path: Path, zarr_format: int) -> None:
    """Text of variable length is exchanged."""
    for writer, reader, path in ways(tmp_path):
        array = writer.create_array(store=path, shape=SHAPE, chunks=CHUNKS, dtype=str, zarr_format=zarr_format)
        array[...] = texts()
        found = reader.open_array(path, mode="r")[...]
        assert found.tolist() == texts().tolist()


@pytest.mark.parametrize("fill_value", [0.0, -1.5, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_fill_values(tmp_path: Path, dtype: str, fill_value: float) -> None:
    """Elements that were never written are the same for both libraries."""
    for writer, reader, path in ways(tmp_path):
        writer.create_array(store=path, shape=SHAPE, chunks=CHUNKS, dtype=dtype, fill_value=fill_value)
        np.testing.assert_array_equal(reader.open_array(path, mode="r")[...], np.full(SHAPE, fill_value, dtype))
    theirs, ours = documents(tmp_path, "zarr.json")
    assert theirs["fill_value"] == ours["fill_value"]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("consolidated", [False, True])
def test_hierarchies(tmp_path: Path, zarr_format: int, consolidated: bool) -> None:
    """Groups, attributes, dimension names and consolidated metadata are exchanged."""
    for writer, reader, path in ways(tmp_path):
        root = writer.open_group(path, mode="w", zarr_format=zarr_format)
        root.attrs["title"] = "all"
        names = {"dimension_names": ["y", "x"]} if zarr_format == 3 else {}
        data = root.create_group("a/b").create_array("c", shape=SHAPE, chunks=CHUNKS, dtype="f4", **names)
        data[...] = values("f4")
        data.attrs["units"] = ["m", 1, None, {"deep": 1.5}]
        root.create_group("empty")
        if consolidated:
            writer.consolidate_metadata(path)
        found = reader.open_consolidated(path) if consolidated else reader.open_group(path, mode="r")
        assert found.attrs["title"] == "all"
        assert sorted(found.group_keys()) == ["a", "empty"]
        array = found["a/b/c"]
        same(array[...], values("f4"))
        assert dict(array.attrs) == {"units": ["m", 1, None, {"deep": 1.5}]}
        if zarr_format == 3:
            assert tuple(array.metadata.dimension_names) == ("y", "x")


def test_both_change_one_array(tmp_path: Path) -> None:
    """Both libraries write to one shard in turn, and each sees the values of the other."""
    path = str(tmp_path / "shared.zarr")
    theirs = zarr.create_array(path, shape=(12,), chunks=(2,), shards=(6,), dtype="i4")
    ours = zarrox.open_array(path, mode="r+")
    theirs[:5] = 1
    ours[5:] = 2
    assert theirs[:].tolist() == ours[:].tolist() == [1] * 5 + [2] * 7


def test_zip(tmp_path: Path) -> None:
    """Zip archives are exchanged."""
    with zarr.storage.ZipStore(tmp_path / "theirs.zip", mode="w") as store:
        zarr.create_array(store, name="z", data=values("f8"), chunks=CHUNKS)
    with zarrox.storage.ZipStore(str(tmp_path / "theirs.zip"), mode="r") as archive:
        same(zarrox.open_group(archive, mode="r")["z"][...], values("f8"))
    with zarrox.storage.ZipStore(str(tmp_path / "ours.zip"), mode="w") as archive:
        zarrox.create_array(archive, name="z", data=values("f8"), chunks=CHUNKS)
    with zarr.storage.ZipStore(tmp_path / "ours.zip", mode="r") as store:
        same(zarr.open_array(store, path="z", mode="r")[...], values("f8"))
