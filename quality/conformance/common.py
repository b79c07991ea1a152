"""The common parts of the implementations' programs: the data, the expected state of each cell, and the comparison.

A program is called as

    python run_<implementation>.py write|read|update MATRIX ROOT REPORT [--by WRITER] [--updated UPDATER] [--for READER]

`write` creates every cell below ROOT, `read` compares each cell with the expected state of the matrix (after its updates, if an
UPDATER is given), `update` changes it. Cells that are not applicable to this program, to WRITER, UPDATER or READER are skipped.
REPORT receives, as JSON, the versions in use and an error, or null, for each cell.
"""

import base64
import json
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np

import variable

# Floats that formats and casts often get wrong, as bit patterns, by the size of a float in bytes: NaN, infinities, minus zero,
# the smallest subnormal, the largest finite number, a NaN with a payload, and one.
SPECIALS = {
    2: [0x7E00, 0x7C00, 0xFC00, 0x8000, 0x0001, 0x7BFF, 0xFE2A, 0x3C00],
    4: [0x7FC00000, 0x7F800000, 0xFF800000, 0x80000000, 0x00000001, 0x7F7FFFFF, 0xFFC0002A, 0x3F800000],
    8: [
        0x7FF8000000000000,
        0x7FF0000000000000,
        0xFFF0000000000000,
        0x8000000000000000,
        0x0000000000000001,
        0x7FEFFFFFFFFFFFFF,
        0xFFF800000000002A,
        0x3FF0000000000000,
    ],
}


def dtype(cell):
    """Returns the data type in this machine's memory."""
    return dtype_v2(cell).newbyteorder("=") if "dtype" in cell else np.dtype(cell["numpy"])


def dtype_v2(cell):
    """Returns the data type in the endianness that v2 and NumPy store in it."""
    if "dtype" in cell:
        return structure(cell["dtype"])
    return dtype(cell).newbyteorder(">" if cell["endian"] == "big" else "<")


def structure(fields):
    """Returns NumPy's structured data type of v2's fields; fields without a name are padding."""
    names, formats, offsets, size = [], [], [], 0
    for name, kind, *shape in fields:
        kind = np.dtype((structure(kind) if isinstance(kind, list) else kind, tuple(shape[0]) if shape else ()))
        if name:
            names.append(name)
            formats.append(kind)
            offsets.append(size)
        size += kind.itemsize
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


def is_structure(kind):
    return kind.names is not None


def fields(kind):
    """Returns the fields of a structure: their names, the types of their elements, and their shapes. Padding is omitted, even if an
        implementation treats it as fields."""
    described = ((name, kind[name].base, kind[name].shape) for name in kind.names)
    return [(name, base, shape) for name, base, shape in described if not (base.kind == "V" and base.names is None)]


def words(seed, count):
    """Returns a 64-bit word for each index: runs of 16 small numbers alternate with runs of noise (SplitMix64)."""
    index = np.arange(count, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = index * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed) * np.uint64(0xD1B54A32D192ED03)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return np.where((index // np.uint64(16)) % np.uint64(2) == 0, index % np.uint64(128), z)


def data(cell, shape, seed):
    """Returns the elements of a whole array: each depends only on the seed, its flat index and the data type.

    The bytes of an element are the low bytes of its word, in little-endian order. A cell may restrict the word to `bits` bits; if
    these are `whole`, a float has the value of the signed integer with these bits. Each part of a complex number, each character of a
    string and each raw byte has its own word. Every eleventh float is one of `SPECIALS`. Every eleventh signed integer is the
    smallest one, which is NaT in arrays of times. Three of every eight characters are NUL; the other characters of a text are code
    points. The n-th field of a structure is generated like an array, with its own seed. `variable.py` describes elements of variable
    length.
    """
    if variable.is_variable(cell):
        return variable.data(cell, words, shape, seed, lambda kind, shape, seed: elements(kind, 64, shape, seed))
    if cell.get("whole"):
        return elements(np.dtype("i8"), cell["bits"], shape, seed).astype(dtype(cell))
    return elements(dtype(cell), cell["bits"], shape, seed)


def elements(kind, width, shape, seed):
    """Returns the elements of an array of numbers of `bits` bits, or of structures of such numbers."""
    if is_structure(kind):
        array = np.zeros(shape, kind)
        for number, (name, base, inner) in enumerate(fields(kind)):
            width = 1 if base.kind == "b" else 64
            array[name] = elements(base, width, (*shape, *inner), seed * 16 + number + 1)
        return array
    size = part_size(kind)
    count = int(np.prod(shape, dtype=np.int64)) * kind.itemsize // size
    bits = words(seed, count) & np.uint64(2**width - 1)
    index = np.arange(count)
    if is_float(kind):
        special = np.array(SPECIALS[size], dtype=np.uint64)[(index // 11) % 8]
        bits = np.where(index % 11 == 5, special, bits)
    if kind.kind in "imM" or is_small_integer(kind):
        width = min(width, 8 * size)
        bits = np.where(index % 11 == 5, np.uint64(2 ** (width - 1)), bits)
        sign = np.uint64(2**64 - 2**width)
        bits = np.where(bits & np.uint64(2 ** (width - 1)), bits | sign, bits)
    if is_string(kind):
        bits = np.where(index % 8 >= 5, np.uint64(0), bits)
    if kind.kind == "U":
        bits %= np.uint64(0x110000 - 0x800)
        bits += np.where(bits >= 0xD800, np.uint64(0x800), np.uint64(0))
    raw = bits.astype("<u8").view(np.uint8).reshape(count, 8)[:, :size]
    return np.ascontiguousarray(raw).reshape(-1).view(kind.newbyteorder("<")).astype(kind).reshape(shape)


def padded_as(values, kind):
    """Returns structures with the padding of another data type, which may have fields in place of padding."""
    if not is_structure(kind):
        return values
    array = np.zeros(values.shape, kind)
    for name, base, _ in fields(values.dtype):
        array[name] = padded_as(values[name], base) if is_structure(base) else values[name]
    return array


def is_float(kind):
    """Returns true if elements are floats of IEEE 754 or consist of them."""
    return kind.kind in "fc" and kind.itemsize > 1


def is_small_integer(kind):
    return kind.name in ("int2", "int4")


def whole_bytes(array):
    """Returns small integers as bytes: their upper bits depend on the writer."""
    return array.astype("i1") if is_small_integer(array.dtype) else array


def is_string(kind):
    """Returns true if elements are strings of characters or of bytes."""
    return issubclass(kind.type, np.flexible)


def part_size(kind):
    """Returns the size of the parts of an element."""
    if is_string(kind):
        return 4 if kind.kind == "U" else 1
    return kind.itemsize // (2 if kind.kind == "c" else 1)


def fill_value(cell):
    """Returns the fill value as a NumPy scalar, or None if v2 leaves it undefined."""
    value, kind = cell["fill_value"], dtype(cell)
    if variable.is_variable(cell):
        return variable.fill_value(cell)
    return None if value is None else scalar(cell.get("fill_fields", value), kind)


def scalar(value, kind):
    """Returns a scalar in the form of v3 metadata, with a few exceptions."""
    if is_structure(kind):
        record = np.zeros((), kind)
        for name, base, _ in fields(kind):
            record[name] = scalar(value[name], base)
        return record[()]
    if kind.kind == "U":
        return np.str_(value)
    if is_string(kind):
        return kind.type(base64.b64decode(value) if isinstance(value, str) else bytes(value))
    if kind.kind in "mM":
        return np.array(np.iinfo("i8").min if value == "NaT" else value, "i8").view(kind)[()]
    if kind.kind == "c":
        return kind.type(complex(*map(float, value)))
    return kind.type(value if kind.kind in "biu" or is_small_integer(kind) else float(value))


def region(step):
    return tuple(slice(*bounds) for bounds in step["region"])


def values(cell, step, shape):
    """Returns the values that a `write` or `fill` step puts into its region."""
    part = region(step)
    if step["op"] == "fill":
        return full(cell, shape)[part]
    return data(cell, shape, step["seed"])[part]


def full(cell, shape):
    """Returns an array without written data. Undefined elements are read as zero; in arrays of times, as not a time."""
    fill, kind = fill_value(cell), dtype(cell)
    if variable.is_variable(cell):
        element = variable.nothing(cell) if fill is None else fill
        return variable.array_of([element] * int(np.prod(shape, dtype=np.int64)), shape)
    zero = np.array("NaT", kind)[()] if kind.kind in "mM" else np.zeros((), kind)[()]
    return np.full(shape, zero if fill is None else fill, kind)


def final(cell, updated):
    """Returns the array and the attributes that a reader must find."""
    array = full(cell, cell["shape"])
    attributes = cell["attributes"]
    for step in cell["steps"] + (cell["update"] if updated else []):
        if step["op"] == "resize":
            kept = tuple(slice(0, min(n, m)) for n, m in zip(array.shape, step["shape"]))
            larger = full(cell, step["shape"])
            larger[kept] = array[kept]
            array = larger
        elif step["op"] == "attributes":
            attributes = step["value"]
        else:
            array[region(step)] = values(cell, step, array.shape)
    return array, attributes


def selections(shape):
    """Yields the selections that are read besides the whole array: every second element of the middle, and one element."""
    yield tuple(slice(n // 3, n, 2) for n in shape)
    if all(shape):
        yield tuple(n // 2 for n in shape)


def same(cell, got, expected):
    if variable.is_variable(cell):
        variable.same(cell, got, expected)
    else:
        same_bits(got, expected)


def same_bits(got, expected):
    """Compares bit for bit; two NaNs count as equal."""
    if is_structure(expected.dtype):
        got = np.asarray(got)
        if got.shape != expected.shape:
            raise AssertionError(f"shape {got.shape} instead of {expected.shape}")
        if fields(got.dtype.newbyteorder("=")) != fields(expected.dtype):
            raise AssertionError(f"fields {got.dtype} instead of {expected.dtype}")
        for name, *_ in fields(expected.dtype):
            same_bits(got[name], expected[name])
        return
    # The Python type of a scalar string does not include the length of the data type.
    got = np.asarray(got, expected.dtype if isinstance(got, (str, bytes)) else None)
    if got.shape != expected.shape:
        raise AssertionError(f"shape {got.shape} instead of {expected.shape}")
    if got.dtype.newbyteorder("=") != expected.dtype.newbyteorder("="):
        raise AssertionError(f"data type {got.dtype} instead of {expected.dtype}")
    got = np.ascontiguousarray(whole_bytes(got.astype(expected.dtype))).reshape(-1)
    expected = np.ascontiguousarray(whole_bytes(expected)).reshape(-1)
    different = (bits(got) != bits(expected)).any(axis=1)
    if is_float(expected.dtype):
        size = part_size(expected.dtype)
        parts = expected.dtype.itemsize // size
        a, b = (each.view(f"f{size}").reshape(len(expected), parts) for each in (got, expected))
        equal = (bits(a) == bits(b)).all(axis=1).reshape(a.shape)
        different = ~(equal | (np.isnan(a) & np.isnan(b))).all(axis=1)
    if different.any():
        at = int(np.argmax(different))
        raise AssertionError(
            f"{int(different.sum())} of {len(different)} elements differ, first at flat index {at}: "
            f"{got[at]!r} instead of {expected[at]!r}"
        )


def bits(array):
    size = array.dtype.itemsize
    return np.frombuffer(array.tobytes(), np.uint8).reshape(-1, size)


DEFAULTS = {"zstd": {"checksum": False}, "numcodecs.lz4": {"acceleration": 1}}


def normal(codecs):
    """Returns a v3 codec list with defaults filled in and empty configurations dropped, for comparison."""
    if codecs is None:
        return None
    result = []
    for codec in json.loads(json.dumps(codecs)):
        codec = {"name": codec} if isinstance(codec, str) else codec
        configuration = DEFAULTS.get(codec["name"], {}) | codec.get("configuration", {})
        if configuration.get("shuffle") == "noshuffle":
            configuration.pop("typesize", None)
        for member in ("codecs", "index_codecs"):
            if member in configuration:
                configuration[member] = normal(configuration[member])
        result.append({"name": codec["name"], **({"configuration": configuration} if configuration else {})})
    return result


def names(dimension_names):
    """Returns the dimension names; `None` if all of them are missing."""
    return list(dimension_names) if any(dimension_names or ()) else None


def facts(cell, array, attributes):
    """Returns the facts that metadata must contain. A program reports the facts that its implementation shows."""
    fill = fill_value(cell)
    known = {
        "shape": list(array.shape),
        "data type": cell["data_type"],
        "chunks": cell["chunks"],
        "fill value": hexadecimal(fill, cell),
        "attributes": attributes,
    }
    if is_n5(cell):
        return known | {"compression": cell["compression"], "compressor": v2_chain(None, cell["compressor"])}
    if cell["format"] < 3:
        return known | {
            "dtype": described(dtype_v2(cell)),
            "order": order(cell, cell["order"]),
            "filters and compressor": v2_chain(cell["filters"], cell["compressor"]),
            "separator": cell["key_encoding"]["separator"],
        }
    known |= {"grid": cell.get("grid")}
    more = {"codecs": normal(cell["codecs"]), "dimension names": names(cell["dimension_names"])}
    return known | more | {"keys": cell["key_encoding"]}


def names_of_codecs(known, cell):
    """Returns the known facts; for a cell about codecs of v3 only the names of codecs, since defaults may be omitted."""
    if "needs" in cell and known.get("codecs"):
        return known | {"codecs": [codec["name"] for codec in known["codecs"]]}
    return known


def is_n5(cell):
    return cell["id"].startswith("n5")


def order(cell, order):
    """Returns the order of a v2 array; with fewer than two dimensions both orders are the same."""
    return order if len(cell["shape"]) > 1 else None


def v2_chain(filters, compressor):
    """Returns the codecs of a v2 array in order. A single codec means the same as a filter and as the compressor.
        zstd's member `checksum` may be missing if it is false."""
    codecs = json.loads(json.dumps([dict(codec) for codec in [*(filters or []), compressor] if codec]))
    return [{key: value for key, value in codec.items() if (key, value) != ("checksum", False)} for codec in codecs]


def described(kind):
    """Returns a data type in its byte order, without padding."""
    if not is_structure(kind):
        return kind.str
    return [[name, described(base), list(shape)] for name, base, shape in fields(kind)]


def hexadecimal(fill, cell):
    """Returns the bytes of a fill value in this machine's endianness; for a structure, the bytes of its fields in order."""
    if fill is None:
        return None
    if variable.is_variable(cell):
        return variable.canonical(cell, fill)
    return packed(np.asarray(fill), dtype(cell)).hex()


def packed(array, kind):
    if not is_structure(kind):
        return whole_bytes(array.astype(kind)).tobytes()
    return b"".join(packed(array[name], base) for name, base, _ in fields(kind))


def agree(described, expected):
    for fact, value in described.items():
        if value != expected[fact]:
            raise AssertionError(f"{fact}: {value!r} instead of {expected[fact]!r}")


class Program:
    """An implementation. Subclasses define how it creates, opens, reads, writes, resizes and describes."""

    name: str
    packages: dict

    def write_cell(self, path, cell):
        if cell.get("group"):
            return self.create_group(path, cell)
        return self.apply(self.create(path, cell), cell, cell["steps"])

    def update_cell(self, path, cell):
        if cell.get("group"):
            return self.set_group_attributes(path, cell, cell["update"][0]["value"])
        return self.apply(self.open(path, cell), cell, cell["update"])

    def apply(self, array, cell, steps):
        for step in steps:
            if step["op"] == "resize":
                array = self.resize(array, step["shape"])
            elif step["op"] == "attributes":
                self.set_attributes(array, step["value"])
            else:
                self.assign(array, region(step), values(cell, step, self.shape(array)))

    def read_cell(self, path, cell, updated):
        if cell.get("group"):
            attributes = cell["update"][0]["value"] if updated else cell["attributes"]
            return agree(self.describe_group(path, cell), {"attributes": attributes, "members": cell["members"]})
        array = self.open(path, cell)
        expected, attributes = final(cell, updated)
        agree(names_of_codecs(self.describe(array, cell), cell), names_of_codecs(facts(cell, expected, attributes), cell))
        same(cell, self.read(array, ...), expected)
        for selection in selections(expected.shape):
            part = expected[selection]
            if variable.is_variable(cell) and all(isinstance(place, int) for place in selection):
                part = variable.array_of([part], ())
            same(cell, self.read(array, selection), np.asarray(part, expected.dtype))

    def shape(self, array):
        return array.shape

    def run(self, action, path, cell, updated):
        if action == "read":
            self.read_cell(path, cell, updated)
        else:
            getattr(self, f"{action}_cell")(path, cell)


def main(program):
    action, matrix, root, report, *flags = sys.argv[1:]
    options = dict(zip(flags[::2], flags[1::2]))
    writer, updater, reader = options.get("--by", program.name), options.get("--updated"), options.get("--for")
    warnings.simplefilter("ignore")
    outcomes = {}
    cells = json.loads(Path(matrix).read_text())
    cells = [cell for cell in cells if applicable(cell, writer, "write") and applicable(cell, reader, "read")]
    written = {cell["id"] for cell in cells}
    for cell in cells:
        if not applicable(cell, program.name, action) or not applicable(cell, updater, "update"):
            continue
        if not applicable(cell, writer, "attributes"):
            cell["attributes"] = {}
        if cell.get("group"):
            cell["members"] = [name for name in cell["members"] if f"{cell['id']}/{name}" in written]
        try:
            program.run(action, str(Path(root, cell["id"])), cell, updater is not None)
            outcomes[cell["id"]] = None
        except Exception as error:  # Every error is reported.
            outcomes[cell["id"]] = describe_error(error)
    Path(report).parent.mkdir(parents=True, exist_ok=True)
    Path(report).write_text(json.dumps({"versions": program.packages, "outcomes": outcomes}))


def applicable(cell, implementation, action):
    return action not in cell["not_applicable"].get(implementation, {})


def describe_error(error):
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error}" + (
        "" if isinstance(error, AssertionError) else f" ({Path(where.filename).name}:{where.lineno})"
    )
