"""Writes the references in Parquet of this directory, with kerchunk 0.2.10, fsspec 2026.9.0 and fastparquet 2026.9.0.

    python make.py

`mixed.parq` has files with few references of each kind, three in a file; `many.parq` has so many references to one object that the URL of
the object is in a dictionary.
"""

import json
import pathlib
import shutil

from kerchunk.df import refs_to_dataframe

HERE = pathlib.Path(__file__).parent


def array(shape, chunks):
    members = {"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "|u1", "fill_value": 9, "order": "C"}
    return json.dumps({**members, "filters": None, "compressor": None})


def write(name, references, record_size):
    shutil.rmtree(HERE / name, ignore_errors=True)
    refs_to_dataframe({"version": 1, "refs": references}, str(HERE / name), record_size=record_size)


write(
    "mixed.parq",
    {
        ".zgroup": json.dumps({"zarr_format": 2}),
        "a/.zarray": array([4, 4], [2, 2]),
        "a/0.0": ["data.bin", 2, 4],
        "a/0.1": "text",
        "a/1.0": "base64:AAEC/w==",
        "a/1.1": ["other.bin"],
        "g/.zgroup": json.dumps({"zarr_format": 2}),
        "g/scalar/.zarray": array([], []),
        "g/scalar/0": ["data.bin", 5, 1],
        "sparse/.zarray": array([20], [2]),
        "sparse/7": ["data.bin", 0, 2],
    },
    3,
)
write(
    "many.parq",
    {
        ".zgroup": json.dumps({"zarr_format": 2}),
        "a/.zarray": array([40], [1]),
        **{f"a/{n}": [f"data.bin", n % 10, 1] for n in range(40) if n != 5},
    },
    100,
)
