"""The codecs of zarr-python 3."""

from __future__ import annotations

import json
import pickle
from enum import Enum
from typing import Any

import pytest

from zarrox import codecs
from zarrox.codecs.convert import codec_config
from zarrox.codecs import numcodecs, v3

INSTANCES: list[v3.V3Codec] = [
    codecs.BytesCodec(),
    codecs.BytesCodec(endian="big"),
    codecs.BytesCodec(endian=None),
    codecs.TransposeCodec(order=(2, 0, 1)),
    codecs.GzipCodec(),
    codecs.GzipCodec(level=9),
    codecs.ZstdCodec(level=-5, checksum=True),
    codecs.BloscCodec(typesize=4, cname="lz4", clevel=1, shuffle="shuffle", blocksize=16),
    codecs.BloscCodec(typesize=1, cname="zlib", shuffle="noshuffle"),
    codecs.Crc32cCodec(),
    codecs.VLenUTF8Codec(),
    codecs.VLenBytesCodec(),
    codecs.ScaleOffset(),
    codecs.ScaleOffset(offset=1, scale="0x3f800000"),
    codecs.CastValue(data_type="uint8"),
    codecs.CastValue(data_type="int8", rounding="towards-zero", out_of_range="wrap", scalar_map={"encode": [["NaN", 0]]}),
    codecs.ShardingCodec(chunk_shape=(2, 2)),
    codecs.ShardingCodec(
        chunk_shape=2,
        codecs=[codecs.TransposeCodec(order=(0,)), {"name": "bytes"}, "crc32c", numcodecs.Zlib(level=1)],
        index_codecs=[codecs.BytesCodec()],
        index_location="start",
    ),
    numcodecs.Delta(dtype="<i4"),
    numcodecs.BZ2(),
    v3.NamedCodec("reshape", {"shape": [-1]}),
]


@pytest.mark.parametrize("codec", INSTANCES, ids=repr)
def test_round_trips(codec: v3.V3Codec) -> None:
    document = json.loads(json.dumps(codec.to_dict()))
    classes: set[type[v3.V3Codec]] = {v3.V3Codec} if isinstance(codec, v3.NamedCodec) else {v3.V3Codec, type(codec)}
    assert all(cls.from_dict(document) == codec for cls in classes)
    assert repr(v3.V3Codec.from_dict(document)) == repr(codec)
    assert v3.parse_codec(codec) is codec
    assert pickle.loads(pickle.dumps(codec)) == codec
    config = codec_config(codec, 3)
    assert config == document


@pytest.mark.parametrize("codec", [codec for codec in INSTANCES if not isinstance(codec, v3.NamedCodec)], ids=repr)
def test_as_zarr_python(codec: v3.V3Codec) -> None:
    pytest.importorskip("zarr", minversion="3.1")
    theirs: Any = pytest.importorskip("zarr.codecs.numcodecs" if type(codec).__module__.endswith("numcodecs") else "zarr.codecs")
    cls: Any = getattr(theirs, type(codec).__name__, None)
    if cls is None:
        pytest.skip(f"this zarr-python has no {type(codec).__name__}")
    other = cls.from_dict(json.loads(json.dumps(codec.to_dict())))
    assert json.loads(json.dumps(other.to_dict())) == json.loads(json.dumps(codec.to_dict()))
    assert repr(other).replace("_tunable_attrs=set()", "") == repr(codec).replace("_tunable_attrs=set()", "")


def test_defaults_as_zarr_python() -> None:
    pytest.importorskip("zarr", minversion="3.1")
    theirs: Any = pytest.importorskip("zarr.codecs")
    for name in ("BytesCodec", "GzipCodec", "ZstdCodec", "BloscCodec", "Crc32cCodec", "VLenUTF8Codec", "VLenBytesCodec"):
        assert getattr(codecs, name)().to_dict() == getattr(theirs, name)().to_dict()
    assert codecs.ShardingCodec(chunk_shape=(3,)).to_dict() == theirs.ShardingCodec(chunk_shape=(3,)).to_dict()


def test_what_blosc_leaves_to_the_array() -> None:
    sharding = codecs.ShardingCodec(chunk_shape=(2,), codecs=[codecs.BytesCodec(), codecs.BloscCodec(clevel=1)])
    config: Any = codec_config(sharding, 3)
    assert config["configuration"]["codecs"][1]["configuration"] == {"cname": "zstd", "clevel": 1, "blocksize": 0}
    blosc = codec_config(codecs.BloscCodec(shuffle="noshuffle"), 3)
    assert blosc is not None and blosc["configuration"]["shuffle"] == "noshuffle" and "typesize" not in blosc["configuration"]
    assert codecs.BloscCodec() != codecs.BloscCodec(typesize=1, shuffle="bitshuffle")


def test_kinds() -> None:
    assert isinstance(numcodecs.Delta(dtype="<i4"), v3.ArrayArrayCodec)
    assert isinstance(numcodecs.PCodec(), v3.ArrayBytesCodec)
    assert isinstance(codecs.ShardingCodec(chunk_shape=(1,)), v3.ArrayBytesCodec)
    assert isinstance(codecs.GzipCodec(), v3.BytesBytesCodec)
    assert v3.BytesBytesCodec.from_dict({"name": "gzip"}) == codecs.GzipCodec()
    with pytest.raises(ValueError, match="Expected ArrayArrayCodec"):
        v3.ArrayArrayCodec.from_dict({"name": "gzip"})


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: codecs.GzipCodec(level=10), ValueError),
        (lambda: codecs.GzipCodec(level="1"), TypeError),  # type: ignore[arg-type]
        (lambda: codecs.ZstdCodec(level=23), ValueError),
        (lambda: codecs.ZstdCodec(checksum=1), TypeError),  # type: ignore[arg-type]
        (lambda: codecs.BloscCodec(typesize=0), ValueError),
        (lambda: codecs.BloscCodec(clevel=10), ValueError),
        (lambda: codecs.BloscCodec(cname="lzma"), ValueError),
        (lambda: codecs.BloscCodec(shuffle="shuffled"), ValueError),
        (lambda: codecs.BytesCodec(endian="middle"), ValueError),
        (lambda: codecs.TransposeCodec(order=(1, 1)), ValueError),
        (lambda: codecs.ScaleOffset(offset=[]), TypeError),
        (lambda: codecs.CastValue(data_type="int7"), (ValueError, TypeError)),
        (lambda: codecs.ShardingCodec(chunk_shape=(1,), index_location="middle"), ValueError),
        (lambda: codecs.ShardingCodec(chunk_shape=(1,), codecs=[3]), TypeError),
        (lambda: codecs.ShardingCodec(chunk_shape=(2, 0)), ValueError),
        (lambda: codecs.ShardingCodec(chunk_shape=-1), ValueError),
        (lambda: codecs.ShardingCodec(chunk_shape=(1.5,)), TypeError),  # type: ignore[arg-type]
        (lambda: codecs.ShardingCodec(chunk_shape="12"), TypeError),  # type: ignore[arg-type]
        (lambda: codecs.ShardingCodec(chunk_shape=(2,), index_codecs=[codecs.BytesCodec(), codecs.GzipCodec()]), ValueError),
        (lambda: codecs.ShardingCodec(chunk_shape=(1,), subchunk_write_order="random"), ValueError),  # type: ignore[arg-type]
        (lambda: codecs.GzipCodec.from_dict({"name": "zstd"}), ValueError),
        (lambda: codecs.GzipCodec.from_dict({"name": "gzip", "configuration": {"lev": 1}}), TypeError),
        (lambda: codecs.GzipCodec.from_dict({"name": "gzip", "configuration": 3}), ValueError),
        (lambda: codecs.GzipCodec.from_dict({"name": "gzip", "level": 3}), ValueError),
        (lambda: v3.parse_codec({"configuration": {}}), ValueError),
        (lambda: v3.parse_codec(3), TypeError),
        (lambda: numcodecs.Zlib(id="gzip"), ValueError),
        (lambda: codecs.BloscShuffle.from_int(3), ValueError),
    ],
)
def test_wrong_parameters(make: Any, error: Any) -> None:
    with pytest.raises(error):
        make()


def test_names_of_former_enumerations() -> None:
    assert codecs.BloscShuffle.from_int(1) == "shuffle"
    with pytest.warns(DeprecationWarning, match="BloscShuffle.bitshuffle is deprecated: write 'bitshuffle'"):
        assert codecs.BloscShuffle.bitshuffle == "bitshuffle"
    with pytest.warns(DeprecationWarning, match="BloscCname.lz4"):
        assert codecs.BloscCodec(cname=codecs.BloscCname.lz4).cname == "lz4"
    with pytest.warns(DeprecationWarning, match="Passing an enum to ShardingCodec"):
        assert codecs.ShardingCodec(chunk_shape=1, index_location=Enum("Location", {"start": "start"}).start).index_location == "start"  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="'Endian' has no attribute 'middle'"):
        codecs.Endian.middle


def test_early_name_of_bytes() -> None:
    assert codecs.BytesCodec.from_dict({"name": "endian", "configuration": {"endian": "big"}}) == codecs.BytesCodec(endian="big")


def test_hashes() -> None:
    assert len({codecs.GzipCodec(), codecs.GzipCodec(level=5), numcodecs.BZ2(), codecs.BloscCodec()}) == 3
    assert hash(v3.NamedCodec("a", {})) == hash(v3.NamedCodec("a", {}))


def test_codecs_do_not_change() -> None:
    with pytest.raises(AttributeError, match="create another GzipCodec"):
        codecs.GzipCodec().level = 3
