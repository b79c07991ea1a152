"""Writes tables with pandas, pyarrow and polars, and what is in them: `expected.json`.

    python make.py

The files are those of `conformance/tables/table_files.py`. Runs in the environment of `conformance/requirements/files.txt`.
"""

import base64
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..", "..")
sys.path += [os.path.join(ROOT, "conformance", "tables"), os.path.join(ROOT, "crates/zarrox/tests/corpus")]

import pack  # noqa: E402
import table_files  # noqa: E402


def described(values):
    """The elements of a column: little-endian bytes, or each of them."""
    if values.dtype == object:
        elements = [value.encode() if isinstance(value, str) else value for value in values]
        return {"elements": [base64.b64encode(element).decode() for element in elements]}
    little = values.astype(values.dtype.newbyteorder("<"))
    return {"type": str(np.dtype(values.dtype)), "bytes": base64.b64encode(little.tobytes()).decode()}


def main():
    data = pack.begin(HERE)
    paths = table_files.write(data)
    expected = {os.path.basename(path): {name: described(values) for name, values in table_files.expected(path).items()} for path in paths}
    with open(os.path.join(data, "expected.json"), "w") as file:
        json.dump(expected, file)
    pack.pack(HERE)


if __name__ == "__main__":
    main()
