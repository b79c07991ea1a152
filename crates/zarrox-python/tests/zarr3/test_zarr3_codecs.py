"""Every codec of zarr-python 3 and of numcodecs under the pipeline: Rust and zarr-python decode each other's chunks."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    CastValue,
    Crc32cCodec,
    GzipCodec,
    ScaleOffset,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)
from zarr.codecs import numcodecs as wrapped

import zarrox.zarr3
from zarrox.zarr3 import explain

pytestmark = pytest.mark.filterwarnings("ignore")

SHAPE = (23, 17)
INTEGERS = np.random.default_rng(3).integers(0, 100, SHAPE)

#: The codecs of version 3: the data type, and the arguments of `create_array`.
V3: dict[str, tuple[str, dict[str, Any]]] = {
    "blosc": ("i4", {"compressors": BloscCodec(cname="lz4hc", shuffle="bitshuffle")}),
    "bytes": ("i4", {"serializer": BytesCodec(endian="big"), "compressors": None}),
    "crc32c": ("i4", {"compressors": [ZstdCodec(), Crc32cCodec()]}),
    "gzip": ("i4", {"compressors": GzipCodec(level=1)}),
    "transpose": ("i4", {"filters": TransposeCodec(order=(1, 0))}),
    "zstd": ("i4", {"compressors": ZstdCodec(level=9, checksum=True)}),
    "cast_value": ("f4", {"filters": CastValue(data_type="int16")}),
    "scale_offset": ("f4", {"filters": ScaleOffset(offset=5, scale=2)}),
    "sharding in sharding": (
        "i4",
        {
            "chunks": (8, 8),
            "serializer": ShardingCodec(chunk_shape=(4, 8), codecs=[ShardingCodec(chunk_shape=(2, 4), codecs=[BytesCodec()])]),
            "compressors": None,
        },
    ),
    "numcodecs.blosc": ("i4", {"compressors": wrapped.Blosc(cname="zlib")}),
    "numcodecs.lz4": ("i4", {"compressors": wrapped.LZ4()}),
    "numcodecs.zstd": ("i4", {"compressors": wrapped.Zstd()}),
    "numcodecs.zlib": ("i4", {"compressors": wrapped.Zlib()}),
    "numcodecs.gzip": ("i4", {"compressors": wrapped.GZip()}),
    "numcodecs.bz2": ("i4", {"compressors": wrapped.BZ2()}),
    "numcodecs.lzma": ("i4", {"compressors": wrapped.LZMA()}),
    "numcodecs.shuffle": ("i4", {"compressors": [wrapped.Shuffle(elementsize=4), wrapped.Zlib()]}),
    "numcodecs.crc32": ("i4", {"compressors": wrapped.CRC32()}),
    "numcodecs.crc32c": ("i4", {"compressors": wrapped.CRC32C()}),
    "numcodecs.adler32": ("i4", {"compressors": wrapped.Adler32()}),
    "numcodecs.fletcher32": ("i4", {"compressors": wrapped.Fletcher32()}),
    "numcodecs.jenkins_lookup3": ("i4", {"compressors": wrapped.JenkinsLookup3()}),
    "numcodecs.delta": ("i4", {"filters": wrapped.Delta(dtype="<i4")}),
    "numcodecs.bitround": ("f4", {"filters": wrapped.BitRound(keepbits=12)}),
    "numcodecs.fixedscaleoffset": (
        "f8",
        {"filters": wrapped.FixedScaleOffset(offset=0, scale=10, dtype="<f8", astype="<i4")},
    ),
    "numcodecs.quantize": ("f8", {"filters": wrapped.Quantize(digits=4, dtype="<f8")}),
    "numcodecs.packbits": ("bool", {"filters": wrapped.PackBits()}),
    "numcodecs.astype": ("f8", {"filters": wrapped.AsType(encode_dtype="<f4", decode_dtype="<f8")}),
    "numcodecs.pcodec": ("i4", {"serializer": wrapped.PCodec(), "compressors": None}),
    "numcodecs.zfpy": ("f8", {"serializer": wrapped.ZFPY(mode=4, tolerance=0.001), "compressors": None}),
}

#: The codecs of version 2: the data type, the filters, and the compressor.
V2: dict[str, tuple[str, list[Any], Any]] = {
    "raw": ("i4", [], None),
    "blosc": ("i4", [], numcodecs.Blosc(cname="blosclz")),
    "bz2": ("i4", [], numcodecs.BZ2()),
    "gzip": ("i4", [], numcodecs.GZip()),
    "lz4": ("i4", [], numcodecs.LZ4()),
    "lzma": ("i4", [], numcodecs.LZMA()),
    "zlib": ("i4", [], numcodecs.Zlib()),
    "zstd": ("i4", [], numcodecs.Zstd()),
    "shuffle": ("i4", [numcodecs.Shuffle(4)], numcodecs.Zlib()),
    "delta": ("i4", [numcodecs.Delta("<i4")], numcodecs.Zlib()),
    "fixedscaleoffset": ("f8", [numcodecs.FixedScaleOffset(0, 10, "<f8", "<i4")], None),
    "quantize": ("f8", [numcodecs.Quantize(4, "<f8")], None),
    "astype": ("f8", [numcodecs.AsType("<f4", "<f8")], None),
    "bitround": ("f4", [numcodecs.BitRound(12)], None),
    "packbits": ("bool", [numcodecs.PackBits()], None),
    "crc32": ("i4", [numcodecs.CRC32()], None),
    "adler32": ("i4", [numcodecs.Adler32()], None),
    "fletcher32": ("i4", [numcodecs.Fletcher32()], None),
    "jenkins_lookup3": ("i4", [numcodecs.JenkinsLookup3()], None),
    "base64": ("i4", [numcodecs.Base64()], None),
    "pcodec": ("i4", [], numcodecs.pcodec.PCodec()),
}


def exchange(array: Any, dtype: str) -> None:
    """Checks that each pipeline reads the array that the other has written, as a whole and in part."""
    assert (explain(array).chunks, explain(array).reasons) == ("rust", ())
    with zarrox.zarr3.disable():
        own = zarr.open_array(array.store_path, mode="r+")
    values = INTEGERS.astype(dtype)
    for writer, reader in ((array, own), (own, array)):
        writer[...] = values
        np.testing.assert_allclose(reader[...], values, atol=0.05)
        np.testing.assert_array_equal(reader[...], writer[...])
        writer[3:9, 1:16:3] = values[9:15, 1:16:3]
        np.testing.assert_array_equal(reader[2:11], writer[2:11])
        values = values[::-1].copy()


@pytest.mark.parametrize("name", V3)
def test_codecs_of_version_3(name: str) -> None:
    """Each codec is tested alone, and together with the usual codecs."""
    if name == "cast_value":
        pytest.importorskip("cast_value_rs", reason="zarr-python needs it for this codec")
    dtype, options = V3[name]
    with zarrox.zarr3.enable():
        exchange(zarr.create_array({}, shape=SHAPE, dtype=dtype, **{"chunks": (5, 4)} | options), dtype)


@pytest.mark.parametrize("name", V2)
def test_codecs_of_version_2(name: str) -> None:
    """Each filter and each compressor is tested."""
    dtype, filters, compressor = V2[name]
    options: dict[str, Any] = {"filters": filters or None, "compressors": compressor, "zarr_format": 2}
    with zarrox.zarr3.enable():
        exchange(zarr.create_array({}, shape=SHAPE, dtype=dtype, chunks=(5, 4), **options), dtype)


def test_codecs_of_both_packages_are_equal() -> None:
    """A codec object of zarr-python equals the object of Zarrox for the same metadata."""
    store: dict[str, Any] = {}
    theirs = BloscCodec(typesize=4, cname="zstd", clevel=3, shuffle="shuffle", blocksize=0)
    zarrox.create_array(store, shape=(4,), dtype="i4", compressors=theirs, zarr_format=3)
    (ours,) = zarrox.open_array(store).compressors
    assert ours == theirs
    assert theirs == ours
    assert ours != BloscCodec(typesize=4, cname="zstd", clevel=4, shuffle="shuffle", blocksize=0)
    assert ours != "blosc"


def test_a_variable_of_the_environment_switches_the_pipeline_on(tmp_path: Path) -> None:
    """Code without any reference to Zarrox uses the pipeline, since the installed package has an entry point."""
    project = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text())["project"]
    installed = tmp_path / "zarrox-0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: zarrox\nVersion: 0\n")
    points = project["entry-points"]["zarr.codec_pipeline"].items()
    lines = "".join(f"{name} = {value}\n" for name, value in points)
    (installed / "entry_points.txt").write_text(f"[zarr.codec_pipeline]\n{lines}")
    program = (
        "import zarr\nz = zarr.create_array({}, shape=(4,), dtype='i4')\n"
        "z[:2] = 5\nassert z[:].tolist() == [5, 5, 0, 0]\nprint(type(z.async_array.codec_pipeline).__name__)"
    )
    environment = os.environ | {
        "ZARR_CODEC_PIPELINE__PATH": zarrox.zarr3.PIPELINE,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout.strip()) == (0, "ZarroxCodecPipeline"), done.stderr
