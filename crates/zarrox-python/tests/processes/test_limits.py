"""Limits of the system for a process: too little memory is a `MemoryError`, a file that is too large an `OSError`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="this system has no limits for processes")

#: A program that fills an array of one large chunk, limits its memory to less than another chunk, and works with the
#: array.
PROGRAM = """
import resource, sys
import numpy as np
import zarrox

path, codec, work = sys.argv[1:]
size = 1 << 24
codecs = {"none": None, "zstd": zarrox.codecs.ZstdCodec(), "gzip": zarrox.codecs.GzipCodec(level=1),
          "blosc": zarrox.codecs.BloscCodec(cname="lz4"), "lz4": zarrox.codecs.numcodecs.LZ4(),
          "crc32c": zarrox.codecs.Crc32cCodec(), "big": None}
dtype = ">i2" if codec == "big" else "i2"
array = zarrox.create_array(path, shape=size, chunks=size, dtype=dtype, compressors=codecs[codec])
values = np.resize(np.random.default_rng(1).integers(0, 1000, 9973).astype("i2"), size)
small = values[:10]
if work != "write":
    array[:] = values
    del values
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (12 << 20), resource.RLIM_INFINITY))
try:
    if work == "write":
        array[:] = values
    elif work == "part":
        array[5:15] = small + 1
    elif work == "append":
        array.append(np.broadcast_to(small[:1], size))
    else:
        array[:]
    print("done")
except MemoryError as error:
    print("refused", error)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
if work == "read" or work == "part":
    assert (array[:10] == small).all() or work == "part"
"""


@pytest.mark.parametrize("work", ["read", "write", "part", "append"])
@pytest.mark.parametrize("codec", ["none", "zstd", "gzip", "blosc", "lz4", "crc32c", "big"])
def test_too_little_memory_is_an_error(tmp_path: Path, codec: str, work: str) -> None:
    """Every operation on large chunks raises a `MemoryError`, or succeeds in the available memory."""
    if not Path("/proc/self/statm").exists():
        # This system does not report the memory of a process.
        return
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "a"), codec, work], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(("refused", "done")), run.stdout
    if work == "read":
        assert run.stdout.startswith("refused"), run.stdout


#: A program that writes an array whose files exceed its limit, and then an array with files that are small enough.
LARGE_FILE = """
import resource, signal, sys
import numpy as np
import zarrox

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
array = zarrox.create_array(sys.argv[1], shape=100_000, chunks=100_000, dtype="u1", compressors=None)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
try:
    array[:] = np.ones(100_000, "u1")
except OSError as error:
    print(type(error).__name__, error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert not array[:].any()
"""


def test_a_file_that_is_too_large_is_an_error(tmp_path: Path) -> None:
    """The error is an `OSError`, and no temporary file is left."""
    run = subprocess.run([sys.executable, "-c", LARGE_FILE, str(tmp_path / "a")], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "larger than the file system allows" in run.stdout
    assert [path.name for path in (tmp_path / "a").rglob("*") if path.is_file()] == ["zarr.json"]
