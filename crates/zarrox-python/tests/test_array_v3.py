"""Members of arrays that exist only in zarr-python 3."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zarrox as zarr
from zarrox.v2.codecs import Delta, GZip, Zlib


def test_small_integers_are_those_of_ml_dtypes() -> None:
    """All four types are read with the types of ml_dtypes, including signs."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in ("int2", "int4", "uint2", "uint4"):
        small = np.dtype(getattr(ml_dtypes, name))
        low, high = int(ml_dtypes.iinfo(small).min), int(ml_dtypes.iinfo(small).max)
        z = zarr.create_array({}, shape=4, chunks=2, dtype=small)
        values = np.array([low, high, 0, 1])
        for written in (values.astype(small), values, values.astype("i1"), [low, high, 0, 1]):
            z[:] = 0
            z[:] = written
            assert z.dtype == z[:].dtype == small
            assert z[:].astype(int).tolist() == values.tolist(), name
            assert int(z[0]) == low


def test_sizes_of_shards() -> None:
    z = zarr.create_array({}, shape=(20, 10), chunks=(2, 5), shards=(4, 10), dtype="i4")
    assert (z.chunks, z.shards, z.cdata_shape, z.nchunks) == ((2, 5), (4, 10), (10, 2), 20)
    z[:4] = 1
    assert z.nchunks_initialized == 4
    assert z.write_chunk_sizes == ((4,) * 5, (10,))


def test_metadata_of_v3() -> None:
    z = zarr.create_array(
        {}, shape=(10, 10), chunks=(5, 5), dtype="f4", dimension_names=["y", "x"], attributes={"unit": "K"}, fill_value=np.nan
    )
    metadata = z.metadata
    assert (metadata.zarr_format, metadata.shape, metadata.attributes) == (3, (10, 10), {"unit": "K"})
    assert metadata.dimension_names == ("y", "x") == z.dimension_names
    assert metadata.chunk_grid.chunk_shape == (5, 5)
    assert type(metadata.data_type).__name__ == "Float32"
    assert np.isnan(metadata.fill_value)
    assert metadata.to_dict()["fill_value"] == "NaN"
    assert [codec.to_dict()["name"] for codec in metadata.codecs] == ["bytes", "zstd"]


def test_metadata_of_v2() -> None:
    z = zarr.zeros((10, 4), chunks=(5, 2), dtype=">i4", order="F", compressor=GZip(1), zarr_format=2)
    z.attrs["a"] = 1
    metadata = z.metadata
    assert (metadata.zarr_format, metadata.chunks, metadata.order) == (2, (5, 2), "F")
    assert (metadata.compressor, metadata.filters) == (GZip(1), None)
    assert type(metadata.data_type).__name__ == "Int32"
    assert metadata.to_dict()["dtype"] == ">i4"
    assert metadata.attributes == {"a": 1}
    z.resize((12, 4))
    assert (z.metadata.shape, z.metadata.to_dict()["shape"]) == ((12, 4), [12, 4])


def test_codecs_of_v3() -> None:
    from zarrox.codecs import BytesCodec, ZstdCodec

    for shards in (None, (10,)):
        z = zarr.create_array({}, shape=(10,), chunks=(5,), shards=shards, dtype="i4", compressors=[ZstdCodec(level=3)])
        assert z.filters == ()
        assert z.serializer == BytesCodec(endian="little")
        assert [codec.to_dict()["name"] for codec in z.compressors] == ["zstd"]
        with pytest.raises(TypeError, match="compressors"):
            z.compressor  # noqa: B018


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_sizes(zarr_format: int) -> None:
    z = zarr.zeros((10, 7), chunks=(4, 4), dtype="i2", zarr_format=zarr_format)
    z[:4] = 1
    assert z.nchunks_initialized == 2
    assert z.nbytes_stored() == sum(len(value) for value in z.store.values())
    assert z.read_chunk_sizes == ((4, 4, 2), (4, 3))


def test_codecs_of_v2() -> None:
    z = zarr.zeros(10, dtype="i4", filters=[Delta(dtype="<i4")], compressor=Zlib(3), zarr_format=2)
    assert (z.filters, z.compressors, z.serializer) == ((Delta(dtype="<i4"),), (Zlib(3),), None)
    bare = zarr.zeros(10, compressor=None, zarr_format=2)
    assert (bare.compressor, bare.filters, bare.compressors) == (None, (), ())


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_repr(zarr_format: int) -> None:
    text = repr(zarr.create_array({}, name="foo", shape=(10,), dtype="i8", zarr_format=zarr_format))
    assert text.startswith("<Array ")
    assert text.endswith("/foo shape=(10,) dtype=int64>")


def test_names() -> None:
    store: dict[str, Any] = {}
    assert [(z.name, z.basename, z.path) for z in (zarr.zeros(3), zarr.zeros(3, store=store, path="a/b"))] == [
        ("/", "", ""),
        ("/a/b", "b", "a/b"),
    ]


def test_resizing() -> None:
    z = zarr.array(np.arange(4), chunks=2)
    z.resize(new_shape=(1,))
    z.shape = (2,)
    assert z[:].tolist() == [0, 0]
    with pytest.raises(ValueError, match="dimensions"):
        z.resize((1, 2))


def test_attributes_are_updated() -> None:
    z = zarr.zeros(3)
    assert z.update_attributes({"n": 1}).attrs.asdict() == {"n": 1}


def test_appending_to_shards() -> None:
    values = np.arange(35).reshape(5, 7)
    z = zarr.create_array({}, data=values, chunks=(2, 3), shards=(4, 6))
    z.append(np.full((3, 7), 7))
    np.testing.assert_array_equal(z[...], np.concatenate([values, np.full((3, 7), 7)]))
