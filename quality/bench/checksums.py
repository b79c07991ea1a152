"""Measures the cost of a checksum of each chunk: the ratio of the processor times with and without `--checksum` within one run.

    python3 quality/bench/checksums.py PATH_OF_ZARROX [--mib 256] [--turns 5]

An array of float32 is imported from a `.npy` file and exported again, in memory if the system has `/dev/shm`, so that the disk does not
matter. Each turn runs both sides one after the other; times are medians of the user CPU time, which checksums use.
"""

import argparse
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile

import numpy as np

#: The rows of the table, with the options of `zarrox import`.
ROWS = {
    "none, chunks of 16 MiB": ["--compressor", "none", "--chunks", "64,256,256"],
    "zstd, chunks of 16 MiB": ["--compressor", "zstd:3", "--chunks", "64,256,256"],
    "Blosc, chunks of 16 MiB": ["--compressor", "blosc:lz4:5:shuffle", "--chunks", "64,256,256"],
    "none, inner chunks of 1 MiB": ["--compressor", "none", "--chunks", "64,64,64", "--shards", "256,256,256"],
    "zstd, inner chunks of 128 KiB": ["--compressor", "zstd:3", "--chunks", "32,32,32", "--shards", "256,256,256"],
}


def processor_time(*line):
    """Runs a command, and returns its user CPU time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([str(word) for word in line], check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("zarrox")
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    memory = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        place = pathlib.Path(name)
        steps = np.random.default_rng(1).normal(size=(arguments.mib, 512, 512))
        np.save(place / "values.npy", np.cumsum(steps, axis=2).astype("f4"))
        print("| codecs | write | read |\n|---|---:|---:|")
        for row, options in ROWS.items():
            times = {}
            for _ in range(arguments.turns):
                for checksum in ((), ("--checksum",)):
                    array = place / "values.zarr"
                    written = processor_time(
                        arguments.zarrox, "import", place / "values.npy", array, *options, *checksum
                    )
                    read = processor_time(arguments.zarrox, "export", array, place / "read.npy", "--force")
                    shutil.rmtree(array)
                    times.setdefault(("write", checksum), []).append(written)
                    times.setdefault(("read", checksum), []).append(read)
            median = {key: statistics.median(values) for key, values in times.items()}
            ratios = [median[kind, ("--checksum",)] / median[kind, ()] for kind in ("write", "read")]
            print(f"| {row} | {ratios[0]:.2f} | {ratios[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
