"""Threads that run calls to Rust, so that the calls do not block an event loop, and the cancellation of such calls."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any, TypeVar

from zarr.core import sync

from zarrox import _native

__all__ = ["elsewhere", "interruptible"]

_Result = TypeVar("_Result")

_MOST = 64
"""The maximum number of concurrent calls. Each call mostly waits, for stores or for the threads of Rust."""

_PAUSE = 0.1
"""The seconds between two checks that a caller still waits for a call."""

_executor: ThreadPoolExecutor | None = None


def _forget() -> None:
    """Discards the threads, which do not exist in a forked process."""
    global _executor
    _executor = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def elsewhere(work: Callable[[], _Result]) -> asyncio.Future[_Result]:
    """Runs work on a thread of this module.

    The threads of the event loop are left to stores, since the work may have to wait for stores.

    Parameters
    ----------
    work : callable
        The work.
    """
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(_MOST, thread_name_prefix="zarrox")
    return asyncio.get_running_loop().run_in_executor(_executor, work)


async def interruptible(work: Callable[[_native.Interrupt], Any]) -> Any:
    """Runs work on a thread of this module, and stops it when no caller is waiting for it any longer.

    No caller is waiting once the task has been cancelled, or once Ctrl-C has ended the zarr-python call that was waiting in the main
    thread. In the latter case, zarr-python does not cancel its task.

    Parameters
    ----------
    work : callable
        The work, which is called with the interrupt that stops it.
    """
    interrupt = _native.Interrupt()

    def run() -> Any:
        try:
            return work(interrupt)
        except KeyboardInterrupt as error:
            # The exception would end the event loop.
            raise _CalledOff from error

    watch = _Watch(interrupt)
    try:
        return await elsewhere(run)
    except asyncio.CancelledError:
        interrupt.set()
        raise
    except _CalledOff:
        raise asyncio.CancelledError from None
    finally:
        watch.end()


class _Watch:
    """Interrupts work once the call in the main thread that was waiting for the running task has ended."""

    def __init__(self, interrupt: _native.Interrupt) -> None:
        self._interrupt = interrupt
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._waiting = _waiting(self._task)
        self._timer = self._loop.call_later(_PAUSE, self._look)

    def _look(self) -> None:
        if self._waiting is None or _is_active(self._waiting):
            self._timer = self._loop.call_later(_PAUSE, self._look)
        else:
            self._interrupt.set()

    def end(self) -> None:
        """Ends the checks."""
        self._timer.cancel()
        self._task = self._waiting = None


class _CalledOff(Exception):
    """Work for which no caller was waiting has been cancelled."""


def _waiting(task: asyncio.Task[Any] | None) -> FrameType | None:
    """Returns the call in the main thread that is waiting for a task, if there is one."""
    runner: Any = None if task is None else task.get_coro()
    if getattr(runner, "cr_code", None) is not sync._runner.__code__ or runner.cr_frame is None:
        return None
    wanted = runner.cr_frame.f_locals["coro"]
    return _find(lambda frame: frame.f_code is sync.sync.__code__ and frame.f_locals.get("coro") is wanted)


def _is_active(wanted: FrameType) -> bool:
    """Returns true if the main thread is still in a call."""
    return _find(lambda frame: frame is wanted) is not None


def _find(test: Callable[[FrameType], bool]) -> FrameType | None:
    """Returns the innermost call in the main thread that passes a test.

    The main thread continues during the search. The frame of a call that has returned is no longer linked to other frames, so that a
    chain of frames may end before the outermost frame of the thread. A result is therefore valid only if two searches end at the same
    frame.
    """
    last = None
    while True:
        frame = _main_frame()
        end = frame
        while frame is not None:
            if test(frame):
                return frame
            end, frame = frame, frame.f_back
        if end is last:
            return None
        last = end


def _main_frame() -> FrameType | None:
    return sys._current_frames().get(threading.main_thread().ident or 0)
