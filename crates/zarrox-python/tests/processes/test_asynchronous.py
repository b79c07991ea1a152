"""Asynchronous arrays and groups."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import zarrox as zarr
from zarrox.api import asynchronous as za
from zarrox.waiting import run

VALUES = np.arange(100).reshape(10, 10)


def test_everything_is_awaited(tmp_path: Path) -> None:
    """Nodes are created, written, read and opened with asynchronous functions."""

    async def main() -> None:
        group = await za.create_group(tmp_path / "g.zarr")
        array = await group.create_array("a", shape=(10, 10), chunks=(3, 3), dtype="i8")
        await asyncio.gather(*(array.setitem(row, VALUES[row]) for row in range(10)))
        np.testing.assert_array_equal(await array.getitem(...), VALUES)
        again = await za.open_array(tmp_path / "g.zarr/a", mode="r")
        rows = await asyncio.gather(*(again.getitem((row, slice(2, 4))) for row in range(10)))
        np.testing.assert_array_equal(rows, VALUES[:, 2:4])
        assert await (await za.open_group(tmp_path / "g.zarr", mode="r")).contains("a")
        assert isinstance(await za.open(tmp_path / "g.zarr", mode="r"), zarr.AsyncGroup)
        with pytest.raises(zarr.errors.ArrayNotFoundError):
            await za.open_array(tmp_path / "missing.zarr", mode="r")
        with pytest.raises(IndexError):
            await array.getitem(10)

    asyncio.run(main())


class Slow(dict[str, bytes]):
    """A store in which reads of chunks are slow."""

    def __getitem__(self, key: str) -> bytes:
        if key[0].isdigit():
            time.sleep(0.05)
        return super().__getitem__(key)


def test_calls_wait_together_on_few_threads() -> None:
    """Hundreds of calls do not start hundreds of threads, and do not block the event loop."""
    store = Slow()
    zarr.array(VALUES, chunks=(1, 10), store=store, zarr_format=2)
    z = zarr.open_array(store, mode="r")

    async def main() -> tuple[int, int, int]:
        ticks, most = 0, 0
        done = asyncio.gather(*(z.async_array.getitem(number % 10) for number in range(300)))
        while not done.done():
            ticks += 1
            most = max(most, sum(thread.name.startswith("zarrox-async") for thread in threading.enumerate()))
            await asyncio.sleep(0.01)
        return ticks, most, sum(int(row.sum()) for row in await done)

    start = time.perf_counter()
    ticks, most, total = asyncio.run(main())
    assert total == 30 * VALUES.sum()
    assert ticks > 5
    assert 1 < most <= 32
    # In sequence, the calls would take 15 seconds.
    assert time.perf_counter() - start < 10


def test_what_is_cancelled_before_its_turn_is_not_done() -> None:
    """A cancelled write leaves the array as it was."""
    z = zarr.zeros(1)

    async def main() -> None:
        blockers = [asyncio.ensure_future(run(time.sleep, 0.2)) for _ in range(40)]
        await asyncio.sleep(0.05)
        write = asyncio.ensure_future(z.async_array.setitem(0, 1))
        await asyncio.sleep(0)
        write.cancel()
        await asyncio.gather(*blockers)
        with pytest.raises(asyncio.CancelledError):
            await write

    asyncio.run(main())
    assert z[0] == 0


if hasattr(os, "fork"):

    def test_a_forked_process_has_threads_of_its_own(tmp_path: Path) -> None:
        """A forked process can read, although the threads of its parent do not exist in it."""
        zarr.save_array(tmp_path / "z.zarr", VALUES)
        z = zarr.open_array(tmp_path / "z.zarr", mode="r")
        assert int(asyncio.run(z.async_array.getitem(...)).sum()) == VALUES.sum()
        child = os.fork()
        if not child:
            ok = int(asyncio.run(z.async_array.getitem(...)).sum()) == VALUES.sum()
            os._exit(0 if ok else 1)
        deadline = time.monotonic() + 60
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            assert time.monotonic() < deadline, "the child hangs"
            time.sleep(0.05)
        assert os.waitstatus_to_exitcode(ended[1]) == 0
