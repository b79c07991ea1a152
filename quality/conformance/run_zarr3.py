"""zarr-python 3 as a participant; see `common.py`."""

import json

import numcodecs
import zarr
from zarr.dtype import VariableLengthBytes, VariableLengthUTF8

import common
import variable


zarr.config.set({"array.rectilinear_chunks": True})

# The codecs that convert arrays to bytes.
TO_BYTES = ("bytes", "sharding_indexed", "vlen-utf8", "vlen-bytes", "numcodecs.pcodec", "numcodecs.zfpy")


class Zarr3(common.Program):
    name = "zarr-python 3"
    packages = {"zarr": zarr.__version__, "numcodecs": numcodecs.__version__}

    def create(self, path, cell):
        if "grid" not in cell:
            return self.create_with(path, cell, cell["shape"], cell["chunks"])
        # zarr-python rejects a grid with more chunks than an array needs, but keeps such chunks when the array shrinks.
        full = [sum(each) if isinstance(each, list) else n for n, each in zip(cell["shape"], cell["grid"])]
        return self.resize(self.create_with(path, cell, full, cell["grid"]), cell["shape"])

    def create_with(self, path, cell, shape, chunks):
        return zarr.create_array(
            store=path,
            shape=shape,
            chunks=chunks,
            dtype=data_type(cell),
            fill_value=common.fill_value(cell),
            zarr_format=cell["format"],
            attributes=cell["attributes"],
            chunk_key_encoding=cell["key_encoding"],
            dimension_names=cell["dimension_names"],
            config=config(cell),
            **(v2_codecs(cell) if cell["format"] == 2 else v3_codecs(cell)),
        )

    def open(self, path, cell):
        return zarr.open_array(path, mode="r+", zarr_format=cell["format"], config=config(cell))

    def assign(self, array, region, values):
        array[region] = common.padded_as(values, array.dtype)

    def resize(self, array, shape):
        array.resize(tuple(shape))
        return array

    def read(self, array, selection):
        return array[selection]

    def set_attributes(self, array, attributes):
        array.attrs.put(attributes)

    def describe(self, array, cell):
        known = {
            "shape": list(array.shape),
            "fill value": common.hexadecimal(array.fill_value, cell),
            "attributes": dict(array.attrs),
        }
        metadata = array.metadata
        if cell["format"] == 2:
            return known | {
                "chunks": list(metadata.chunks),
                "dtype": "|O" if variable.is_variable(cell) else common.described(array.dtype),
                "order": common.order(cell, metadata.order),
                "filters and compressor": common.v2_chain(
                    [codec.get_config() for codec in metadata.filters or []],
                    metadata.compressor and metadata.compressor.get_config(),
                ),
                "separator": metadata.dimension_separator,
            }
        if "grid" in cell:
            known["grid"] = [list(each) if isinstance(each, tuple) else each for each in metadata.chunk_grid.chunk_shapes]
        else:
            known["chunks"] = list(metadata.chunk_grid.chunk_shape)
        return known | {
            "data type": metadata.data_type.to_json(zarr_format=3),
            "codecs": common.normal(json.loads(json.dumps([codec.to_dict() for codec in metadata.codecs]))),
            "dimension names": common.names(metadata.dimension_names),
            "keys": {
                "name": metadata.chunk_key_encoding.name,
                "separator": metadata.chunk_key_encoding.separator,
            },
        }

    def create_group(self, path, cell):
        zarr.create_group(path, zarr_format=cell["format"], attributes=cell["attributes"])

    def set_group_attributes(self, path, cell, attributes):
        zarr.open_group(path, mode="r+").attrs.put(attributes)

    def describe_group(self, path, cell):
        group = zarr.open_group(path, mode="r")
        return {"attributes": dict(group.attrs), "members": sorted(group)}


def data_type(cell):
    by_elements = {"text": VariableLengthUTF8(), "bytes": VariableLengthBytes()}
    return by_elements[cell["elements"]] if variable.is_variable(cell) else common.dtype_v2(cell)


def config(cell):
    """Sets the option to keep every chunk: if a part of a complex fill value is NaN, zarr-python 3 drops a
        chunk as empty whatever the other parts of its elements are."""
    return {"write_empty_chunks": common.dtype(cell).kind == "c"}


def v2_codecs(cell):
    filters = cell["filters"] and [numcodecs.get_codec(dict(codec)) for codec in cell["filters"]]
    compressor = cell["compressor"] and numcodecs.get_codec(dict(cell["compressor"]))
    return {"order": cell["order"], "filters": filters, "compressors": compressor}


def v3_codecs(cell):
    """Splits the chain at the codec that converts elements to bytes."""
    # numcodecs' codecs must have a configuration, even if it is empty.
    codecs = [{"configuration": {}} | codec for codec in cell["codecs"]]
    cut = next(k for k, codec in enumerate(codecs) if codec["name"] in TO_BYTES)
    return {"filters": codecs[:cut], "serializer": codecs[cut], "compressors": codecs[cut + 1 :]}


if __name__ == "__main__":
    common.main(Zarr3())
