"""Damaged chunks: reading them is an error whatever sizes they contain, and does not take more memory than an intact
chunk."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import zarrox as zarr
from zarrox.v2 import codecs

#: The additional memory in MB that reading a damaged chunk may take, compared with the intact one.
BEYOND = 16

COMPRESSORS: dict[str, Any] = {
    "zstd": codecs.Zstd(),
    "lz4": codecs.LZ4(),
    "gzip": codecs.GZip(),
    "zlib": codecs.Zlib(),
    "bz2": codecs.BZ2(),
    "lzma": codecs.LZMA(),
    "blosc-lz4": codecs.Blosc("lz4"),
    "blosc-zstd": codecs.Blosc("zstd"),
}

READ = """
import resource, sys
import zarrox as zarr

resource.setrlimit(resource.RLIMIT_AS, (4_000_000_000,) * 2)
key, front = sys.argv[1], int(sys.argv[2])
good = zarr.open_array(sys.argv[3], mode="r")
good[:]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
store = dict(good.store)
for bit in [*range(8 * front), *range(-64, 0)]:
    damaged = bytearray(store[key])
    damaged[bit // 8] ^= 1 << bit % 8
    try:
        zarr.open_array(store | {key: bytes(damaged)}, mode="r")[0]
    except (zarr.errors.CorruptDataError, MemoryError):
        pass
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def created(kind: str, store: Any, compressor: Any) -> zarr.Array:
    if kind == "v2":
        return zarr.create(300, chunks=300, dtype=str, compressor=compressor, store=store, zarr_format=2)
    shards = {"shards": 300, "chunks": 100} if kind == "shards" else {"chunks": 300}
    return zarr.create_array(store, shape=300, dtype=str, compressors=compressor, **shards)


@pytest.mark.parametrize("compressor", COMPRESSORS)
@pytest.mark.parametrize("kind", ["v2", "v3", "shards"])
def test_a_flipped_bit_takes_no_memory(tmp_path: Any, kind: str, compressor: str) -> None:
    if sys.platform != "linux":
        pytest.skip("the limit and the peak are Linux's")
    z = created(kind, str(tmp_path / "a.zarr"), COMPRESSORS[compressor])
    z[:] = np.array([f"line {n} of a text" * (n % 3) for n in range(300)], dtype=object)
    key = "0" if kind == "v2" else "c/0"
    command = [sys.executable, "-c", READ, key, "24", str(tmp_path / "a.zarr")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) <= BEYOND
