"""Compares the import of a NetCDF file with the readings of netCDF4 and xarray, and its export to NetCDF."""

import json
import os

import netCDF4
import numpy as np
import xarray as xr

import hdf5_files
from command import UNSUPPORTED, Failed, other
from same import alike, plain

MARKS = [b"_NCProperties", b"_nc3_strict", b"_Netcdf4Dimid", b"_Netcdf4Coordinates"]

# Attributes that netCDF4 shows, but that are not in the file.
HIDDEN = {"_NCProperties", "_nc3_strict", "_IsNetcdf4", "_SuperblockVersion"}


def is_netcdf(path):
    """Returns true if the names of attributes show that NetCDF's library has written the file: a damaged file need not be opened for that."""
    with open(path, "rb") as file:
        raw = file.read()
    return raw[:3] == b"CDF" or path.endswith((".nc", ".nc4", ".cdf")) or any(name in raw for name in MARKS)


def groups(dataset):
    yield dataset
    for child in dataset.groups.values():
        yield from groups(child)


def check(zarrox, path, work):
    """Returns the outcome of a NetCDF file."""
    with open(path, "rb") as file:
        is_classic = file.read(3) == b"CDF"
    target = os.path.join(work, "target.zarr")
    if not is_classic:
        outcome = hdf5_files.check(zarrox, path, work)
        if outcome["class"] in ("failed", "broken") or "exported" not in outcome:
            return outcome
        notes = hdf5_files.Notes("\n".join(f"left out: {line}" for line in outcome["reasons"]))
        try:
            with netCDF4.Dataset(path):
                pass
        except Exception:  # noqa: BLE001, netCDF4 does not have all types; h5py has compared the file
            return outcome
        differences, _ = compare(path, hdf5_files.Hierarchy(target), notes, is_classic)
        if differences and outcome["class"] == "right":
            outcome |= {"class": "failed", "reasons": differences[:20]}
        outcome["netcdf"] = exported(zarrox, path, target, os.path.join(work, "again.nc"))
        return outcome
    try:
        with netCDF4.Dataset(path):
            pass
    except OSError as error:
        code, output = zarrox("import", path, target, "--force")
        if code == 0:
            return {"class": "failed", "reasons": [f"imported, though netCDF4: {error}"]}
        return {"class": "broken", "reasons": [f"exit code {code}: {output.strip()[:200]}", str(error)]}
    kind, reasons, notes = hdf5_files.import_and_compare(zarrox, path, target, lambda *args: compare(*args, is_classic))
    outcome = {"class": kind, "reasons": reasons}
    if notes is not None:
        outcome["netcdf"] = exported(zarrox, path, target, os.path.join(work, "again.nc"))
    return outcome


def compare(path, hierarchy, notes, is_classic):
    """Returns the differences between a file and its import: in elements and attributes as netCDF4 reads them, and in xarray's readings."""
    differences, unreadable = [], []
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        for group in groups(file):
            if is_classic:
                compare_classic(group, hierarchy, notes, differences, unreadable)
        names = [group.path for group in groups(file)]
    if not notes and not differences:
        for name in names:
            differences += compare_xarray(path, hierarchy.root, name, "zarr")
    return differences, unreadable


def compare_classic(file, hierarchy, notes, differences, unreadable):
    for name, variable in file.variables.items():
        if notes.name(name):
            continue
        if hierarchy.kind(name) != "array":
            differences.append(f"{name}: the variable is missing")
            continue
        try:
            theirs = variable[...]
        except (OSError, RuntimeError, IndexError) as error:
            unreadable.append(f"{name}: {error}")
            continue
        try:
            array, formed = hierarchy.array(name)
            hdf5_files.same(formed(np.asarray(array[...])), np.asarray(theirs), name)
        except Exception as error:  # noqa: BLE001
            differences.append(str(error) if isinstance(error, AssertionError) else f"{name}: {type(error).__name__}: {error}")
    for name, node in [("", file), *file.variables.items()]:
        if hierarchy.kind(name) is None:
            continue
        found = hierarchy.document(name).get("attributes", {})
        for attribute in node.ncattrs():
            if attribute == "_FillValue" or attribute in HIDDEN:
                continue
            theirs = plain(node.getncattr(attribute))
            if attribute not in found:
                if not notes.name_attribute(name, attribute):
                    differences.append(f"{name}: attribute {attribute!r} is missing")
            elif not alike(plain(found[attribute]), theirs):
                differences.append(f"{name}: attribute {attribute!r} is {found[attribute]!r:.100} instead of {theirs!r:.100}")


def opened(path, group, engine):
    """Returns a dataset of xarray; decoded if possible, and raw otherwise."""
    options = {"consolidated": False} if engine == "zarr" else {}
    for decode in ({}, {"decode_times": False}, {"decode_cf": False}):
        try:
            with xr.open_dataset(path, group=group, engine=engine, **decode, **options) as dataset:
                return dataset.load(), decode
        except Exception as error:  # noqa: BLE001
            last = error
    raise last


def compare_xarray(path, other_path, group, engine):
    """Compares xarray's readings of a file and of a copy of it."""
    try:
        theirs, decode = opened(path, group, "netcdf4")
    except Exception:  # noqa: BLE001, xarray cannot read everything
        return []
    where = f"xarray, group {group}, {engine}"
    try:
        options = {"consolidated": False} if engine == "zarr" else {}
        with xr.open_dataset(other_path, group=group, engine=engine, **decode, **options) as dataset:
            ours = dataset.load()
    except Exception as error:  # noqa: BLE001
        if "No Zarr data type found" in str(error):
            return []
        return [f"{where}: cannot open it: {type(error).__name__}: {error}"[:400]]
    # Structures that Zarr does not support are groups of their fields.
    different = (set(ours.variables) ^ set(theirs.variables)) - subgroups(other_path, group, engine)
    found = [f"{where}: {sorted(map(str, different))} are in one alone"] if different else []
    for name in set(ours.variables) & set(theirs.variables):
        a, b = ours[name], theirs[name]
        if a.dims != b.dims:
            found.append(f"{where}: dimensions {a.dims} of {name} instead of {b.dims}")
        elif not alike_variables(a, b):
            found.append(f"{where}: values of {name}: {a.dtype} {a.values.ravel()[:3]} instead of {b.dtype} {b.values.ravel()[:3]}")
    return found


def subgroups(path, group, engine):
    """Returns the names of the groups in a group."""
    if engine == "zarr":
        hierarchy = hdf5_files.Hierarchy(path)
        above = group.strip("/")
        names = os.listdir(os.path.join(path, above))
        return {name for name in names if hierarchy.kind(f"{above}/{name}".strip("/")) == "group"}
    with netCDF4.Dataset(path) as file:
        return set((file if group == "/" else file[group]).groups)


def alike_variables(a, b):
    is_list = a.dtype.kind == "O" and isinstance(next(iter(a.values.ravel()), None), bytes) and b.dtype.kind in "iuf"
    if is_list or any(isinstance(each, np.ndarray) for each in b.values.ravel()[:1]):
        # xarray does not support lists of variable length; h5py compares these.
        return True
    if a.variable.equals(b.variable):
        return True
    if a.shape != b.shape:
        return False
    if a.dtype.kind == "S" and b.dtype.kind == "O":
        # xarray does not support missing characters in Zarr.
        return all(y != y or alike(plain(x), plain(y)) for x, y in zip(a.values.ravel(), b.values.ravel()))
    if a.dtype.kind in "OSUT" or b.dtype.kind in "OSUT":
        return all(alike(plain(x), plain(y)) for x, y in zip(a.values.ravel(), b.values.ravel()))
    if {a.dtype, b.dtype} == {np.dtype("f4"), np.dtype("f8")}:
        # In JSON, a scale has no type: xarray then decodes to float64.
        largest = np.nanmax(np.abs(b.values), initial=0, where=np.isfinite(b.values))
        return np.allclose(a.values, b.values, rtol=1e-5, atol=1e-6 * float(largest), equal_nan=True)
    if a.dtype.names:
        try:
            hdf5_files.same(a.values, b.values, "")
            return True
        except AssertionError:
            return False
    return False


def exported(zarrox, path, target, again):
    """Returns the outcome of exporting an import to NetCDF: ncdump and nccopy can read it, and it has the content of the file."""
    try:
        code, output = zarrox("export", target, again, "--force")
        if code == UNSUPPORTED:
            return {"class": "refused", "reasons": [output.strip()[:300]]}
        if code != 0:
            return {"class": "failed", "reasons": [f"exit code {code}: {output.strip()[:300]}"]}
        reasons = []
        for program in (["ncdump", "-h", again], ["nccopy", again, again + ".copy.nc"]):
            code, output = other(*program)
            if code != 0 and other(program[0], *program[1:-1], *([path] if program[0] == "ncdump" else [path, again + ".source.nc"]))[0] == 0:
                reasons.append(f"{program[0]}: {output.strip()[:200]}")
        try:
            reasons += compare_netcdf(path, again)
        except OSError as error:
            reasons.append(f"netCDF4 cannot open it: {error}")
        return {"class": "failed" if reasons else "right", "reasons": reasons[:20]}
    except Failed as error:
        return {"class": "failed", "reasons": [str(error)]}


def compare_netcdf(path, again):
    """Returns the differences of an exported file according to netCDF4 and xarray."""
    found = []
    with netCDF4.Dataset(path) as before, netCDF4.Dataset(again) as after:
        if "CLASSIC" in before.data_model and before.data_model == "NETCDF4_CLASSIC" and after.data_model != before.data_model:
            found.append(f"data model: {after.data_model} instead of {before.data_model}")
        for group in groups(before):
            try:
                ours = after if group.path == "/" else after[group.path]
            except (IndexError, KeyError):
                found.append(f"{group.path}: the group is missing")
                continue
            compare_group(group, ours, found)
        names = [group.path for group in groups(before)]
    for name in names:
        found += compare_xarray(path, again, name, "netcdf4")
    return found


def compare_group(theirs, ours, found):
    where = theirs.path
    for name, dimension in theirs.dimensions.items():
        if name not in ours.dimensions:
            found.append(f"{where}: dimension {name} is missing")
        elif len(ours.dimensions[name]) != len(dimension) or ours.dimensions[name].isunlimited() != dimension.isunlimited():
            found.append(f"{where}: dimension {name} is {len(ours.dimensions[name])}, unlimited {ours.dimensions[name].isunlimited()} instead of {len(dimension)}, {dimension.isunlimited()}")
    if [name for name in theirs.variables if name in ours.variables] != [name for name in ours.variables if name in theirs.variables]:
        found.append(f"{where}: the order of variables differs")
    compare_attributes(theirs, ours, where, found)
    for name, variable in theirs.variables.items():
        if name not in ours.variables:
            if name not in ours.groups:
                found.append(f"{where}: variable {name} is missing")
            continue
        other_variable = ours.variables[name]
        if type_of(variable) != type_of(other_variable):
            found.append(f"{where}: {name} has type {other_variable.dtype} instead of {variable.dtype}")
        compare_attributes(variable, other_variable, f"{where}: {name}", found)


def type_of(variable):
    """Returns the type of elements, independent of the byte order."""
    return variable.dtype.newbyteorder("=") if isinstance(variable.dtype, np.dtype) else str(variable.dtype)


def is_invalid(variable):
    """Returns true if the missing value has another type than its variable, which NetCDF does not allow."""
    return np.asarray(variable.getncattr("_FillValue")).dtype.newbyteorder("=") != np.dtype(variable.dtype).newbyteorder("=")


def compare_attributes(theirs, ours, where, found):
    names = set(ours.ncattrs())
    for name in theirs.ncattrs():
        if name in HIDDEN or (name == "_FillValue" and is_invalid(theirs)):
            continue
        if name not in names:
            found.append(f"{where}: attribute {name} is missing")
            continue
        try:
            a, b = ours.getncattr(name), theirs.getncattr(name)
        except Exception:  # noqa: BLE001, netCDF4 does not have all types
            continue
        if isinstance(a, str) and getattr(np.asarray(b).dtype, "names", None):
            # Structures are exported as JSON.
            a = json.loads(a)
        if isinstance(b, str) and "\ufffd" in b:
            # netCDF4 does not show text that is not UTF-8.
            continue
        if not alike(plain(a), plain(b)):
            found.append(f"{where}: attribute {name} is {a!r:.60} instead of {b!r:.60}")
        elif np.asarray(a).dtype.kind in "iuf" and np.asarray(a).dtype != np.asarray(b).dtype:
            found.append(f"{where}: attribute {name} has type {np.asarray(a).dtype} instead of {np.asarray(b).dtype}")
