"""Checks that NetCDF files survive a round trip through Zarr: ncdump, nccopy, cdo, netCDF4 and xarray read the result like the source.

    python run_netcdf.py COMMAND DIRECTORY

COMMAND is the program `zarrox`. The files are written into DIRECTORY. ncdump and nccopy are Debian's netcdf-bin, and cdo is Debian's cdo.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import warnings

import netCDF4
import numpy as np
import xarray as xr
import zarr

COMMAND, DIRECTORY = sys.argv[1], sys.argv[2]
NAN = float("nan")


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 0, f"{arguments}: {done.stderr}"
    return done.stdout


def zarrox(*arguments):
    return run(COMMAND, *arguments)


def path(name):
    return os.path.join(DIRECTORY, name)


def header(file, special=True):
    """Returns the description of a file in CDL, without the library's own attributes."""
    # xarray does not mask characters of Zarr v3, so that the files have no missing ones.
    text = run("ncdump", "-hs" if special else "-h", "-n", "x", file)
    drop = ("_NCProperties", "_SuperblockVersion", "_IsNetcdf4", "_Format", "_NoFill")
    return [line for line in text.splitlines() if not any(name in line for name in drop)]


def attributes(variable):
    def typed(value):
        return (type(value).__name__, value.dtype.str, value.tolist()) if isinstance(value, (np.generic, np.ndarray)) else (type(value).__name__, value)

    # Attributes are compared as text, since NaN differs from itself. NetCDF lists the missing value first.
    return {name: str(typed(variable.getncattr(name))) for name in variable.ncattrs()}


def groups(dataset):
    yield dataset
    for child in dataset.groups.values():
        yield from groups(child)


def same_values(before, after):
    with netCDF4.Dataset(before) as old, netCDF4.Dataset(after) as new:
        for one, other in zip(groups(old), groups(new), strict=True):
            assert attributes(one) == attributes(other), (attributes(one), attributes(other))
            for name, variable in one.variables.items():
                variable.set_auto_maskandscale(False)
                other[name].set_auto_maskandscale(False)
                a, b = variable[...], other[name][...]
                assert attributes(variable) == attributes(other[name]), f"{name}: {attributes(variable)} {attributes(other[name])}"
                same_elements(a, b, name)


def same_elements(a, b, where):
    """Compares the fields of structures individually: the padding between them has no values."""
    if a.dtype.names:
        assert a.dtype == b.dtype, where
        for name in a.dtype.names:
            same_elements(a[name], b[name], f"{where}.{name}")
    elif a.dtype.kind == "V":
        assert a.tobytes() == b.tobytes(), where
    else:
        np.testing.assert_array_equal(a, b, err_msg=where)


def exchange(source, *, special=True, allowed=(), cdo=False, xarray=True, options=()):
    """Imports and exports a file. ncdump prints the same for both, apart from lines that match these patterns; the other programs read the result."""
    stem = source.removesuffix(".nc")
    target, again = stem + ".zarr", stem + ".again.nc"
    zarrox("import", source, target, "--force")
    zarrox("check", target)
    zarrox("export", target, again, "--force", *options)
    lines = difflib.unified_diff(header(source, special), header(again, special), lineterm="", n=0)
    lines = [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]
    lines = [line for line in lines if not any(re.search(pattern, line) for pattern in allowed)]
    assert not lines, f"{source}:\n" + "\n".join(lines)
    same_values(source, again)
    # nccopy 4.9 fails for a variable that has the name of one of its dimensions, but not of its first dimension.
    if subprocess.run(["nccopy", source, stem + ".copy.nc"], capture_output=True).returncode == 0:
        run("nccopy", again, stem + ".copy.nc")
        run("ncdump", stem + ".copy.nc")
    run("ncdump", again)
    if cdo:
        assert run("cdo", "-s", "nvar", source) == run("cdo", "-s", "nvar", again)
        run("cdo", "-s", "infon", again)
        run("cdo", "-s", "-f", "nc4", "copy", again, stem + ".cdo.nc")
    if xarray:
        same_for_xarray(source, again, engine="netcdf4")
        same_for_xarray(source, target)
        zarrox("import", source, stem + ".v2", "--format", "v2", "--force")
        same_for_xarray(source, stem + ".v2")
        zarrox("export", stem + ".v2", stem + ".v2.nc", "--force", *options)
        same_values(source, stem + ".v2.nc")
    print(os.path.basename(source))
    return target, again


def same_for_xarray(source, other, **options):
    options = options or {"engine": "zarr", "consolidated": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with xr.open_dataset(source, engine="netcdf4") as theirs, xr.open_dataset(other, **options) as ours:
            assert set(theirs.variables) == set(ours.variables), other
            for name in theirs.variables:
                a, b = theirs[name].load(), ours[name].load()
                # The attributes of packed values have the types of JSON in Zarr.
                packed = "scale_factor" in a.encoding
                if a.dtype.kind in "OSUT":
                    assert list(map(text, a.values.ravel())) == list(map(text, b.values.ravel())), f"{other}: {name}"
                    continue
                assert packed or a.dtype == b.dtype, f"{other}: {name} is {b.dtype} instead of {a.dtype}"
                if a.dtype.kind in "fiu":
                    np.testing.assert_allclose(b.values, a.values, rtol=1e-6 if packed else 0, err_msg=f"{other}: {name}")
                else:
                    assert a.variable.equals(b.variable), f"{other}: {name}"
            # xarray can write the data from Zarr to a NetCDF file again. It cannot write the attribute `enum`, which is an object.
            ours = ours.load()
            for each in ours.variables.values():
                each.attrs.pop("enum", None)
            ours.to_netcdf(other.rstrip("/") + ".xarray.nc")


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def variable(file, name, of, dimensions, values, **options):
    attrs = options.pop("attributes", {})
    made = file.createVariable(name, of, dimensions, **options)
    made.set_auto_maskandscale(False)
    for key, value in attrs.items():
        made.setncattr(key, value)
    made[...] = values
    return made


def climate(name, form, **options):
    """Writes a file like those of CMIP6."""
    with netCDF4.Dataset(path(name), "w", format=form) as file:
        file.createDimension("time", None)
        file.createDimension("lat", 3)
        file.createDimension("lon", 4)
        file.createDimension("bnds", 2)
        file.createDimension("unused", 7)
        file.createDimension("strlen", 5)
        axes = ("time", "lat", "lon")
        times = {"units": "days since 1850-01-01", "calendar": "noleap", "axis": "T", "bounds": "time_bnds"}
        variable(file, "time", "f8", ("time",), np.arange(24.0), attributes=times, chunksizes=(1,) if options else None)
        variable(file, "time_bnds", "f8", ("time", "bnds"), np.arange(48.0).reshape(24, 2), **options)
        variable(file, "lat", "f8", ("lat",), [-45, 0, 45], attributes={"units": "degrees_north", "valid_range": np.array([-90, 90], "f8")})
        variable(file, "lon", "f8", ("lon",), np.arange(4) * 90.0, attributes={"units": "degrees_east"})
        tas = {"units": "K", "missing_value": np.float32(1e20), "number": np.int32(1), "cell_methods": "area: time: mean", "small": np.int16(7), "nan": np.float32(NAN), "doubles": np.array([0.1, NAN]), "empty": ""}
        values = np.arange(288, dtype="f4").reshape(24, 3, 4)
        values[0, 0, 0] = 1e20
        variable(file, "tas", "f4", axes, values, fill_value=np.float32(1e20), attributes=tas, **options)
        packed = {"scale_factor": np.float32(0.1), "add_offset": np.float32(5), "valid_min": np.int16(-5), "flag_values": np.array([1, 2], "i2"), "flag_masks": np.array([1, 2], "i2")}
        variable(file, "packed", "i2", axes, np.arange(288).reshape(24, 3, 4) - 5, fill_value=np.int16(-5), attributes=packed, **options)
        variable(file, "bytes", "i1", ("time",), np.arange(24) - 12, **options)
        variable(file, "height", "f8", (), 2.0, attributes={"positive": "up"})
        names = np.array([list("north"), list("zero "), list("south")], "S1")
        variable(file, "names", "S1", ("lat", "strlen"), names)
        variable(file, "letters", "S1", ("lat",), np.array(list("abc"), "S1"), fill_value=b"-")
        file.setncatts({"Conventions": "CF-1.7", "realization_index": np.int32(1), "branch_time": 0.0, "source": "größer", "years": np.array([1850, 2014], "i4")})
    return path(name)


def nested():
    """Tests groups, several unlimited dimensions, user-defined types, and names that NetCDF-4 stores differently."""
    with netCDF4.Dataset(path("nested.nc"), "w") as file:
        cloud = file.createEnumType("u1", "cloud_t", {"clear": 0, "cumulus": 3, "missing": 255})
        file.createDimension("z", None)
        file.createDimension("x", 3)
        file.createDimension("y", None)
        variable(file, "z", "i8", ("z",), np.arange(5), attributes={"big": np.int64(1), "wide": np.uint8(3), "list": ["a", "bc"]})
        variable(file, "y", "f4", ("x",), [1, 2, 3])
        variable(file, "x", "f8", ("z", "x"), np.zeros((5, 3)))
        variable(file, "clouds", cloud, ("x",), np.array([0, 3, 255], "u1"), fill_value=np.uint8(255))
        text = file.createVariable("text", str, ("x",))
        text[:] = np.array(["a", "", "ccc"], object)
        text.setncattr_string("long", "a string")
        second = file.createGroup("zebra")
        second.createDimension("inner", None)
        second.createDimension("alone", 9)
        variable(second, "v", "u2", ("inner", "x"), np.arange(6).reshape(2, 3), attributes={"ushort": np.uint16(3)})
        first = second.createGroup("ant")
        variable(first, "w", "u8", ("inner",), [1, 2])
        variable(file.createGroup("after"), "s", "i4", (), 3)
    return path("nested.nc")


def compounds():
    with netCDF4.Dataset(path("compounds.nc"), "w") as file:
        point = np.dtype([("x", "f4"), ("n", "i8")])
        kind = file.createCompoundType(point, "point_t")
        file.createDimension("p", 3)
        made = file.createVariable("points", kind, ("p",))
        made[:] = np.array([(1, 2), (3, 4), (5, 6)], point)
        outer = file.createCompoundType(np.dtype([("at", point), ("id", "u1")]), "outer_t")
        made = file.createVariable("outer", outer, ("p",))
        made[:] = np.zeros(3, outer.dtype)
    return path("compounds.nc")


def structures():
    """Tests missing values of user-defined types, which netCDF4-python can read but not write."""
    text = """netcdf structures {
types: compound obs_t { byte day ; short elev ; double time ; } ; opaque(3) raw_t ;
dimensions: n = 3 ; bare = 2 ;
variables: obs_t obs(n) ; obs_t obs:_FillValue = {-99, -99, -99} ; raw_t raw(n) ; raw_t raw:_FillValue = 0Xff00ff ;
data: obs = {1, 2, 3.5}, {-99, -99, -99}, {4, 5, 6} ; raw = 0X010203, 0Xff00ff, 0X0a0b0c ; }"""
    subprocess.run(["ncgen", "-k", "nc4", "-o", path("structures.nc")], input=text, text=True, check=True)
    return path("structures.nc")


def missing_values():
    """Tests that xarray masks the same elements in every format."""
    for name, of, values, fill in (("plain", "u1", [0, 1, 255], None), ("masked", "i2", [0, 1, -999], -999), ("floats", "f4", [0, 1, NAN], NAN)):
        with netCDF4.Dataset(path(f"{name}.nc"), "w") as file:
            file.createDimension("x", 3)
            variable(file, "v", of, ("x",), values, fill_value=fill)
        three, two, back = (path(f"{name}.{format}") for format in ("v3", "v2", "back"))
        zarrox("import", path(f"{name}.nc"), three, "--force")
        zarrox("convert", three, two, "--to", "v2", "--overwrite")
        zarrox("convert", two, back, "--to", "v3", "--overwrite")
        for other in (three, two, back):
            same_for_xarray(path(f"{name}.nc"), other)
            zarrox("export", other, path("exported.nc"), "--force")
            same_values(path(f"{name}.nc"), path("exported.nc"))
    data = xr.Dataset({"t": (("x",), np.array([1, NAN, 3], "f4")), "p": (("x",), np.array([10.0, NAN, 3.5]), {}, {"dtype": "i2", "scale_factor": 0.1, "_FillValue": -999})})
    for format in (2, 3):
        made, other = path(f"xarray.v{format}"), path(f"other.v{format}")
        data.to_zarr(made, zarr_format=format, mode="w", consolidated=False)
        zarrox("convert", made, other, "--to", f"v{5 - format}", "--overwrite")
        for found in (made, other):
            again = xr.open_dataset(found, engine="zarr", consolidated=False)
            xr.testing.assert_allclose(again, data)
            exported = path("xarray.nc")
            zarrox("export", found, exported, "--force")
            run("nccopy", exported, path("xarray.copy.nc"))
            with netCDF4.Dataset(exported) as file:
                assert np.isnan(file["t"]._FillValue) and file["t"]._FillValue.dtype == "f4"
                assert file["p"]._FillValue == -999 and file["p"]._FillValue.dtype == "i2"
            xr.testing.assert_allclose(xr.open_dataset(exported), data)
    print("missing values")


def elsewhere():
    """Tests a hierarchy of another program: an unlimited dimension by an option, and arrays that NetCDF does not support."""
    root = zarr.create_group(path("elsewhere.zarr"), overwrite=True)
    made = root.create_array("v", shape=(4, 2), dtype="i4", dimension_names=("t", "x"), attributes={"a": 1, "big": 2**40, "flag_masks": [1, 2], "object": {"b": [1]}, "nested": [[1, 2], [3, 4]], "none": None})
    made[:] = np.arange(8).reshape(4, 2)
    root.create_array("half", shape=(2,), dtype="f2", dimension_names=("x",))
    failed = subprocess.run([COMMAND, "export", path("elsewhere.zarr"), path("elsewhere.nc"), "--force"], capture_output=True, text=True)
    assert failed.returncode == 6 and "half" in failed.stderr, failed
    zarrox("export", path("elsewhere.zarr"), path("elsewhere.nc"), "--force", "--skip-unsupported", "--unlimited", "t")
    with netCDF4.Dataset(path("elsewhere.nc"), "a") as file:
        assert file.dimensions["t"].isunlimited() and not file.dimensions["x"].isunlimited()
        assert file["v"].a.dtype == "i4" and file["v"].big.dtype == "i8" and file["v"].flag_masks.dtype == "i4"
        assert "half" not in file.variables and file["v"].nested == "[[1,2],[3,4]]", file["v"].nested
        file["v"][4] = [8, 9]
    run("ncdump", path("elsewhere.nc"))
    print("elsewhere")


def main():
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    os.makedirs(DIRECTORY)
    deflated = {"zlib": True, "complevel": 5, "shuffle": True}
    cases = [
        lambda: exchange(climate("classic4.nc", "NETCDF4_CLASSIC", **deflated), cdo=True),
        lambda: exchange(climate("plain4.nc", "NETCDF4"), cdo=True),
        lambda: exchange(climate("classic.nc", "NETCDF3_CLASSIC"), special=False, cdo=True),
        lambda: exchange(climate("offset64.nc", "NETCDF3_64BIT_OFFSET"), special=False),
        lambda: exchange(climate("data64.nc", "NETCDF3_64BIT_DATA"), special=False),
        lambda: exchange(nested()),
        lambda: exchange(compounds(), xarray=False),
        lambda: exchange(structures(), xarray=False),
        missing_values,
        elsewhere,
    ]
    failed = 0
    for case in cases:
        try:
            case()
        except Exception as error:  # noqa: BLE001, all cases are tried
            failed += 1
            print(f"{type(error).__name__}: {error}"[:3000])
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
