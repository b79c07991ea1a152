"""Random selections of every kind, as the code after an array, and values for them."""

from __future__ import annotations

from random import Random

import numpy as np

from .reference import Array
from .values import Kind, values

Shape = tuple[int, ...]


def text(rng: Random, array: Array) -> str:
    """Returns the code of a selection after the name of an array: ``.oindex[[0, 2], 1:]``."""
    writers = [basic, basic, orthogonal, coordinates, mask]
    if array.shape and _is_grid(array.shards or array.chunks):
        writers.append(blocks)
    if array.dtype.names is not None:
        writers.append(field)
    return rng.choice(writers)(rng, array)


def _is_grid(steps: object) -> bool:
    return isinstance(steps, tuple) and bool(steps) and all(isinstance(step, int) for step in steps)


def basic(rng: Random, array: Array) -> str:
    """Returns a selection of integers, slices with any step, and an ellipsis."""
    items = [_item(rng, length) for length in array.shape]
    choice = rng.random()
    if choice < 0.15:
        return "[...]"
    if choice < 0.4 and items:
        at = rng.randrange(len(items))
        items[at : at + rng.randint(0, 2)] = ["..."]
    return f"[{', '.join(items) or '()'}]"


def _item(rng: Random, length: int) -> str:
    return str(rng.randrange(-length, length)) if length and rng.random() < 0.3 else _slice(rng, length)


def _slice(rng: Random, length: int) -> str:
    def bound() -> str:
        return "" if rng.random() < 0.35 else str(rng.randint(-length - 1, length + 1))

    step = rng.choice(("", "", ":1", ":2", ":3", ":-1", ":-2"))
    return f"{bound()}:{bound()}{step}"


def field(rng: Random, array: Array) -> str:
    """Returns a selection of a field, with a basic selection."""
    assert array.dtype.names is not None
    name = rng.choice(array.dtype.names)
    return f'["{name}", {basic(rng, array)[1:]}' if array.shape else f'["{name}"]'


def orthogonal(rng: Random, array: Array) -> str:
    """Returns an integer, a slice, a list or a mask for each dimension."""
    if not array.shape:
        return "[...]"
    return f".oindex[{', '.join(_orthogonal_item(rng, length) for length in array.shape)}]"


def _orthogonal_item(rng: Random, length: int) -> str:
    choice = rng.random()
    if choice < 0.4 or not length:
        return _item(rng, length)
    if choice < 0.7:
        return str([rng.randrange(-length, length) for _ in range(rng.randint(1, 4))])
    return str([rng.random() < 0.5 for _ in range(length)])


def coordinates(rng: Random, array: Array) -> str:
    """Returns a list of positions for each dimension."""
    if not array.shape or 0 in array.shape:
        return "[...]"
    count = rng.randint(1, 6)
    lists = [str([rng.randrange(-length, length) for _ in range(count)]) for length in array.shape]
    return f".vindex[{', '.join(lists)}]"


def mask(rng: Random, array: Array) -> str:
    """Returns a mask of the array's shape."""
    return f'.vindex[values("?", {array.shape}, {rng.randrange(1000)})]' if array.shape else "[...]"


def blocks(rng: Random, array: Array) -> str:
    """Returns a selection of chunks."""
    steps = array.shards or array.chunks
    counts = [-(-length // step) for length, step in zip(array.shape, steps, strict=True)]
    if 0 in counts:
        return "[...]"
    return f".blocks[{', '.join(_block(rng, count) for count in counts)}]"


def _block(rng: Random, count: int) -> str:
    if rng.random() < 0.5:
        return str(rng.randrange(count))
    start = rng.randrange(count)
    return f"{start}:{rng.randint(start + 1, count)}"


def shape(array: Array, selected: str) -> Shape:
    """Returns the shape of a selection; for structures, without the dimensions of fields."""
    positions = Array(np.empty(array.shape, "?"), array.kind, array.zarr_format, None, (array.chunks, array.shards))
    if selected.startswith('["'):
        selected = f"[{selected.partition(',')[2] or '...]'}"
    return np.shape(eval(f"positions{selected}", {"positions": positions, "values": values}))


def value(rng: Random, kind: Kind, shape: Shape, selected: str) -> str | None:
    """Returns values that can be written to a selection with a shape: a value for each element, values that are
    broadcast, or one value."""
    named = selected.split('"')[1] if selected.startswith('["') else None
    seed, last = rng.randrange(10_000), f'["{named}"]' if named else ""
    if not shape or (rng.random() < 0.2 and not _is_sequence(kind)):
        if _is_sequence(kind):
            return None  # NumPy would treat a list as several elements.
        return f'element("{kind.name}", {rng.randrange(len(kind.pool))}){last}'
    if rng.random() < 0.2 and ".blocks" not in selected:
        shape = shape[rng.randrange(len(shape)) :]
        at = rng.randrange(len(shape))
        shape = (*shape[:at], min(1, shape[at]), *shape[at + 1 :])
    return f'values("{kind.name}", {shape}, {seed}){last}'


def _is_sequence(kind: Kind) -> bool:
    """Returns true if single elements may be sequences."""
    return kind.name in ("json", "msgpack", "ragged")
