"""Exchanges tables: tables of pandas, pyarrow and polars are imported, exported again, and compared by all three.

    python run_tables.py COMMAND DIRECTORY

COMMAND is the program `zarrox`. The files are written by table_files.py into DIRECTORY.
"""

import os
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import zarr

import table_files

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from each_file import prepare, try_all, zarrox  # noqa: E402

DIRECTORY = sys.argv[2]


def same(ours, theirs, where):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if theirs.dtype == object or ours.dtype == object or ours.dtype.kind == "T":
        assert list(map(text, ours)) == list(map(text, theirs)), where
        return
    if theirs.dtype.kind == "V":
        assert ours.tobytes() == theirs.tobytes(), where
        return
    np.testing.assert_array_equal(ours, theirs, err_msg=where)


def text(value):
    return "" if value is None else value if isinstance(value, bytes) else str(value)


def exchange(path):
    """Imports a file, and exports the result as both kinds of tables."""
    stem = os.path.join(DIRECTORY, "made", os.path.basename(path))
    zarrox("import", path, stem + ".zarr")
    root = zarr.open_group(stem + ".zarr", mode="r")
    expected = table_files.expected(path)
    found = {name for name in os.listdir(stem + ".zarr") if name != "zarr.json"}
    assert found == set(expected), f"{path}: {sorted(found)}"
    for name, values in expected.items():
        # zarr-python does not support elements of raw bytes.
        if values.dtype.kind != "V":
            same(root[name][...], values, f"{path}: {name} in Zarr")
    zarrox("export", stem + ".zarr", stem + ".parquet")
    check_parquet(stem + ".parquet", expected)
    if not path.endswith(".parquet"):
        zarrox("export", stem + ".zarr", stem + ".csv")
        check_csv(stem + ".csv", expected)
    print(f"{os.path.basename(path)}: {len(expected)} columns")


def check_parquet(path, expected):
    """Checks that pyarrow, pandas and polars read the values."""
    table = pq.read_table(path)
    assert table.column_names == list(expected), f"{path}: {table.column_names}"
    frame, polars = pd.read_parquet(path), pl.read_parquet(path)
    assert list(frame.columns) == polars.columns == list(expected)
    for name, values in expected.items():
        where = f"{path}: {name} exported"
        ours = table_files.plain(table[name])
        if values.dtype.kind == "m":
            values = values.astype("i8")
        if values.dtype == "i1" and name == "flag":
            values = np.where(values < 0, np.nan, values)
        same(ours, values, where)
        if values.dtype.kind == "M":
            assert polars[name].null_count() == np.isnat(values).sum() == frame[name].isna().sum(), where
        elif values.dtype.kind in "iub" and polars[name].null_count() == 0:
            same(polars[name].to_numpy(), values, where)
            same(frame[name].to_numpy(), values, where)


def check_csv(path, expected):
    """Checks that pandas and polars read the values."""
    found = table_files.expected(path)
    assert list(found) == list(expected), f"{path}: {list(found)}"
    for name, values in expected.items():
        same(found[name], values, f"{path}: {name} exported")
    polars = pl.read_csv(path, infer_schema_length=None)
    for name, values in expected.items():
        if values.dtype.kind in "ib":
            same(polars[name].to_numpy(), values, f"{path}: {name} in polars")


def main():
    prepare(DIRECTORY)
    try_all(table_files.write(os.path.join(DIRECTORY, "written")), exchange)


if __name__ == "__main__":
    main()
