"""zarr-python 2 as a participant; see `common.py`."""

import re

import numcodecs
import zarr

import common


def n5_store(path):
    """The store of all N5 cells, and the path of one in it: only its root has what the store looks for."""
    root, inside = re.fullmatch(r"(.*/n5)/?(.*)", path).groups()
    return zarr.N5Store(root), inside


def open_group(path, mode):
    if re.search(r"/n5(/|$)", path):
        store, inside = n5_store(path)
        return zarr.open_group(store, path=inside, mode=mode)
    return zarr.open_group(path, mode=mode)


class Zarr2(common.Program):
    name = "zarr-python 2"
    packages = {"zarr": zarr.__version__, "numcodecs": numcodecs.__version__}

    def create(self, path, cell):
        if common.is_n5(cell):
            return self.create_n5(path, cell)
        filters = cell["filters"] and [numcodecs.get_codec(dict(codec)) for codec in cell["filters"]]
        array = zarr.create(
            store=zarr.DirectoryStore(path),
            shape=cell["shape"],
            chunks=cell["chunks"],
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
        store, inside = n5_store(path)
        array = zarr.create(
            store=store,
            path=inside,
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
        if common.is_n5(cell):
            store, inside = n5_store(path)
            return zarr.open_array(store, path=inside, mode="r+")
        if cell["format"] == 1:
            store = dict(zarr.DirectoryStore(path))
            zarr.storage.migrate_1to2(store)
            return zarr.open_array(store)
        return zarr.open_array(path, mode="r+")

    def assign(self, array, region, values):
        array[region] = values

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
                "fill value": common.hexadecimal(array.fill_value, common.dtype(cell)),
                "attributes": array.attrs.asdict(),
                "compressor": common.v2_chain(None, array.compressor.compressor_config),
            }
        return {
            "shape": list(array.shape),
            "chunks": list(array.chunks),
            "dtype": array.dtype.str,
            "fill value": common.hexadecimal(array.fill_value, common.dtype(cell)),
            "attributes": array.attrs.asdict(),
            "order": common.order(cell, array.order),
            "filters and compressor": common.v2_chain(
                [codec.get_config() for codec in array.filters or []],
                array.compressor and array.compressor.get_config(),
            ),
            "separator": array._dimension_separator,
        }

    def create_group(self, path, cell):
        store, inside = n5_store(path) if common.is_n5(cell) else (zarr.DirectoryStore(path), "")
        zarr.group(store, path=inside).attrs.put(cell["attributes"])

    def set_group_attributes(self, path, attributes):
        open_group(path, "r+").attrs.put(attributes)

    def describe_group(self, path):
        group = open_group(path, "r")
        return {"attributes": group.attrs.asdict(), "members": sorted(group)}


if __name__ == "__main__":
    common.main(Zarr2())
