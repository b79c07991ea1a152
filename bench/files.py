"""The time of `zarrox import` of a file of HDF5, beside that of a loop over its chunks with h5py and zarr-python.

    python bench/files.py COMMAND [MEBIBYTES]

Runs in the environment `target/venvs/files`. The file is written into the current directory's `target/bench-files`.
"""

import os
import shutil
import subprocess
import sys
import time

import h5py
import numpy as np
import zarr

COMMAND = sys.argv[1]
SIZE = int(sys.argv[2]) if len(sys.argv) > 2 else 500
PLACE = os.path.join("target", "bench-files")


def write(path, **options):
    """Float32 as of a model: smooth, with noise in the last digits."""
    rng = np.random.default_rng(1)
    steps = SIZE // 4
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("t2m", (steps, 1024, 1024), "f4", chunks=(1, 512, 512), **options)
        smooth = np.cumsum(np.cumsum(rng.standard_normal((1024, 1024), np.float32), 0), 1) / 1000
        for step in range(steps):
            dataset[step] = np.round(smooth + step / 10 + rng.standard_normal((1024, 1024), np.float32) / 100, 2)


def loop(path, target):
    """A loop over slabs that are whole chunks, as one writes it without another program."""
    root = zarr.open_group(target, mode="w")
    with h5py.File(path) as file:
        source = file["t2m"]
        array = root.create_array("t2m", shape=source.shape, chunks=source.chunks, dtype=source.dtype)
        for step in range(len(source)):
            array[step] = source[step]


def timed(work):
    shutil.rmtree(os.path.join(PLACE, "out.zarr"), ignore_errors=True)
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main():
    os.makedirs(PLACE, exist_ok=True)
    target = os.path.join(PLACE, "out.zarr")
    print(f"{'file':12} {'loop':>8} {'import':>8} {'ratio':>6}")
    for name, options in {"gzip": {"compression": "gzip", "shuffle": True}, "lzf": {"compression": "lzf"}, "plain": {}}.items():
        path = os.path.join(PLACE, name + ".h5")
        write(path, **options)
        theirs = min(timed(lambda: loop(path, target)) for _ in range(2))
        run = lambda: subprocess.run([COMMAND, "--quiet", "import", path, target], check=True)
        ours = min(timed(run) for _ in range(2))
        print(f"{name:12} {theirs:7.2f}s {ours:7.2f}s {ours / theirs:6.2f}")
        os.remove(path)
    shutil.rmtree(PLACE)


if __name__ == "__main__":
    main()
