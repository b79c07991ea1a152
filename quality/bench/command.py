"""Measures the command compared with the usual alternatives, as ratios within one run.

    python3 quality/bench/command.py [PATH OF zarrox] [--mib 512] [--turns 5] [--dask PYTHON] [--reencode PROGRAM] [--s3 ENDPOINT --s5cmd PROGRAM]

`cp` is compared with `cp -r`, `reshard` with `cp -r` of the source or the copy, whichever has more files, and `diff` and `stats` with
reading all elements of the same arrays. `rechunk` is compared with Dask's, in an environment with Dask and zarr-python, and with zarrs'
`zarrs_reencode`. Copies from S3 are compared with `s5cmd`. Each turn runs both sides one after the other; the ratio is that of the
shortest times.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time


def run(*line, stdout=None):
    """Runs a command, and returns the seconds that it took."""
    begun = time.perf_counter()
    subprocess.run([str(word) for word in line], check=True, stdout=stdout or subprocess.DEVNULL)
    return time.perf_counter() - begun


def run_measured(*line):
    """Runs a command, and returns its time in seconds and its peak memory in bytes."""
    begun = time.perf_counter()
    process = subprocess.Popen([str(word) for word in line], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {line}")
    return time.perf_counter() - begun, usage.ru_maxrss << 10


#: Dask reads the source in pieces of whole chunks, and rechunks them.
DASK = """
import sys
import dask.array as da
source, target, chunks = sys.argv[1:]
da.from_zarr(source).rechunk(tuple(map(int, chunks.split(",")))).to_zarr(target)
"""


def values(path, mib):
    """Writes float32 elements from 0.5 to 2, whose low bytes are random."""
    with open(path, "wb") as file:
        for _ in range(mib):
            block = bytearray(os.urandom(1 << 20))
            block[3::4] = b"\x3f" * (1 << 18)
            file.write(block)


class Bench:
    """A directory with arrays, and the command."""

    def __init__(self, zarrox, directory, turns):
        self.zarrox, self.directory, self.turns = zarrox, pathlib.Path(directory), turns

    def place(self, name):
        return self.directory / name

    def fresh(self, name):
        """Returns a path that does not exist."""
        shutil.rmtree(self.place(name), ignore_errors=True)
        return self.place(name)

    def compare(self, name, ours, theirs, limit):
        """Runs both sides alternately, and prints the ratio."""
        own, others = [], []
        for turn in range(self.turns + 1):
            pair = (theirs(), ours()) if turn % 2 else tuple(reversed((ours(), theirs())))
            if turn:  # the first one warms up
                others.append(pair[0])
                own.append(pair[1])
        ratio = min(own) / min(others)
        verdict = "ok" if ratio <= limit else "MORE"
        print(f"{name:<34} {min(own):7.3f} s {min(others):7.3f} s  {ratio:5.2f} (limit {limit}) {verdict}", flush=True)

    def copies(self, name, source):
        self.compare(
            f"cp {name} / cp -r",
            lambda: run(self.zarrox, "cp", self.place(source), self.fresh("copy.zarr")),
            lambda: run("cp", "-r", self.place(source), self.fresh("copied.zarr")),
            1.1,
        )

    def reshards(self, name, source, shards, files):
        """Measures resharding. `files` is the array with more files: the source or the copy."""
        self.compare(
            f"reshard {name} / cp -r",
            lambda: run(self.zarrox, "reshard", self.place(source), self.fresh("copy.zarr"), "--shards", shards),
            lambda: run("cp", "-r", self.place(files), self.fresh("copied.zarr")),
            1.2,
        )

    def rechunks(self, source, chunks, dask, reencode):
        """Rechunks rows to columns. Prints the peak memory of both sides; the other side's peak memory is the command's limit."""
        command = [self.zarrox, "rechunk", self.place(source), "TARGET", "--chunks", chunks]
        others = {}
        if dask:
            others["Dask"] = command, [dask, "-c", DASK, self.place(source), "TARGET", chunks]
        if reencode:
            # zarrs_reencode 0.8.1 does not change chunks if the output has no shards. A shard of one chunk changes them.
            shapes = ["--shard-shape", chunks, "--chunk-shape", chunks]
            others["zarrs_reencode"] = [*command, "--max-memory", "64MiB"], [reencode, self.place(source), "TARGET", *shapes]
        for name, (ours, theirs) in others.items():
            peaks = {}

            def measured(side, line, peaks=peaks):
                target = self.fresh(f"{side}.zarr")
                seconds, peak = run_measured(*(target if word == "TARGET" else word for word in line))
                peaks[side] = max(peaks.get(side, 0), peak)
                return seconds

            self.compare(f"rechunk / {name}", lambda: measured("ours", ours), lambda: measured("theirs", theirs), 0.5)
            print(f"{'  most memory in MiB':<34} {peaks['ours'] >> 20:>9} {peaks['theirs'] >> 20:>9}", flush=True)

    def downloads(self, source, endpoint, s5cmd):
        """Copies from S3 to the disk, with the objects that `zarrox cp` has written there."""
        url = f"s3://zarrox/bench-{os.getpid()}/{source}"
        options = ["--storage", f"endpoint={endpoint}", "--storage", "allow_http=true"]
        run(self.zarrox, "cp", self.place(source), url, *options)
        os.environ.setdefault("AWS_REGION", "us-east-1")
        self.compare(
            f"cp {source} from S3 / s5cmd",
            lambda: run(self.zarrox, "cp", url, self.fresh("copy.zarr"), *options),
            lambda: run(s5cmd, "--endpoint-url", endpoint, "cp", f"{url}/*", f"{self.fresh('copied.zarr')}/"),
            1.1,
        )

    def reads(self, name):
        return run(self.zarrox, "export", self.place(name), "-", "--to", "raw")

    def passes(self, name, array, other):
        self.compare(
            f"stats {name} / reading all",
            lambda: run(self.zarrox, "stats", self.place(array)),
            lambda: self.reads(array),
            1.2,
        )
        self.compare(
            f"diff {name} / reading both",
            lambda: run(self.zarrox, "diff", self.place(array), self.place(other)),
            lambda: self.reads(array) + self.reads(other),
            1.2,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zarrox", nargs="?", default="zarrox", help="the command")
    parser.add_argument("--mib", type=int, default=512, help="the size of an array in MiB")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--dask", help="a Python with Dask and zarr-python")
    parser.add_argument("--reencode", help="zarrs' program zarrs_reencode")
    parser.add_argument("--s3", help="the address of a server, with the bucket zarrox and the keys in the environment")
    parser.add_argument("--s5cmd", default="s5cmd", help="the program s5cmd")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="zarrox-bench-") as directory:
        bench = Bench(options.zarrox, directory, options.turns)
        values(bench.place("values.raw"), options.mib)
        shape = ["--dtype", "<f4", "--shape", f"{options.mib * 64},4096"]
        for name, layout in {
            "plain.zarr": ["--chunks", "64,4096"],
            "small.zarr": ["--chunks", "64,256"],
            "sharded.zarr": ["--chunks", "64,256", "--shards", "1024,4096"],
        }.items():
            run(options.zarrox, "import", bench.place("values.raw"), bench.place(name), *shape, *layout)
        bench.copies("plain", "plain.zarr")
        bench.copies("many small chunks", "small.zarr")
        bench.copies("sharded", "sharded.zarr")
        bench.reshards("into shards", "small.zarr", "1024,4096", "small.zarr")
        bench.reshards("out of shards", "sharded.zarr", "none", "small.zarr")
        if options.dask or options.reencode:
            bench.rechunks("plain.zarr", f"{options.mib * 64},64", options.dask, options.reencode)
        if options.s3:
            bench.downloads("plain.zarr", options.s3, options.s5cmd)
            bench.downloads("small.zarr", options.s3, options.s5cmd)
        bench.passes("plain", "plain.zarr", "small.zarr")
        bench.passes("sharded", "sharded.zarr", "plain.zarr")
    return 0


if __name__ == "__main__":
    sys.exit(main())
