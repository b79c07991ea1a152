"""Codecs as users see them: parameters, configurations, text, registry."""

from __future__ import annotations

import inspect
import json
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import zarrox.codecs
import zarrox.v2.codecs as codecs
from zarrox.codecs import v3
from zarrox.v2.codecs import blosc, codec_registry, get_codec, register_codec
from zarrox.codecs.convert import codec_config, from_v2
from zarrox.codecs import numcodecs
from zarrox.codecs.registry import python_codec
from zarrox.codecs.abc import NativeCodec
from zarrox.errors import BadCompressorError, UnsupportedError

CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Zlib", (), {}),
    ("Zlib", (9,), {}),
    ("GZip", (), {"level": 2}),
    ("BZ2", (), {}),
    ("LZMA", (), {}),
    ("LZMA", (3,), {"filters": [{"id": 0x21, "preset": 1}]}),
    ("LZ4", (), {}),
    ("Zstd", (), {}),
    ("Zstd", (3, True), {}),
    ("Blosc", (), {}),
    ("Blosc", ("zstd", 9, 2, 1024), {}),
    ("Blosc", (), {"shuffle": -1, "typesize": 4}),
    ("Delta", ("i4",), {}),
    ("Delta", ("<i4",), {"astype": ">i2"}),
    ("FixedScaleOffset", (10, 0.5, "f8"), {}),
    ("FixedScaleOffset", (), {"offset": 1, "scale": 2, "dtype": "f4", "astype": "u1"}),
    ("Quantize", (2, "f4"), {}),
    ("Quantize", (), {"digits": 2, "dtype": "f8", "astype": "f4"}),
    ("PackBits", (), {}),
    ("Categorize", (["a", "b"], object), {}),
    ("Categorize", (("a", b"b", "c", "d"), "U3", "u2"), {}),
    ("AsType", ("i2", "f8"), {}),
    ("BitRound", (5,), {}),
    ("Shuffle", (), {}),
    ("Base64", (), {}),
    ("CRC32", (), {}),
    ("CRC32", ("end",), {}),
    ("Adler32", (), {"location": "start"}),
    ("CRC32C", (), {}),
    ("Fletcher32", (), {}),
    ("JenkinsLookup3", (), {}),
    ("JenkinsLookup3", (3,), {}),
    ("VLenUTF8", (), {}),
    ("VLenBytes", (), {}),
    ("VLenArray", ("f4",), {}),
    ("JSON", (), {}),
    ("JSON", (), {"indent": 2, "allow_nan": False}),
    ("MsgPack", (), {}),
    ("MsgPack", (True, False, True), {}),
    ("Pickle", (), {}),
    ("Pickle", (4,), {}),
    ("ZFPY", (), {}),
    ("ZFPY", (2,), {"rate": 8.0}),
    ("PCodec", (), {}),
    ("PCodec", (4,), {"delta_spec": "try_consecutive", "delta_encoding_order": 2}),
]


def make(name: str, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None, package: Any = codecs) -> Any:
    return getattr(package, name)(*args, **(kwargs or {}))


@pytest.mark.parametrize(("name", "args", "kwargs"), CASES, ids=repr)
def test_as_numcodecs(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    theirs = pytest.importorskip("numcodecs", minversion="0.16")
    if not hasattr(theirs, name):
        pytest.skip(f"this numcodecs has no {name}")
    mine, other = make(name, args, kwargs), make(name, args, kwargs, theirs)
    assert repr(mine) == repr(other)
    assert mine.get_config() == other.get_config()
    assert mine.codec_id == other.codec_id
    assert mine == other and mine == make(name, args, kwargs)
    assert codec_config(other, 2) == codec_config(mine, 2)
    public = {n for n in dir(other) if not n.startswith("_")}
    # numcodecs computes with the attribute `checksum`. Its lookup3 has a `location`, but does not use it.
    assert public - set(dir(mine)) <= {"checksum", "location"}


@pytest.mark.parametrize("name", sorted({name for name, *_ in CASES}))
def test_signatures(name: str) -> None:
    theirs = pytest.importorskip("numcodecs", minversion="0.16")
    if not hasattr(theirs, name):
        pytest.skip(f"this numcodecs has no {name}")
    signatures = [inspect.signature(getattr(package, name).__init__).parameters for package in (codecs, theirs)]
    passed_over = ("self", "args", "kwargs")
    ours, others = ([(p.name, p.default, p.kind) for p in s.values() if p.name not in passed_over] for s in signatures)
    assert ours == others


@pytest.mark.parametrize(("name", "args", "kwargs"), CASES, ids=repr)
def test_round_trips(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    codec = make(name, args, kwargs)
    config = codec_config(codec, 2)
    assert config is not None
    again = get_codec(json.loads(json.dumps(config)))
    assert type(again) is type(codec)
    assert again == codec and hash(again) == hash(codec)
    assert repr(again) == repr(codec)
    assert from_v2(config) == codec
    assert pickle.loads(pickle.dumps(codec)) == codec
    assert codec != codecs.Zlib(level=4) and codec != 3


def test_all_of_numcodecs_is_there() -> None:
    theirs = pytest.importorskip("numcodecs", minversion="0.16")
    # Other tests register codecs of their own.
    registered = {name for name in theirs.registry.codec_registry if not name.startswith("zarrox_test_")}
    assert registered <= set(codec_registry) | {"inverted"}
    classes = {name for name in dir(theirs) if isinstance(getattr(getattr(theirs, name), "codec_id", None), str)}
    assert classes <= set(codecs.__all__)


def test_what_zarr_3_has_is_there() -> None:
    pytest.importorskip("zarr", minversion="3.1")
    theirs = pytest.importorskip("zarr.codecs")
    assert set(theirs.__all__) <= set(zarrox.codecs.__all__)
    wrappers = pytest.importorskip("zarr.codecs.numcodecs")
    assert {name for name in wrappers.__all__ if not name.startswith("_")} == set(numcodecs.__all__)


@pytest.mark.parametrize(
    ("make_codec", "error"),
    [
        (lambda: codecs.Delta(object), ValueError),
        (lambda: codecs.FixedScaleOffset(0, 1, object), ValueError),
        (lambda: codecs.Quantize(1, "i4"), ValueError),
        (lambda: codecs.Categorize(["a"], "i4"), TypeError),
        (lambda: codecs.Categorize(["a"], object, object), TypeError),
        (lambda: codecs.BitRound(-1), ValueError),
        (lambda: codecs.CRC32("middle"), ValueError),
        (lambda: codecs.VLenArray(object), ValueError),
        (lambda: codecs.Blosc(typesize=0), ValueError),
        (lambda: codecs.Blosc("lzma").encode(b"data"), ValueError),
        (lambda: codecs.Blosc(shuffle=5).encode(b"data"), ValueError),
        (lambda: codecs.Pickle().encode(b"data"), UnsupportedError),
        (lambda: codecs.Pickle().decode(b"data"), UnsupportedError),
        (lambda: blosc.set_nthreads(0), ValueError),
        (lambda: blosc.cbuffer_sizes(b"short"), ValueError),
        (lambda: blosc.cbuffer_complib(bytes([2, 1, 0xE0, 1]) + bytes(12)), ValueError),
    ],
)
def test_wrong_parameters(make_codec: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make_codec()


class Negated(codecs.Codec):
    """A codec as users write them."""

    codec_id = "test-negated"

    def __init__(self, mask: int = 255) -> None:
        self.mask = mask
        self._cache = None

    def encode(self, buf: Any) -> Any:
        return np.frombuffer(buf, "u1") ^ np.uint8(self.mask)

    def decode(self, buf: Any, out: Any = None) -> Any:
        return self.encode(buf)


@pytest.fixture
def negated() -> Any:
    register_codec(Negated)
    yield Negated
    del codec_registry[Negated.codec_id]


def test_codecs_of_users(negated: Any) -> None:
    codec = get_codec({"id": "test-negated", "mask": 15})
    assert isinstance(codec, Negated) and codec == Negated(15) != Negated()
    assert repr(codec) == "Negated(mask=15)"
    assert codec_config(codec, 2) == {"id": "test-negated", "mask": 15}
    for config in ({"id": "test-negated", "mask": 15}, {"name": "numcodecs.test-negated", "configuration": {"mask": 15}}):
        assert python_codec(json.dumps(config)) == codec
    with pytest.raises(TypeError):
        codecs.Codec()  # type: ignore[abstract]


def test_python_codec_never_asks_in_circles() -> None:
    for config in ('{"id": "zlib"}', '{"id": "unheard-of"}', '{"name": "unheard-of"}', "{}"):
        with pytest.raises(ValueError, match="codec not available"):
            python_codec(config)
    register_codec(codecs.Zlib, "test-zlib")
    try:
        assert python_codec('{"id": "test-zlib", "level": 3}') == codecs.Zlib(3)
    finally:
        del codec_registry["test-zlib"]


def test_codecs_that_numcodecs_knows() -> None:
    registry = pytest.importorskip("numcodecs.registry")

    class Foreign(pytest.importorskip("numcodecs.abc").Codec):  # type: ignore[misc]
        codec_id = "test-foreign"

        def encode(self, buf: Any) -> Any:
            return buf

        def decode(self, buf: Any, out: Any = None) -> Any:
            return buf

    registry.register_codec(Foreign)
    try:
        assert isinstance(get_codec({"id": "test-foreign"}), Foreign)
        assert isinstance(python_codec('{"id": "test-foreign"}'), Foreign)
        assert codec_config(Foreign(), 2) == {"id": "test-foreign"}
    finally:
        del registry.codec_registry["test-foreign"]


def test_unknown_codecs() -> None:
    for config in ({"id": "unheard-of"}, {"id": None}, {}, {"id": ["zlib"]}):
        with pytest.raises(codecs.UnknownCodecError):
            get_codec(config)
    with pytest.raises(TypeError):
        get_codec({"id": "zlib", "leval": 3})
    with pytest.raises(ValueError, match="codec_id"):
        register_codec(codecs.Codec)


def test_unknown_codecs_can_be_looked_at() -> None:
    for config in ({"id": "unheard-of", "a": 1}, {"id": "zlib", "leval": 3}):
        codec = from_v2(config)
        assert codec.get_config() == config and "a" in repr(codec)
        for method in (codec.encode, codec.decode):
            with pytest.raises(ValueError, match="codec not available"):
                method(b"data")


@pytest.mark.parametrize(
    ("given", "config"),
    [
        ({"name": "gzip", "configuration": {"level": 1}}, {"name": "gzip", "configuration": {"level": 1}}),
        ("gzip", {"name": "gzip"}),
        (v3.GzipCodec(level=1), {"name": "gzip", "configuration": {"level": 1}}),
        (v3.BloscCodec(), {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 5, "blocksize": 0}}),
        (numcodecs.Zlib(level=1), {"name": "numcodecs.zlib", "configuration": {"level": 1}}),
        (v3.TransposeCodec(order=(1, 0)), {"name": "transpose", "configuration": {"order": [1, 0]}}),
    ],
    ids=repr,
)
def test_codec_config_in_v3(given: Any, config: Any) -> None:
    assert codec_config(given, 3) == config


@pytest.mark.parametrize(
    ("given", "config"),
    [
        (None, None),
        ("gzip", {"id": "gzip"}),
        ({"id": "zlib", "level": np.int64(1)}, {"id": "zlib", "level": 1}),
        (codecs.JenkinsLookup3(prefix=b"ab"), {"id": "jenkins_lookup3", "initval": 0, "prefix": [97, 98]}),
        (v3.GzipCodec(level=1), {"id": "gzip", "level": 1}),
        (v3.ZstdCodec(), {"id": "zstd", "level": 0, "checksum": False}),
        (v3.BloscCodec(), {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 1, "blocksize": 0}),
        (
            v3.BloscCodec(shuffle="bitshuffle", typesize=3),
            {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 2, "blocksize": 0},
        ),
        (numcodecs.Delta(dtype="<i4"), {"id": "delta", "dtype": "<i4"}),
        ({"name": "crc32c"}, {"id": "crc32c"}),
    ],
    ids=repr,
)
def test_codec_config_in_v2(given: Any, config: Any) -> None:
    assert codec_config(given, 2) == config


def test_codecs_that_v2_lacks() -> None:
    for codec in (v3.TransposeCodec(order=(0,)), v3.ShardingCodec(chunk_shape=(1,)), {"name": "unheard-of"}):
        with pytest.raises(UnsupportedError, match="v2 has no codec"):
            codec_config(codec, 2)


@pytest.mark.parametrize("given", [3, "", [], {}, {"id": 3}, {"level": 1}, object(), codecs.Zlib, b"zlib"], ids=repr)
def test_what_is_no_codec(given: Any) -> None:
    with pytest.raises(BadCompressorError):
        codec_config(given, 2)
    with pytest.raises((ValueError, TypeError)):
        codec_config(given, 3)


def test_configurations_that_json_cannot_hold() -> None:
    with pytest.raises(TypeError, match="object"):
        codec_config({"id": "zlib", "level": object()}, 2)


def test_blosc_as_numcodecs() -> None:
    theirs = pytest.importorskip("numcodecs.blosc")
    shuffles = ("NOSHUFFLE", "SHUFFLE", "BITSHUFFLE", "AUTOSHUFFLE")
    for name in (*shuffles, "AUTOBLOCKS", "MAX_OVERHEAD", "MAX_THREADS", "MAX_BUFFERSIZE"):
        assert getattr(blosc, name) == getattr(theirs, name)
    assert set(theirs.list_compressors()) <= set(blosc.list_compressors())
    assert codecs.Blosc.max_buffer_size == theirs.Blosc.max_buffer_size
    assert codecs.LZ4.max_buffer_size == pytest.importorskip("numcodecs.lz4").LZ4.max_buffer_size
    zstd = pytest.importorskip("numcodecs.zstd").Zstd
    for method in ("default_level", "min_level", "max_level"):
        assert getattr(codecs.Zstd, method)() == getattr(zstd, method)()


def test_names_in_v3() -> None:
    assert codecs.Delta("i4").to_dict() == {"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i4"}}
    native = [cls for cls in codec_registry.values() if issubclass(cls, NativeCodec)]
    assert len(native) > 25


def test_star_import() -> None:
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec("from zarrox.v2.codecs import *", names)
    assert {"Blosc", "blosc", "get_codec", "codec_registry"} <= names.keys()
    # Attributes that only this package needs are not among the public names.
    assert not {"codec_config", "from_v2", "python_codec", "numcodecs"} & names.keys()


def test_our_codecs_are_those_of_numcodecs() -> None:
    """Checks for a class of numcodecs succeed for codecs of Zarrox, even if numcodecs is imported after the array was
    created."""
    import zarrox.v2 as zarr

    numcodecs = pytest.importorskip("numcodecs")
    z = zarr.array(["a", "b"], dtype=object, object_codec=zarr.VLenUTF8(), compressor=zarr.Blosc(cname="zstd"))
    assert isinstance(z.filters[0], numcodecs.VLenUTF8)
    assert isinstance(z.filters[0], numcodecs.abc.Codec)
    assert isinstance(z.compressor, numcodecs.Blosc)
    assert not isinstance(z.compressor, numcodecs.Zstd)
    assert type(z.compressor) is zarr.Blosc
