"""Tests that codecs encode and decode data like numcodecs."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from zarrox.v2 import codecs
from zarrox.v2.codecs import blosc

NUMBERS = np.cumsum(np.random.default_rng(0).integers(-3, 4, 5000)).astype("i4")
TEXT = np.array(["a", "bé", "", "日本"], dtype=object)
RAGGED = np.array([np.arange(3, dtype="i4"), np.arange(0, dtype="i4"), np.arange(1, dtype="i4")], dtype=object)
MIXED = np.array(["a", 1, None, {"b": [1.5, True]}], dtype=object)

COMPRESSORS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")

# The codec, the data, and whether the encoded bytes are the same in all implementations of the codec.
CASES: list[tuple[str, tuple[Any, ...], Any, bool]] = [
    ("Zlib", (1,), NUMBERS, False),
    ("Zlib", (9,), b"data" * 100, False),
    ("GZip", (1,), NUMBERS, False),
    ("BZ2", (1,), NUMBERS, True),
    ("LZMA", (), NUMBERS, True),
    ("LZMA", (3, -1, None, [{"id": 0x21, "preset": 1}]), NUMBERS, False),
    ("LZ4", (), NUMBERS, True),
    ("LZ4", (10,), NUMBERS, True),
    ("Zstd", (), NUMBERS, False),
    ("Zstd", (5, True), NUMBERS, False),
    *(("Blosc", (name, 5, shuffle), NUMBERS, False) for name in COMPRESSORS for shuffle in (0, 1, 2, -1)),
    ("Blosc", ("lz4", 5, 1, 0, 4), NUMBERS.tobytes(), True),
    ("Blosc", ("lz4", 5, 1, 512), NUMBERS, True),
    ("Shuffle", (4,), NUMBERS, True),
    ("Shuffle", (1,), NUMBERS, True),
    ("Base64", (), b"data!", True),
    ("CRC32", (), NUMBERS, True),
    ("CRC32", ("end",), NUMBERS, True),
    ("CRC32C", (), NUMBERS, True),
    ("CRC32C", ("start",), NUMBERS, True),
    ("Adler32", (), NUMBERS, True),
    ("Fletcher32", (), NUMBERS, True),
    ("JenkinsLookup3", (), NUMBERS, True),
    ("JenkinsLookup3", (7, b"prefix"), NUMBERS, True),
    ("Delta", ("i4",), NUMBERS, True),
    ("Delta", (">i4", "i1"), NUMBERS.astype(">i4"), True),
    ("Delta", ("f8",), NUMBERS.astype("f8"), True),
    ("FixedScaleOffset", (3, 10, "f8", "i4"), NUMBERS / 7, True),
    ("FixedScaleOffset", (0, 2, "f4"), NUMBERS.astype("f4"), True),
    ("Quantize", (2, "f8", "f4"), NUMBERS / 7, True),
    ("Quantize", (1, "f4"), (NUMBERS / 7).astype("f4"), True),
    ("PackBits", (), NUMBERS > 3, True),
    ("PackBits", (), NUMBERS[:13] > 3, True),
    ("Categorize", (["a", "bé"], object), TEXT, True),
    ("Categorize", (["a", "b"], "U1", "u2"), np.array(["a", "b", "c"]), True),
    ("AsType", ("i2", "i4"), NUMBERS, True),
    ("AsType", (">f8", "i4"), NUMBERS, True),
    ("BitRound", (3,), (NUMBERS / 7).astype("f4"), True),
    ("BitRound", (10,), NUMBERS / 7, True),
    ("BitRound", (23,), (NUMBERS / 7).astype("f4"), True),
    ("VLenUTF8", (), TEXT, True),
    ("VLenBytes", (), np.array([b"a", b"", b"\0\xff"], dtype=object), True),
    ("VLenArray", ("i4",), RAGGED, True),
    ("JSON", (), MIXED, True),
    ("MsgPack", (), MIXED, True),
]


def names(case: Any) -> str:
    return repr(case) if isinstance(case, (str, tuple)) else ""


def as_bytes(data: Any) -> bytes:
    return bytes(data.tobytes(order="A")) if isinstance(data, np.ndarray) else bytes(data)


def assert_same(mine: Any, other: Any) -> None:
    if not isinstance(other, np.ndarray):
        assert as_bytes(mine) == as_bytes(other)
        return
    assert mine.dtype == other.dtype and mine.shape == other.shape
    if other.dtype.hasobject:
        pairs = zip(mine.flat, other.flat, strict=True)
        assert all(np.array_equal(a, b) if isinstance(b, np.ndarray) else a == b for a, b in pairs)
    else:
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize(("name", "args", "data", "deterministic"), CASES, ids=names)
def test_as_numcodecs(name: str, args: tuple[Any, ...], data: Any, deterministic: bool) -> None:
    theirs = pytest.importorskip("numcodecs", minversion="0.16")
    if not hasattr(theirs, name):
        pytest.skip(f"this numcodecs has no {name}")
    mine, other = getattr(codecs, name)(*args), getattr(theirs, name)(*args)
    encoded, expected = mine.encode(data), other.encode(data)
    if deterministic:
        assert_same(encoded, expected)
    assert_same(mine.decode(expected), other.decode(expected))
    assert_same(other.decode(encoded), other.decode(expected))


@pytest.mark.parametrize(("name", "args", "data", "deterministic"), CASES, ids=names)
def test_into_memory(name: str, args: tuple[Any, ...], data: Any, deterministic: bool) -> None:
    codec = getattr(codecs, name)(*args)
    encoded = codec.encode(data)
    decoded = codec.decode(encoded)
    out = np.empty_like(decoded) if isinstance(decoded, np.ndarray) else np.empty(len(decoded), "u1")
    assert codec.decode(encoded, out=out) is out
    assert_same(out, decoded if isinstance(decoded, np.ndarray) else np.frombuffer(decoded, "u1"))


@pytest.mark.parametrize("name", ["Zlib", "GZip", "BZ2", "LZMA", "LZ4", "Zstd", "Blosc", "CRC32C", "Fletcher32", "Delta"])
def test_order_of_memory(name: str) -> None:
    theirs = pytest.importorskip("numcodecs", minversion="0.16")
    args = ("i4",) if name == "Delta" else ()
    data = np.asfortranarray(NUMBERS[:60].reshape(5, 12))
    mine, other = getattr(codecs, name)(*args), getattr(theirs, name)(*args)
    assert_same(other.decode(mine.encode(data)), other.decode(other.encode(data)))


CHECKSUMS = ["CRC32", "Adler32", "CRC32C", "Fletcher32", "JenkinsLookup3"]
BYTES = ["Zlib", "GZip", "BZ2", "LZMA", "LZ4", "Zstd", "Blosc", "Shuffle", "Base64", *CHECKSUMS]
DAMAGED = [name for name in BYTES if name not in ("Shuffle", "Base64")]


@given(data=st.binary(max_size=300), name=st.sampled_from(BYTES))
@settings(deadline=None)
def test_any_bytes(data: bytes, name: str) -> None:
    codec = codecs.Shuffle(1) if name == "Shuffle" else getattr(codecs, name)()
    encoded = codec.encode(data)
    assert as_bytes(codec.decode(encoded)) == data
    assert as_bytes(codec.decode(memoryview(as_bytes(encoded)))) == data


@given(junk=st.binary(max_size=100), name=st.sampled_from([*DAMAGED, "VLenUTF8", "VLenBytes", "JSON", "MsgPack"]))
@settings(deadline=None)
def test_junk_is_an_error_or_data(junk: bytes, name: str) -> None:
    try:
        getattr(codecs, name)().decode(junk)
    except (ValueError, RuntimeError, MemoryError):
        pass


@pytest.mark.parametrize("name", DAMAGED)
def test_truncated(name: str) -> None:
    codec = getattr(codecs, name)()
    encoded = as_bytes(codec.encode(NUMBERS))
    for length in (0, 1, 2, len(encoded) // 2 - 1):
        with pytest.raises((ValueError, RuntimeError)):
            codec.decode(encoded[:length])


@given(data=npst.arrays(st.sampled_from(["i1", "<i4", ">i4", "u2", "<f8", ">f4"]), st.integers(1, 50)))
@settings(deadline=None)
def test_any_delta(data: np.ndarray[Any, Any]) -> None:
    theirs = pytest.importorskip("numcodecs", minversion="0.16")
    mine, other = codecs.Delta(data.dtype), theirs.Delta(data.dtype)
    with np.errstate(all="ignore"):
        expected = other.encode(data)
    np.testing.assert_array_equal(mine.encode(data), expected)


@given(words=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=10), min_size=1, max_size=20))
@settings(deadline=None)
def test_any_text(words: list[str]) -> None:
    data = np.array(words, dtype=object)
    for codec in (codecs.VLenUTF8(), codecs.JSON(), codecs.MsgPack()):
        decoded = codec.decode(codec.encode(data))
        assert decoded.dtype == object and decoded.tolist() == words


@pytest.mark.parametrize("name", ["JSON", "MsgPack"])
def test_numbers_as_objects(name: str) -> None:
    codec = getattr(codecs, name)()
    assert codec.decode(codec.encode(NUMBERS[:9].reshape(3, 3))).tolist() == NUMBERS[:9].reshape(3, 3).tolist()


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (lambda: codecs.Zlib().encode("text"), TypeError),
        (lambda: codecs.Zlib().encode(3), TypeError),
        (lambda: codecs.Zlib().encode(TEXT), TypeError),
        (lambda: codecs.Blosc().encode(np.arange(20).reshape(4, 5)[:, ::2]), ValueError),
        (lambda: codecs.Zlib(level=77).encode(b"data"), ValueError),
        (lambda: codecs.Zlib().decode(codecs.Zlib().encode(NUMBERS), out=np.empty(3)), ValueError),
        (lambda: codecs.Zlib().decode(codecs.Zlib().encode(b"data"), out=b"1234"), (ValueError, TypeError)),
        (lambda: codecs.Delta("i4").encode(b"abc"), ValueError),
        (lambda: codecs.BitRound(40).encode(np.zeros(3, "f4")), ValueError),
        (lambda: codecs.BitRound(4).encode(np.zeros(3, "i4")), TypeError),
        (lambda: codecs.VLenUTF8().encode(np.array([1, "a"], dtype=object)), TypeError),
        (lambda: codecs.Shuffle(4).encode(b"12345"), ValueError),
        (lambda: codecs.JSON().encode(np.array([object()], dtype=object)), TypeError),
        (lambda: codecs.LZMA(format=9).encode(b"data"), ValueError),
        (lambda: codecs.Blosc("lz4", 20).encode(b"data"), ValueError),
    ],
)
def test_wrong_data(use: Any, error: Any) -> None:
    with pytest.raises(error):
        use()


def test_blosc_functions() -> None:
    encoded = blosc.compress(NUMBERS, b"zstd", 5, blosc.BITSHUFFLE)
    assert np.array_equal(np.frombuffer(blosc.decompress(encoded), "i4"), NUMBERS)
    out = np.empty_like(NUMBERS)
    assert blosc.decompress(encoded, out) is out and np.array_equal(out, NUMBERS)
    nbytes, cbytes, blocksize = blosc.cbuffer_sizes(encoded)
    assert (nbytes, cbytes) == (NUMBERS.nbytes, len(encoded)) and 0 < blocksize <= nbytes
    assert blosc.cbuffer_complib(encoded) == "Zstd"
    theirs = pytest.importorskip("numcodecs.blosc")
    sizes = theirs._cbuffer_sizes if hasattr(theirs, "_cbuffer_sizes") else theirs.cbuffer_sizes
    assert blosc.cbuffer_sizes(encoded) == sizes(encoded)
    assert blosc.cbuffer_complib(encoded) == theirs.cbuffer_complib(encoded)


@pytest.mark.parametrize("cname", blosc.list_compressors())
def test_all_compressors_are_there(cname: str) -> None:
    codec = codecs.Blosc(cname)
    assert as_bytes(codec.decode(codec.encode(NUMBERS))) == NUMBERS.tobytes()


def test_threads() -> None:
    before = blosc.set_nthreads(2)
    try:
        assert blosc.get_nthreads() == 2
    finally:
        assert blosc.set_nthreads(before) == 2
    codec, results = codecs.Zstd(), []

    def work() -> None:
        results.append(as_bytes(codec.decode(codec.encode(NUMBERS))) == NUMBERS.tobytes())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8


@pytest.mark.parametrize(("name", "args"), [("ZFPY", (5,)), ("ZFPY", (4, 0.001)), ("PCodec", ()), ("PCodec", (3,))], ids=repr)
def test_codecs_of_arrays(name: str, args: tuple[Any, ...]) -> None:
    codec = getattr(codecs, name)(*args)
    data = np.linspace(0, 1, 64).reshape(8, 8)
    decoded = np.asarray(codec.decode(codec.encode(data), out=np.empty_like(data)))
    np.testing.assert_allclose(decoded, data, atol=0.001)
