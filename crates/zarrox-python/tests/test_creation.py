"""Functions that create and open arrays."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrox as zarr
from zarrox import v2
from zarrox import _native
from zarrox.errors import (
    ArrayNotFoundError,
    BadCompressorError,
    ContainsArrayError,
    ContainsGroupError,
    ReadOnlyError,
    ZarrUserWarning,
)

LIKE: list[Callable[..., v2.Array]] = [v2.empty_like, v2.zeros_like, v2.ones_like, v2.full_like]


class Sliceable:
    """An object like a dataset of h5py or bcolz, which returns parts of itself."""

    def __init__(self, data: Any, **attributes: Any) -> None:
        self.data = data
        self.__dict__.update(attributes)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.data, name)

    def __getitem__(self, selection: Any) -> Any:
        return self.data[selection]


def document(z: zarr.Array) -> dict[str, Any]:
    name = "zarr.json" if z._metadata.zarr_format == 3 else ".zarray"
    key = f"{z.path}/{name}" if z.path else name
    found: dict[str, Any] = json.loads(bytes(z.store[key]))
    return found


def test_defaults() -> None:
    z = v2.create(100)
    assert (z.shape, z.chunks, z.dtype, z.fill_value, z.order) == ((100,), (100,), np.float64, 0, "C")
    assert z.compressor.codec_id == "blosc"
    assert isinstance(z.store, v2.KVStore)
    assert z._metadata.zarr_format == 2


def test_defaults_of_version_3() -> None:
    z = zarr.create(100)
    assert (z.shape, z.chunks, z.dtype, z.fill_value, z.order) == ((100,), (100,), np.float64, 0, "C")
    assert z.compressors == (zarr.codecs.ZstdCodec(),)
    assert isinstance(z.store, zarr.storage.MemoryStore)
    assert z.metadata.zarr_format == 3
    assert zarr.create(3, zarr_format=2).compressor == v2.Zstd()


def test_everything_said() -> None:
    z = v2.create(100, chunks=10, dtype="i4", compressor=v2.Zlib(1), fill_value=42, order="F", path="a/b")
    assert (z.chunks, z.dtype, z.compressor, z.fill_value, z.order, z.path) == ((10,), "i4", v2.Zlib(1), 42, "F", "a/b")
    assert ".zgroup" in z.store
    assert "a/.zgroup" in z.store


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [(10, (10, 10)), ((10, 5), (10, 5)), ((10,), (10, 30)), ((None, 5), (20, 5)), ((-1, 5), (20, 5)), (False, (20, 30))],
)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_chunks(chunks: Any, expected: tuple[int, ...], zarr_format: int) -> None:
    assert zarr.zeros((20, 30), chunks=chunks, zarr_format=zarr_format).chunks == expected


def test_chunks_are_guessed() -> None:
    for chunks in (True, None):
        assert v2.create(1_000_000_000, chunks=chunks).chunks[0] < 1_000_000_000
    assert v2.zeros((10000, 10000), dtype="i4").chunks == (625, 625)
    with pytest.raises(ValueError, match="dimensions"):
        v2.zeros(10, chunks=(1, 2))


def test_what_cannot_be() -> None:
    with pytest.raises(BadCompressorError):
        v2.create(100, compressor="zlib")
    with pytest.raises(BadCompressorError):
        v2.create(100, compressor=object())
    with pytest.raises(ValueError, match="compression"):
        v2.create(100, compression=1)
    with pytest.raises(ValueError, match="fill_value"):
        v2.create(100, dtype="i4", fill_value="foo")
    with pytest.raises(ValueError, match="unicode"):
        v2.full(100, fill_value=b"xxx", dtype="U3")
    with pytest.raises(ValueError, match="order"):
        v2.create(100, order="Z")
    with pytest.raises(ValueError, match="separator"):
        v2.create(100, dimension_separator="*")
    with pytest.raises(TypeError, match="shape"):
        v2.create(None)
    with pytest.raises(ValueError, match="differ"):
        v2.create(3, zarr_format=2, zarr_version=3)
    for only_in_v3 in ({"shards": (4,)}, {"dimension_names": ["x"]}):
        with pytest.raises(ValueError, match="zarr_format=3"):
            zarr.create(8, chunks=2, zarr_format=2, **only_in_v3)
        with pytest.raises(TypeError, match="zarr-python 3: import zarrox as zarr"):
            v2.create(8, chunks=2, **only_in_v3)


def test_unknown_arguments_are_ignored_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="ignoring keyword argument 'nothing'"):
        v2.create(3, nothing=1)


def test_names_of_h5py() -> None:
    z = v2.create(100, compression="zlib", compression_opts=9, fillvalue=7)
    assert (z.compressor, z.fill_value) == (v2.Zlib(9), 7)
    assert v2.create(100, compression="zlib", compression_opts={"level": 2}).compressor == v2.Zlib(2)
    assert v2.create(100, compression="blosc", compression_opts=("zstd", 3)).compressor.cname == "zstd"
    assert v2.create(100, compression="default").compressor.codec_id == "blosc"
    assert v2.create(100, compression="none").compressor is None
    assert v2.create(100, compression=v2.BZ2(1)).compressor == v2.BZ2(1)
    for arguments in ({"compression": "bz2", "compression_opts": 1}, {"compression_opts": 1}):
        with pytest.warns(UserWarning, match="overridden by 'compressor'"):
            assert v2.create(100, compressor=v2.Zlib(9), **arguments).compressor == v2.Zlib(9)


def test_the_default_compressor_can_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(v2.storage, "default_compressor", v2.GZip(1))
    assert v2.zeros(3).compressor == v2.GZip(1)
    assert v2.zeros(()).compressor is None


def test_objects_need_a_codec() -> None:
    with pytest.raises(ValueError, match="object_codec"):
        v2.create(3, dtype=object)
    with pytest.warns(FutureWarning, match="object_codec"):
        v2.create(3, dtype=object, filters=[v2.MsgPack()])
    with pytest.warns(UserWarning, match="object_codec"):
        v2.create(3, dtype="i4", object_codec=v2.JSON())


@pytest.mark.parametrize(
    ("arguments", "digest"),
    [
        ({"dtype": "S3", "fill_value": b"ab", "filters": [v2.Delta("i1")]}, "3fc2d45d7e712ec2ef92c8d0c6d7d57d5472f76a"),
        ({"dtype": [("a", "S3"), ("b", "f8")], "fill_value": (b"ab", 1.5)}, "98d29defa9df947ed402f3165168feb98da6adce"),
        ({"dtype": "c8", "fill_value": 1.5j}, "922c892909fa97ce6e4d1524d0d91b95823fcbff"),
        ({"dtype": "M8[D]", "fill_value": "2020-01-02"}, "6dbd7e003cd9e5106cb3ce0cb437fba96a27bfb8"),
        ({"dtype": "f2", "fill_value": 0.1}, "61ab06d8079e74ef2c0517a5d81abfef39366aad"),
        ({"dtype": "U3", "fill_value": 0}, "6cf7ad948fa34e859f053f169167d182e31db6b0"),
        ({"dtype": str, "fill_value": 0}, "68a975544c093f1ebb85e902b6166154727eddd9"),
    ],
)
def test_the_metadata_is_that_of_zarr_python_2(arguments: dict[str, Any], digest: str) -> None:
    z = v2.create(10, **arguments, compressor=None)
    assert z.hexdigest() == digest, bytes(z.store[".zarray"]).decode()


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("f8", np.nan),
        ("f4", -np.inf),
        ("i8", -(2**63)),
        ("u8", 2**64 - 1),
        ("?", True),
        ("c16", complex(np.nan, np.inf)),
        ("S3", b"xxx"),
        ("U3", "xyz"),
        ("M8[s]", "NaT"),
        ("m8[s]", "NaT"),
        ("M8[D]", "2020-01-02"),
        (">i4", 5),
    ],
)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_fill_values(dtype: str, value: Any, zarr_format: int) -> None:
    expected = np.full(5, value, dtype=dtype)
    z = zarr.full(5, fill_value=value, dtype=dtype, chunks=2, zarr_format=zarr_format)
    np.testing.assert_array_equal(z[:], expected)
    np.testing.assert_array_equal(np.array(z.fill_value, dtype=dtype), expected[0])
    np.testing.assert_array_equal(zarr.open_array(z.store)[:], expected)


def test_zeros_ones_empty_full() -> None:
    np.testing.assert_array_equal(v2.zeros(3)[:], [0, 0, 0])
    np.testing.assert_array_equal(v2.ones(3, dtype="i4")[:], [1, 1, 1])
    np.testing.assert_array_equal(v2.full(3, 5)[:], [5, 5, 5])
    assert v2.empty(3).fill_value is None
    assert v2.zeros(3, dtype="S2").fill_value == b""
    for dtype, zero in ((str, ""), (bytes, b""), ("M8[s]", np.datetime64(0, "s")), ("U2", "")):
        assert v2.zeros(3, dtype=dtype, zarr_format=3).fill_value == zero


def test_arrays_of_data() -> None:
    np.testing.assert_array_equal(zarr.array([1, 2, 3])[:], [1, 2, 3])
    values = np.arange(1000).reshape(100, 10)
    z = zarr.array(values, chunks=(30, 3))
    again = zarr.array(z)
    assert (again.chunks, again.dtype) == (z.chunks, z.dtype)
    np.testing.assert_array_equal(again[:], values)
    assert zarr.array(values, dtype="f4").dtype == np.float32
    assert zarr.array(np.float32(3)).shape == ()


def test_chunks_of_data() -> None:
    values = np.arange(1000).reshape(100, 10)
    for data, chunks in (
        (Sliceable(values, chunklen=10), (10, 10)),
        (Sliceable(values, chunks=(10, 2)), (10, 2)),
        (Sliceable(values, chunks=None), (100, 10)),
    ):
        z = zarr.array(data)
        assert z.chunks == chunks
        np.testing.assert_array_equal(z[:], values)
        assert zarr.empty_like(data).chunks == chunks


def test_data_is_copied_in_parts() -> None:
    told: list[tuple[int, int]] = []
    values = np.arange(6_000_000, dtype="i4").reshape(3000, 2000)
    z = zarr.array(Sliceable(values), chunks=(1000, 1000), progress=lambda done, total: told.append((done, total)))
    np.testing.assert_array_equal(z[:], values)
    assert told[-1] == (values.nbytes, values.nbytes)


def test_read_only() -> None:
    z = v2.create(100, read_only=True)
    with pytest.raises(PermissionError):
        z[:] = 42
    z.read_only = False
    z[:] = 42
    data = v2.array(np.arange(3), read_only=True)
    np.testing.assert_array_equal(data[:], [0, 1, 2])
    with pytest.raises(ReadOnlyError):
        data[:] = 1


def test_overwriting() -> None:
    store: dict[str, Any] = {}
    zarr.ones(3, store=store, path="a")[:] = 5
    with pytest.raises(ContainsArrayError):
        zarr.zeros(3, store=store, path="a")
    np.testing.assert_array_equal(zarr.zeros(4, store=store, path="a", overwrite=True)[:], np.zeros(4))
    with pytest.raises(ContainsGroupError):
        zarr.zeros(3, store=store, path="")


def test_chunks_in_another_store() -> None:
    store, chunk_store = {}, {}  # type: dict[str, Any], dict[str, Any]
    z = v2.create(10, chunks=5, store=store, chunk_store=chunk_store)
    z[:] = 1
    assert set(store) == {".zarray"}
    assert set(chunk_store) == {"0", "1"}
    assert z.chunk_store is not z.store
    np.testing.assert_array_equal(v2.Array(store, chunk_store=chunk_store)[:], np.ones(10))


@pytest.mark.parametrize("mode", ["r", "r+", "a", "w", "w-", "x"])
def test_modes(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "a.zarr"
    zarr.open_array(str(path), mode="w", shape=100, chunks=10)[:] = 42
    if mode in ("w-", "x"):
        with pytest.raises(ContainsArrayError):
            zarr.open_array(str(path), mode=mode, shape=3)
        shutil.rmtree(path)
    z = zarr.open_array(str(path), mode=mode, shape=100, chunks=10)
    assert isinstance(z.store, v2.DirectoryStore)
    assert z.read_only is (mode == "r")
    np.testing.assert_array_equal(z[:], np.full(100, 0 if mode in ("w", "w-", "x") else 42))
    if mode == "r":
        with pytest.raises(PermissionError):
            z[:] = 43
    else:
        z[:] = 43
        assert z[0] == 43


def test_modes_that_find_something_else(tmp_path: Path) -> None:
    zarr.open_group(str(tmp_path / "g"), mode="w")
    for mode in ("r", "r+", "a", "w-"):
        with pytest.raises(ContainsGroupError):
            zarr.open_array(str(tmp_path / "g"), mode=mode, shape=3)
    for mode in ("r", "r+", "a"):
        with pytest.raises(ArrayNotFoundError):
            zarr.open_array(str(tmp_path / "nothing"), mode=mode)
    with pytest.raises(ValueError, match="mode"):
        zarr.open_array({}, mode="q", shape=3)
    assert zarr.open_array(str(tmp_path / "b"), shape=3, overwrite=True).shape == (3,)


def test_opening_with_a_path_and_another_store_for_chunks(tmp_path: Path) -> None:
    meta, chunks = str(tmp_path / "meta"), str(tmp_path / "chunks")
    z = v2.open_array(meta, chunk_store=chunks, shape=11, mode="w", path="foo/bar")
    z[:] = 42
    assert z.path == "foo/bar"
    assert (tmp_path / "chunks" / "foo" / "bar" / "0").exists()
    assert not (tmp_path / "meta" / "foo" / "bar" / "0").exists()


@pytest.mark.parametrize("make", LIKE)
def test_like(make: Callable[..., v2.Array]) -> None:
    a = v2.full(100, chunks=10, dtype="f4", compressor=v2.Zlib(5), fill_value=42, order="F", filters=[v2.Delta("f4")])
    z = make(a)
    assert (z.shape, z.chunks, z.dtype, z.order) == (a.shape, a.chunks, a.dtype, "F")
    assert (z.compressor, z.filters) == (a.compressor, a.filters)
    assert make(a, chunks=5, compressor=None).chunks == (5,)
    assert make(a, compressor=None).compressor is None
    if make is not v2.full_like:
        assert make(np.zeros(100, "f4")).shape == (100,)
        assert make([0] * 100, shape=200).shape == (200,)


def test_the_fill_value_of_likes() -> None:
    a = v2.full(3, fill_value=42, dtype="i4")
    assert [make(a).fill_value for make in LIKE] == [None, 0, 1, 42]
    with pytest.raises(TypeError):
        v2.full_like(np.zeros(3))


def test_likes_of_objects_and_of_v3() -> None:
    text = zarr.zeros_like(zarr.array(np.array(["a", "b"], object), dtype=str))
    text[0] = "foo"
    assert text[0] == "foo"
    a = zarr.create_array({}, shape=(8,), chunks=(2,), shards=(4,), dtype="i4", compressors=[zarr.codecs.GzipCodec(level=1)])
    z = zarr.ones_like(a)
    assert (z.metadata.zarr_format, z.chunks, z.shards, z.compressors) == (3, (2,), (4,), a.compressors)
    assert zarr.ones_like(a, zarr_format=2).metadata.zarr_format == 2


def test_open_like(tmp_path: Path) -> None:
    a = zarr.full(10, chunks=5, dtype="f4", fill_value=42)
    z = zarr.open_like(a, str(tmp_path / "a"))
    assert (z.shape, z.chunks, z.fill_value) == ((10,), (5,), 42)
    z[:] = 1
    assert zarr.open_like(a, str(tmp_path / "a"))[0] == 1
    assert zarr.open_like(np.zeros(4), str(tmp_path / "b")).fill_value == 0


def test_version_3() -> None:
    z = zarr.create_array({}, shape=(100, 100), chunks=(10, 10), dtype="f4", attributes={"a": 1}, dimension_names=("y", None))
    assert document(z)["codecs"] == [
        {"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "zstd", "configuration": {"level": 0, "checksum": False}},
    ]
    assert document(z)["attributes"] == {"a": 1}
    assert z.dimension_names == ("y", None)
    assert "zarr.json" in v2.zeros(3, zarr_version=3).store
    assert ".zarray" in zarr.create_array({}, shape=3, dtype="i4", zarr_format=2).store


def test_arguments_of_version_3() -> None:
    from zarrox.codecs import BloscCodec, BytesCodec, Crc32cCodec, TransposeCodec, ZstdCodec

    def names(z: zarr.Array) -> list[str]:
        return [codec["name"] for codec in document(z)["codecs"]]

    def make(**arguments: Any) -> zarr.Array:
        z = zarr.create_array({}, shape=(8, 8), chunks=(4, 4), dtype="i4", **arguments)
        z[...] = np.arange(64).reshape(8, 8)
        np.testing.assert_array_equal(zarr.open_array(z.store)[...], np.arange(64).reshape(8, 8))
        return z

    assert names(make(compressors=None)) == ["bytes"]
    assert names(make(compressors=BloscCodec(cname="lz4"))) == ["bytes", "blosc"]
    assert names(make(compressors=[ZstdCodec(level=1), Crc32cCodec()])) == ["bytes", "zstd", "crc32c"]
    assert names(make(compressors={"name": "gzip", "configuration": {"level": 1}})) == ["bytes", "gzip"]
    assert names(make(filters=[TransposeCodec(order=(1, 0))])) == ["transpose", "bytes", "zstd"]
    assert document(make(serializer=BytesCodec(endian="big")))["codecs"][0]["configuration"] == {"endian": "big"}
    assert document(make(chunk_key_encoding={"name": "v2", "separator": "."}))["chunk_key_encoding"] == {
        "name": "v2",
        "configuration": {"separator": "."},
    }
    assert "c.1.1" in make(chunk_key_encoding=("default", ".")).store
    assert names(zarr.create((8, 8), zarr_format=3, codecs=[{"name": "bytes", "configuration": {"endian": "little"}}])) == ["bytes"]


def test_big_endian_in_version_3() -> None:
    z = zarr.array(np.arange(5, dtype=">i2"), zarr_format=3)
    assert document(z)["codecs"][0]["configuration"] == {"endian": "big"}
    np.testing.assert_array_equal(zarr.open_array(z.store)[:], np.arange(5))


def test_shards() -> None:
    z = zarr.create_array({}, shape=(100,), chunks=(5,), shards="auto", dtype="i4")
    assert z.shards == (10,)
    first = zarr.create_array({}, shape=(8,), chunks=(2,), shards={"shape": (4,), "index_location": "start"}, dtype="i4")
    assert document(first)["codecs"][0]["configuration"]["index_location"] == "start"
    first[:] = np.arange(8)
    np.testing.assert_array_equal(first[:], np.arange(8))
    with pytest.raises(ValueError, match="shard"):
        zarr.create_array({}, shape=(8,), chunks=(3,), shards=(4,), dtype="i4")


def test_create_array_with_data() -> None:
    values = np.arange(12, dtype="i2").reshape(3, 4)
    z = zarr.create_array({}, data=values, name="a/b", chunks=(2, 2))
    assert (z.path, z.dtype) == ("a/b", np.int16)
    np.testing.assert_array_equal(z[...], values)
    assert zarr.create_array({}, data=values, write_data=False)[0, 1] == 0
    with pytest.raises(ValueError, match="data"):
        zarr.create_array({}, data=values, shape=(3, 4))
    for missing in ({"shape": 3}, {"dtype": "i4"}):
        with pytest.raises(ValueError, match="was not specified"):
            zarr.create_array({}, **missing)


def test_default_fill_values_of_create_array() -> None:
    assert zarr.create_array({}, shape=3, dtype="i4").fill_value == 0
    assert zarr.create_array({}, shape=3, dtype="i4", fill_value=7).fill_value == 7
    assert zarr.create_array({}, shape=3, dtype="M8[s]").fill_value is not None
    assert zarr.create_array({}, shape=3, dtype=str).fill_value == ""


@pytest.mark.parametrize("source", [2, 3])
@pytest.mark.parametrize("target", [2, 3, None])
def test_from_array(source: int, target: int | None) -> None:
    values = np.arange(20).reshape(4, 5)
    a = zarr.array(values, chunks=(2, 3), zarr_format=source, fill_value=9, dtype="i4")
    a.attrs["foo"] = "bar"
    z = zarr.from_array({}, data=a, zarr_format=target, name="x")
    assert z.metadata.zarr_format == (target or source)
    assert (z.chunks, z.dtype, z.fill_value, z.attrs.asdict()) == ((2, 3), np.int32, 9, {"foo": "bar"})
    np.testing.assert_array_equal(z[...], values)
    if source == z.metadata.zarr_format:
        assert z.compressors == a.compressors
    assert zarr.from_array({}, data=a, chunks=(4, 5), write_data=False).chunks == (4, 5)


def test_from_array_of_numpy_and_of_text() -> None:
    assert zarr.from_array({}, data=np.arange(5)).metadata.zarr_format == 3
    text = zarr.array(np.array(["a", "bb"], object), dtype=str)
    z = zarr.from_array({}, data=text, zarr_format=3)
    assert list(z[:]) == ["a", "bb"]


def test_text_in_version_3() -> None:
    for dtype in (str, "string", np.dtypes.StringDType()):
        z = zarr.create_array({}, shape=(3,), dtype=dtype)
        z[:] = np.array(["a", "bb", ""], dtype=object)
        assert list(z[:]) == ["a", "bb", ""]
        assert document(z)["data_type"] == "string"


def test_settings() -> None:
    with zarr.config.set({"default_zarr_format": 2, "array": {"write_empty_chunks": True}}):
        z = zarr.zeros(4, chunks=2)
        assert (z.metadata.zarr_format, z.config.write_empty_chunks) == (2, True)
        assert not v2.zeros(4, write_empty_chunks=False).write_empty_chunks
    nested = zarr.create_array({}, shape=4, dtype="i4", zarr_format=2, dimension_separator="/")
    assert nested.metadata.dimension_separator == "/"
    z = zarr.create_array({}, shape=4, dtype="i4", config={"write_empty_chunks": True})
    assert z.config.write_empty_chunks
    assert zarr.zeros(4).metadata.zarr_format == 3
    assert zarr.config.get("array.order") == "C"
    assert not zarr.config.get("array.write_empty_chunks")
    assert zarr.config.get("nothing", 3) == 3
    with pytest.raises(KeyError):
        zarr.config["nothing"]


def test_the_order_is_a_setting() -> None:
    with zarr.config.set({"array.order": "F"}):
        assert zarr.zeros((2, 3), zarr_format=2).order == zarr.create_array({}, shape=(2, 3), dtype="i4", zarr_format=2).order == "F"
        assert zarr.zeros((2, 3), zarr_format=2, order="C").order == "C"
        assert v2.zeros((2, 3)).order == "C"


def test_variables_of_the_environment_are_settings() -> None:
    program = "import zarrox as zarr; z = zarr.zeros((2, 2)); print(z.metadata.zarr_format, z.order, zarr.config['async.timeout'])"
    variables = {"ZARR_DEFAULT_ZARR_FORMAT": "2", "ZARR_ARRAY__ORDER": "F", "ZARR_ASYNC__TIMEOUT": "1.5"}
    found = subprocess.run([sys.executable, "-c", program], env=os.environ | variables, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["2", "F", "1.5"]


def test_settings_that_nobody_knows_are_kept() -> None:
    zarr.config.set({"async.concurrency": 3}, codec_pipeline__path="mine")
    assert zarr.config.get("async.concurrency") == 3
    assert "'path': 'mine'" in repr(zarr.config)
    zarr.config.update({"async": {"concurrency": 4}})
    assert zarr.config["async.concurrency"] == 4
    zarr.config.reset()
    assert zarr.config.get("async.concurrency") == 10


def test_the_number_of_threads_is_a_setting() -> None:
    with zarr.config.set({"threading.max_workers": 3}):
        assert _native.threads() == 3
    assert _native.threads() != 3 or os.cpu_count() == 3


def test_formats_by_store(tmp_path: Path) -> None:
    z = zarr.open_array(str(tmp_path / "a.n5"), mode="w", shape=(10, 6), chunks=(5, 3), dtype="i4")
    assert isinstance(z.store, v2.N5Store)
    z[...] = np.arange(60).reshape(10, 6)
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path / "a.n5"), mode="r")[...], z[...])
    assert (tmp_path / "a.n5" / "attributes.json").exists()


def test_names_are_at_top_level() -> None:
    assert all(hasattr(zarr, name) for name in zarr.__all__)
    assert issubclass(ZarrUserWarning, UserWarning)
    assert (zarr.Array.__module__, v2.Array.__module__) == ("zarrox", "zarrox.v2.core")
    assert all(hasattr(v2, name) for name in v2.__all__)
    assert isinstance(zarr.__version__, str)


def test_debug_info(capsys: pytest.CaptureFixture[str]) -> None:
    zarr.print_debug_info()
    assert f"zarrox: {zarr.__version__}" in capsys.readouterr().out


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_no_time_at_all_is_a_fill_value(zarr_format: int) -> None:
    z = zarr.full(3, fill_value=np.timedelta64(0, "ms"), dtype="m8[ms]", zarr_format=zarr_format)
    copied = zarr.from_array({}, data=z, zarr_format=5 - zarr_format)
    assert copied.fill_value == z.fill_value == np.timedelta64(0, "ms")
    np.testing.assert_array_equal(copied[:], np.zeros(3, "m8[ms]"))


@pytest.mark.parametrize(
    ("chunks", "error"),
    [(2.5, TypeError), ((2, 1.5), TypeError), ("many", TypeError), (-5, ValueError), (0, ValueError), ({"x": 2}, TypeError)],
    ids=str,
)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_chunks_that_are_no_lengths_are_named(zarr_format: Any, chunks: Any, error: Any) -> None:
    """The message names the valid chunks, and nothing is rounded."""
    with pytest.raises(error, match=r"(?i)chunk"):
        zarr.create_array({}, shape=(4, 4), chunks=chunks, dtype="i4", zarr_format=zarr_format)
    with pytest.raises(error, match=r"(?i)chunk"):
        zarr.create((4, 4), chunks=chunks, zarr_format=zarr_format)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_attributes_are_refused_alike_wherever_they_are_given(zarr_format: Any) -> None:
    """An array is rejected as an attribute, when a node is created and later."""
    wrong = {"k": np.arange(3)}
    with pytest.raises(TypeError, match="tolist"):
        zarr.create_array({}, shape=1, dtype="i4", attributes=wrong, zarr_format=zarr_format)
    with pytest.raises(TypeError, match="tolist"):
        zarr.create_group({}, attributes=wrong, zarr_format=zarr_format)
    group = zarr.create_group({}, attributes={"n": np.int8(3), "f": np.float32(0.5)}, zarr_format=zarr_format)
    assert group.attrs.asdict() == {"n": 3, "f": 0.5}
    with pytest.raises(TypeError, match="tolist"):
        group.create_group("g", attributes=wrong)
    with pytest.raises(TypeError, match="tolist"):
        group.attrs.update(wrong)
