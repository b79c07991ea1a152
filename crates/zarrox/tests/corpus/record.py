"""Records the elements of the arrays of the corpus in `expected.json`, in a form that a test can compare exactly.

Every `make.py` uses this module. It runs with Python 3.6 or newer and NumPy 1.16 or newer. README.md describes the form.
"""

import base64
import collections
import json
import os
import re

import numpy as np
import pack


def text64(data):
    return base64.b64encode(bytes(data)).decode("ascii")


def v3_type(dtype):
    """Returns the data type in the form of Zarr v3; None if v3 does not have it."""
    dtype = np.dtype(dtype)
    if dtype.names is not None:
        fields = [{"name": name, "data_type": v3_type(dtype[name])} for name in dtype.names]
        if any(dtype[name].subdtype or field["data_type"] is None for name, field in zip(dtype.names, fields)):
            return None
        return {"name": "struct", "configuration": {"fields": fields}}
    size = dtype.itemsize
    if dtype.kind in "iufcb":
        return dtype.name
    if dtype.kind == "S":
        return {"name": "null_terminated_bytes", "configuration": {"length_bytes": size}}
    if dtype.kind == "U":
        return {"name": "fixed_length_utf32", "configuration": {"length_bytes": size}}
    if dtype.kind == "V":
        return "r%d" % (8 * size)
    if dtype.kind in "Mm":
        name = {"M": "numpy.datetime64", "m": "numpy.timedelta64"}[dtype.kind]
        unit, scale = np.datetime_data(dtype)
        return {"name": name, "configuration": {"unit": unit, "scale_factor": scale}}
    return None


def packed_dtype(dtype):
    """Returns the dtype in little-endian order and without padding."""
    if dtype.subdtype:
        base, shape = dtype.subdtype
        return np.dtype((packed_dtype(base), shape))
    if dtype.names is None:
        return dtype.newbyteorder("<")
    return np.dtype([(name, packed_dtype(dtype[name])) for name in dtype.names])


def _assign(out, values):
    if values.dtype.names is None:
        out[...] = values
        return
    for name in values.dtype.names:
        _assign(out[name], values[name])


def packed(values):
    """Returns the bytes of all elements: row-major, little-endian, and without padding between the fields of structures."""
    values = np.asarray(values)
    order = packed_dtype(values.dtype)
    if values.dtype.names is None:
        # Only the byte order changes: payloads of NaN are kept.
        return np.ascontiguousarray(values).reshape(values.shape).astype(order, copy=False).tobytes()
    out = np.zeros(values.shape, order)
    _assign(out, values)
    return out.tobytes()


def fields_of(dtype):
    """Returns for each field of a structure its name, its type in the form of v2, and its shape if it is an array."""
    fields = []
    for name in dtype.names:
        base, shape = dtype[name].subdtype or (dtype[name], ())
        field = collections.OrderedDict(name=name)
        if base.names is not None:
            field["fields"] = fields_of(base)
        else:
            field["dtype"] = base.str
        if shape:
            field["shape"] = list(shape)
        fields.append(field)
    return fields


def element(kind, value):
    """Returns an element of variable length as JSON."""
    if kind == "utf8":
        return str(value)
    if kind == "bytes":
        return text64(value)
    if kind == "numbers":
        return text64(packed(value))
    return plain(value)


def plain(value):
    """Returns an object as JSON."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return {"base64": text64(value)}
    if isinstance(value, np.generic):
        return value.item()
    return value


class Corpus:
    """The hierarchies of one writer, in the archive beside its `make.py`."""

    def __init__(self, script, writer):
        self.home = os.path.dirname(os.path.abspath(script))
        self.directory = pack.begin(self.home)
        self.writer = writer
        self.hierarchies = collections.OrderedDict()

    def hierarchy(self, name):
        """Begins a hierarchy. Returns its path."""
        path = os.path.join(self.directory, name)
        self.hierarchies[name] = collections.OrderedDict()
        self.current = self.hierarchies[name]
        return path

    def _node(self, path, node):
        path = path.strip("/")
        assert path not in self.current, path
        self.current[path] = node

    def group(self, path, children, attributes=None):
        node = collections.OrderedDict(kind="group", children=sorted(children), attributes=attributes or {})
        self._node(path, node)

    def groups(self, attributes=None, empty=()):
        """Records all groups of the hierarchy: the ancestors of known nodes, and empty groups."""
        attributes = attributes or {}
        paths = set(self.current) | set(empty) | set(attributes)
        children = {path: set() for path in list(empty) + list(attributes) + [""]}
        for path in paths - {""}:
            parts = path.split("/")
            for depth in range(len(parts)):
                children.setdefault("/".join(parts[:depth]), set()).add(parts[depth])
        for path in sorted(children):
            self.group(path, children[path], attributes.get(path))

    def array(self, path, values, fill=None, data_type=None, attributes=None, dimension_names=None, lossy=False):
        """Records an array of elements of one size. `fill` is None where the fill value is undefined; `lossy` means that values
may change when they are written: "stable" if the new values become the same bytes again."""
        values = np.asarray(values)
        node = collections.OrderedDict(kind="array", shape=list(values.shape))
        node["data_type"] = data_type or v3_type(values.dtype)
        if values.dtype.names is not None:
            node["fields"] = fields_of(values.dtype)
        node["item"] = packed_dtype(values.dtype).itemsize
        node["fill_value"] = None if fill is None else text64(packed(np.asarray(fill, values.dtype)))
        node["attributes"] = attributes or {}
        if dimension_names is not None:
            node["dimension_names"] = list(dimension_names)
        if lossy:
            node["lossy"] = lossy
        node["data"] = text64(packed(values))
        self._node(path, node)

    def raw_array(
        self, path, shape, item, data, data_type, fill, attributes=None, dimension_names=None, lossy=False
    ):
        """Records an array of elements of one size, given as bytes."""
        node = collections.OrderedDict(kind="array", shape=list(shape), data_type=data_type, item=item)
        node["fill_value"] = None if fill is None else text64(fill)
        node["attributes"] = attributes or {}
        if dimension_names is not None:
            node["dimension_names"] = list(dimension_names)
        if lossy:
            node["lossy"] = lossy
        node["data"] = text64(data)
        self._node(path, node)

    def objects(self, path, values, kind, data_type=None, attributes=None, shape=None, dimension_names=None):
        """Records an array of elements of variable length: `kind` is utf8, bytes, numbers or object."""
        shape = list(values.shape) if shape is None else shape
        node = collections.OrderedDict(kind="array", shape=shape)
        node["data_type"] = data_type or {"utf8": "string", "bytes": "bytes"}.get(kind)
        node["attributes"] = attributes or {}
        if dimension_names is not None:
            node["dimension_names"] = list(dimension_names)
        node["element"] = kind
        node["elements"] = [element(kind, value) for value in np.asarray(values, dtype=object).reshape(-1)]
        self._node(path, node)

    def refused(self, path, says):
        """Records a node that must not open, with an error that contains this text."""
        self._node(path, collections.OrderedDict(kind="refused", says=says))

    def save(self):
        """Writes `expected.json`, a line for each node, and packs everything."""
        lines = []
        for name, nodes in self.hierarchies.items():
            rows = ["      %s: %s" % (json.dumps(path), json.dumps(node)) for path, node in nodes.items()]
            lines.append("    %s: {\n%s\n    }" % (json.dumps(name), ",\n".join(rows)))
        text = '{\n  "writer": %s,\n  "hierarchies": {\n%s\n  }\n}\n' % (json.dumps(self.writer), ",\n".join(lines))
        with open(os.path.join(self.directory, "expected.json"), "w") as file:
            file.write(text)
        pack.pack(self.home)


def same_chunks(one, two, shape, chunks):
    """Returns true if the chunks below two directories are the same. Only chunks completely inside the array are compared."""
    for directory, _, names in os.walk(one):
        for name in names:
            key = os.path.relpath(os.path.join(directory, name), one)
            indices = [int(index) for index in re.findall("[0-9]+", key)]
            whole = all((index + 1) * chunk <= length for index, chunk, length in zip(indices, chunks, shape))
            if name in (".zarray", ".zattrs", "zarr.json") or not whole:
                continue
            if not os.path.exists(os.path.join(two, key)):
                return False
            with open(os.path.join(one, key), "rb") as a, open(os.path.join(two, key), "rb") as b:
                if a.read() != b.read():
                    return False
    return True


def same(a, b):
    """Returns true if two arrays have the same elements, bit by bit."""
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and packed(a) == packed(b)


def numbers(dtype, count):
    """Returns elements of a numeric type, the extreme ones first."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        start = [True, False]
    elif dtype.kind in "iu":
        start = [np.iinfo(dtype).min, np.iinfo(dtype).max, 1]
    elif dtype.kind == "f":
        info = np.finfo(dtype)
        start = [float("nan"), float("inf"), float("-inf"), -0.0, info.max, info.tiny, 0.1]
    elif dtype.kind == "c":
        start = [complex(float("nan"), -0.0), complex(float("-inf"), float("inf")), complex(1.5, -2.5)]
    else:
        raise ValueError(dtype)
    rest = [i * 7 % 100 + 2 for i in range(count)]
    return (
        np.array(start + rest)[:count].astype(dtype)
        if dtype.kind == "b"
        else np.array(
            [np.array(v, dtype.newbyteorder("=")) for v in (start + rest)[:count]], dtype.newbyteorder("=")
        ).astype(dtype)
    )
