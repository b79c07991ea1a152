"""Descriptions of nodes as text and as HTML tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from textwrap import TextWrapper
from typing import Protocol

__all__ = ["InfoReporter", "Lines", "byte_count", "human_readable_size", "info_html_report", "info_text_report", "type_name"]

Items = Sequence[tuple[str, object]]

_WIDTH = 80
_UNITS = ((50, "P"), (40, "T"), (30, "G"), (20, "M"), (10, "K"))


class _Described(Protocol):
    def info_items(self) -> Items: ...


class InfoReporter:
    """Information about an array or a group, which is collected each time it is shown.

    Parameters
    ----------
    obj : Array or Group
        An object with a method ``info_items()`` that returns title-value pairs.
    """

    __slots__ = ("obj",)

    def __init__(self, obj: _Described) -> None:
        self.obj = obj

    def __repr__(self) -> str:
        return info_text_report(self.obj.info_items())

    def _repr_html_(self) -> str:
        return info_html_report(self.obj.info_items())


@dataclass(frozen=True)
class Lines:
    """Titles and values, which are computed when they are displayed."""

    info_items: Callable[[], Items]


def info_text_report(items: Items) -> str:
    """Formats title-value pairs as lines, with aligned titles and wrapped values.

    Examples
    --------
    >>> from zarrox.shown.info import info_text_report
    >>> print(info_text_report([("Shape", (10,)), ("Read-only", False)]), end="")
    Shape     : (10,)
    Read-only : False
    """
    width = max((len(title) for title, _ in items), default=0)
    return "".join(_wrapped(title.ljust(width), str(value)) + "\n" for title, value in items)


def _wrapped(title: str, value: str) -> str:
    if len(title) + 3 + len(value) <= _WIDTH and value.isprintable() and value == value.strip():
        return f"{title} : {value}"  # In the usual case, wrapping would take most of the time of a report.
    blank = " " * len(title)
    return TextWrapper(_WIDTH, initial_indent=f"{title} : ", subsequent_indent=f"{blank} : ").fill(value) or f"{title} : "


def info_html_report(items: Iterable[tuple[str, object]]) -> str:
    """Formats title-value pairs as an HTML table."""
    from zarrox.core.html import info_table

    return info_table(items)


def type_name(value: object) -> str:
    """Returns the full name of a value's class, as reports show it."""
    return f"{type(value).__module__}.{type(value).__name__}"


def byte_count(count: int) -> str:
    """Returns a number of bytes, followed by a short form if it is large."""
    return f"{count} ({human_readable_size(count)})" if count > 1024 else str(count)


def human_readable_size(size: int) -> str:
    """Returns a number of bytes in the largest unit that fits.

    Examples
    --------
    >>> from zarrox.v2.util import human_readable_size
    >>> human_readable_size(100), human_readable_size(4_000_000)
    ('100', '3.8M')
    """
    for power, unit in _UNITS:
        if size >= 1 << power:
            return f"{size / (1 << power):.1f}{unit}"
    return str(size)
