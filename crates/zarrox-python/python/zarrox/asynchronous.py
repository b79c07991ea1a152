"""Arrays and groups for programs with an event loop: opening, reading and writing is awaited.

The engine is that of the blocking functions. Calls are handed to a fixed number of threads, which all event loops of a process share.
A call that is cancelled before its turn is not done.

Examples
--------
>>> import asyncio
>>> import zarrox.asynchronous as za
>>> async def main():
...     z = await za.create_array("async.zarr", shape=(4, 4), chunks=(2, 2), dtype="i4")
...     await z.awrite(slice(0, 2), 7)
...     rows = await asyncio.gather(*(z.aread(row) for row in range(4)))
...     return [int(row.sum()) for row in rows]
>>> asyncio.run(main())
[28, 28, 0, 0]
"""

from __future__ import annotations

from typing import Any

from zarrox import creation
from zarrox.api import synchronous
from zarrox.core.array import Array
from zarrox.core.waiting import run
from zarrox.hierarchy import Group
from zarrox.hierarchy import create_group as _create_group
from zarrox.hierarchy import open_group as _open_group

__all__ = ["create_array", "create_group", "open", "open_array", "open_group", "run"]


async def open(store: Any = None, mode: str = "a", **options: Any) -> Array | Group:
    """Opens an array or a group: see `zarrox.open`."""
    return await run(synchronous.open, store, mode, **options)


async def open_array(store: Any = None, mode: str = "a", **options: Any) -> Array:
    """Opens an array: see `zarrox.open_array`."""
    return await run(creation.open_array, store, mode, **options)


async def open_group(store: Any = None, mode: str = "a", **options: Any) -> Group:
    """Opens a group: see `zarrox.open_group`."""
    return await run(_open_group, store, mode, **options)


async def create_array(store: Any, **options: Any) -> Array:
    """Creates an array: see `zarrox.create_array`."""
    return await run(creation.create_array, store, **options)


async def create_group(store: Any, **options: Any) -> Group:
    """Creates a group: see `zarrox.create_group`."""
    return await run(_create_group, store, **options)
