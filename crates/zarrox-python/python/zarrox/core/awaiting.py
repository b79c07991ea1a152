"""Members of asynchronous classes that call the members of a blocking class.

An asynchronous object holds the blocking object as ``_blocking``. Results and arguments are converted between the two kinds of objects.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from zarrox.waiting import run

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Awaited", "awaited", "blocking", "kinds", "later", "one_by_one", "same"]

#: The asynchronous class for each blocking class. The modules of the classes add them.
kinds: dict[type, Any] = {}


def awaited(value: Any) -> Any:
    """Returns the asynchronous object for a blocking one, and any other object unchanged."""
    found = next((made for kind, made in kinds.items() if isinstance(value, kind)), None)
    if found is not None:
        return found.of(value)
    return tuple(map(awaited, value)) if type(value) is tuple else value


def blocking(value: Any) -> Any:
    """Returns the blocking object for an asynchronous one, and any other object unchanged."""
    found: Any = value
    return found._blocking if isinstance(value, tuple(kinds.values())) else value


def later(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Returns an asynchronous method that calls a method of the blocking object, or reads a property of it."""

    async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = [blocking(value) for value in args], {key: blocking(value) for key, value in kwargs.items()}

        def work() -> Any:
            found = getattr(self._blocking, name)
            return found(*given[0], **given[1]) if callable(found) else found

        return awaited(await run(work))

    call.__name__, call.__doc__ = name.strip("_"), f"Does what the method `{name}` does that blocks."
    return call


def one_by_one(name: str) -> Callable[..., AsyncIterator[Any]]:
    """Returns an asynchronous iterator over the results of a method."""

    async def iterate(self: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        for each in await run(lambda: list(getattr(self._blocking, name)(*args, **kwargs))):
            yield awaited(each)

    iterate.__name__, iterate.__doc__ = name, f"Gives what the method `{name}` gives that blocks."
    return iterate


def same(name: str) -> Any:
    """Returns a property of the blocking object."""
    return property(lambda self: getattr(self._blocking, name), doc=f"As the property `{name}` of the class that blocks.")


class Awaited:
    """The base of asynchronous classes: it holds the blocking array or group, and has the members that both kinds of nodes share."""

    __slots__ = ("__weakref__", "_blocking")

    _blocking: Any

    @classmethod
    def of(cls, node: Any) -> Self:
        """Returns the object for a blocking one."""
        made = cls.__new__(cls)
        made._blocking = node
        return made

    metadata = same("metadata")
    store = same("store")
    store_path = same("store_path")
    path = same("path")
    name = same("name")
    basename = same("basename")
    read_only = same("read_only")
    info = same("info")

    update_attributes = later("update_attributes")
    info_complete = later("info_complete")

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes."""
        return dict(self._blocking.attrs.asdict())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._blocking == other._blocking

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).of, (self._blocking,)
