"""Exchanges HDF5 and NetCDF files: files of h5py, netCDF4 and xarray are imported, exported again, and compared by all three.

    python run_files.py COMMAND DIRECTORY

COMMAND is the program `zarrox`. The files are written by files.py into DIRECTORY; real files come from packages that contain them.
"""

import json
import os
import re
import sys

import h5py
import hdf5plugin  # noqa: F401, so that h5py reads its filters
import netCDF4
import numpy as np
import xarray as xr
import zarr

import files
from corpus.hierarchy import lists
from each_file import prepare, try_all, zarrox
from file_values import datasets, is_bare, values_of

DIRECTORY = sys.argv[2]


def same(ours, theirs, where):
    if isinstance(ours, dict):
        for name, column in ours.items():
            if column is not None:
                same(column, np.asarray(theirs)[name], f"{where}.{name}")
        return
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, f"{where}: shape {ours.shape} instead of {theirs.shape}"
    if theirs.dtype.kind == "O" and any(isinstance(value, (np.ndarray, list)) for value in theirs.ravel()):
        assert [plain_list(a) for a in ours.ravel()] == [plain_list(b) for b in theirs.ravel()], where
        return
    if theirs.dtype.kind in "OT" or ours.dtype.kind in "OT":
        assert list(map(text, ours.ravel())) == list(map(text, theirs.ravel())), where
        return
    if theirs.dtype.names:
        for name in theirs.dtype.names:
            same(ours[name], theirs[name], f"{where}.{name}")
        return
    if theirs.dtype.kind == "V":
        assert ours.tobytes() == theirs.tobytes(), where
        return
    np.testing.assert_array_equal(ours, theirs, err_msg=where)


def plain_list(values):
    return np.asarray(memoryview(values) if isinstance(values, bytes) else values).tolist()


def left_out(output):
    """Returns the paths of nodes that the command has reported as skipped."""
    return set(re.findall("note: left out: /(.*?): (?!attribute)", output))


def read(root, name):
    """Returns the elements of an array, or those of each column; `None` for a type that zarr-python does not support."""
    try:
        node = root[name]
    except ValueError as error:
        assert "No Zarr data type found" in str(error)
        return None
    if isinstance(node, zarr.Group):
        return {field: read(root, f"{name}/{field}") for field in node.attrs["columns"]}
    elements = node.attrs.get("list_of")
    return lists(node[...], elements) if elements else node[...]


def exported(dataset):
    """Returns the elements of a dataset. Lists of numbers are exported as their bytes, with an attribute that describes them."""
    values, elements = values_of(dataset), dataset.attrs.get("list_of")
    if elements is None:
        return values
    elements = json.loads(elements) if elements.startswith("{") else elements
    return lists(np.array([each.tobytes() for each in values.ravel()], object).reshape(values.shape), elements)


def check_arrays(path, root, skipped=()):
    """Checks that every dataset of a file has its values in a hierarchy."""
    with h5py.File(path) as file:
        count = 0
        for name, dataset in datasets(file).items():
            if is_bare(dataset) or any((name + "/").startswith(path + "/") for path in skipped):
                continue
            name = name.replace("_nc4_non_coord_", "")
            ours = read(root, name)
            if ours is not None:
                same(ours, exported(dataset), f"{path}: {name}")
            count += 1
        return count


def exchange(path):
    """Imports a file, exports the result, and compares both."""
    name = os.path.basename(path)
    stem = os.path.join(DIRECTORY, "made", name)
    target = stem + ".zarr"
    if not files.is_hdf5(path):
        zarrox("import", path, target, "--force")
        check_netcdf(path, target, stem)
        print(f"{name}: classic")
        return
    output = zarrox("import", path, target, "--skip-unsupported", "--force")
    root = zarr.open_group(target, mode="r")
    skipped = left_out(output)
    count = check_arrays(path, root, skipped)
    again = stem + ".h5"
    zarrox("export", target, again, "--force")
    count_again = check_arrays(again, root)
    assert count_again >= count, f"{path}: {count_again} arrays of {count} are exported"
    with h5py.File(path) as before, h5py.File(again) as after:
        check_attributes(before, after, path)
        check_exported(before, after, skipped, path)
    if name.endswith(".nc"):
        check_netcdf(path, target, stem)
    print(f"{name}: {count} arrays")


def check_exported(before, after, skipped, where):
    """Checks that every dataset has its values after the round trip through Zarr, in the form of h5py."""
    ours = datasets(after)
    for name, dataset in datasets(before).items():
        name = name.replace("_nc4_non_coord_", "")
        if name not in ours or name in skipped or dataset.shape is None or is_bare(dataset):
            continue
        if h5py.check_ref_dtype(dataset.dtype) is None:
            same(exported(ours[name]), values_of(dataset), f"{where}: {name} exported")


def check_attributes(before, after, where):
    """Checks that attributes have the same values after the round trip through Zarr."""
    internal = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS", "_nc3_strict"}

    def plain(value):
        if isinstance(value, h5py.Empty):
            return None
        if isinstance(value, h5py.Reference):
            return before[value].name
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        if isinstance(value, np.ndarray):
            return [plain(element) for element in value]
        return value.item() if isinstance(value, np.generic) else value

    for name in list(before.keys()) + [None]:
        old, new = (before, after) if name is None else (before.get(name), after.get(name))
        if old is None or new is None:
            continue
        for key, value in old.attrs.items():
            value = plain(value)
            if key in internal or key.startswith("_N") or key == "_FillValue" or not isinstance(value, (int, float, str)):
                continue
            found = plain(new.attrs[key])
            if isinstance(found, list) and len(found) == 1:
                found = found[0]
            # NaN differs from itself.
            assert found == value or value != value, f"{where}: attribute {key} of {name} is {found!r}, not {value!r}"


def check_netcdf(path, target, stem):
    """Checks that xarray reads the same from Zarr, and from the exported file, as from the file."""
    again = stem + ".nc"
    groups = [None]
    with netCDF4.Dataset(path) as file:
        groups += [group.path for group in below(file)]
    zarrox("export", target, again, "--force")
    for group in groups:
        theirs = of_netcdf(path, group)
        with xr.open_zarr(target, group=group, consolidated=False) as ours:
            equal(ours.load(), theirs, f"{path}: {group} in Zarr")
        equal(of_netcdf(again, group), theirs, f"{path}: {group} exported")
    with netCDF4.Dataset(again) as file:
        file.set_auto_mask(False)
        for variable in file.variables.values():
            variable[...]


def of_netcdf(path, group):
    """Returns xarray's reading of a file. Characters are not masked, since xarray masks none of Zarr v3."""
    options = {"group": group, "engine": "netcdf4"}
    with xr.open_dataset(path, **options) as masked, xr.open_dataset(path, mask_and_scale=False, **options) as plain:
        letters = {name: plain[name].load() for name in plain.variables if plain[name].dtype.kind == "S" and "_FillValue" in plain[name].attrs}
        return masked.load().assign(letters)


def below(group):
    for child in group.groups.values():
        yield child
        yield from below(child)


def equal(ours, theirs, where):
    assert set(ours.variables) == set(theirs.variables), f"{where}: {set(ours.variables) ^ set(theirs.variables)}"
    for name in theirs.variables:
        a, b = ours[name], theirs[name]
        assert a.dims == b.dims, f"{where}: dimensions {a.dims} of {name} instead of {b.dims}"
        same_values = a.variable.equals(b.variable) or (a.dtype.kind in "OSUT" and list(map(text, a.values.ravel())) == list(map(text, b.values.ravel())))
        assert same_values, f"{where}: values of {name}: {a.values} instead of {b.values}"


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def main():
    prepare(DIRECTORY)
    written = files.write(os.path.join(DIRECTORY, "written"))
    written.append(files.write_matrix(os.path.join(DIRECTORY, "written", "matrix.h5")))
    real = files.shipped()
    assert len(real) >= 5, f"packages contain only {len(real)} files"
    try_all(written + real, exchange)


if __name__ == "__main__":
    main()
