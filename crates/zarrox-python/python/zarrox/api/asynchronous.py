"""Asynchronous versions of the functions of the package. They return `AsyncArray` and `AsyncGroup`.

They run the blocking functions on a fixed number of threads, which all event loops of a process share. A call that is cancelled before
it starts is not executed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

from zarrox.api import synchronous
from zarrox.core.awaiting import awaited, blocking
from zarrox.waiting import run

__all__ = [*synchronous.__all__]

P = ParamSpec("P")


def _later(function: Callable[P, Any]) -> Callable[P, Coroutine[Any, Any, Any]]:
    @wraps(function)
    async def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        given = [blocking(value) for value in args]
        return awaited(await run(function, *given, **{name: blocking(value) for name, value in kwargs.items()}))

    call.__module__ = __name__
    return call


array = _later(synchronous.array)
consolidate_metadata = _later(synchronous.consolidate_metadata)
copy = _later(synchronous.copy)
copy_all = _later(synchronous.copy_all)
copy_store = _later(synchronous.copy_store)
create = _later(synchronous.create)
create_array = _later(synchronous.create_array)
create_group = _later(synchronous.create_group)
empty = _later(synchronous.empty)
empty_like = _later(synchronous.empty_like)
from_array = _later(synchronous.from_array)
full = _later(synchronous.full)
full_like = _later(synchronous.full_like)
group = _later(synchronous.group)
load = _later(synchronous.load)
ones = _later(synchronous.ones)
ones_like = _later(synchronous.ones_like)
open = _later(synchronous.open)
open_array = _later(synchronous.open_array)
open_consolidated = _later(synchronous.open_consolidated)
open_group = _later(synchronous.open_group)
open_like = _later(synchronous.open_like)
save = _later(synchronous.save)
save_array = _later(synchronous.save_array)
save_group = _later(synchronous.save_group)
tree = _later(synchronous.tree)
zeros = _later(synchronous.zeros)
zeros_like = _later(synchronous.zeros_like)


@wraps(synchronous.create_hierarchy)
async def create_hierarchy(**kwargs: Any) -> AsyncIterator[tuple[str, Any]]:
    for path, node in await run(synchronous.create_hierarchy, **kwargs):
        yield path, awaited(node)
