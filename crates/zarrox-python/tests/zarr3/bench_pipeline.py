"""Measures codec pipelines of zarr-python 3: `python crates/zarrox-python/tests/zarr3/bench_pipeline.py [--write-docs] [WORD …]`.

Prints the best time of each case in milliseconds, for each installed pipeline. WORDs select cases. `--write-docs`
rewrites the table in `docs/pipeline.md`. The pipelines take turns, so that other work on the machine disturbs all of
them alike. On a busy machine, run it several times, and then run `bench_pipeline.py --write-docs --of OUTPUT …`: the
table then has the best time of each pipeline in each case of the printed outputs.
"""

from __future__ import annotations

import importlib
import itertools
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from zarr.codecs import ZstdCodec
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.core.sync import sync
from zarr.registry import register_pipeline
from zarr.storage import LocalStore, MemoryStore

PIPELINES = {
    "default": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "fused": "zarr.core.codec_pipeline.FusedCodecPipeline",
    "zarrs": "zarrs.ZarrsCodecPipeline",
    "zarrox": "zarrox.zarr3.ZarroxCodecPipeline",
    "nothing": f"{__name__}.Nothing",
}
OTHERS = ("default", "fused", "zarrs")
PAGE = Path(__file__).parents[4] / "docs/pipeline.md"
MARKERS = ("<!-- pipelines: written by `bench_pipeline.py --write-docs` -->\n", "<!-- /pipelines -->")
SECONDS = 2.0
"""The measuring time for each array of a case, in seconds. The minimum and maximum number of rounds follow."""
ROUNDS = (3, 60)

Action = Callable[[Any], Any]


class Nothing(BatchedCodecPipeline):
    """A pipeline that does nothing: the measured time is zarr-python's own work on the selection."""

    async def read(self, batch_info: Any, out: Any, drop_axes: Any = ()) -> Any:
        """Reads nothing."""
        return tuple({"status": "present"} for _ in batch_info)

    async def write(self, batch_info: Any, value: Any, drop_axes: Any = ()) -> None:
        """Writes nothing."""


register_pipeline(Nothing)


@dataclass(frozen=True)
class Layout:
    """An array, and the actions that are measured with it."""

    name: str
    data: np.ndarray[Any, Any]
    options: dict[str, Any]
    actions: dict[str, Action]


def numbers(side: int) -> np.ndarray[Any, Any]:
    """Returns a square of integers that compress to about a third."""
    return np.random.default_rng(0).integers(0, 1000, (side, side), dtype="i4")


def everything(array: Any) -> Any:
    """Reads all elements."""
    return array[...]


def writing(data: np.ndarray[Any, Any]) -> Action:
    """Returns an action that replaces all stored elements, with other values each time."""
    both = itertools.cycle([data, data[::-1].copy()])
    return lambda array: array.__setitem__(..., next(both))


class WritingAnew:
    """An action that writes all elements of an array without stored chunks."""

    def __init__(self, data: np.ndarray[Any, Any]) -> None:
        self._data = data

    def prepare(self, array: Any) -> None:
        """Deletes all chunks. The time of this is not measured."""
        sync(array.store_path.store.delete_dir("c"))

    def __call__(self, array: Any) -> None:
        array[...] = self._data


def boxes(length: int, step: int) -> Action:
    """Returns an action that reads some boxes in sequence."""
    return lambda array: [array[i : i + length, j : j + length] for i in range(0, 2048, step) for j in range(0, 2048, step)]


def layouts() -> Iterator[Layout]:
    """Yields the arrays."""
    zstd = ZstdCodec(level=3)
    data, generator = numbers(2048), np.random.default_rng(1)
    chunks = {"read all": everything, "read by chunk": boxes(256, 1024), "write": WritingAnew(data), "replace": writing(data)}
    yield Layout("raw", data, {"chunks": (256, 256), "compressors": None}, chunks)
    rows, columns = np.sort(generator.choice(2048, 300, replace=False)), generator.choice(2048, 300)
    points = generator.integers(0, 2048, (2, 20_000))
    selections = {
        "strided": lambda array: array[::3, 1::5],
        "orthogonal": lambda array: array.oindex[rows, columns],
        "coordinates": lambda array: array.vindex[points[0], points[1]],
    }
    yield Layout("zstd", data, {"chunks": (256, 256), "compressors": zstd}, chunks | selections)
    shards = {"chunks": (64, 64), "shards": (1024, 1024), "compressors": zstd}
    inner = {"read by shard": boxes(1024, 1024), "read by inner chunk": boxes(64, 512)}
    yield Layout("sharded", data, shards, {"read all": everything, **inner, "write": WritingAnew(data), "replace": writing(data)})
    small = numbers(1024)
    actions = {"read all": everything, "write": WritingAnew(small), "replace": writing(small)}
    yield Layout("small chunks", small, {"chunks": (32, 32), "compressors": zstd}, actions)
    climate = generator.normal(280, 10, (1000, 72, 144)).round(1).astype("f4")
    series = {"series of a point": lambda array: array[:, 30, 70], "one time": lambda array: array[500]}
    yield Layout("climate", climate, {"chunks": (25, 36, 72), "compressors": zstd}, series)
    words = np.array([f"word {n}" for n in range(100_000)], dtype="T")
    actions = {"read all": everything, "write": WritingAnew(words), "replace": writing(words)}
    yield Layout("strings", words, {"chunks": (5_000,)}, actions)
    records = np.zeros(500_000, dtype=[("id", "i4"), ("x", "f8"), ("flag", "i1")])
    records["id"], records["x"] = np.arange(len(records)), np.arange(len(records)) / 4
    actions = {"read all": everything, "write": WritingAnew(records), "replace": writing(records)}
    yield Layout("structures", records, {"chunks": (25_000,), "compressors": zstd}, actions)


def pipelines() -> dict[str, str]:
    """Returns the installed pipelines."""
    found = {}
    for name, path in PIPELINES.items():
        module, _, member = path.rpartition(".")
        try:
            getattr(importlib.import_module(module), member)
        except (ImportError, AttributeError) as error:
            print(f"{name} cannot be measured: {error}", file=sys.stderr)
        else:
            found[name] = path
    return found


def opened(layout: Layout, place: str, directory: Path, path: str) -> Any:
    """Returns the array, stored with one pipeline."""
    store = MemoryStore() if place == "memory" else LocalStore(directory)
    options = {"shape": layout.data.shape, "dtype": str if layout.data.dtype.kind == "T" else layout.data.dtype, **layout.options}
    array = zarr.create_array(store, **options)
    array[...] = layout.data
    with zarr.config.set({"codec_pipeline.path": path}):
        return zarr.open_array(store, mode="r+")


def best(arrays: dict[str, Any], action: Action) -> dict[str, float]:
    """Returns the best time of each pipeline in milliseconds."""
    times = {name: [float("inf")] for name in arrays}
    end = time.perf_counter() + SECONDS * len(arrays)
    for turn in range(ROUNDS[1]):
        if turn >= ROUNDS[0] and time.perf_counter() > end:
            break
        for name, array in arrays.items():
            if isinstance(action, WritingAnew):
                action.prepare(array)
            start = time.perf_counter()
            action(array)
            times[name].append(time.perf_counter() - start)
    return {name: min(found) * 1000 for name, found in times.items()}


def measure(words: list[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yields the cases with their times."""
    installed = pipelines()
    for place, layout in itertools.product(("directory", "memory"), layouts()):
        chosen = {name: action for name, action in layout.actions.items() if not words or all(word in f"{place}, {layout.name}: {name}" for word in words)}
        if not chosen:
            continue
        with tempfile.TemporaryDirectory() as directory:
            arrays = {name: opened(layout, place, Path(directory) / name, path) for name, path in installed.items()}
            for name, action in chosen.items():
                yield f"{place}, {layout.name}: {name}", best(arrays, action)


def printed(paths: list[str]) -> dict[str, dict[str, float]]:
    """Returns the best times of the cases in the printed outputs of earlier runs."""
    results: dict[str, dict[str, float]] = {}
    for line in itertools.chain.from_iterable(Path(path).read_text().splitlines() for path in paths):
        case, numbers = line[:42].strip(), line[42:].split()
        if ": " not in case or len(numbers) != len(PIPELINES) + 1:
            continue
        known = results.setdefault(case, {})
        for name, number in zip(PIPELINES, numbers[:-1], strict=True):
            known[name] = min(known.get(name, float("inf")), float(number))
    return results


def ratio(times: dict[str, float]) -> float:
    """Returns the time of Zarrox as a multiple of the time of the best other pipeline."""
    return times.get("zarrox", float("nan")) / min(times[name] for name in OTHERS if name in times)


def described() -> str:
    """Returns a description of the measurement: the versions and the machine."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("zarr", "zarrs", "numpy"))
    return f"Best of several rounds in milliseconds, {os.cpu_count()} cores, {platform.system()}, {packages}."


def table(results: dict[str, dict[str, float]]) -> str:
    """Returns the table for the page."""
    names = [*OTHERS, "zarrox"]
    lines = [f"| | {' | '.join(names)} | Zarrox / best other | zarr-python's own part |", "|---" * (len(names) + 3) + "|"]
    for case, times in results.items():
        cells = [f"{times[name]:.2f}" if name in times else "–" for name in (*names, "nothing")]
        lines.append(f"| {case} | {' | '.join(cells[:-1])} | {ratio(times):.2f} | {cells[-1]} |")
    return f"{described()}\n\n" + "\n".join(lines) + "\n"


def write_docs(text: str) -> None:
    """Writes the table between the markers of the page."""
    begin, end = MARKERS
    before, found, rest = PAGE.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise SystemExit(f"{PAGE} has not the lines {begin.strip()} and {end}")
    PAGE.write_text(f"{before}{begin}{text}{end}{after}")


def main() -> None:
    """Measures, prints, and writes the page."""
    words = [word for word in sys.argv[1:] if word != "--write-docs"]
    if "--of" in words:
        write_docs(table(printed(words[words.index("--of") + 1 :])))
        return
    print(f"{'ms':<42}" + "".join(f"{name:>10}" for name in PIPELINES) + f"{'ratio':>8}")
    results = {}
    for case, times in measure(words):
        results[case] = times
        cells = "".join(f"{times.get(name, float('nan')):>10.2f}" for name in PIPELINES)
        print(f"{case:<42}{cells}{ratio(times):>8.2f}", flush=True)
    if "--write-docs" in sys.argv:
        write_docs(table(results))


if __name__ == "__main__":
    main()
