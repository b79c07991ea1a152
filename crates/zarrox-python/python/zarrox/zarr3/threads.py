"""The threads on which calls of Rust wait, so that no event loop does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

__all__ = ["elsewhere"]

_MOST = 64
"""The most calls at a time. Each waits mostly, for stores or for the threads of Rust."""

_executor: ThreadPoolExecutor | None = None


def _forget() -> None:
    """Forgets the threads, which a forked process does not have."""
    global _executor
    _executor = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


async def elsewhere(work: Callable[[], Any]) -> Any:
    """Does work on a thread of our own.

    The threads of the event loop are left to stores, which the work may wait for.

    Parameters
    ----------
    work : callable
        The work.
    """
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(_MOST, thread_name_prefix="zarrox")
    return await asyncio.get_running_loop().run_in_executor(_executor, work)
