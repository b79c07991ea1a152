"""Imports many files as one hierarchy, which must equal xarray's combination of them."""

import os
import shutil
import subprocess
import sys

import netCDF4
import numpy as np
import xarray as xr
import zarr

ZARROX, DIRECTORY = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def zarrox(*arguments, code=0):
    run = subprocess.run([ZARROX, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert run.returncode == code, f"{arguments}: {run.returncode}, not {code}: {run.stderr}{run.stdout}"
    return run.stderr


def write(path, times, *, kind="NETCDF4", units="days since 2000-01-01", calendar="standard", member=0, chunks=None, dtype="f4", more=None, lat=None, unlimited=True, compress=True):
    """Writes a file like those of climate models: packed and unpacked variables, bounds, text, a static field, a scalar."""
    file = netCDF4.Dataset(path, "w", format=kind)
    options = {"zlib": True, "complevel": 1} if compress and kind.startswith("NETCDF4") else {}
    times = np.asarray(times)
    lat = np.linspace(-80, 80, 9) if lat is None else lat
    file.createDimension("time", None if unlimited else len(times))
    file.createDimension("lat", len(lat))
    file.createDimension("lon", 12)
    file.createDimension("nv", 2)
    file.title = "the same"
    file.history = f"made as {os.path.basename(path)}"
    time = file.createVariable("time", "f8", ("time",))
    time.units, time.calendar, time.bounds = units, calendar, "time_bnds"
    time[:] = times
    bounds = file.createVariable("time_bnds", "f8", ("time", "nv"))
    bounds[:] = np.stack([times - 0.5, times + 0.5], 1)
    for name, values in (("lat", lat), ("lon", np.arange(12) * 30.0)):
        variable = file.createVariable(name, "f8", (name,))
        variable.units = "degrees_north" if name == "lat" else "degrees_east"
        variable[:] = values
    random = np.random.default_rng(int(abs(times).sum()) + member)
    shape = (len(times), len(lat), 12)
    temperature = file.createVariable("t", dtype, ("time", "lat", "lon"), chunksizes=chunks, fill_value=np.array(-999, dtype), **options)
    temperature.units = "K"
    values = random.normal(size=shape).astype(dtype)
    values[values > 2] = -999
    temperature[:] = values
    packed = file.createVariable("p", "i2", ("time", "lat", "lon"), fill_value=np.int16(-32767), **options)
    packed.scale_factor, packed.add_offset = 0.01, 273.15
    packed.set_auto_maskandscale(False)
    packed[:] = random.integers(-32767, 32767, shape)
    area = file.createVariable("area", "f8", ("lat", "lon"), **options)
    area[:] = np.outer(np.cos(np.radians(lat)), np.ones(12))
    crs = file.createVariable("crs", "i4", ())
    crs.grid_mapping_name = "latitude_longitude"
    crs[...] = 0
    for name, fill in (more or {}).items():
        variable = file.createVariable(name, "f4", ("time",))
        variable[:] = fill
    file.close()
    return path


def equal(ours, theirs, where):
    ours, theirs = ours.load(), theirs.load()
    assert set(ours.variables) == set(theirs.variables), f"{where}: {set(ours.variables) ^ set(theirs.variables)}"
    for name in theirs.variables:
        a, b = ours[name], theirs[name]
        assert a.dims == b.dims, f"{where}: dimensions {a.dims} of {name} instead of {b.dims}"
        assert a.dtype == b.dtype, f"{where}: {a.dtype} of {name} instead of {b.dtype}"
        assert a.variable.equals(b.variable), f"{where}: values of {name}: {a.values} instead of {b.values}"


def opened(path, **options):
    return xr.open_zarr(path, consolidated=False, chunks=None, **options)


def expected(files, dimension=None):
    """Returns the equivalent of open_mfdataset, which would need dask."""
    rules = {"compat": "equals", "join": "exact", "combine_attrs": "override"}
    datasets = []
    for path in files:
        with xr.open_dataset(path, engine="netcdf4") as dataset:
            datasets.append(dataset.load())
    if dimension is None:
        return xr.combine_by_coords(datasets, data_vars="minimal", coords="minimal", **rules)
    return xr.combine_nested(datasets, dimension, data_vars="all", coords="different", **rules)


class Case:
    def __init__(self, name):
        self.directory = os.path.join(DIRECTORY, name)
        os.makedirs(self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)


def kinds():
    """Tests months of several lengths, whose chunks do not align, in each format."""
    for kind in ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"):
        for number, chunks in enumerate((None, (1, 9, 12), (7, 4, 5), (10, 9, 12))):
            case = Case(f"{kind}-{number}")
            days = np.cumsum([0, 31, 28, 31])
            files = [write(case.path(f"m{n}.nc"), np.arange(a, b), kind=kind, chunks=chunks) for n, (a, b) in enumerate(zip(days, days[1:]))]
            target = case.path("all.zarr")
            # The order of the files does not matter.
            zarrox("import", *files[::-1], target, "--concat", "time")
            equal(opened(target), expected(files), f"{kind} {chunks}")
            zarrox("check", target)
            again = case.path("again.zarr")
            zarrox("import", *files, again, "--concat", "time", "--chunks", "time=20,lat=5")
            equal(opened(again), expected(files), f"{kind} {chunks} in other chunks")
            assert opened(again).t.encoding["chunks"][:2] == (20, 5), opened(again).t.encoding
            for number in range(1, 3):
                shutil.rmtree(again)
                zarrox("import", *files[:number], again, "--concat", "time")
                zarrox("import", *files[number:], again, "--concat", "time", "--append")
                equal(opened(again), expected(files), f"{kind} {chunks} appended to {number}")
                # Existing data are an error.
                assert "overlap" in zarrox("import", files[-1], again, "--concat", "time", "--append", code=6)
            if kind == "NETCDF4":
                shutil.rmtree(again)
                zarrox("import", files[0], again, "--concat", "time", "--format", "v2")
                zarrox("import", *files[1:], again, "--concat", "time", "--append")
                v2, v3 = (zarr.open_group(path, mode="r") for path in (again, target))
                for name in ("time", "p", "t", "time_bnds"):
                    assert np.array_equal(v2[name][:], v3[name][:], equal_nan=True), name


def units():
    """Tests that times in other units are converted to those of the first file, including their bounds."""
    case = Case("units")
    one = write(case.path("a.nc"), np.arange(0.0, 10))
    other = write(case.path("b.nc"), np.arange(0.0, 240, 24), units="hours since 2000-01-11 12:00")
    target = case.path("all.zarr")
    zarrox("import", other, one, target, "--concat", "time")
    ours, theirs = opened(target).load(), expected([one, other]).load()
    assert np.array_equal(ours.time.values, theirs.time.values)
    raw = opened(target, decode_times=False)
    assert raw.time.attrs["units"].startswith("days since 2000-01-01")
    assert raw.time.values[10] == 10.5 and raw.time_bnds.values[10, 0] == 10.5 - 0.5 / 24, raw.time_bnds.values[10]
    odd = write(case.path("c.nc"), [40.0], calendar="noleap")
    assert "calendar" in zarrox("import", one, odd, case.path("odd.zarr"), "--concat", "time", code=6)
    assert not os.path.exists(case.path("odd.zarr"))


def refusals():
    """Tests files that do not fit together: the error names the files, and nothing is written."""
    case = Case("refused")
    one = write(case.path("a.nc"), np.arange(0, 10))
    target = case.path("no.zarr")
    for name, options, message in (
        ("type", {"dtype": "f8"}, "'/t'"),
        ("lat", {"lat": np.linspace(-81, 80, 9)}, "'/lat'"),
        ("short", {"lat": np.linspace(-80, 80, 8)}, "shape"),
        ("more", {"more": {"extra": 1}}, "'/extra'"),
    ):
        other = write(case.path(f"{name}.nc"), np.arange(20, 30), **options)
        output = zarrox("import", one, other, target, "--concat", "time", code=6)
        assert message in output, output
        assert not os.path.exists(target), name
    for first, last in ((5, 15), (9, 12), (0, 10)):
        other = write(case.path("overlap.nc"), np.arange(first, last))
        assert "'/time'" in zarrox("import", one, other, target, "--concat", "time", code=6)
    packed = write(case.path("packed.nc"), np.arange(20, 30))
    with netCDF4.Dataset(packed, "a") as file:
        file["p"].scale_factor = 0.02
    assert "scale_factor" in zarrox("import", one, packed, target, "--concat", "time", code=6)
    with netCDF4.Dataset(packed, "a") as file:
        file["p"].scale_factor = 0.01
        file["area"][0, 0] += 1
    assert "--conflicts first" in zarrox("import", one, packed, target, "--concat", "time", code=6)
    zarrox("import", one, packed, target, "--concat", "time", "--conflicts", "first")
    more = write(case.path("more.nc"), np.arange(20, 30), more={"extra": 1})
    filled = case.path("filled.zarr")
    zarrox("import", one, more, filled, "--concat", "time", "--fill-missing")
    values = opened(filled, mask_and_scale=False).extra.values
    assert len(values) == 20 and (values[10:] == 1).all() and not (values[:10] == 1).any()
    broken = case.path("broken.nc")
    with open(one, "rb") as whole, open(broken, "wb") as cut:
        cut.write(whole.read()[: os.path.getsize(one) // 2])
    zarrox("import", one, broken, case.path("b.zarr"), "--concat", "time", "--skip-unsupported", code=5)


def members():
    """Tests a new dimension, which is added to all arrays except coordinates."""
    case = Case("members")
    files = [write(case.path(f"e{n}.nc"), np.arange(5), member=n) for n in (1, 2, 10)]
    target = case.path("all.zarr")
    output = zarrox("import", *sorted(files), target, "--concat", "member")
    assert "new" in output, output
    ours = opened(target).load()
    theirs = expected(files, "member")
    assert ours.t.dims == theirs.t.dims == ("member", "time", "lat", "lon")
    for name in ("t", "p", "area"):
        assert ours[name].variable.equals(theirs[name].variable), name
    assert ours.time.dims == ("time",)


def selections():
    """Tests that ranges of indices and of coordinates select the same elements as `isel` and `sel`."""
    case = Case("select")
    files = [write(case.path(f"{n}.nc"), np.arange(30) + 30 * n, chunks=(10, 9, 12)) for n in range(3)]
    theirs = expected(files).load()
    for number, (text, part) in enumerate((
        ("time=0:40", theirs.isel(time=slice(0, 40))),
        ("time=15:75,lat=2:7", theirs.isel(time=slice(15, 75), lat=slice(2, 7))),
        ("time=::7,lon=-3:", theirs.isel(time=slice(None, None, 7), lon=slice(-3, None))),
        ("time=10:90", theirs.isel(time=slice(10, 90))),
        ("lat=-40..45", theirs.sel(lat=slice(-40, 45))),
        ("time=2000-01-20..2000-02", theirs.sel(time=slice("2000-01-20", "2000-02"))),
        ("time=2000-03..", theirs.sel(time=slice("2000-03", None))),
    )):
        target = case.path(f"{number}.zarr")
        zarrox("import", *files, target, "--concat", "time", "--select", text)
        equal(opened(target), part, text)
        single = case.path(f"{number}-one.zarr")
        if text in ("time=10:90", "lat=-40..45"):
            zarrox("import", files[0], single, "--select", text)
            own = xr.open_dataset(files[0])
            equal(opened(single), own.isel(time=slice(10, 90)) if "time" in text else own.sel(lat=slice(-40, 45)), text)
    zarrox("import", files[0], case.path("no.zarr"), "--select", "depth=0:1", code=2)
    zarrox("import", files[0], case.path("no.zarr"), "--select", "lat=100..200", code=2)
    some = case.path("some.zarr")
    zarrox("import", *files, some, "--concat", "time", "--exclude", "p", "--exclude", "*_bnds")
    assert set(opened(some).variables) == set(theirs.variables) - {"p", "time_bnds"}
    two = case.path("two.zarr")
    zarrox("import", files[0], two, "--member", "t", "--member", "lat")
    assert set(opened(two).variables) == {"t", "lat"}
    zarrox("import", files[0], case.path("no.zarr"), "--member", "t", "--member", "none", code=3)
    assert "time=10" in zarrox("import", files[0], case.path("no.zarr"), "--chunks", "2,2", code=2)


def main():
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    failed = []
    tests = (kinds, units, refusals, members, selections)
    for test in tests:
        try:
            test()
        except Exception as error:  # noqa: BLE001, all are tried
            failed.append(test)
            print(f"{test.__name__}: {type(error).__name__}: {error}"[:3000])
    print(f"{len(tests) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
