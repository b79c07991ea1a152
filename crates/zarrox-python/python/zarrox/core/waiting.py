"""The threads that wait for stores while an event loop does other things."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

__all__ = ["run"]

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
