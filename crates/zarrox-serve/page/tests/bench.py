"""Creates the arrays for bench.mjs: `bench.py DIRECTORY`.

`climate.zarr` and `plenty.zarr` are those of the tests. Each of the other arrays has 10000 by 10000 by 100 numbers of four bytes, 40 GB. The values repeat along the last dimension, so that most chunks
are links to the first ones: the arrays take less than 2 GB on the disk.
"""

import os
import pathlib
import sys

import make as tests
import numpy as np
import zarr
from zarr.codecs import ZstdCodec

SHAPE = (10_000, 10_000, 100)


def values(rows, layers):
    """Returns a smooth field with some noise, in the precision of measurements. zstd halves its size."""
    y, x = np.arange(rows.start, rows.stop)[:, None], np.arange(SHAPE[1])[None, :]
    field = 280 + 20 * np.sin(y / 900) * np.cos(x / 700)
    noise = np.random.default_rng(rows.start).normal(0, 0.5, field.shape)
    return np.round((field + noise)[..., None] + np.arange(layers) * 0.25, 1).astype("f4")


def make(path, chunks, layers):
    """Writes a number of layers, and links all other layers to them."""
    array = zarr.create_array(path, shape=SHAPE, dtype="f4", chunks=chunks, compressors=ZstdCodec(level=1), fill_value=0)
    for start in range(0, SHAPE[0], chunks[0]):
        rows = slice(start, start + chunks[0])
        array[rows, :, :layers] = values(rows, layers)
    written = layers // chunks[2]
    for row in sorted((path / "c").iterdir()):
        for column in row.iterdir():
            for layer in range(written, SHAPE[2] // chunks[2]):
                os.link(column / str(layer % written), column / str(layer))


if __name__ == "__main__":
    directory = pathlib.Path(sys.argv[1])
    tests.climate(directory / "climate.zarr")
    tests.plenty(directory / "plenty.zarr")
    make(directory / "planes.zarr", (1000, 1000, 1), 2)
    make(directory / "blocks.zarr", (250, 250, 25), 25)
