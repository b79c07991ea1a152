"""Writes files of HDF5 and NetCDF in many types, layouts and filters, and a description of their content.

    python make.py

The files are those of `quality/conformance/files/files.py`. Runs in the environment of `quality/conformance/requirements/files.txt`.
"""

import base64
import json
import os
import sys

import h5py
import hdf5plugin  # noqa: F401, before netCDF4, which has filters of its own
import netCDF4
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..", "..")
sys.path += [os.path.join(ROOT, "quality", "conformance", "files"), os.path.join(ROOT, "crates/zarrox/tests/corpus")]

import files  # noqa: E402
import pack  # noqa: E402
from file_values import datasets, is_bare, values_of  # noqa: E402


def little(values):
    """Returns the bytes of elements in little-endian order, without padding."""
    if values.dtype.names:
        flat = values.ravel()
        # Single elements of text would lose the zeros at the end.
        rows = (flat[index : index + 1] for index in range(len(flat)))
        return b"".join(b"".join(little(row[name]) for name in values.dtype.names) for row in rows)
    return values.astype(values.dtype.newbyteorder("<")).tobytes()


def described(dataset):
    """Returns the elements of a dataset."""
    values = np.asarray(values_of(dataset))
    if dataset.shape is None or h5py.check_ref_dtype(dataset.dtype):
        return None
    said = {"shape": list(values.shape)}
    if values.dtype.kind == "O" and any(isinstance(value, np.ndarray) for value in values.ravel()):
        return None
    if values.dtype.kind == "O":
        said["texts"] = [str(text) for text in values.ravel()]
    else:
        said["bytes"] = base64.b64encode(little(values)).decode()
    return said


def of_hdf5(path):
    with h5py.File(path) as file:
        found = {name: described(dataset) for name, dataset in datasets(file).items() if not is_bare(dataset)}
    return {name.replace("_nc4_non_coord_", ""): said for name, said in found.items() if said}


def of_classic(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        file.set_auto_chartostring(False)
        return {
            name: {
                "shape": list(variable.shape),
                "bytes": base64.b64encode(little(np.asarray(variable[...]))).decode(),
                "dimensions": list(variable.dimensions),
            }
            for name, variable in file.variables.items()
        }


def main():
    data = pack.begin(HERE)
    expected = {}
    for path in files.write(data):
        of = of_hdf5 if files.is_hdf5(path) else of_classic
        expected[os.path.basename(path)] = of(path)
    with netCDF4.Dataset(os.path.join(data, "nc4.nc")) as file:
        for name, variable in file.variables.items():
            if name in expected["nc4.nc"]:
                expected["nc4.nc"][name]["dimensions"] = list(variable.dimensions)
    with open(os.path.join(data, "expected.json"), "w") as file:
        json.dump(expected, file)
    pack.pack(HERE)


if __name__ == "__main__":
    main()
