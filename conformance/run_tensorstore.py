"""TensorStore as a participant; see `common.py`. It knows arrays only: no groups."""

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
        if common.is_n5(cell):
            return ts.open(self.spec(path, cell) | {"metadata": n5_metadata(cell)}, create=True).result().T
        metadata = v2_metadata(cell) if cell["format"] == 2 else v3_metadata(cell)
        return ts.open(self.spec(path, cell) | {"metadata": metadata}, create=True).result()

    def open(self, path, cell):
        array = ts.open(self.spec(path, cell), open=True).result()
        # N5 names the axes in the reverse of NumPy's order.
        return array.T if common.is_n5(cell) else array

    def assign(self, array, region, values):
        array[region].write(raw_bytes(values)).result()

    def resize(self, array, shape):
        return array.resize(exclusive_max=list(shape) + [None] * (array.rank - len(shape))).result()

    def shape(self, array):
        return array.shape[:-1] if is_raw(array) else array.shape

    def read(self, array, selection):
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
                "dtype": metadata["dtype"],
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


def is_raw(array):
    """Raw types come as single bytes with one more dimension."""
    return array.dtype.name in ("byte", "char")


def raw_bytes(values):
    if not common.is_string(values.dtype):
        return values
    part = np.dtype(f"{values.dtype.kind}1")
    return np.frombuffer(values.tobytes(), part).reshape(*values.shape, values.dtype.itemsize)


def fill(array, value):
    if value is None:
        return None
    return base64.b64decode(value).hex() if is_raw(array) else np.asarray(array.fill_value).tobytes().hex()


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
        "dtype": common.dtype_v2(cell).str,
        # With fewer than two dimensions both orders are one, and only "C" is taken.
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
    if value is None or not common.is_string(common.dtype(cell)):
        return value
    return base64.b64encode(np.asarray(common.fill_value(cell), common.dtype(cell)).tobytes()).decode()


if __name__ == "__main__":
    common.main(TensorStore())
