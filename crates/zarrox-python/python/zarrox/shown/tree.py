"""Formats a hierarchy as text: a tree with one line for each group and array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["TreeViewer"]


def is_array(node: Any) -> bool:
    """Returns true if a node, of any library, is an array. A group may have a member named ``shape``."""
    return not isinstance(node, Mapping) and hasattr(node, "shape")


class _Branches(NamedTuple):
    """The prefix of the line of a node, and the prefix of all lines below it."""

    child: str
    beside: str
    last: str
    below: str


_UNICODE = _Branches("├── ", "│   ", "└── ", "    ")
_ASCII = _Branches("+-- ", "|   ", "+-- ", "    ")


class TreeViewer:
    """A printable hierarchy.

    Parameters
    ----------
    group : Group or mapping
        A group of Zarrox, of h5py, or any object with ``items()``; an array is a tree of one line.
    expand : bool, optional
        Whether the tree is unfolded in notebooks.
    level : int, optional
        The number of levels to show; by default all.

    Examples
    --------
    >>> import zarrox as zarr
    >>> root = zarr.group()
    >>> array = root.zeros('foo/bar', shape=100, chunks=10)
    >>> zarr.tree(root)
    /
     └── foo
         └── bar (100,) float64
    >>> print(bytes(root.tree(level=1)).decode())
    /
     +-- foo
    """

    def __init__(self, group: Any, expand: bool = False, level: int | None = None) -> None:
        self.group = group
        self.expand = expand
        self.level = level

    def __repr__(self) -> str:
        return self._draw(_UNICODE)

    def __bytes__(self) -> bytes:
        return self._draw(_ASCII).encode()

    def _draw(self, branches: _Branches) -> str:
        name = self.group.name.rpartition("/")[2] or "/"
        return "\n".join([_label(name, self.group), *_below(self.group, branches, " ", self.level)])

    def _repr_html_(self) -> str:
        from html import escape

        draw = getattr(self.group, "_html_tree", None)
        return f"<pre>{escape(repr(self))}</pre>" if draw is None else str(draw(self.level))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _below(node: Any, branches: _Branches, indent: str, level: int | None) -> Iterator[str]:
    if level is not None and level < 1:
        return
    children = _children(node)
    for position, (name, child) in enumerate(children, start=1):
        is_last = position == len(children)
        yield f"{indent}{branches.last if is_last else branches.child}{_label(name, child)}"
        indent_below = indent + (branches.below if is_last else branches.beside)
        yield from _below(child, branches, indent_below, None if level is None else level - 1)


def _children(node: Any) -> list[tuple[str, Any]]:
    if isinstance(node, str) or not hasattr(node, "items"):
        return []
    # Zarrox groups also list children that cannot be opened, which items() skips.
    return list(getattr(node, "_children", node.items)())


def _label(name: str, node: Any) -> str:
    if isinstance(node, str):
        return f"{name} (broken: {node})"
    if is_array(node):
        return f"{name} {node.shape} {node.dtype}"
    return name
