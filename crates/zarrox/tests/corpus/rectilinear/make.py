"""Writes arrays on rectilinear grids with zarr-python; README.md has the commands."""

import os
import sys

import numpy as np
import zarr

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import pack  # noqa: E402

zarr.config.set({"array.rectilinear_chunks": True})
root = pack.begin(HERE)


def create(name, shape, chunks, **options):
    options = {"dtype": "int32", "compressors": None, "fill_value": -1} | options
    array = zarr.create_array(f"{root}/{name}", shape=shape, chunks=chunks, overwrite=True, **options)
    return array, np.arange(np.prod(shape), dtype=array.dtype).reshape(shape)


# Lists, runs and a length that is repeated.
array, values = create("plain", (10, 7, 5), [[3, 3, 3, 1], [2, 5], 2])
array[:] = values

# Shrunk: the grid has more chunks than the shape needs, and one that crosses its border.
array, values = create("surplus", (17,), [[2, 2, 5, 4, 4]])
array[:] = values
array.resize((8,))

# Only some chunks are stored.
array, values = create("partial", (6, 6), [[1, 2, 3], [4, 2]], compressors=[zarr.codecs.GzipCodec(level=5)])
array[1:3, 3:] = values[1:3, 3:]

# Shards of different shapes, and inner chunks of a single shape.
array, values = create("sharded", (10, 6), [2, 3], shards=[[4, 2, 4], [3, 3]])
array[1:9] = values[1:9]

# Column-major chunks in big-endian order.
array, values = create(
    "transposed",
    (7, 4),
    [[1, 4, 2], [3, 1]],
    filters=[zarr.codecs.TransposeCodec(order=(1, 0))],
    serializer=zarr.codecs.BytesCodec(endian="big"),
)
array[:] = values

# Grown by zarr-python, which adds a chunk to a list.
array, values = create("grown", (5,), [[2, 3]])
array[:] = values
array.append(np.arange(5, 9, dtype="int32"))

pack.pack(HERE)
