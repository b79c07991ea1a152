"""Reads the result of an import with zarr-python, or from its documents if zarr-python does not support the type."""

import base64
import json
import os
import re

import numpy as np
import zarr


class Hierarchy:
    def __init__(self, root):
        self.root = root

    def document(self, path):
        """Returns the metadata of a node; `None` if it is missing."""
        try:
            with open(os.path.join(self.root, path, "zarr.json"), encoding="utf-8") as file:
                return json.load(file, parse_constant=not_json)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def kind(self, path):
        document = self.document(path)
        return document and document["node_type"]

    def arrays(self):
        found = []
        for above, _, names in os.walk(self.root):
            if "zarr.json" in names:
                path = os.path.relpath(above, self.root)
                path = "" if path == "." else path
                if self.kind(path) == "array":
                    found.append(path)
        return found

    def array(self, path):
        """Returns an array, opened for reading, and the function that converts its elements."""
        place = os.path.join(self.root, path)
        elements = self.document(path).get("attributes", {}).get("list_of")
        try:
            return opened(place), lambda values: lists(values, elements) if elements else values
        except ValueError as error:
            if "No Zarr data type found" not in str(error):
                raise
        document = self.document(path)
        kind, fill = known(document["data_type"], document["fill_value"])
        original = document["data_type"]
        document["data_type"], document["fill_value"] = kind, fill
        copy = os.path.join(place, "..", ".copy-" + os.path.basename(place))
        os.makedirs(copy, exist_ok=True)
        for name in os.listdir(place):
            if name != "zarr.json" and not os.path.exists(os.path.join(copy, name)):
                os.symlink(os.path.abspath(os.path.join(place, name)), os.path.join(copy, name))
        with open(os.path.join(copy, "zarr.json"), "w") as file:
            json.dump(document, file)
        return opened(copy), lambda values: formed(values, original)


def lists(values, elements):
    """Returns bytes as the lists of elements that they encode, according to the attribute."""
    values = np.asarray(values)
    made = np.empty(values.size, object)
    inner = elements.get("list_of") if isinstance(elements, dict) else None
    made[:] = [each if inner else list(np.frombuffer(each, numpy_type(elements))) for each in map(bytes, values.ravel())]
    return made.reshape(values.shape)


def numpy_type(kind):
    """Returns the NumPy type of a Zarr type, in little-endian order."""
    if isinstance(kind, dict) and kind["name"] in ("struct", "structured"):
        return np.dtype([(field["name"], numpy_type(field["data_type"])) for field in kind["configuration"]["fields"]])
    if isinstance(kind, dict):
        return np.dtype(f"S{kind['configuration']['length_bytes']}")
    if bits := re.fullmatch(r"r(\d+)", kind):
        return np.dtype(f"V{int(bits[1]) // 8}")
    return np.dtype(kind).newbyteorder("<")


def opened(place):
    # A path with `#` would count as a URL.
    return zarr.open_array(zarr.storage.LocalStore(place, read_only=True), mode="r")


def not_json(text):
    raise AssertionError(f"a document has {text}, which is not JSON")


def known(kind, fill):
    """Returns a data type that zarr-python supports, as a substitute for an unsupported one."""
    if isinstance(kind, str) and (bits := re.fullmatch(r"r(\d+)", kind)):
        size = int(bits[1]) // 8
        raw = bytes(fill) if isinstance(fill, list) else base64.b64decode(fill or "")
        return {"name": "null_terminated_bytes", "configuration": {"length_bytes": size}}, base64.b64encode(raw.rstrip(b"\0")).decode()
    if kind == "bfloat16":
        return "uint16", 0
    if isinstance(kind, dict) and kind["name"] in ("struct", "structured"):
        fields, fills = [], {}
        for field in kind["configuration"]["fields"]:
            field_fill = fill.get(field["name"]) if isinstance(fill, dict) else None
            other, fills[field["name"]] = known(field["data_type"], field_fill)
            fields.append({"name": field["name"], "data_type": other})
        return {"name": kind["name"], "configuration": {"fields": fields}}, fills if isinstance(fill, dict) else fill
    return kind, fill


def formed(values, kind):
    """Returns elements of a type that zarr-python does not support, in the form of h5py."""
    if isinstance(kind, str) and kind.startswith("r"):
        return np.asarray(values).view(f"V{int(kind[1:]) // 8}")
    if kind == "bfloat16":
        return (np.asarray(values).astype("u4") << 16).view("f4")
    if isinstance(kind, dict) and kind["name"] in ("struct", "structured"):
        fields = {field["name"]: formed(np.ascontiguousarray(values[field["name"]]), field["data_type"]) for field in kind["configuration"]["fields"]}
        made = np.zeros(np.shape(values), [(name, field.dtype) for name, field in fields.items()])
        for name, field in fields.items():
            made[name] = field
        return made
    return values
