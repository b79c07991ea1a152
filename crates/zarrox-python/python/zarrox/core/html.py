"""Formats arrays, groups and reports as HTML for notebooks, without scripts and with text from users escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["array_html", "chunk_grid_svg", "group_html", "info_table"]

#: The longest side of a drawing, and the maximum number of lines along one side.
_SIDE = 160.0
_LINES = 24
_LEFT = 'style="text-align: left"'


def info_table(items: Iterable[tuple[str, object]]) -> str:
    """Returns title-value pairs as a table."""
    rows = "".join(f"<tr><th {_LEFT}>{escape(title)}</th><td {_LEFT}>{escape(str(value))}</td></tr>" for title, value in items)
    return f'<table class="zarr-info"><tbody>{rows}</tbody></table>'


def array_html(array: Any) -> str:
    """Returns a table about an array, with a drawing of its chunks beside it."""
    items: list[tuple[str, object]] = [("Name", array.name)] if array.name else []
    items += [("Data type", array.dtype), ("Shape", array.shape), ("Chunk shape", array.chunks)]
    if array._native.shards:
        items.append(("Shard shape", array._native.shards))
    items += [("Chunks", array.nchunks), ("No. bytes", array.nbytes)]
    drawing = chunk_grid_svg(array.shape, array._native.shards or array.chunks)
    return f'<table class="zarr-array"><tr><td>{info_table(items)}</td><td>{drawing}</td></tr></table>'


def chunk_grid_svg(shape: Sequence[int], chunks: Sequence[int]) -> str:
    """Returns a drawing of the last three dimensions of an array, with chunk boundaries."""
    if not shape or 0 in shape:
        return ""
    lengths = [*[1] * (2 - len(shape)), *shape][-3:]
    steps = [*[1] * (2 - len(chunks)), *chunks][-3:]
    sides = [_side(length, max(lengths)) for length in lengths]
    height, width = sides[-2:]
    depth = sides[0] * 0.5 if len(lengths) == 3 else 0.0
    parts = [_face((depth, depth), (width, 0.0), (0.0, height), (lengths[-1], steps[-1]), (lengths[-2], steps[-2]))]
    if depth:
        # The first of three dimensions is drawn as depth.
        parts.append(_face((0, 0), (width, 0.0), (depth, depth), (lengths[-1], steps[-1]), (lengths[0], steps[0])))
        parts.append(_face((0, 0), (depth, depth), (0.0, height), (lengths[0], steps[0]), (lengths[-2], steps[-2])))
    size = f'width="{width + depth + 20:.0f}" height="{height + depth + 20:.0f}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><g transform="translate(10,10)">{"".join(parts)}</g></svg>'


def group_html(group: Any, levels: int = 3) -> str:
    """Returns a collapsible tree of the nodes below a group. At most ``levels`` levels are read."""
    name = escape(group.name.rsplit("/", 1)[-1] or "/")
    return f'<div class="zarr-tree"><details open=""><summary>{name}</summary>{_members(group, levels)}</details></div>'


def _members(group: Any, levels: int) -> str:
    if not levels:
        return "…"
    return f"<ul>{''.join(f'<li>{_member(name, node, levels)}</li>' for name, node in group.items())}</ul>"


def _member(name: str, node: Any, levels: int) -> str:
    if hasattr(node, "shape"):
        return f"<details><summary>{escape(name)} {node.shape} {escape(str(node.dtype))}</summary>{array_html(node)}</details>"
    return f"<details><summary>{escape(name)}/</summary>{_members(node, levels - 1)}</details>"


def _side(length: int, longest: int) -> float:
    """Returns the length of a side in the drawing, such that short sides stay visible beside very long ones."""
    return float(max(_SIDE * length / longest, 24.0))


def _face(
    origin: tuple[float, float],
    right: tuple[float, float],
    down: tuple[float, float],
    columns: tuple[int, int],
    rows: tuple[int, int],
) -> str:
    """Returns a parallelogram with a line for each chunk boundary along both of its sides."""
    x, y = origin
    corners = [(x, y), (x + right[0], y + right[1]), (x + right[0] + down[0], y + right[1] + down[1]), (x + down[0], y + down[1])]
    points = " ".join(f"{px:.1f},{py:.1f}" for px, py in corners)
    lines = _lines(origin, right, down, columns) + _lines(origin, down, right, rows)
    return f'<polygon points="{points}" fill="#ecb172" fill-opacity="0.6" stroke="#333" stroke-width="2"/>{lines}'


def _lines(origin: tuple[float, float], along: tuple[float, float], across: tuple[float, float], axis: tuple[int, int]) -> str:
    length, step = axis
    borders = -(-length // step) - 1
    # If there are too many boundaries, only evenly spaced ones are drawn.
    stride = -(-borders // _LINES) * step if borders > _LINES else step
    return "".join(_line(origin, along, across, at / length) for at in range(stride, length, stride))


def _line(origin: tuple[float, float], along: tuple[float, float], across: tuple[float, float], at: float) -> str:
    x, y = origin[0] + along[0] * at, origin[1] + along[1] * at
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x + across[0]:.1f}" y2="{y + across[1]:.1f}" stroke="#333" stroke-width="0.5"/>'
