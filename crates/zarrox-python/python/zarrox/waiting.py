"""Threads for blocking work in programs that have an event loop, and an event loop for coroutines in blocking programs."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from concurrent.futures import ThreadPoolExecutor

__all__ = ["gather", "run", "wait"]

Result = TypeVar("Result")

#: The number of threads. Each may wait for a store, while Rust's own threads decode.
_THREADS = 32

_lock = threading.Lock()
_threads: ThreadPoolExecutor | None = None
_loop: AbstractEventLoop | None = None


def _after_fork() -> None:
    """Discards the threads, which do not exist in a forked process."""
    global _lock, _threads, _loop
    _lock, _threads, _loop = threading.Lock(), None, None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _executor() -> ThreadPoolExecutor:
    global _threads
    # The import is slow, and few programs need it; the same holds for `asyncio` below.
    from concurrent.futures import ThreadPoolExecutor

    with _lock:
        if _threads is None:
            _threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="zarrox-async")
        return _threads


async def gather(*work: Coroutine[Any, Any, Result]) -> list[Result]:
    """Awaits several coroutines concurrently."""
    from asyncio import gather

    return await gather(*work)


async def run(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Calls a function on one of the threads, and awaits its result.

    Parameters
    ----------
    function : callable
        A function of this package, or any other blocking function.
    *args, **kwargs
        The arguments of the function.

    Examples
    --------
    >>> import asyncio
    >>> import zarrox as zarr
    >>> from zarrox.waiting import run
    >>> z = zarr.ones(3)
    >>> asyncio.run(run(z.append, [2, 3]))
    (5,)
    """
    from asyncio import get_running_loop

    return await get_running_loop().run_in_executor(_executor(), partial(function, *args, **kwargs))


def _own_loop() -> AbstractEventLoop:
    """Returns an event loop that runs on a separate thread."""
    global _loop
    from asyncio import new_event_loop

    with _lock:
        if _loop is None:
            _loop = new_event_loop()
            threading.Thread(target=_loop.run_forever, name="zarrox-loop", daemon=True).start()
        return _loop


def wait(coroutine: Coroutine[Any, Any, Result], timeout: float | None = None) -> Result:
    """Runs a coroutine on an event loop of this package, and waits for its result.

    Parameters
    ----------
    coroutine : coroutine
        The coroutine. It must not call blocking functions of this package.
    timeout : float, optional
        The seconds after which a ``TimeoutError`` is raised.

    Examples
    --------
    >>> import asyncio
    >>> from zarrox.waiting import wait
    >>> wait(asyncio.sleep(0, "done"))
    'done'
    """
    from asyncio import _get_running_loop, run_coroutine_threadsafe

    loop = _own_loop()
    if _get_running_loop() is loop:
        coroutine.close()
        raise RuntimeError("a store that is written in Python waits for itself: await this call instead")
    future = run_coroutine_threadsafe(coroutine, loop)
    try:
        return future.result(timeout)
    except TimeoutError:
        future.cancel()
        raise
