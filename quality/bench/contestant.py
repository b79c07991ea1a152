"""The common part of all contestants in Python: the protocol, and every kind of work, independent of the library.

The first line on standard input is the case. The answer is `{"ready": version}`, or `{"unsupported": why}`. Then every line `run` does
the work once, with the answer `{"seconds": …, "peak": …}`; `check` adds the `checksum` of the result. The answer to a failure is
`{"error": message}`.
"""

import itertools
import json
import math
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

# The approximate size of the pieces of a copy.
PIECE = 64 << 20


class Unsupported(Exception):
    """The library does not support the work; the message gives the reason in a few words."""


class Contestant:
    """A library: subclasses implement the operations. All methods receive arrays that `open` and `open_output` return."""

    # : Kinds of work and of selections that the library does not support, with the reason.
    lacks = {}

    def __init__(self, case):
        self.path, self.output = case["array"], case.get("output")
        self.threads, self.at_once = case["threads"], case["work"].get("at_once", 1)
        self.pool = ThreadPoolExecutor(max(self.threads, self.at_once))

    def version(self):
        """Returns the name and version of the library."""
        raise NotImplementedError

    def open(self, path):
        """Opens an array to read it."""
        raise NotImplementedError

    def check(self, array):
        """Raises `Unsupported` if the library can open an array, but does not support the work."""

    def open_output(self):
        """Opens the array `output` to write to it."""
        raise NotImplementedError

    def read(self, array, region):
        """Returns the values of a region, a tuple of slices, as a new array of NumPy."""
        return array[region]

    def write(self, array, region, values):
        array[region] = values

    def read_many(self, array, regions, keep):
        """Reads regions, `at_once` of them in parallel. Values that are not kept are dropped at once."""

        def read(region):
            values = self.read(array, region)
            return values if keep else None

        return self.for_each(read, regions)

    def write_many(self, array, regions, values):
        self.for_each(lambda index: self.write(array, regions[index], values[index]), range(len(regions)))

    def stored_shape(self, array):
        """Returns the shape of a stored object: a chunk, or a shard."""
        return getattr(array, "shards", None) or array.chunks

    def itemsize(self, array):
        return self.dtype(array).itemsize

    def dtype(self, array):
        return array.dtype

    def copy(self, source, target):
        """Copies all elements, decoded and encoded again."""
        self.copy_pieces(source, target, PIECE)

    def rechunk(self, source, target, memory):
        """Rechunks with no more than `memory` bytes."""
        # The same amount of memory remains for encoded bytes, and for chunks that are decoded besides the piece.
        self.copy_pieces(source, target, memory // 2)

    def copy_pieces(self, source, target, size):
        for region in pieces(source.shape, self.steps(source, target, size)):
            self.write(target, region, self.read(source, region))

    def steps(self, source, target, size):
        return steps(source.shape, self.stored_shape(source), self.stored_shape(target), self.itemsize(target), size)

    def for_each(self, function, items, at_once=None):
        """Calls a function with each item on several threads, each of which takes the next one; returns the results."""
        at_once = at_once or self.at_once
        if at_once == 1:
            return [function(item) for item in items]
        rest, results = iter(enumerate(items)), [None] * len(items)

        def take():
            for index, item in rest:
                results[index] = function(item)

        for future in [self.pool.submit(take) for _ in range(at_once)]:
            future.result()
        return results


# For each kind of work, a function that prepares it, and returns a function that does it once. The argument of the returned function says
# whether to keep the values; it returns these values in a list, or a number, or nothing.


def prepare_read(library, work, array):
    regions = [region(box) for box in work["boxes"]]
    if work.get("opened", False):
        return lambda keep: library.read_many(array, regions, keep)
    return lambda keep: library.read_many(library.open(library.path), regions, keep)


def prepare_write(library, work, array):
    regions = [region(box) for box in work["boxes"]]
    values = [np.ascontiguousarray(library.read(array, region)) for region in regions]
    return lambda keep: library.write_many(library.open_output(), regions, values)


def prepare_copy(library, work, array):
    return lambda keep: library.copy(array, library.open_output())


def prepare_rechunk(library, work, array):
    return lambda keep: library.rechunk(array, library.open_output(), work["memory"])


def prepare_select(library, work, array):
    selection = prepared(work["selection"], array.shape)
    if work.get("opened", False):
        return lambda keep: [library.select(array, *selection)]
    return lambda keep: [library.select(library.open(library.path), *selection)]


def prepare_select_write(library, work, array):
    selection = prepared(work["selection"], array.shape)
    values = np.array(library.select(array, *selection), order="C")
    bits = values.view(f"u{values.itemsize}")
    bits += np.array(1, bits.dtype)
    return lambda keep: library.select_write(library.open_output(), *selection, values)


def prepare_append(library, work, array):
    shape, dtype = (work["rows"], *array.shape[1:]), library.dtype(array)
    blocks = [np.full(shape, k).astype(dtype) for k in range(work["count"])]
    return lambda keep: library.append(library.open_output(), blocks)


def prepare_open(library, work, _):
    return lambda keep: sum(sum(array.shape) for array in library.open_members(work["names"]))


def prepare_open_consolidated(library, work, _):
    return lambda keep: sum(sum(array.shape) for array in library.open_consolidated_members(work["names"]))


def prepare_list(library, work, _):
    return lambda keep: len(library.paths_below())


def prepare_info(library, work, _):
    return lambda keep: library.stored(library.open(library.path))[0]


PREPARE = {
    "read": prepare_read,
    "write": prepare_write,
    "copy": prepare_copy,
    "rechunk": prepare_rechunk,
    "select": prepare_select,
    "select_write": prepare_select_write,
    "append": prepare_append,
    "open": prepare_open,
    "open_consolidated": prepare_open_consolidated,
    "list": prepare_list,
    "info": prepare_info,
}
OF_GROUPS = ("open", "open_consolidated", "list")


def prepare(kind, line):
    """Prepares a case for a kind of contestant: returns its version, the number of repetitions, and a function that does the work once."""
    case = json.loads(line)
    work = case["work"]
    for name in (work["kind"], work.get("selection", {}).get("kind")):
        if name in kind.lacks:
            raise Unsupported(kind.lacks[name])
    library = kind(case)
    array = None if work["kind"] in OF_GROUPS else opened(library)
    return library.version(), work.get("repeat", 1), PREPARE[work["kind"]](library, work, array)


def opened(library):
    try:
        array = library.open(library.path)
    except Exception as error:
        lines = str(error).splitlines() or [type(error).__name__]
        raise Unsupported(f"cannot open it: {lines[0][:200]}") from error
    library.check(array)
    return array


def region(box):
    return tuple(slice(start, stop) for start, stop in box)


def prepared(selection, shape):
    """Returns the kind of a selection, and the equivalent NumPy index."""
    kind = selection["kind"]
    if kind == "strided":
        return kind, tuple(slice(*part) for part in selection["slices"])
    if kind == "blocks":
        return kind, region(selection["slices"])
    if kind == "mask":
        return kind, mask(selection["seed"], shape)
    return kind, tuple(np.array(indices) for indices in selection["indices"])


def mask(seed, shape):
    """Returns a mask that selects about half of the elements. It is computed block by block."""
    flat = np.empty(math.prod(shape), bool)
    for start in range(0, len(flat), 1 << 18):
        part = flat[start : start + (1 << 18)]
        k = np.arange(start + seed, start + seed + len(part), dtype=np.uint64)
        np.less(k * np.uint64(2654435761) & np.uint64(0xFFFFFFFF), np.uint64(1 << 31), out=part)
    return flat.reshape(shape)


def steps(shape, source, target, itemsize, size):
    """Returns the shape of pieces of whole target chunks that read the fewest source chunks, with the fewest pieces.

    A piece has at most `size` bytes, unless a target chunk is larger.
    """
    ways = itertools.product(*map(doublings, target, shape))
    fitting = [way for way in ways if math.prod(way) * itemsize <= size] or [tuple(target)]

    def cost(way):
        reads = math.prod(map(touched, shape, source, way))
        return reads, math.prod(-(-length // step) for length, step in zip(shape, way))

    return min(fitting, key=cost)


def doublings(chunk, length):
    """Returns one, two, four … chunks, up to the length of the array."""
    step, ways = chunk, [chunk]
    while step < length:
        step *= 2
        ways.append(step)
    return ways


def touched(length, chunk, step):
    """Returns the number of chunk reads along an axis that is read piece by piece."""
    starts = range(0, length, step)
    return sum(-(-min(start + step, length) // chunk) - start // chunk for start in starts)


def pieces(shape, steps):
    """Yields the regions that an array is cut into."""
    axes = [range(0, length, step) for length, step in zip(shape, steps)]
    for starts in itertools.product(*axes):
        ends = zip(starts, steps, shape)
        yield tuple(slice(start, min(start + step, length)) for start, step, length in ends)


def checksum(values):
    """Returns the sum modulo 2**64 of the elements as unsigned integers, which are multiplied by 1 to 251 in turn."""
    values = np.asarray(values)
    flat = np.ascontiguousarray(values, values.dtype.newbyteorder("=")).reshape(-1)
    flat = flat.view(f"u{flat.itemsize}")
    factors = np.tile(np.arange(1, 252, dtype=np.uint64), 1024)
    total = 0
    for start in range(0, len(flat), len(factors)):
        part = flat[start : start + len(factors)].astype(np.uint64)
        part *= factors[: len(part)]
        total += int(part.sum(dtype=np.uint64))
    return total


def checksum_of(result):
    if isinstance(result, list):
        return sum((index + 1) * checksum(values) for index, values in enumerate(result)) % 2**64
    return result or 0


def peak():
    """Returns the peak memory of this process, in bytes."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmHWM:"))
    return int(line.split()[1]) << 10


def measured(do, repeat, check):
    result = None
    start = time.perf_counter()
    for _ in range(repeat):
        result = do(check)
    answer = {"seconds": time.perf_counter() - start, "peak": peak()}
    return answer | {"checksum": str(checksum_of(result))} if check else answer


def attempted(function, *arguments):
    """Returns the result of a function, or the reason of its failure."""
    try:
        return function(*arguments)
    except Unsupported as reason:
        return {"unsupported": str(reason)}
    except BaseException as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main(kind):
    """Answers all lines for a kind of contestant."""
    # The output of a library must not reach standard output.
    out, sys.stdout = sys.stdout, sys.stderr

    def answer(value):
        print(json.dumps(value), file=out, flush=True)

    made = attempted(prepare, kind, sys.stdin.readline())
    if isinstance(made, dict):
        return answer(made)
    version, repeat, do = made
    answer({"ready": version})
    for line in sys.stdin:
        answer(attempted(measured, do, repeat, line.strip() == "check"))
