"""Writes tables with pandas, pyarrow and polars, and a description of their content: `expected.json`.

    python make.py

The files are those of `quality/conformance/files/tables/table_files.py`. Runs in the environment of `quality/conformance/requirements/files.txt`.
"""

import base64
import decimal
import json
import os
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..", "..")
sys.path += [os.path.join(ROOT, "quality", "conformance", "files", "tables"), os.path.join(ROOT, "crates/zarrox/tests/corpus")]

import pack  # noqa: E402
import table_files  # noqa: E402


def described(values):
    """Returns the elements of a column: little-endian bytes, or a list of the elements."""
    if values.dtype == object:
        elements = [value.encode() if isinstance(value, str) else value for value in values]
        return {"elements": [base64.b64encode(element).decode() for element in elements]}
    little = values.astype(values.dtype.newbyteorder("<"))
    return {"type": str(np.dtype(values.dtype)), "bytes": base64.b64encode(little.tobytes()).decode()}


def write_lists(data):
    """Writes columns of lists and decimals, and their values as pyarrow reads them: `lists.json`."""
    count = 3000
    numbers = np.arange(count * 3)
    lists = [row.tolist() for row in numbers.reshape(count, 3)]
    missing = [[None if n % 7 == 0 else n for n in row] for row in lists]
    words = [[f"t{n}" for n in row] for row in lists]

    def decimals(precision, scale):
        values = [decimal.Decimal(int(n) - 4000).scaleb(-scale) for n in numbers[:count]]
        return pa.array(values, pa.decimal128(precision, scale))

    columns = {
        "int": pa.array(lists, pa.list_(pa.int16())),
        "fixed": pa.array(lists, pa.list_(pa.float32(), 3)),
        "missing": pa.array(missing, pa.list_(pa.int64())),
        "text": pa.array(words, pa.list_(pa.string())),
        "dec9": decimals(9, 2),
        "dec18": decimals(18, 3),
        "dec0": decimals(12, 0),
        "plain": pa.array(numbers[:count], pa.int32()),
        "ragged": pa.array([[1] * (n % 2 + 1) for n in range(count)], pa.list_(pa.int8())),
        "none": pa.array([None if n == 5 else [1, 2] for n in range(count)], pa.list_(pa.int8())),
        "deep": pa.array([[[1]]] * count, pa.list_(pa.list_(pa.int8()))),
        "dec38": decimals(38, 2),
    }
    for name, options in {
        "lists": {},
        "lists2": {"data_page_version": "2.0", "compression": "zstd", "row_group_size": 700, "data_page_size": 500},
        "lists3": {"store_decimal_as_integer": True, "use_compliant_nested_type": False, "write_statistics": False},
    }.items():
        pq.write_table(pa.table(columns), os.path.join(data, name + ".parquet"), **options)
    with open(os.path.join(data, "lists.json"), "w") as file:
        json.dump({name: column.to_pylist() for name, column in columns.items()}, file, default=str)


def write_instants(data):
    """Writes timestamps of 96 bits that exceed the range of nanoseconds, and their values as pyarrow reads them: `instants.json`."""
    year = 31_556_952_000_000
    columns = {
        "near": pa.array([0, -1, None, 1_704_141_296_123_456], pa.timestamp("us")),
        "far": pa.array([5, -1, None, 8029 * year], pa.timestamp("us")),
        "old": pa.array([7, -6000 * year, 3, -1], pa.timestamp("us")),
        "lone": pa.array([None, None, None, 700_000 * year // 1000], pa.timestamp("ms")),
        "none": pa.array([None] * 4, pa.timestamp("us")),
    }
    pq.write_table(pa.table(columns), os.path.join(data, "instants.parquet"), use_deprecated_int96_timestamps=True)
    counts = {name: {"unit": column.type.unit, "counts": column.cast("int64").to_pylist()} for name, column in columns.items()}
    with open(os.path.join(data, "instants.json"), "w") as file:
        json.dump(counts, file)


def write_names(data):
    """Writes columns whose names are not valid names of nodes, as pandas writes them for an index without a name: `names.parquet`."""
    frame = pd.DataFrame({"a": [1, 2], "b/c": [3, 4]}, index=pd.MultiIndex.from_tuples([("p", 5), ("q", 6)]))
    frame.to_parquet(os.path.join(data, "names.parquet"))


def write_sums(data):
    """Writes pages with checksums, whose values are their positions: `sums.parquet`, and `sums2.parquet` with a dictionary."""
    values = pa.table({"n": pa.array(range(1000, 1100), pa.int32())})
    pq.write_table(values, os.path.join(data, "sums.parquet"), compression="none", use_dictionary=False, write_page_checksum=True)
    options = {"compression": "none", "data_page_version": "2.0", "write_page_checksum": True}
    pq.write_table(values, os.path.join(data, "sums2.parquet"), **options)


def main():
    data = pack.begin(HERE)
    write_sums(data)
    write_lists(data)
    write_instants(data)
    write_names(data)
    paths = table_files.write(data)
    expected = {os.path.basename(path): {name: described(values) for name, values in table_files.expected(path).items()} for path in paths}
    with open(os.path.join(data, "expected.json"), "w") as file:
        json.dump(expected, file)
    pack.pack(HERE)


if __name__ == "__main__":
    main()
