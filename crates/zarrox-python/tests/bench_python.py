"""Measures the overhead of the Python package: small reads compared with tensorstore, and opening compared with bare
reads of files.

Everything is measured in one run, in turns, so that other work on the machine affects both sides. The best of many
times is printed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorstore as ts

import zarrox as zarr


def best(calls: dict[str, Callable[[], Any]], rounds: int, repeats: int) -> dict[str, float]:
    """Returns the shortest time of each call in microseconds. Each round runs all calls in turn, and each call several
    times."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(repeats):
                call()
            found[name] = min(found[name], (time.perf_counter() - start) / repeats * 1e6)
    return found


def report(title: str, calls: dict[str, Callable[[], Any]], rounds: int, repeats: int) -> None:
    """Prints the time of each call, and its ratio to the time of the first call."""
    times = best(calls, rounds, repeats)
    first = next(iter(times.values()))
    print(f"\n{title}")
    for name, microseconds in times.items():
        print(f"  {name:<28} {microseconds:10.1f} µs   {microseconds / first:6.2f} ×")


def small_reads(directory: Path, rounds: int) -> None:
    """Measures reads of 10 × 10 elements from a chunk of 100 × 100."""
    values = np.random.default_rng(0).integers(0, 1000, (1000, 1000), dtype="i4")
    for zarr_format, driver in ((2, "zarr"), (3, "zarr3")):
        for compressed in (False, True):
            name = f"small-{zarr_format}-{compressed}.zarr"
            path = str(directory / name)
            options: dict[str, Any] = {} if compressed else {"compressors": None}
            z = zarr.create_array(
                path, shape=values.shape, chunks=(100, 100), dtype="i4", zarr_format=zarr_format, **options
            )
            z[...] = values
            z = zarr.open_array(path, mode="r")
            spec = {"driver": driver, "kvstore": {"driver": "file", "path": path}}
            other = ts.open(spec, open=True, read=True).result()
            assert (z[110:120, 210:220] == other[110:120, 210:220].read().result()).all()
            calls: dict[str, Callable[[], Any]] = {
                "tensorstore": lambda other=other: other[110:120, 210:220].read().result(),
                "zarrox": lambda z=z: z[110:120, 210:220],
                "zarrox, one element": lambda z=z: z[115, 215],
            }
            kind = "compressed" if compressed else "raw"
            report(f"10 × 10 of a {kind} chunk of 100 × 100, format {zarr_format}", calls, rounds, 200)


def opening(directory: Path, rounds: int) -> None:
    """Measures opening an array by its path, and a group of 100 arrays."""
    for zarr_format, name in ((2, ".zarray"), (3, "zarr.json")):
        path = directory / f"open-{zarr_format}.zarr"
        zarr.create_array(str(path), shape=(1000, 1000), chunks=(100, 100), dtype="i4", zarr_format=zarr_format)
        names = [name, ".zattrs"] if zarr_format == 2 else [name]
        calls: dict[str, Callable[[], Any]] = {
            "open, read and parse files": lambda path=path, names=names: [
                json.loads((path / each).read_bytes()) for each in names if (path / each).exists()
            ],
            "zarrox.open": lambda path=str(path): zarr.open(path, mode="r"),
            "zarrox.open_array": lambda path=str(path): zarr.open_array(path, mode="r"),
        }
        report(f"opening an array of format {zarr_format}", calls, rounds, 100)
        root = zarr.open_group(str(directory / f"group-{zarr_format}.zarr"), mode="w", zarr_format=zarr_format)
        for number in range(100):
            root.create_array(f"a{number}", shape=(10,), chunks=(10,), dtype="i4")
        files = [directory / f"group-{zarr_format}.zarr" / f"a{number}" / name for number in range(100)]
        calls = {
            "read and parse 100 files": lambda files=files: [json.loads(file.read_bytes()) for file in files],
            "all arrays of a group": lambda root=root: list(root.arrays()),
        }
        report(f"a group of 100 arrays of format {zarr_format}", calls, rounds, 3)


def main() -> None:
    """Measures, and prints ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds: shows that it runs")
    rounds = 3 if parser.parse_args().quick else 30
    with tempfile.TemporaryDirectory() as directory:
        small_reads(Path(directory), rounds)
        opening(Path(directory), rounds)


if __name__ == "__main__":
    main()
