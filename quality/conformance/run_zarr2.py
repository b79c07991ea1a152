"""zarr-python 2 as a participant; see `common.py`."""

import os
import re
import sys
import types

# The experimental v3 must be enabled before the import.
os.environ |= {"ZARR_V3_EXPERIMENTAL_API": "1", "ZARR_V3_SHARDING": "1"}
# To read a transformed store, zarr-python imports a class of its own tests, and thereby its test framework.
unneeded = types.ModuleType("zarr.tests.test_storage_v3")
unneeded.DummyStorageTransfomer = type("DummyStorageTransfomer", (), {"extension_uri": None})
sys.modules[unneeded.__name__] = unneeded

import numcodecs
import zarr
from zarr._storage.v3 import DirectoryStoreV3
from zarr._storage.v3_storage_transformers import ShardingStorageTransformer

import common


def place(path, cell):
    """Returns the store and the path in it: for the experimental v3 and N5, one store contains all cells."""
    if common.is_n5(cell):
        root, inside = re.fullmatch(r"(.*/n5)/?(.*)", path).groups()
        return {"store": zarr.N5Store(root), "path": inside}
    if not cell.get("experimental"):
        return {"store": zarr.DirectoryStore(path)}
    _, _, inside = cell["id"].partition("/")
    return {"store": DirectoryStoreV3(path[: len(path) - len(inside)]), "path": inside}


def users(node):
    """Returns the user's attributes, which in the experimental v3 include the filters. Replacing attributes keeps the filters."""
    return {name: value for name, value in node.attrs.asdict().items() if name != "filters"}


def per_shard(array):
    """Returns the number of chunks that are stored together along each dimension."""
    return getattr(array._transformed_chunk_store, "chunks_per_shard", [1] * array.ndim)


class Zarr2(common.Program):
    name = "zarr-python 2"
    packages = {"zarr": zarr.__version__, "numcodecs": numcodecs.__version__}

    def create(self, path, cell):
        if common.is_n5(cell):
            return self.create_n5(path, cell)
        filters = cell["filters"] and [numcodecs.get_codec(dict(codec)) for codec in cell["filters"]]
        inner = cell.get("inner_chunks")
        per_shard = inner is not None and [outer // chunk for outer, chunk in zip(cell["chunks"], inner)]
        array = zarr.create(
            **place(path, cell),
            shape=cell["shape"],
            chunks=cell["chunks"] if inner is None else inner,
            storage_transformers=[ShardingStorageTransformer("indexed", per_shard)] if per_shard else [],
            dtype=common.dtype_v2(cell),
            compressor=cell["compressor"] and numcodecs.get_codec(dict(cell["compressor"])),
            filters=filters,
            order=cell["order"],
            fill_value=common.fill_value(cell),
            dimension_separator=cell["key_encoding"]["separator"],
        )
        if cell["attributes"]:
            array.attrs.put(cell["attributes"])
        return array

    def create_n5(self, path, cell):
        array = zarr.create(
            **place(path, cell),
            shape=cell["shape"],
            chunks=cell["chunks"],
            dtype=common.dtype(cell),
            compressor=cell["compressor"] and numcodecs.get_codec(dict(cell["compressor"])),
            fill_value=0,
        )
        if cell["attributes"]:
            array.attrs.put(cell["attributes"])
        return array

    def open(self, path, cell):
        if cell["format"] == 1:
            store = dict(zarr.DirectoryStore(path))
            zarr.storage.migrate_1to2(store)
            return zarr.open_array(store)
        return zarr.open_array(**place(path, cell), mode="r+")

    def assign(self, array, region, values):
        array[region] = common.padded_as(values, array.dtype)

    def resize(self, array, shape):
        array.resize(shape)
        return array

    def read(self, array, selection):
        return array[selection]

    def set_attributes(self, array, attributes):
        array.attrs.put(attributes)

    def describe(self, array, cell):
        if common.is_n5(cell):
            return {
                "shape": list(array.shape),
                "chunks": list(array.chunks),
                "data type": array.dtype.name,
                "fill value": common.hexadecimal(array.fill_value, cell),
                "attributes": array.attrs.asdict(),
                "compressor": common.v2_chain(None, array.compressor.compressor_config),
            }
        return {
            "shape": list(array.shape),
            "chunks": [chunk * count for chunk, count in zip(array.chunks, per_shard(array))],
            "dtype": common.described(array.dtype),
            "fill value": common.hexadecimal(array.fill_value, cell),
            "attributes": users(array),
            "order": common.order(cell, array.order),
            "filters and compressor": common.v2_chain(
                [codec.get_config() for codec in array.filters or []],
                array.compressor and array.compressor.get_config(),
            ),
            "separator": array._dimension_separator,
        }

    def create_group(self, path, cell):
        zarr.group(**place(path, cell)).attrs.put(cell["attributes"])

    def set_group_attributes(self, path, cell, attributes):
        zarr.open_group(**place(path, cell), mode="r+").attrs.put(attributes)

    def describe_group(self, path, cell):
        group = zarr.open_group(**place(path, cell), mode="r")
        return {"attributes": users(group), "members": sorted(group)}


if __name__ == "__main__":
    common.main(Zarr2())
