"""Elements of variable length: how they are generated and compared.

The member `elements` of a cell is their kind: `text`, `bytes`, `json`, `labels` (texts among the cell's `labels`, and the empty one),
or `array` (of numbers of the type `item`). Here they are Python objects in object arrays.
"""

import json

import numpy as np

# The maximum length of a text, number of bytes, and length of an array, of one element.
LONGEST = 12
MOST_NUMBERS = 4


def is_variable(cell):
    return cell.get("elements") is not None


def data(cell, words, shape, seed, numbers):
    """Returns the elements of a whole array. `words` returns a 64-bit word for each index, and `numbers` elements of a type."""
    count = int(np.prod(shape, dtype=np.int64))
    return array_of(ELEMENTS[cell["elements"]](cell, words, count, seed, numbers), shape)


def texts(cell, words, count, seed, numbers):
    """Returns texts. The element's word gives the length; each code point has its own word, as in texts of fixed length."""
    points = words(seed + 1, count * LONGEST) % np.uint64(0x110000 - 0x800)
    points += np.where(points >= 0xD800, np.uint64(0x800), np.uint64(0))
    letters = points.astype("<u4").tobytes().decode("utf-32-le")
    return pieces(letters, LONGEST, words(seed, count))


def byte_strings(cell, words, count, seed, numbers):
    letters = (words(seed + 1, count * LONGEST) & np.uint64(0xFF)).astype("u1").tobytes()
    return pieces(letters, LONGEST, words(seed, count))


def arrays(cell, words, count, seed, numbers):
    return pieces(numbers(np.dtype(cell["item"]), [count * MOST_NUMBERS], seed + 1), MOST_NUMBERS, words(seed, count))


def pieces(parts, longest, words):
    lengths = (words % np.uint64(longest + 1)).tolist()
    return [parts[k * longest : k * longest + length] for k, length in enumerate(lengths)]


def labels(cell, words, count, seed, numbers):
    choices = [*cell["labels"], ""]
    return [choices[word % len(choices)] for word in words(seed, count).tolist()]


def objects(cell, words, count, seed, numbers):
    return list(map(json_value, words(seed, count).tolist(), texts(cell, words, count, seed, numbers)))


def json_value(word, text):
    """Returns a value that JSON can represent. No element is a list: numcodecs treats lists as another dimension."""
    kinds = [
        None,
        word % 2 == 0,
        word,
        (word >> 2) - 2**61,
        (word % 4096) / 8 - 100,
        text,
        {"text": text, "": [word % 1000, None, [], {"deep": [text, -0.5]}]},
    ]
    return kinds[(word >> 3) % len(kinds)]


ELEMENTS = {"text": texts, "bytes": byte_strings, "json": objects, "labels": labels, "array": arrays}


def array_of(elements, shape):
    """Returns an object array; `numpy.array` would treat some of the elements as arrays."""
    array = np.empty(len(elements), object)
    for index, element in enumerate(elements):
        array[index] = element
    return array.reshape(shape)


def fill_value(cell):
    """Returns the fill value, or None if it is undefined."""
    value = cell["fill_value"]
    return bytes(cell["fill_element"]) if cell["elements"] == "bytes" and value is not None else value


def nothing(cell):
    """Returns the value that is read if the fill value is undefined."""
    return {"bytes": b"", "json": None, "array": np.empty(0, cell.get("item", "i1"))}.get(cell["elements"], "")


def same(cell, got, expected):
    if expected.shape == ():
        got = array_of([got], ())
    if got.shape != expected.shape:
        raise AssertionError(f"shape {got.shape} instead of {expected.shape}")
    pairs = enumerate(zip(got.reshape(-1), expected.reshape(-1)))
    different = [(at, a, b) for at, (a, b) in pairs if canonical(cell, a) != canonical(cell, b)]
    if different:
        at, a, b = different[0]
        raise AssertionError(
            f"{len(different)} of {expected.size} elements differ, first at flat index {at}: {a!r} instead of {b!r}")


def canonical(cell, element):
    """Returns an element in a form with only its type and its value."""
    while isinstance(element, np.ndarray) and element.shape == () and cell["elements"] != "array":
        element = element.item()
    if cell["elements"] == "array":
        element = np.asarray(element[()] if element.dtype == object else element)
        native = element.dtype.newbyteorder("=")
        return native.str, element.shape, element.astype(native).tobytes()
    if cell["elements"] == "json":
        return json.dumps(element, sort_keys=True)
    return type(element).__name__, element
