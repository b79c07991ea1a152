"""Writes structures of zarr-python 3.1, and their expected values. README.md has the commands."""

import json
import os
import sys
import warnings

import numcodecs
import numpy as np
import zarr
from zarr.codecs import ZstdCodec

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import record  # noqa: E402

warnings.simplefilter("ignore")
corpus = record.Corpus(
    __file__, f"zarr-python {zarr.__version__}, numcodecs {numcodecs.__version__}, NumPy {np.__version__}"
)
root = zarr.open_group(corpus.hierarchy("structured.zarr"), mode="w", zarr_format=3)


def struct(data_type):
    """Returns the legacy type by its current name."""
    if not isinstance(data_type, dict) or data_type["name"] != "structured":
        return data_type
    fields = [{"name": name, "data_type": struct(field)} for name, field in data_type["configuration"]["fields"]]
    return {"name": "struct", "configuration": {"fields": fields}}


def write(name, values, region=Ellipsis, **options):
    values = np.asarray(values)
    options = {"chunks": tuple(max(1, (n + 1) // 2) for n in values.shape), "compressors": None} | options
    array = root.create_array(name, shape=values.shape, dtype=values.dtype, **options)
    array[region] = values[region]
    with open(os.path.join(root.store.root, name, "zarr.json")) as file:
        document = json.load(file)
    assert document["data_type"]["name"] == "structured", document
    assert record.same(zarr.open_array(array.store, path=name, mode="r")[...], values), (name, array[...])
    corpus.array(name, values, fill=array.fill_value, data_type=struct(document["data_type"]))


# Without an endianness in the document, all numbers are little-endian; 3.1 does not record another byte order.
simple = np.array([(1, 1.5, b"abc"), (-2, np.nan, b""), (3, -0.0, b"z")], [("a", "<i4"), ("b", "<f8"), ("c", "S3")])
write("simple", simple)
write("bytes_only", np.array([(1, 2, b"ab"), (255, 0, b"")], [("r", "u1"), ("g", "i1"), ("b", "S2")]))
nested = np.array([(1, (2, 0.5)), (3, (4, 1.5))], [("id", "<u4"), ("inner", [("x", "<i2"), ("y", "<f4")])])
write("nested", nested)
mixed = [("f", "?"), ("t", "<U2"), ("w", "<M8[s]"), ("r", "V2")]
mixed = np.array([(True, "éb", 5, b"\1\2"), (False, "", -7, b"\xff\0")], mixed)
write("mixed", mixed, fill_value=mixed[0])
write("fill", np.array([simple[0], simple[2], simple[2]]), region=slice(0, 1), chunks=(1,), fill_value=simple[2])
write("grid", np.stack([simple, simple[::-1]]), chunks=(2, 2), compressors=ZstdCodec())
corpus.groups()
corpus.save()
