"""Writes objects of zarr-python 2.2 with numcodecs 0.5, and their expected values. README.md has the commands."""

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
root = zarr.group(zarr.DirectoryStore(corpus.hierarchy("objects.zarr")))


def write(name, values, codec, shape=None, read_back=True, **options):
    array = np.empty(len(values), object)
    array[:] = values
    values = array.reshape(shape or array.shape)
    chunks = options.pop("chunks", values.shape)
    array = root.create_dataset(name, shape=values.shape, chunks=chunks, dtype=object, object_codec=codec, **options)
    array[:] = values
    assert not read_back or array[:].tolist() == values.tolist(), (name, array[:])
    corpus.objects(name, values, "object")


texts = ["", "a", "caf\u00e9 \U0001f9ca", "x" * 30]
# Elements must not all be lists of the same length: numcodecs 0.5 would interpret these as dimensions.
things = ["text", 7, -1.5, True, None, {"a": [1, None]}, [1, 2]]
for name, codec in [("json", numcodecs.JSON()), ("msgpack", numcodecs.MsgPack())]:
    assert codec.codec_id == name
    write(name + "_texts", texts, codec, compressor=None)
    write(name + "_things", things, codec, compressor=numcodecs.Zlib(1), chunks=(3,))
    write(name + "_things_raw", things, codec, compressor=None, chunks=(7,))
    write(name + "_2d", texts + ["e", "f"], codec, shape=(2, 3), chunks=(2, 2), compressor=None)
    write(
        name + "_columns",
        texts + ["e", "f"],
        codec,
        shape=(2, 3),
        chunks=(2, 3),
        order="F",
        compressor=None,
        read_back=False,
    )
    write(name + "_numbers", list(range(5)), codec, compressor=None)
corpus.group("", list(root.keys()))
corpus.save()
