"""zarrs as a participant; see `common.py`. Its program is built by `cargo xtask conformance`, which sets its path in a variable."""

import base64
import os

import ml_dtypes  # noqa: F401, it gives NumPy the small floats and integers
import numpy as np

import common
import variable
import zarrs_client

PROGRAM = zarrs_client.Zarrs(os.environ["ZARRS_PROGRAM"])


class Node:
    """An array, with the operations of zarrs on it."""

    def __init__(self, path, cell):
        self.path, self.cell = path, cell
        self.metadata = PROGRAM.call("describe", path)["metadata"]
        self.shape = tuple(self.metadata["shape"])

    def read_box(self, start, shape):
        answer = PROGRAM.read(self.path, "/", start, shape)
        if variable.is_variable(self.cell):
            elements = [base64.b64decode(element) for element in answer["elements"]]
            return variable.array_of([decoded(self.cell, element) for element in elements], shape)
        return np.frombuffer(base64.b64decode(answer["bytes"]), common.dtype(self.cell)).reshape(shape).copy()

    def write_box(self, start, values):
        if variable.is_variable(self.cell) and not self.shape:
            values = variable.array_of([values if isinstance(values, (str, bytes)) else values[()]], ())
        PROGRAM.write(self.path, "/", start, values.shape, request(self.cell, values))

    def read(self, selection):
        return self.read_box([0] * len(self.shape), self.shape)[selection]

    def assign(self, region, values):
        """Writes a box at once; for a region with steps, the bounding box is read and written."""
        if any(part.start >= part.stop for part in region):
            return
        start = [part.start for part in region]
        box = [part.stop - part.start for part in region]
        if all(part.step == 1 for part in region):
            return self.write_box(start, values)
        around = self.read_box(start, box)
        around[tuple(slice(None, None, part.step) for part in region)] = values
        self.write_box(start, around)


def decoded(cell, element):
    return element.decode() if cell["elements"] == "text" else element


def request(cell, values):
    if not variable.is_variable(cell):
        return zarrs_client.fixed(np.ascontiguousarray(values).tobytes())
    return zarrs_client.varied(
        each.encode() if cell["elements"] == "text" else each for each in values.reshape(-1)
    )


class Zarrs(common.Program):
    name = "zarrs"
    packages = {"zarrs": "0.23.14"}

    def create(self, path, cell):
        PROGRAM.create(path, "/", metadata(cell))
        return Node(path, cell)

    def open(self, path, cell):
        return Node(path, cell)

    def assign(self, array, region, values):
        array.assign(region, values)

    def resize(self, array, shape):
        PROGRAM.call("resize", array.path, shape=list(shape))
        return Node(array.path, array.cell)

    def read(self, array, selection):
        return array.read(selection)

    def set_attributes(self, array, attributes):
        PROGRAM.call("attributes", array.path, value=attributes)

    def describe(self, array, cell):
        metadata = array.metadata
        keys = metadata["chunk_key_encoding"]
        separator = {"default": "/", "v2": "."}[keys["name"]]
        known = {
            "shape": list(array.shape),
            "attributes": metadata.get("attributes", {}),
            "codecs": common.normal(metadata["codecs"]),
            "dimension names": common.names(metadata.get("dimension_names")),
            "keys": {"name": keys["name"], "separator": keys.get("configuration", {}).get("separator", separator)},
        }
        if "grid" not in cell:
            known["chunks"] = metadata["chunk_grid"]["configuration"]["chunk_shape"]
        return known

    def create_group(self, path, cell):
        PROGRAM.call("create_group", path, attributes=cell["attributes"])

    def set_group_attributes(self, path, cell, attributes):
        PROGRAM.call("create_group", path, attributes=attributes)

    def describe_group(self, path, cell):
        group = PROGRAM.call("describe_group", path)
        return {"attributes": group["attributes"], "members": sorted(group["members"])}


def metadata(cell):
    names = {} if cell["dimension_names"] is None else {"dimension_names": cell["dimension_names"]}
    grid = {"name": "regular", "configuration": {"chunk_shape": cell["chunks"]}}
    if "grid" in cell:
        grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": cell["grid"]}}
    keys = cell["key_encoding"]
    return names | {
        "zarr_format": 3,
        "node_type": "array",
        "shape": cell["shape"],
        "data_type": cell["data_type"],
        "chunk_grid": grid,
        "chunk_key_encoding": {"name": keys["name"], "configuration": {"separator": keys["separator"]}},
        "codecs": cell["codecs"],
        "fill_value": cell["fill_value"],
        "attributes": cell["attributes"],
    }


if __name__ == "__main__":
    common.main(Zarrs())
