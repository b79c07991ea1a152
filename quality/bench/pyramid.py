"""Measures `zarrox downsample` compared with ome-zarr-py and ngff-zarr, as ratios within one run.

    python3 quality/bench/pyramid.py [PATH OF zarrox] [--mib 2048] [--turns 3]

It requires the packages `ome-zarr` and `ngff-zarr`. All three read one image of uint16 in chunks of 64 × 256 × 256 elements, smooth
with noise, and create an OME-Zarr image of it: level 0 and four levels of means, halved along all axes. Each turn runs all of them one
after the other; the ratio is that of the shortest times. The values of the second level are compared.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

LEVELS = 4
CHUNKS = (64, 256, 256)

OME_ZARR = """
import sys
import dask.array, zarr
from ome_zarr.scale import Methods
from ome_zarr.writer import write_image
image = dask.array.from_zarr(sys.argv[1])
factors = [{axis: 2 ** level for axis in "zyx"} for level in range(1, %d + 1)]
group = zarr.open_group(sys.argv[2], mode="w", zarr_format=3)
write_image(image, group, scale_factors=factors, method=Methods.LOCAL_MEAN, axes="zyx")
"""

NGFF_ZARR = """
import sys
import dask.array
import ngff_zarr
image = ngff_zarr.to_ngff_image(dask.array.from_zarr(sys.argv[1]), dims=["z", "y", "x"])
factors = [2 ** level for level in range(1, %d + 1)]
pyramid = ngff_zarr.to_multiscales(image, scale_factors=factors, method=ngff_zarr.Methods.DASK_BIN_SHRINK, chunks=%r)
ngff_zarr.to_ngff_zarr(sys.argv[2], pyramid, version="0.5")
"""


def run(*line):
    """Runs a command, and returns its time in seconds and its peak memory in MiB."""
    begun = time.perf_counter()
    done = subprocess.run(
        ["/usr/bin/env", "python3", "-c", _WRAPPER, *(str(word) for word in line)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return time.perf_counter() - begun, int(done.stdout.splitlines()[-1]) / 1024


#: Runs its arguments, and prints the largest resident size of the process in KiB.
_WRAPPER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def image(path, mib):
    """Writes a smooth image with noise."""
    import numpy as np
    import zarr

    shape = (mib // 8, 2048, 2048)
    array = zarr.create_array(str(path), shape=shape, dtype="u2", chunks=CHUNKS, dimension_names=["z", "y", "x"])
    random = np.random.default_rng(24)
    y, x = np.mgrid[: shape[1], : shape[2]].astype("f4")
    for begin in range(0, shape[0], CHUNKS[0]):
        count = min(CHUNKS[0], shape[0] - begin)
        z = np.arange(begin, begin + count, dtype="f4")[:, None, None]
        smooth = 1000 + 500 * np.sin(x / 97) * np.cos(y / 131) + 300 * np.sin(z / 17)
        array[begin : begin + count] = (smooth + random.integers(0, 32, (count, *shape[1:]))).astype("u2")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zarrox", nargs="?", default="zarrox", help="the command")
    parser.add_argument("--mib", type=int, default=2048, help="the size of the image in MiB")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--directory", help="where the images are made")
    options = parser.parse_args()
    import numpy as np
    import zarr

    with tempfile.TemporaryDirectory(prefix="zarrox-bench-", dir=options.directory) as directory:
        place = pathlib.Path(directory)
        source = place / "source.zarr"
        image(source, options.mib)
        again = ["--chunks", ",".join(map(str, CHUNKS)), "--compressor", "zstd:1"]
        downsample = [options.zarrox, "downsample", source]
        contestants = {
            "zarrox": lambda out: run(*downsample, out, "--levels", LEVELS),
            "zarrox, all encoded anew": lambda out: run(*downsample, out, "--levels", LEVELS, *again),
            "ome-zarr-py": lambda out: run(sys.executable, "-c", OME_ZARR % LEVELS, source, out),
            "ngff-zarr": lambda out: run(sys.executable, "-c", NGFF_ZARR % (LEVELS, CHUNKS), source, out),
        }
        times = {name: [] for name in contestants}
        memory = dict.fromkeys(contestants, 0.0)
        values = {}
        for _ in range(options.turns):
            for name, work in contestants.items():
                out = place / "out.zarr"
                shutil.rmtree(out, ignore_errors=True)
                seconds, mib = work(out)
                times[name].append(seconds)
                memory[name] = max(memory[name], mib)
                group = zarr.open_group(str(out), mode="r")
                paths = [level["path"] for level in group.attrs["ome"]["multiscales"][0]["datasets"]]
                values[name] = group[paths[2]][: CHUNKS[0] // 4].astype("i4")
        best = {name: min(seconds) for name, seconds in times.items()}
        for name in contestants:
            apart = np.abs(values[name] - values["zarrox"]).max()
            ratios = ", ".join(f"{best[name] / best[other]:.2f} of {other}" for other in ("ome-zarr-py", "ngff-zarr"))
            print(f"{name:<26} {best[name]:7.2f} s {memory[name]:7.0f} MiB, {ratios}, values differ by {apart}", flush=True)
        limit = 0.3 * min(best["ome-zarr-py"], best["ngff-zarr"])
        print("ok" if best["zarrox"] <= limit else "MORE than 0.3")
    return 0


if __name__ == "__main__":
    sys.exit(main())
