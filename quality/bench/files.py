"""Compares the time of `zarrox import` with the time of a Python loop that copies the parts of a file with zarr-python.

    python quality/bench/files.py COMMAND [MEBIBYTES [WORD …]]

Runs in the environment `target/venvs/files`. The files are written into the current directory's `target/bench-files`. The loops use no other
program: h5py, pandas, pyarrow and tifffile read parts that are whole chunks, and zarr-python stores these. Words choose the kinds of files.
The last column is the ratio of the processor times, which other programs disturb less.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import tifffile
import zarr

COMMAND = sys.argv[1]
SIZE = int(sys.argv[2]) if len(sys.argv) > 2 else 500
WORDS = sys.argv[3:]
PLACE = os.path.join("target", "bench-files")
ROUNDS = 3
ROWS = 1 << 20


def pages():
    """Yields pages of 4 MiB of float32 like those of a model: smooth, with noise in the last digits."""
    rng = np.random.default_rng(1)
    smooth = np.cumsum(np.cumsum(rng.standard_normal((1024, 1024), np.float32), 0), 1) / 1000
    for step in range(SIZE // 4):
        yield np.round(smooth + step / 10 + rng.standard_normal((1024, 1024), np.float32) / 100, 2)


def write_hdf5(path, **options):
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("t2m", (SIZE // 4, 1024, 1024), "f4", chunks=(1, 512, 512), **options)
        for step, page in enumerate(pages()):
            dataset[step] = page


def loop_hdf5(path, target):
    root = zarr.open_group(target, mode="w")
    with h5py.File(path) as file:
        source = file["t2m"]
        array = root.create_array("t2m", shape=source.shape, chunks=source.chunks, dtype=source.dtype)
        for step in range(len(source)):
            array[step] = source[step]


def frames():
    """Yields tables of a million rows: integers, floats, times and words. A row takes 31 bytes in Parquet."""
    rng = np.random.default_rng(1)
    for part in range(max(SIZE // 31, 1)):
        count = np.arange(part * ROWS, (part + 1) * ROWS)
        words = np.array(["red", "green", "blue", "yellow"])[rng.integers(0, 4, ROWS)]
        yield pd.DataFrame({
            "id": count,
            "x": rng.standard_normal(ROWS).round(4),
            "time": count.astype("M8[s]").astype("M8[ms]"),
            "word": words,
        })


def write_csv(path):
    for part, frame in enumerate(frames()):
        frame.to_csv(path, mode="a", header=part == 0, index=False)


def write_parquet(path):
    writer = None
    for frame in frames():
        table = pa.Table.from_pandas(frame, preserve_index=False)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def append(root, frame):
    """Appends rows to the arrays of the columns."""
    for name in frame:
        values = frame[name].to_numpy()
        values = values.astype("T") if values.dtype == object or values.dtype.kind == "U" else values
        if name not in root:
            dtype = "string" if values.dtype.kind == "T" else values.dtype
            root.create_array(name, shape=(0,), chunks=(ROWS,), dtype=dtype)
        root[name].append(values)


def loop_csv(path, target):
    root = zarr.open_group(target, mode="w")
    for frame in pd.read_csv(path, chunksize=ROWS, parse_dates=["time"]):
        append(root, frame)


def loop_parquet(path, target):
    root = zarr.open_group(target, mode="w")
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(ROWS):
            append(root, batch.to_pandas())


def write_tiff(path):
    with tifffile.TiffWriter(path, bigtiff=True) as file:
        for page in pages():
            file.write(page, tile=(512, 512), compression="zlib", predictor=3, contiguous=False)


def loop_tiff(path, target):
    with tifffile.TiffFile(path) as file:
        array = zarr.create_array(target, shape=(len(file.pages), 1024, 1024), chunks=(1, 512, 512), dtype="f4", overwrite=True)
        for step, page in enumerate(file.pages):
            array[step] = page.asarray()


CASES = {
    "HDF5, gzip": (lambda path: write_hdf5(path, compression="gzip", shuffle=True), loop_hdf5, "h5"),
    "HDF5, LZF": (lambda path: write_hdf5(path, compression="lzf"), loop_hdf5, "h5"),
    "HDF5, plain": (write_hdf5, loop_hdf5, "h5"),
    "TIFF, deflate": (write_tiff, loop_tiff, "tif"),
    "CSV": (write_csv, loop_csv, "csv"),
    "Parquet": (write_parquet, loop_parquet, "parquet"),
}


def timed(work, whose):
    """Returns the wall time and the processor time of one run, in seconds."""
    before, begin = resource.getrusage(whose), time.perf_counter()
    work()
    end, after = time.perf_counter(), resource.getrusage(whose)
    return end - begin, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measured(loop, path):
    """Returns the median times of the loop and of the import, which run alternately.

    Each run has its own target, and all targets are kept until the last run has ended: ext4 reuses an inode that was just freed only after a
    search, which takes a fifth of the time of an import.
    """
    theirs, ours = [], []
    for turn in range(ROUNDS):
        target = os.path.join(PLACE, f"{turn}.zarr")
        command = [COMMAND, "--quiet", "import", path, os.path.join(PLACE, f"{turn}-import.zarr")]
        theirs.append(timed(lambda: loop(path, target), resource.RUSAGE_SELF))  # noqa: B023
        ours.append(timed(lambda: subprocess.run(command, check=True), resource.RUSAGE_CHILDREN))  # noqa: B023
    return [[statistics.median(each) for each in zip(*runs)] for runs in (theirs, ours)]


def main():
    names = [name for name in CASES if not WORDS or any(word in name for word in WORDS)]
    print(f"{'file':14} {'MiB':>5} {'loop':>8} {'import':>8} {'ratio':>6} {'of processors':>14}")
    for name in names:
        write, loop, suffix = CASES[name]
        shutil.rmtree(PLACE, ignore_errors=True)
        os.makedirs(PLACE)
        path = os.path.join(PLACE, "in." + suffix)
        write(path)
        (theirs, their_work), (ours, our_work) = measured(loop, path)
        size = os.path.getsize(path) >> 20
        print(f"{name:14} {size:5} {theirs:7.2f}s {ours:7.2f}s {ours / theirs:6.2f} {our_work / their_work:14.2f}", flush=True)
    shutil.rmtree(PLACE)


if __name__ == "__main__":
    main()
