"""Measures codec pipelines of zarr-python 3: `python crates/zarrox-python/tests/zarr3/bench_pipeline.py [NAME …]`.

Prints the best time of each case in milliseconds, for each pipeline that is installed; names choose cases.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

PIPELINES = {
    "default": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "fused": "zarr.core.codec_pipeline.FusedCodecPipeline",
    "zarrs": "zarrs.ZarrsCodecPipeline",
    "zarrox": "zarrox.zarr3.ZarroxCodecPipeline",
}

Case = Callable[[], Any]


def cases(directory: Path) -> dict[str, Case]:
    """The cases; what they read is written first."""
    import zarr
    from zarr.codecs import ZstdCodec

    side = 2048
    data = np.random.default_rng(0).integers(0, 1000, (side, side), dtype="i4")
    layouts: dict[str, dict[str, Any]] = {
        "raw": {"chunks": (256, 256), "compressors": None},
        "zstd": {"chunks": (256, 256), "compressors": ZstdCodec(level=3)},
        "sharded": {"chunks": (64, 64), "shards": (1024, 1024), "compressors": ZstdCodec(level=3)},
        "small": {"chunks": (32, 32), "compressors": ZstdCodec(level=3)},
    }
    found: dict[str, Case] = {}
    for place in ("local", "memory"):
        for name, layout in layouts.items():
            store = zarr.storage.MemoryStore() if place == "memory" else directory / name
            array = zarr.create_array(store, shape=data.shape, dtype=data.dtype, **layout)
            array[:] = data
            step = array.chunks[0] * (4 if name == "small" else 1)
            found[f"{place} {name} read all"] = lambda array=array: array[:]
            found[f"{place} {name} read by chunk"] = lambda array=array, step=step: [
                array[i : i + step, j : j + step] for i in range(0, side, 8 * step) for j in range(0, side, 8 * step)
            ]
            found[f"{place} {name} write all"] = lambda array=array: array.__setitem__(slice(None), data)
        words = np.array([f"word {n}" for n in range(100_000)], dtype="T")
        store = zarr.storage.MemoryStore() if place == "memory" else directory / "strings"
        strings = zarr.create_array(store, shape=words.shape, dtype=str, chunks=(5_000,))
        strings[:] = words
        found[f"{place} strings read all"] = lambda strings=strings: strings[:]
        found[f"{place} strings write all"] = lambda strings=strings: strings.__setitem__(slice(None), words)
    return found


def measure(pipeline: str, wanted: list[str]) -> dict[str, float]:
    """The best time of each case, in milliseconds."""
    import zarr

    importlib.import_module(pipeline.rpartition(".")[0])
    zarr.config.set({"codec_pipeline.path": pipeline})
    times = {}
    with tempfile.TemporaryDirectory() as directory:
        for name, case in cases(Path(directory)).items():
            if wanted and not any(word in name for word in wanted):
                continue
            best, end = float("inf"), time.perf_counter() + 0.5
            for _ in range(50):
                start = time.perf_counter()
                case()
                best = min(best, time.perf_counter() - start)
                if time.perf_counter() > end:
                    break
            times[name] = best * 1000
    return times


def main() -> None:
    """Runs each pipeline in a process of its own."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2], sys.argv[3:])))
        return
    results = {}
    for name, pipeline in PIPELINES.items():
        done = subprocess.run([sys.executable, __file__, "--one", pipeline, *sys.argv[1:]], capture_output=True, text=True)
        if done.returncode == 0:
            results[name] = json.loads(done.stdout.splitlines()[-1])
        else:
            print(f"{name} cannot be measured: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    print(f"{'ms':<32}" + "".join(f"{name:>10}" for name in results) + f"{'ratio':>8}")
    for case in next(iter(results.values())):
        times = {name: result[case] for name, result in results.items()}
        others = min((value for name, value in times.items() if name != "zarrox"), default=float("nan"))
        ratio = times.get("zarrox", float("nan")) / others
        print(f"{case:<32}" + "".join(f"{value:>10.2f}" for value in times.values()) + f"{ratio:>8.2f}")


if __name__ == "__main__":
    main()
