"""zarr-python 2 as a participant; see `common.py`."""

import numcodecs
import zarr

import common


class Zarr2(common.Program):
    name = "zarr-python 2"
    packages = {"zarr": zarr.__version__, "numcodecs": numcodecs.__version__}

    def create(self, path, cell):
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

    def open(self, path, cell):
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
        zarr.group(zarr.DirectoryStore(path)).attrs.put(cell["attributes"])

    def set_group_attributes(self, path, attributes):
        zarr.open_group(path, mode="r+").attrs.put(attributes)

    def describe_group(self, path):
        group = zarr.open_group(path, mode="r")
        return {"attributes": group.attrs.asdict(), "members": sorted(group)}


if __name__ == "__main__":
    common.main(Zarr2())
