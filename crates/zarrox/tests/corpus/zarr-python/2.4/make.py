"""Writes nested hierarchies of zarr-python before its metadata had a separator. README.md has the commands."""

import os
import sys

import numcodecs
import numpy as np
import zarr

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import record  # noqa: E402

corpus = record.Corpus(
    __file__, "zarr-python %s, numcodecs %s, NumPy %s" % (zarr.__version__, numcodecs.__version__, np.__version__)
)


def write(root, name, values, fill=None, region=Ellipsis, **options):
    values = np.asarray(values)
    options.setdefault("compressor", None)
    array = root.create_dataset(name, shape=values.shape, dtype=values.dtype, fill_value=fill, **options)
    array[region] = values[region]
    document = array.store[array.path + "/.zarray"]
    assert b"dimension_separator" not in document
    assert record.same(array[...], values), (name, array[...])
    corpus.array(array.path, values, fill=array.fill_value)


grid = np.arange(20, dtype="<i4").reshape(4, 5)
cube = np.arange(60, dtype=">u2").reshape(3, 4, 5)
sparse = np.full((4, 6), 7, "<f4")
sparse[2:, 4:] = 1
for name, store in [("nested.zarr", zarr.NestedDirectoryStore), ("flat.zarr", zarr.DirectoryStore)]:
    root = zarr.group(store(corpus.hierarchy(name)))
    write(root, "grid", grid, chunks=(2, 3))
    write(root, "columns", grid, chunks=(2, 3), order="F", compressor=numcodecs.Zlib(1))
    write(root, "cube", cube, chunks=(2, 4, 3), compressor=numcodecs.Blosc())
    write(root, "line", np.arange(5, dtype="<f8"), chunks=(2,))
    write(root, "scalar", np.array(3, "<i2"))
    # The first chunk was never stored.
    write(root, "sparse", sparse, fill=7, region=(slice(2, 4), slice(4, 6)), chunks=(2, 2))
    write(root, "never_written", np.full((3, 3), 1.5), fill=1.5, region=(slice(0, 0), slice(0, 0)), chunks=(2, 2))
    write(root, "deep/er/grid", grid, chunks=(2, 3))
    corpus.group("deep", ["er"])
    corpus.group("deep/er", ["grid"])
    corpus.group("", list(root.keys()))
# The array itself is the root.
path = corpus.hierarchy("nested_array.zarr")
array = zarr.create(shape=(4, 5), chunks=(2, 3), dtype="<i4", store=zarr.NestedDirectoryStore(path), compressor=None)
array[:] = grid
corpus.array("", grid, fill=0)
corpus.save()
