"""Random selections, with NumPy's results.

    indexing.py SEED COUNT CASES    writes cases, one line of JSON for each; a name that ends in .zst is compressed

A case describes an array that contains 0, 1, 2, … in row-major order by its `shape`, its `chunks`, and its `shards` or null, and

- `select`: pairs of a kind and a text, each of which selects from the result of the previous one. The kinds are `numpy` (`a[…]`),
  `orthogonal`, `coordinates`, `mask`, `blocks`. The text is in NumPy's syntax; a mask is its shape, a space, and a 0 or 1 for
  each element.
- reading: `gives`, the shape and the elements of the result.
- writing: `write`, the shape and the elements of the values, and `after`, the elements of the whole array afterwards.
- errors: words that the error message must contain, instead of `gives` or `after`: `refused` if the selection is invalid, `misfit`
  if the values do not fit it.
"""

import json
import random
import re
import sys

import numpy as np

# The frequency of each kind.
KINDS = {"basic": 20, "mixed": 30, "orthogonal": 20, "coordinates": 12, "mask": 5, "blocks": 6, "view": 7}
MAKERS = {}
MISMATCH = "boolean index did not match indexed array along axis {}; size of axis is {} but size of " \
    "corresponding boolean axis is {}"


class Items:
    """Returns the items in brackets, as a tuple."""

    def __getitem__(self, items):
        return items if isinstance(items, tuple) else (items,)


def parse(text):
    """Returns the items of a selection: lists become arrays, and an empty list becomes an array of integers."""
    items = () if text == "[]" else eval(f"items{text}", {"items": Items()})
    return tuple(array(item) if isinstance(item, list) else item for item in items)


def array(values):
    out = np.array(values)
    return out if out.size else out.astype(np.intp)


def text_of(items):
    return "[" + ", ".join(map(item_text, items)) + "]"


def item_text(item):
    if isinstance(item, slice):
        bound = lambda value: "" if value is None else str(value)
        step = f":{item.step}" if item.step is not None else ""
        return f"{bound(item.start)}:{bound(item.stop)}{step}"
    if item is Ellipsis:
        return "..."
    return str(item.tolist() if isinstance(item, np.ndarray) else item)


# NumPy's results.


def selected(a, kind, text, chunks):
    """Selects with NumPy alone; an error is one of NumPy's, or has its wording."""
    if kind == "mask":
        shape, bits = text.split(" ")
        mask = np.array([bit == "1" for bit in bits], dtype=bool).reshape(json.loads(shape))
        if mask.ndim != a.ndim:
            raise IndexError(f"a mask of {mask.ndim} dimensions for an array of {a.ndim}")
        return a[mask]
    items = parse(text)
    if kind == "blocks":
        return a[block_slices(a.shape, items, chunks)]
    result = by_items(a, kind, items)
    if result.size == 0:
        check_bounds(a.shape, items)
    return result


def by_items(a, kind, items):
    if kind == "orthogonal":
        return orthogonal(a, items)
    if kind == "coordinates":
        if len(items) == 1 and is_mask(items[0]):
            return a[items]
        if len(items) != a.ndim or not all(isinstance(i, (int, float, np.ndarray)) for i in items) or any(map(is_mask, items)):
            raise IndexError("coordinates are integers, or arrays of them, for all dimensions")
    return a[items]


def check_bounds(shape, items):
    """Checks the indices in arrays if the result has no elements: NumPy does not check them then, but Zarr implementations do."""
    axis = 0
    for item in expand(items, len(shape)):
        if isinstance(item, (int, np.ndarray)) and not is_mask(item):
            for index in np.ravel(item):
                if not -shape[axis] <= index < shape[axis]:
                    raise IndexError(f"index {index} is out of bounds for axis {axis} with size {shape[axis]}")
        axis += consumed(item)


def has_floats(item):
    return isinstance(item, float) or isinstance(item, np.ndarray) and item.dtype.kind == "f"


def is_mask(item):
    return isinstance(item, np.ndarray) and item.dtype == bool


def consumed(item):
    """Returns the number of dimensions that an item selects from."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if is_mask(item) else 1


def expand(items, ndim):
    """Returns one item for each dimension, and new axes."""
    if sum(item is Ellipsis for item in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    rest = ndim - sum(map(consumed, items))
    if rest < 0:
        raise IndexError(f"too many indices for array: array is {ndim}-dimensional, but {ndim - rest} were indexed")
    if not any(item is Ellipsis for item in items):
        items = (*items, Ellipsis)
    at = next(place for place, item in enumerate(items) if item is Ellipsis)
    return items[:at] + (slice(None),) * rest + items[at + 1:]


def orthogonal(a, items):
    lists, shape, axis = [], [], 0
    for item in expand(items, a.ndim):
        if item is None:
            shape.append(1)
            continue
        size = a.shape[axis]
        if isinstance(item, np.ndarray) and item.ndim != 1:
            raise IndexError(f"the array for axis {axis} has {item.ndim} dimensions")
        if is_mask(item):
            if len(item) != size:
                raise IndexError(MISMATCH.format(axis, size, len(item)))
            positions = np.flatnonzero(item)
        else:
            positions = np.atleast_1d(np.arange(size)[item] if isinstance(item, slice) else item)
        if not isinstance(item, (int, float)):
            shape.append(len(positions))
        lists.append(positions)
        axis += 1
    return a[np.ix_(*lists)].reshape(shape) if lists else a.reshape(shape)


def block_slices(shape, items, chunks):
    slices = []
    for axis, item in enumerate(expand(items, len(shape))):
        blocks = -(-shape[axis] // chunks[axis])
        if has_floats(item):
            raise IndexError("only integers, slices")
        if isinstance(item, int):
            if not -blocks <= item < blocks:
                raise IndexError(f"block {item} is out of bounds for axis {axis} with {blocks}")
            item %= blocks
            first, end = item, item + 1
        elif isinstance(item, slice) and item.step in (None, 1):
            first, end, _ = item.indices(blocks)
        else:
            raise IndexError(f"blocks of axis {axis}")
        slices.append(slice(first * chunks[axis], max(first, end) * chunks[axis]))
    return tuple(slices)


def words(error, selection):
    """Returns the words of NumPy's message that other implementations must use, too; and the number that is not an integer."""
    text = str(error)
    patterns = (
        (r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)", "index {}", "axis {}", "size {}"),
        (r"block (-?\d+) is out of bounds for axis (\d+) with (\d+)", "block {}", "axis {}", "with {}"),
        (r"along axis (\d+); size of axis is (\d+) but size of corresponding boolean axis is (\d+)",
         "axis {}", "size is {}", "length of {}"),
        (r"too many indices for array: array is (\d+)-dimensional, but (\d+) were", "has {}", "{} dimensions"),
        (r"the array for axis (\d+) has", "axis {}"),
        (r"blocks of axis (\d+)", "axis {}"),
        (r"(single ellipsis)", "ellipsis"),
        (r"(slice step) cannot be zero", "step", "zero"),
    )
    if "::0" in selection and "slice step" not in text:
        # The selection has two errors. NumPy checks steps last; other implementations need not.
        return []
    if found := re.search(r"with shapes (.*)", text):
        shapes = re.findall(r"\(([^)]*)\)", found[1])
        return ["cannot be broadcast together", *(f"[{', '.join(re.findall('[0-9]+', shape))}]" for shape in shapes)]
    if "only integers, slices" in text or "arrays used as indices must be" in text:
        return ["is not an integer", *re.findall(r"\d+\.\d+", selection)[:1]]
    for pattern, *parts in patterns:
        if found := re.search(pattern, text):
            groups = iter(found.groups())
            return [part.format(next(groups)) if "{}" in part else part for part in parts]
    return []


# The generators of random selections.


def make_shape(rng):
    ndim = rng.choices(range(5), (3, 27, 35, 25, 10))[0]
    longest = (1, 12, 7, 5, 4)[ndim]
    return [0 if rng.random() < 0.04 else rng.randint(1, longest) for _ in range(ndim)]


def make_grid(rng, shape):
    chunks = [rng.randint(1, max(1, length) + 1) for length in shape]
    shards = [chunk * rng.randint(1, 3) for chunk in chunks] if rng.random() < 0.4 else None
    return chunks, shards


def make_index(rng, length):
    return rng.randint(-length, length - 1)


def make_slice(rng, length):
    bound = lambda: None if rng.random() < 0.35 else rng.randint(-length - 2, length + 2)
    step = lambda: rng.choice((None, None, 1, 2, 3, -1, -2, -3))
    made = [slice(bound(), bound(), step()) for _ in range(4)]
    # Empty results test little: they are generated, but rarely.
    return next((each for each in made if range(length)[each]), made[0])


def make_list(rng, length, shape):
    """Returns integers of a shape: any, ascending, or evenly spaced; from the beginning, the end, or both."""
    count = int(np.prod(shape, dtype=int))
    if not length:
        return np.zeros([0] if count else shape, dtype=np.intp)
    low, high = rng.choice(((-length, length - 1), (0, length - 1), (0, length - 1), (-length, -1)))
    values = [rng.randint(low, high) for _ in range(count)]
    if rng.random() < 0.3:
        values.sort()
    if rng.random() < 0.15 and count > 1:
        step = rng.choice((-2, -1, 1, 2))
        values = [low + (rng.randint(0, 1) + n * step) % length for n in range(count)]
    return np.array(values, dtype=np.intp).reshape(shape)


def make_mask(rng, shape):
    share = rng.choice((0.2, 0.5, 0.5, 0.5, 0.8, 0.8, 1)) if rng.random() < 0.95 else 0
    return np.array([rng.random() < share for _ in range(int(np.prod(shape, dtype=int)))], dtype=bool).reshape(shape)


def trimmed(rng, items):
    """Returns the items without some optional ones, or with an ellipsis for them."""
    everything = lambda item: isinstance(item, slice) and item == slice(None)
    if rng.random() < 0.25:
        first = rng.randint(0, len(items))
        end = rng.randint(first, len(items))
        items = items[:first] + ([Ellipsis] if end < len(items) or rng.random() < 0.5 else []) + items[end:]
    while items and everything(items[-1]) and rng.random() < 0.7:
        items = items[:-1]
    return items


def with_new_axes(rng, items, often=0.12):
    for _ in range(2):
        if rng.random() < often:
            items.insert(rng.randint(0, len(items)), None)
    return items


def make_basic(rng, shape, chunks):
    items = [make_slice(rng, n) if not n or rng.random() < 0.65 else make_index(rng, n) for n in shape]
    return "numpy", with_new_axes(rng, trimmed(rng, items))


def broadcast_shapes(rng, full):
    """Returns a shape that can be broadcast to this one."""
    shape = [1 if rng.random() < 0.25 else n for n in full]
    return shape[rng.randint(0, len(shape) - 1):] if rng.random() < 0.3 else shape


def make_mixed(rng, shape, chunks):
    full = rng.choice(([rng.randint(rng.random() > 0.2, 5)], [rng.randint(1, 6)], [rng.randint(1, 3), rng.randint(1, 3)]))
    items, axis = [], 0
    while axis < len(shape):
        chance, left = rng.random(), len(shape) - axis
        if chance < 0.4:
            items.append(make_list(rng, shape[axis], broadcast_shapes(rng, full)))
        elif chance < 0.55 and shape[axis]:
            dims = rng.randint(1, min(2, left))
            mask = make_mask(rng, shape[axis:axis + dims])
            if mask.size:
                if rng.random() < 0.7:
                    # As many indices as the other arrays have.
                    true = rng.sample(range(mask.size), min(mask.size, full[-1]))
                    mask = np.isin(np.arange(mask.size), true).reshape(mask.shape)
                items.append(mask)
                axis += dims
                continue
            items.append(make_slice(rng, shape[axis]))
        elif chance < 0.7 and shape[axis]:
            items.append(make_index(rng, shape[axis]))
        else:
            items.append(make_slice(rng, shape[axis]))
        axis += 1
    return "numpy", with_new_axes(rng, trimmed(rng, items))


def make_orthogonal(rng, shape, chunks):
    items = []
    for length in shape:
        chance = rng.random()
        if chance < 0.4 or (not length and chance < 0.7):
            items.append(make_list(rng, length, [rng.randint(rng.random() > 0.1, 6)]))
        elif chance < 0.6 and length:
            items.append(make_mask(rng, [length]))
        elif chance < 0.75 and length:
            items.append(make_index(rng, length))
        else:
            items.append(make_slice(rng, length))
    return "orthogonal", with_new_axes(rng, trimmed(rng, items), 0.02)


def make_coordinates(rng, shape, chunks):
    full = rng.choice(([rng.randint(rng.random() > 0.1, 8)], [rng.randint(1, 8)], [rng.randint(1, 3), rng.randint(1, 4)], [2, 1, 3]))
    item = lambda n: make_index(rng, n) if n and rng.random() < 0.15 else make_list(rng, n, broadcast_shapes(rng, full))
    return "coordinates", [item(length) for length in shape]


def make_blocks(rng, shape, chunks):
    items = []
    for length, chunk in zip(shape, chunks):
        blocks = -(-length // chunk)
        item = make_slice(rng, blocks)
        items.append(make_index(rng, blocks) if blocks and rng.random() < 0.5 else slice(item.start, item.stop))
    return "blocks", trimmed(rng, items)


MAKERS = {"basic": make_basic, "mixed": make_mixed, "orthogonal": make_orthogonal, "coordinates": make_coordinates,
          "blocks": make_blocks}


def make_selection(rng, how, shape, chunks, spoil):
    """Returns a kind and a text, with at most one error."""
    if how == "mask":
        shape = spoiled_shape(rng, shape) if spoil else shape
        mask = make_mask(rng, shape)
        return "mask", json.dumps(list(shape), separators=(",", ":")) + " " + "".join("01"[int(bit)] for bit in mask.ravel())
    kind, items = MAKERS[how](rng, shape, chunks)
    if spoil and fits(shape, kind, items, chunks):
        items = spoiled(rng, kind, items, shape)
    return kind, text_of(items)


def fits(shape, kind, items, chunks):
    """Returns true if there is no error yet: of two errors, either may be reported."""
    try:
        selected(np.empty(shape, dtype=np.int8), kind, text_of(items), chunks)
    except IndexError:
        return False
    return True


def spoiled_shape(rng, shape):
    shape = list(shape)
    if shape and rng.random() < 0.7:
        shape[rng.randrange(len(shape))] += 1
    else:
        shape.append(2)
    return shape


def spoiled(rng, kind, items, shape):
    """Introduces one error."""
    items = list(items)
    way = rng.choice(("outside", "outside", "outside", "rank", "ellipses", "float", "mask", "shapes", "step", "list"))
    axis, places = 0, []
    for place, item in enumerate(items):
        if item is Ellipsis:
            axis += len(shape) - sum(map(consumed, items))
        if consumed(item):
            places.append((place, axis))
        axis += consumed(item)
    if way == "rank" or not places:
        return items + [0] * (1 + len(shape) - sum(map(consumed, items)))
    if way == "ellipses":
        return [Ellipsis, *items, Ellipsis]
    place, axis = rng.choice(places)
    length = shape[axis]
    outside = rng.choice((length, length + 3, -length - 1, -length - 9))
    if way == "outside":
        if isinstance(items[place], np.ndarray) and not is_mask(items[place]) and items[place].size:
            items[place].flat[rng.randrange(items[place].size)] = outside
        else:
            items[place] = outside
    elif way == "float":
        items[place] = rng.choice((1.5, 0.0, np.array([0.0, 0.5])))
    elif way == "mask":
        items[place] = make_mask(rng, [length + rng.choice((-1, 1)) if length > 1 else length + 1])
    elif way == "shapes":
        others = [at for at, _ in places if at != place]
        items[place] = np.zeros([2], dtype=int)
        if others:
            items[rng.choice(others)] = np.zeros([3], dtype=int)
    elif way == "step":
        items[place] = slice(None, None, 0)
    else:
        items[place] = np.zeros([2, 2], dtype=int)
    return items


def make_values(rng, shape, spoil):
    """Returns values to write: one for each position, or fewer that can be broadcast."""
    shape = list(shape)
    if spoil:
        shape = shape + [2] if not shape or rng.random() < 0.4 else [n + 1 + (n == 0) for n in shape]
    elif rng.random() < 0.25:
        shape = []
    elif shape and rng.random() < 0.35:
        shape = broadcast_shapes(rng, shape)
    elif rng.random() < 0.08:
        shape = [1] * rng.randint(1, 2) + shape
    count = int(np.prod(shape, dtype=int))
    return np.array([rng.randint(100, 999) for _ in range(count)], dtype=np.int32).reshape(shape)


def assigned(a, positions, values):
    """Returns the array after values were written in sequence, so that the last value of a position remains."""
    out = a.copy()
    # NumPy, too, assigns values with more axes, if these have a length of 1.
    while values.ndim > positions.ndim and len(values) == 1:
        values = values[0]
    spread = np.broadcast_to(values, positions.shape)
    for position, value in zip(positions.ravel(), spread.ravel()):
        out.flat[position] = value
    return out


def make_case(rng):
    shape = make_shape(rng)
    chunks, shards = make_grid(rng, shape)
    grid = shards or chunks
    a = np.arange(int(np.prod(shape, dtype=int)), dtype=np.int32).reshape(shape)
    writing, spoil = rng.random() < 0.4, rng.random() < 0.15
    how = rng.choices(list(KINDS), list(KINDS.values()))[0]
    steps = rng.randint(2, 3) if how == "view" else 1
    case = {"shape": shape, "chunks": chunks, "shards": shards, "select": []}
    result = a
    try:
        for step in range(steps):
            wrong = spoil and step + 1 == steps and not (writing and rng.random() < 0.3)
            made = how if how != "view" else rng.choice(("basic", "mixed", "orthogonal", "coordinates", "mask"))
            kind, text = make_selection(rng, made, result.shape, grid, wrong)
            case["select"].append([kind, text])
            result = np.asarray(selected(result, kind, text, grid))
        if not writing:
            return case | {"gives": flat(result)}
    except (IndexError, ValueError) as error:
        if writing:
            case["write"] = flat(np.array(7, dtype=np.int32))
        return case | {"refused": words(error, text)}
    values = make_values(rng, result.shape, spoil)
    case["write"] = flat(values)
    try:
        after = assigned(a, result, values)
    except ValueError:
        return case | {"misfit": [spaced(values.shape), spaced(result.shape)]}
    if how in ("basic", "mixed"):
        direct = a.copy()
        items = parse(text)
        scalars = all(isinstance(item, int) for item in items)
        # For one element, and for a mask alone, NumPy does not accept values with more axes than the selection.
        if values.ndim <= result.ndim or not (scalars or any(map(is_mask, items))):
            direct[items] = values
            if not np.array_equal(direct, after):
                # NumPy's order is undefined if positions repeat.
                return None
    return case | {"after": after.ravel().tolist()}


def spaced(shape):
    return str(list(shape))


def flat(a):
    return {"shape": list(a.shape), "values": a.ravel().tolist()}


def cases(seed, count):
    rng = random.Random(seed)
    made = 0
    while made < count:
        case = make_case(rng)
        if case is not None:
            made += 1
            yield case


def main():
    seed, count, path = sys.argv[1:]
    lines = "".join(json.dumps(case, separators=(",", ":")) + "\n" for case in cases(int(seed), int(count))).encode()
    if path.endswith(".zst"):
        from numcodecs import Zstd

        lines = Zstd(level=22).encode(lines)
    with open(path, "wb") as file:
        file.write(lines)


if __name__ == "__main__":
    main()
