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

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from zarrox import convenience, creation
from zarrox.core import Array
from zarrox.hierarchy import Group
from zarrox.hierarchy import create_group as _create_group
from zarrox.hierarchy import open_group as _open_group

__all__ = ["create_array", "create_group", "open", "open_array", "open_group", "run"]

Result = TypeVar("Result")

#: The number of threads. Each may wait for a store, while Rust's own threads decode.
_THREADS = 32

_lock = threading.Lock()
_threads: ThreadPoolExecutor | None = None


def _after_fork() -> None:
    """Forgets the threads, which a forked process does not have."""
    global _lock, _threads
    _lock, _threads = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _executor() -> ThreadPoolExecutor:
    global _threads
    with _lock:
        if _threads is None:
            _threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="zarrox-async")
        return _threads


async def run(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Calls a function on one of the threads, and awaits its result.

    Parameters
    ----------
    function : callable
        A function of this package, or any other that blocks.
    *args, **kwargs
        Its arguments.

    Examples
    --------
    >>> import asyncio
    >>> import zarrox as zarr
    >>> import zarrox.asynchronous as za
    >>> z = zarr.ones(3)
    >>> asyncio.run(za.run(z.append, [2, 3]))
    (5,)
    """
    return await asyncio.get_running_loop().run_in_executor(_executor(), partial(function, *args, **kwargs))


async def open(store: Any = None, mode: str = "a", **options: Any) -> Array | Group:
    """Opens an array or a group: see `zarrox.open`."""
    return await run(convenience.open, store, mode, **options)


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
