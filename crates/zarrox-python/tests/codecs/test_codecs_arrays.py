"""Codecs in arrays: native code accepts the configurations that the Python classes produce."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from zarrox import _native
from zarrox.v2 import codecs
from zarrox.codecs import v3
from zarrox.codecs.convert import codec_config, from_v2
from zarrox.codecs import numcodecs
from zarrox.v2.codecs import register_codec
from zarrox.core.element_types import spec_dtype

DATA = np.arange(12, dtype="f4")


def create(zarr_format: int, store: _native.Store | None = None, dtype: Any = "f4", **members: Any) -> _native.Array:
    spec = {"format": str(zarr_format), "shape": DATA.shape, "chunks": [5], "dtype": spec_dtype(dtype, zarr_format), **members}
    return _native.create_array(store or _native.Store.memory(), "", json.dumps(spec))


def round_trip(array: _native.Array, data: Any = DATA) -> None:
    array.set(..., data)
    np.testing.assert_array_equal(array.get(...), data)


COMPRESSORS = [
    codecs.Zlib(),
    codecs.GZip(),
    codecs.BZ2(),
    codecs.LZMA(),
    codecs.LZMA(3, filters=[{"id": 0x21, "preset": 1}]),
    codecs.LZ4(),
    codecs.Zstd(3, True),
    codecs.Blosc(),
    codecs.Blosc("zstd", shuffle=-1),
    codecs.Shuffle(),
    codecs.Base64(),
    codecs.CRC32(),
    codecs.CRC32("end"),
    codecs.CRC32C(),
    codecs.Adler32(),
    codecs.Fletcher32(),
    codecs.JenkinsLookup3(3, b"prefix"),
    codecs.PCodec(),
    codecs.ZFPY(5),
]
FILTERS = [
    codecs.Delta("f4"),
    codecs.FixedScaleOffset(0, 10, "f4", "i2"),
    codecs.Quantize(3, "f4"),
    codecs.AsType("f8", "f4"),
    codecs.BitRound(20),
]


@pytest.mark.parametrize("codec", COMPRESSORS, ids=repr)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_compressors(codec: Any, zarr_format: int) -> None:
    round_trip(create(zarr_format, compressor=codec_config(codec, zarr_format)))


@pytest.mark.parametrize("codec", FILTERS, ids=repr)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_filters(codec: Any, zarr_format: int) -> None:
    round_trip(create(zarr_format, filters=[codec_config(codec, zarr_format)]))


@pytest.mark.parametrize("codec", COMPRESSORS[:-2], ids=repr)
def test_as_metadata_shows_them(codec: Any) -> None:
    if getattr(codec, "shuffle", None) == codecs.Blosc.AUTOSHUFFLE:
        # The metadata contains the shuffle that was chosen automatically.
        codec = codecs.Blosc("zstd", shuffle=codecs.Blosc.SHUFFLE)
    array = create(2, compressor=codec_config(codec, 2))
    assert repr(from_v2(json.loads(array.document())["compressor"])) == repr(codec)


@pytest.mark.parametrize(
    ("codec", "data"),
    [
        (codecs.VLenUTF8(), np.array(["a"] * 12, dtype=object)),
        (codecs.VLenBytes(), np.array([b"a"] * 12, dtype=object)),
        (codecs.JSON(), np.array([1, "a", None] * 4, dtype=object)),
        (codecs.MsgPack(), np.array([1, "a", None] * 4, dtype=object)),
        (codecs.Categorize(["a", "b"], object), np.array(["a", "b"] * 6, dtype=object)),
    ],
    ids=repr,
)
def test_objects(codec: Any, data: np.ndarray[Any, Any]) -> None:
    round_trip(create(2, dtype=object, filters=[codec_config(codec, 2)]), data)


@pytest.mark.parametrize(
    "codec",
    [
        *(v3.GzipCodec(), v3.ZstdCodec(), v3.Crc32cCodec()),
        *(v3.BloscCodec(), v3.BloscCodec(shuffle="noshuffle")),
        *(numcodecs.Zlib(level=3), numcodecs.LZ4(), numcodecs.BZ2(), numcodecs.LZMA(), numcodecs.CRC32()),
        numcodecs.Shuffle(elementsize=4),
        *(numcodecs.Blosc(cname="lz4"), numcodecs.Zstd(level=1), numcodecs.GZip(level=1), numcodecs.Fletcher32()),
    ],
    ids=repr,
)
def test_compressors_of_v3(codec: Any) -> None:
    for zarr_format in (2, 3):
        round_trip(create(zarr_format, compressor=codec_config(codec, zarr_format)))


@pytest.mark.parametrize(
    "codec",
    [
        v3.TransposeCodec(order=(0,)),
        v3.ScaleOffset(offset=1, scale=2),
        v3.CastValue(data_type="int16"),
        numcodecs.Delta(dtype="<f4"),
        numcodecs.FixedScaleOffset(offset=0, scale=2, dtype="<f4", astype="<i2"),
        numcodecs.BitRound(keepbits=20),
        numcodecs.AsType(encode_dtype="<f8", decode_dtype="<f4"),
    ],
    ids=repr,
)
def test_filters_of_v3(codec: Any) -> None:
    round_trip(create(3, filters=[codec_config(codec, 3)]))


def test_shards() -> None:
    inner = [v3.BytesCodec(endian="big"), v3.BloscCodec(), numcodecs.CRC32()]
    shards = v3.ShardingCodec(chunk_shape=(2,), codecs=inner, index_location="start")
    array = create(3, codecs=[codec_config(shards, 3)], chunks=[6])
    round_trip(array)
    written = v3.parse_codec(json.loads(array.codecs)[0])
    assert isinstance(written, v3.ShardingCodec)
    assert written.codecs[1] == v3.BloscCodec(typesize=4, shuffle="shuffle")
    assert [v3.V3Codec.from_dict(codec.to_dict()) for codec in written.codecs] == list(written.codecs)


class Flipped(codecs.Codec):
    """A codec that is written in Python."""

    codec_id = "test-flipped"

    def encode(self, buf: Any) -> Any:
        return np.frombuffer(buf, "u1") ^ np.uint8(255)

    def decode(self, buf: Any, out: Any = None) -> Any:
        return self.encode(buf)


@pytest.fixture
def flipped() -> Iterator[Any]:
    register_codec(Flipped)
    yield Flipped()
    del codecs.codec_registry[Flipped.codec_id]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_codecs_of_users(flipped: Any, zarr_format: int) -> None:
    config = codec_config(flipped, zarr_format)
    round_trip(create(zarr_format, compressor=config))
    round_trip(create(zarr_format, filters=[config], compressor=codec_config(codecs.Zlib(), zarr_format)))
    array = create(zarr_format, compressor=config)
    array.set(..., DATA)
    stored = array.encoded_chunk((0,))
    assert stored is not None and bytes(255 - byte for byte in stored) == DATA[:5].tobytes()


def test_codecs_that_nobody_knows() -> None:
    with pytest.raises(ValueError, match="unheard-of"):
        create(2, compressor={"id": "unheard-of"}).set(..., DATA)
