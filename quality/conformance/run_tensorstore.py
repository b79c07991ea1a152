"""TensorStore as a participant; see `common.py`. It supports only arrays, not groups."""

import base64
import importlib.metadata

import numpy as np
import tensorstore as ts

import common


class TensorStore(common.Program):
    name = "tensorstore"
    packages = {"tensorstore": importlib.metadata.version("tensorstore")}

    def spec(self, path, cell):
        if common.is_n5(cell):
            return {"driver": "n5", "kvstore": {"driver": "file", "path": path}}
        driver = "zarr" if cell["format"] == 2 else "zarr3"
        return {"driver": driver, "kvstore": {"driver": "file", "path": path}}

    def create(self, path, cell):
        if common.is_structure(common.dtype(cell)):
            return Records.create(self, path, cell)
        if common.is_n5(cell):
            return ts.open(self.spec(path, cell) | {"metadata": n5_metadata(cell)}, create=True).result().T
        metadata = v2_metadata(cell) if cell["format"] == 2 else v3_metadata(cell)
        return ts.open(self.spec(path, cell) | {"metadata": metadata}, create=True).result()

    def open(self, path, cell):
        if common.is_structure(common.dtype(cell)):
            return Records(self.spec(path, cell), cell)
        array = ts.open(self.spec(path, cell), open=True).result()
        # N5 lists the axes in the reverse of NumPy's order.
        return array.T if common.is_n5(cell) else array

    def assign(self, array, region, values):
        if isinstance(array, Records):
            return array.assign(region, values)
        array[region].write(raw_bytes(values)).result()

    def resize(self, array, shape):
        if isinstance(array, Records):
            return array.resize(shape)
        return array.resize(exclusive_max=list(shape) + [None] * (array.rank - len(shape))).result()

    def shape(self, array):
        return array.shape[:-1] if is_raw(array) else array.shape

    def read(self, array, selection):
        if isinstance(array, Records):
            return array.read(selection)
        return array[selection].read().result()

    def describe(self, array, cell):
        metadata = array.spec().to_json()["metadata"]
        if common.is_n5(cell):
            return describe_n5(metadata)
        known = {
            "shape": metadata["shape"],
            "fill value": fill(array, metadata["fill_value"]),
        }
        if cell["format"] == 2:
            return known | {
                "chunks": metadata["chunks"],
                "dtype": common.described(np.dtype([(name, kind) for name, kind in dtype]))
                if isinstance(dtype := metadata["dtype"], list)
                else dtype,
                "order": common.order(cell, metadata["order"]),
                "filters and compressor": common.v2_chain(metadata["filters"], metadata["compressor"]),
                "separator": metadata["dimension_separator"],
            }
        keys = metadata["chunk_key_encoding"]
        separator = {"default": "/", "v2": "."}[keys["name"]]
        return known | {
            "data type": metadata["data_type"],
            "chunks": metadata["chunk_grid"]["configuration"]["chunk_shape"],
            "codecs": common.normal(metadata["codecs"]),
            "dimension names": common.names(metadata.get("dimension_names")),
            "attributes": metadata.get("attributes", {}),
            "keys": {"name": keys["name"], "separator": keys.get("configuration", {}).get("separator", separator)},
        }


class Records:
    """An array of structures: TensorStore has a separate array for each field."""

    def __init__(self, spec, cell):
        self.spec_of_all, self.cell, self.dtype = spec, cell, common.dtype(cell)
        self.fields = {name: ts.open(spec | {"field": name}, open=True).result() for name in self.dtype.names}
        self.first = self.fields[self.dtype.names[0]]
        self.shape, self.rank = self.first.shape, self.first.rank

    @classmethod
    def create(cls, program, path, cell):
        metadata = v2_metadata(cell) if cell["format"] == 2 else v3_metadata(cell)
        first = {"field": cell["dtype"][0][0], "metadata": metadata}
        ts.open(program.spec(path, cell) | first, create=True).result()
        return cls(program.spec(path, cell), cell)

    def spec(self):
        return self.first.spec()

    def assign(self, region, values):
        for name, field in self.fields.items():
            field[region].write(values[name]).result()

    def read(self, selection):
        parts = {name: field[selection].read().result() for name, field in self.fields.items()}
        array = np.zeros(parts[self.dtype.names[0]].shape, self.dtype)
        for name, part in parts.items():
            array[name] = part
        return array

    def resize(self, shape):
        self.first.resize(exclusive_max=list(shape), resize_tied_bounds=True).result()
        return Records(self.spec_of_all, self.cell)

    def fill(self, value):
        if isinstance(value, dict):
            return common.hexadecimal(common.scalar(value, self.dtype), self.cell)
        stored = np.frombuffer(base64.b64decode(value), common.dtype_v2(self.cell))[0]
        return common.hexadecimal(stored, self.cell)


def is_raw(array):
    """Converts raw types, which are single bytes with one more dimension."""
    return not isinstance(array, Records) and array.dtype.name in ("byte", "char")


def raw_bytes(values):
    if not common.is_string(values.dtype):
        return values
    part = np.dtype(f"{values.dtype.kind}1")
    return np.frombuffer(values.tobytes(), part).reshape(*values.shape, values.dtype.itemsize)


def fill(array, value):
    if value is None:
        return None
    if isinstance(array, Records):
        return array.fill(value)
    if is_raw(array):
        return base64.b64decode(value).hex()
    return common.packed(np.asarray(array.fill_value), array.dtype.numpy_dtype).hex()


def n5_metadata(cell):
    return cell["attributes"] | {
        "dimensions": cell["shape"][::-1],
        "blockSize": cell["chunks"][::-1],
        "dataType": cell["data_type"],
        "compression": cell["compression"],
    }


def describe_n5(metadata):
    reserved = ("n5", "dimensions", "blockSize", "dataType", "compression")
    return {
        "shape": metadata["dimensions"][::-1],
        "chunks": metadata["blockSize"][::-1],
        "data type": metadata["dataType"],
        "compression": metadata["compression"],
        "attributes": {name: value for name, value in metadata.items() if name not in reserved},
    }


def v2_metadata(cell):
    return {
        "shape": cell["shape"],
        "chunks": cell["chunks"],
        "dtype": cell.get("dtype", common.dtype_v2(cell).str),
        # With fewer than two dimensions both orders are the same, and only "C" is accepted.
        "order": cell["order"] if len(cell["shape"]) > 1 else "C",
        "filters": cell["filters"],
        "compressor": cell["compressor"],
        "fill_value": base64_if_raw(cell),
        "dimension_separator": cell["key_encoding"]["separator"],
    }


def v3_metadata(cell):
    name, separator = cell["key_encoding"]["name"], cell["key_encoding"]["separator"]
    names = {} if cell["dimension_names"] is None else {"dimension_names": cell["dimension_names"]}
    return names | {
        "shape": cell["shape"],
        "data_type": cell["data_type"],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": cell["chunks"]}},
        "chunk_key_encoding": {"name": name, "configuration": {"separator": separator}},
        "codecs": cell["codecs"],
        "fill_value": base64_if_raw(cell),
        "attributes": cell["attributes"],
    }


def base64_if_raw(cell):
    value = cell["fill_value"]
    if value is None or "dtype" in cell or not common.is_string(common.dtype(cell)):
        return value
    return base64.b64encode(np.asarray(common.fill_value(cell), common.dtype(cell)).tobytes()).decode()


if __name__ == "__main__":
    common.main(TensorStore())
