"""Unusual files, each modelled on real files: created here, imported, and compared with other programs' reading of them.

    python made.py COMMAND DIRECTORY [NAME …]

COMMAND is the program `zarrox`. Each case has a name and the right outcomes: the elements, or an error that names the skipped
parts. Any other outcome is a failure.
"""

import json
import os
import shutil
import struct
import sys
import traceback
import warnings

import h5py
import hdf5plugin  # noqa: F401
import netCDF4
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import rasterio
import tifffile
import xarray as xr
import zarr
from rasterio.transform import from_origin

from command import Command, other
from hierarchy import Hierarchy
from place import NAMED, RIGHT, Place

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


# HDF5: old structures


def write_old_layout(path, values):
    """Writes a contiguous dataset whose layout message has version 2: converted from version 3 by changing the message."""
    with h5py.File(path, "w", libver="earliest") as file:
        dataset = file.create_dataset("d", data=values, track_times=True)
        where = dataset.id.get_offset()
    with open(path, "rb") as file:
        raw = bytearray(file.read())
    at = raw.find(struct.pack("<BBQQ", 3, 1, where, values.nbytes))
    _, size = struct.unpack_from("<HH", raw, at - 8)
    sides = [*values.shape, values.itemsize]
    message = struct.pack("<BBB5xQ", 2, len(sides), 1, where) + struct.pack(f"<{len(sides)}I", *sides)
    message += bytes(-len(message) % 8)
    # The next message is the modification time, which provides the space.
    room = size + 8 + struct.unpack_from("<HH", raw, at + size)[1]
    struct.pack_into("<HHB3x", raw, at - 8, 8, len(message), 0)
    raw[at : at + len(message)] = message
    struct.pack_into("<HHB3x", raw, at + len(message), 0, room - len(message) - 8, 0)
    with open(path, "wb") as file:
        file.write(raw)
    with h5py.File(path) as file:
        assert (file["d"][()] == values).all()


@case
def old_layouts(place):
    for number in (1, 2, 3):
        shape = (2, 3, 4)[:number]
        write_old_layout(place.at(f"old{number}.h5"), np.arange(1, np.prod(shape) + 1, dtype="<i4").reshape(shape))
        place.hdf5(f"old{number}.h5")


@case
def old_layouts_of_chunks(place):
    for version in (1, 2):
        path = place.at(f"chunks{version}.h5")
        with h5py.File(path, "w", libver="earliest") as file:
            file.create_dataset("d", data=np.arange(1, 11, dtype="<i4"), chunks=(4,), compression="gzip")
        with open(path, "rb") as file:
            raw = bytearray(file.read())
        at = next(i for i in range(len(raw)) if raw[i : i + 3] == b"\x03\x02\x02" and raw[i + 11 : i + 19] == struct.pack("<II", 4, 4))
        address = raw[at + 3 : at + 11]
        raw[at : at + 24] = struct.pack("<BBB5x", version, 2, 2) + address + struct.pack("<II", 4, 4)
        with open(path, "wb") as file:
            file.write(raw)
        place.hdf5(f"chunks{version}.h5")


@case
def old_structures_with_arrays(place):
    kind = h5py.h5t.create(h5py.h5t.COMPOUND, 12)
    kind.insert(b"xxxxxxx", 0, h5py.h5t.STD_I32LE)
    elements = np.arange(6, dtype="<i4")
    with h5py.File(place.at("s.h5"), "w", libver="earliest") as file:
        dataset = h5py.h5d.create(file.id, b"d", kind, h5py.h5s.create_simple((2,)))
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, elements.view("V12"), mtype=kind)
        at = dataset.get_offset()
    with open(place.at("s.h5"), "rb") as file:
        raw = bytearray(file.read())
    raw[at : at + 24] = elements.tobytes()
    member = raw.find(b"xxxxxxx\0")
    struct.pack_into("<IB", raw, member + 8, 0, 1)
    struct.pack_into("<I", raw, member + 24, 3)
    with open(place.at("s.h5"), "wb") as file:
        file.write(raw)
    place.hdf5("s.h5", NAMED)


# HDF5: links and objects


@case
def links_to_nothing_and_to_other_files(place):
    with h5py.File(place.at("source.h5"), "w") as file:
        file["data"] = np.arange(9)
    with h5py.File(place.at("l.h5"), "w") as file:
        file["here"] = np.arange(3)
        file["data"] = h5py.ExternalLink("source.h5", "/data")
        file["gone"] = h5py.ExternalLink("nowhere.h5", "/data")
        file["soft"] = h5py.SoftLink("/nowhere")
        file["again"] = h5py.SoftLink("/here")
        file["group/up"] = h5py.SoftLink("/")
    place.hdf5("l.h5", NAMED)


@case
def circles_of_groups(place):
    with h5py.File(place.at("c.h5"), "w") as file:
        file["a/b/v"] = np.arange(3)
        file["a/b/up"] = file["a"]
    place.hdf5("c.h5", NAMED)


@case
def virtual_datasets(place):
    with h5py.File(place.at("source.h5"), "w") as file:
        file["data"] = np.arange(10)
    layout = h5py.VirtualLayout((12,), "i8")
    layout[:10] = h5py.VirtualSource("source.h5", "data", (10,))
    with h5py.File(place.at("v.h5"), "w") as file:
        file.create_virtual_dataset("v", layout, fillvalue=-1)
        file["n"] = np.arange(3)
    place.hdf5("v.h5", NAMED)


@case
def elements_in_other_files(place):
    np.arange(6, dtype="<i4").tofile(place.at("raw.bin"))
    with h5py.File(place.at("e.h5"), "w") as file:
        file.create_dataset("e", (6,), "<i4", external=[("raw.bin", 0, 24)])
        file["n"] = np.arange(3)
    os.chdir(place.directory)
    place.hdf5("e.h5", NAMED)


@case
def committed_types(place):
    with h5py.File(place.at("t.h5"), "w") as file:
        file["t"] = np.dtype("f4")
        file["c"] = np.dtype([("a", "f4"), ("b", "i4")])
        file["v"] = np.arange(3.0)
        file["v"].attrs.create("a", 1.5, dtype=file["t"])
        file["v"].attrs.create("p", np.array((1.5, 2), file["c"].dtype), dtype=file["c"])
        file.create_dataset("w", data=np.arange(4, dtype="f4"), dtype=file["t"])
    place.hdf5("t.h5")
    with netCDF4.Dataset(place.at("t.nc"), "w") as file:
        file.createDimension("x", 3)
        kind = file.createCompoundType(np.dtype([("a", "f4"), ("b", "i4")]), "pair")
        variable = file.createVariable("v", "f4", ("x",))
        variable[:] = 1
        variable.setncattr("range", np.array([(1.5, 2)], dtype=kind.dtype))
    place.netcdf("t.nc", exported=NAMED)


@case
def names_and_text_in_latin_1(place):
    with h5py.File(place.at("n.h5"), "w") as file:
        file["good"] = np.arange(3)
        space = h5py.h5s.create_simple((2,))
        h5py.h5d.create(file.id, b"T (\xb0C)", h5py.h5t.IEEE_F32LE, space)
        kind = h5py.h5t.C_S1.copy()
        kind.set_size(h5py.h5t.VARIABLE)
        text = h5py.h5d.create(file.id, b"text", kind, space)
        text.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([b"gr\xfc\xdfe", b"ok"], dtype=h5py.string_dtype("ascii")))
        file["good"].attrs.create("unit", np.bytes_(b"\xb0C"))
    place.hdf5("n.h5", NAMED, NAMED)


@case
def names_that_zarr_does_not_have(place):
    with h5py.File(place.at("n.h5"), "w") as file:
        file["good"] = np.arange(3)
        for name in ("back\\slash", "zarr.json", "c", "__x", "a b", "größe"):
            file[name] = np.arange(2)
    place.hdf5("n.h5", NAMED)


# HDF5: types


@case
def text_that_ends_before_its_length(place):
    with h5py.File(place.at("s.h5"), "w") as file:
        space = h5py.h5s.create_simple((2,))
        for name, pad, raw in ((b"nullterm", h5py.h5t.STR_NULLTERM, [b"ab\0junk\0", b"cdefgh\0x"]), (b"nullpad", h5py.h5t.STR_NULLPAD, [b"ab\0\0\0\0\0\0", b"cdefghij"]), (b"spacepad", h5py.h5t.STR_SPACEPAD, [b"ab      ", b"cdefghij"])):
            kind = h5py.h5t.C_S1.copy()
            kind.set_size(8)
            kind.set_strpad(pad)
            dataset = h5py.h5d.create(file.id, name, kind, space)
            dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array(raw, "S8").view("V8"), mtype=kind)
            pair = h5py.h5t.create(h5py.h5t.COMPOUND, 12)
            pair.insert(b"n", 0, h5py.h5t.STD_I32LE)
            pair.insert(b"s", 4, kind)
            dataset = h5py.h5d.create(file.id, name + b"-field", pair, space)
            elements = np.zeros(2, [("n", "<i4"), ("s", "V8")])
            elements["s"] = np.array(raw, "S8").view("V8")
            dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, elements.view("V12"), mtype=pair)
    place.hdf5("s.h5")


@case
def structures_with_odd_fields(place):
    bits = h5py.h5t.STD_U16LE.copy()
    bits.set_precision(12)
    bits.set_offset(4)
    with h5py.File(place.at("f.h5"), "w") as file:
        kind = h5py.h5t.create(h5py.h5t.COMPOUND, 6)
        kind.insert(b"a", 0, h5py.h5t.STD_I32LE)
        kind.insert(b"x", 4, bits)
        dataset = h5py.h5d.create(file.id, b"bits", kind, h5py.h5s.create_simple((3,)))
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([(1, 5), (2, 4095), (3, 100)], [("a", "<i4"), ("x", "<u2")]))
        alone = h5py.h5d.create(file.id, b"alone", bits, h5py.h5s.create_simple((3,)))
        alone.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([5, 4095, 100], "<u2"))
        attribute = h5py.h5a.create(alone, b"bits", bits, h5py.h5s.create_simple((2,)))
        attribute.write(np.array([5, 4095], "<u2"))
        file["plain"] = np.arange(3)
    place.hdf5("f.h5", NAMED)


@case
def bfloat16_everywhere(place):
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.set_fields(15, 7, 8, 0, 7)
    kind.set_precision(16)
    kind.set_size(2)
    kind.set_ebias(127)
    with h5py.File(place.at("b.h5"), "w") as file:
        values = np.array([1.0, -2.5, 3.0], "<f4")
        for name, base in ((b"alone", None), (b"field", h5py.h5t.create(h5py.h5t.COMPOUND, 6))):
            if base is not None:
                base.insert(b"n", 0, h5py.h5t.STD_I32LE)
                base.insert(b"x", 4, kind)
            dataset = h5py.h5d.create(file.id, name, base or kind, h5py.h5s.create_simple((3,)))
            elements = values
            if base is not None:
                elements = np.zeros(3, [("n", "<i4"), ("x", "<f4")])
                elements["x"] = values
            dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, elements)
        file["v"] = np.arange(2)
        attribute = h5py.h5a.create(file["v"].id, b"half", kind, h5py.h5s.create_simple((3,)))
        attribute.write(values)
    target = place.at("b.zarr")
    code, output = place.zarrox("import", place.at("b.h5"), target, "--force", "--skip-unsupported")
    assert code == 0, output
    found = place.attributes(target, "v").get("half")
    assert found == [1, -2.5, 3] or "half" in output, found
    hierarchy = Hierarchy(target)
    for path in hierarchy.arrays():
        array, formed = hierarchy.array(path)
        ours = formed(np.asarray(array[...]))
        if path == "field":
            ours = ours["x"]
        assert path == "v" or ours.astype("f4").tolist() == [1, -2.5, 3], f"{path}: {ours}"
    assert all(hierarchy.kind(name) or name in output for name in ("alone", "field")), output


@case
def references_in_structures(place):
    with h5py.File(place.at("r.h5"), "w") as file:
        file["a"] = 1
        made = np.zeros(1, np.dtype([("i", "i4"), ("r", h5py.ref_dtype)]))
        made[0]["r"] = file["a"].ref
        file["refs"] = made
    place.hdf5("r.h5", NAMED, exported=None)


@case
def complex_numbers_of_hdf5_2(place):
    with h5py.File(place.at("c.h5"), "w", libver="latest") as file:
        try:
            kind = h5py.h5t.py_create(np.dtype("c16"), logical=False)
            if hasattr(h5py.h5t, "NATIVE_DOUBLE_COMPLEX"):
                kind = h5py.h5t.NATIVE_DOUBLE_COMPLEX
        except (TypeError, AttributeError):
            kind = h5py.h5t.py_create(np.dtype("c16"))
        dataset = h5py.h5d.create(file.id, b"z", kind, h5py.h5s.create_simple((3,)))
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([1 + 2j, 3, 4j]))
        file["n"] = np.arange(3)
    place.hdf5("c.h5", NAMED)


@case
def times_of_h5py(place):
    with h5py.File(place.at("t.h5"), "w") as file:
        values = np.array(["2020-01-01T00:00:00", "1969-12-31T23:59:59"], "M8[us]")
        file["t"] = values.astype(h5py.opaque_dtype(values.dtype))
        file["o"] = np.array([b"abc", b"def"], "V3")
    place.hdf5("t.h5", NAMED)


@case
def fill_values_of_text(place):
    with h5py.File(place.at("t.h5"), "w") as file:
        file.create_dataset("s", (2,), dtype=h5py.string_dtype(), fillvalue="n/a")
        file.create_dataset("f", (3,), "S4", fillvalue=b"no")
    place.hdf5("t.h5")
    with h5py.File(place.at("c.h5"), "w") as file:
        dataset = file.create_dataset("c", (4,), dtype=h5py.string_dtype(), fillvalue="n/a", chunks=(2,))
        dataset[0] = "x"
    array, _ = Hierarchy(place.imported("c.h5")).array("c")
    # h5py cannot read this file; h5dump can.
    assert list(map(str, array[...])) == ["x", "n/a", "n/a", "n/a"], array[...]


@case
def fill_values_of_all_types(place):
    with h5py.File(place.at("t.h5"), "w") as file:
        for kind in ("i1", ">u2", "<i8", "u8", ">f4", "f8", "c8"):
            for chunks in (None, (4,)):
                dataset = file.create_dataset(f"{kind.strip('<>')}{chunks and 'c' or ''}", (10,), kind, fillvalue=np.array(77, kind), chunks=chunks)
                if chunks:
                    dataset[:2] = 3
        structure = np.dtype([("a", "<i4"), ("b", "<f8")])
        file.create_dataset("s", (6,), structure, fillvalue=np.array((5, 2.5), structure), chunks=(2,))[0] = (1, 1)
    place.hdf5("t.h5")


@case
def scale_offset_of_nan(place):
    with h5py.File(place.at("s.h5"), "w") as file:
        file.create_dataset("f", data=np.array([1.5, np.nan, 3.25, 4]), chunks=(4,), scaleoffset=2)
        file.create_dataset("g", data=np.array([1.5, 2, 3.25, 4]), chunks=(4,), scaleoffset=2)
    place.hdf5("s.h5", NAMED)


# HDF5: attributes


@case
def labels_of_dimensions(place):
    with h5py.File(place.at("d.h5"), "w") as file:
        file["v"] = np.zeros((4, 3))
        file["v"].dims[0].label = "time"
        file["v"].dims[1].label = "x"
    place.hdf5("d.h5")
    with h5py.File(place.at("again.h5")) as file:
        names = list(file["v"].attrs)
    assert names.count("DIMENSION_LABELS") <= 1, names


@case
def names_with_nul_are_not_exported(place):
    target = place.at("n.zarr")
    place.zarrox.do("create", target, "--shape", "2", "--dtype", "int8", "--attrs", '{"a\\u0000b": 1}')
    for name in ("n.h5", "n.nc"):
        code, output = place.zarrox("export", target, place.at(name))
        if code == 0:
            code, output = other("h5dump", place.at(name))
            assert code == 0, output
        else:
            assert code == 6, output


# NetCDF


def write_netcdf(path, format="NETCDF4", length=3):
    file = netCDF4.Dataset(path, "w", format=format)
    file.createDimension("x", length)
    return file


@case
def netcdf_4_classic(place):
    with write_netcdf(place.at("c.nc"), "NETCDF4_CLASSIC") as file:
        file.createDimension("t", None)
        variable = file.createVariable("v", "f4", ("t", "x"))
        variable[:] = np.arange(6).reshape(2, 3)
        variable.number = np.int32(3)
        file.title = "classic"
    place.netcdf("c.nc")


@case
def attributes_keep_their_types(place):
    with write_netcdf(place.at("a.nc")) as file:
        variable = file.createVariable("v", "i2", ("x",))
        variable[:] = [1, 2, 3]
        for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
            variable.setncattr(f"one_{kind}", np.array(7, kind))
            variable.setncattr(f"many_{kind}", np.array([1, 2, 3], kind))
        variable.flag_masks = np.array([1, 2, 4], "i2")
        variable.flag_values = np.array([1, 2, 4], "i2")
        variable.words = ["a", "bc"]
    place.netcdf("a.nc")


@case
def dimensions_without_variables_and_without_limits(place):
    with write_netcdf(place.at("d.nc")) as file:
        file.createDimension("time", None)
        file.createDimension("lonely", 7)
        file.createVariable("v", "f4", ("time", "x"))[:] = np.arange(6).reshape(2, 3)
        file.createVariable("b", "i4", ("x",))[:] = 1
        file.createVariable("a", "i4", ("x",))[:] = 2
    place.netcdf("d.nc")


@case
def records_of_unequal_length(place):
    with write_netcdf(place.at("u.nc")) as file:
        file.createDimension("t", None)
        file.createVariable("a", "i4", ("t",))[:] = np.arange(6)
        file.createVariable("b", "i4", ("t",))[0:2] = [7, 8]
        # NetCDF's library returns wrong values if the unlimited dimension is not the first one.
        file.createVariable("c", "f4", ("t", "x"), fill_value=-1)[0:3] = 5
    place.netcdf("u.nc")


@case
def missing_values_of_float32(place):
    for format in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA", "NETCDF4"):
        with write_netcdf(place.at(format + ".nc"), format) as file:
            variable = file.createVariable("v", "f4", ("x",))
            variable.missing_value = np.float32(1e20)
            variable.valid_range = np.array([0.1, 99.9], "f4")
            variable[:] = np.array([1, 1e20, 3], "f4")
        place.netcdf(format + ".nc")


@case
def fill_values_of_letters(place):
    for format in ("NETCDF3_CLASSIC", "NETCDF4"):
        with write_netcdf(place.at(format + ".nc"), format) as file:
            file.createVariable("c", "S1", ("x",), fill_value=b"-")[0] = b"a"
            file.createVariable("v", "f4", ("x",))[:] = 1
        place.netcdf(format + ".nc")


@case
def attributes_that_are_not_numbers(place):
    for format in ("NETCDF3_CLASSIC", "NETCDF4"):
        with write_netcdf(place.at(format + ".nc"), format) as file:
            variable = file.createVariable("v", "f4", ("x",))
            variable.missing_value = np.float32("nan")
            variable.range = np.array([-np.inf, np.inf], "f8")
            variable[:] = 1
        place.netcdf(format + ".nc")
        place.zarrox.do("check", place.imported(format + ".nc"))


@case
def fill_values_that_the_type_does_not_have(place):
    with write_netcdf(place.at("f.nc"), "NETCDF3_CLASSIC") as file:
        variable = file.createVariable("v", "i2", ("x",))
        variable[:] = [1, 2, 3]
        variable.setncattr("_FillValuX", np.float64("nan"))
        variable.scale_factor = 0.1
    with open(place.at("f.nc"), "rb") as file:
        raw = file.read().replace(b"_FillValuX", b"_FillValue")
    with open(place.at("f.nc"), "wb") as file:
        file.write(raw)
    place.netcdf("f.nc", NAMED, exported=NAMED)


@case
def empty_attributes(place):
    with write_netcdf(place.at("e.nc")) as file:
        variable = file.createVariable("v", "f4", ("x",))
        variable[:] = 1
        variable.setncattr("c", "")
        variable.setncattr("n", np.zeros(0, "i4"))
    place.netcdf("e.nc")


@case
def names_that_end_at_nul(place):
    with write_netcdf(place.at("n.nc"), "NETCDF3_CLASSIC") as file:
        file.createVariable("yyyy", "f4", ("x",))[:] = 1
        file.plughh = 3
    with open(place.at("n.nc"), "rb") as file:
        raw = file.read().replace(b"yyyy", b"yy\0\0").replace(b"plughh", b"plug\0\0")
    with open(place.at("n.nc"), "wb") as file:
        file.write(raw)
    target = place.imported("n.nc")
    assert Hierarchy(target).kind("yy") == "array", os.listdir(target)
    assert place.attributes(target).get("plug") == 3, place.attributes(target)


@case
def missing_values_of_xarray_in_v2(place):
    dataset = xr.Dataset({"t": (("x",), np.array([1, np.nan, 3], "f4")), "s": (("x",), np.array([1, 2, 3], "i2"))})
    dataset.to_zarr(place.at("v2.zarr"), zarr_format=2, consolidated=False)
    place.zarrox.do("export", place.at("v2.zarr"), place.at("v2.nc"))
    with netCDF4.Dataset(place.at("v2.nc")) as file:
        fill = file["t"].getncattr("_FillValue")
        assert isinstance(fill, np.floating) and np.isnan(fill), repr(fill)
    code, output = other("nccopy", place.at("v2.nc"), place.at("copy.nc"))
    assert code == 0, output
    with xr.open_dataset(place.at("v2.nc")) as again:
        assert again.load().identical(dataset), again


@case
def to_v2_without_a_missing_value(place):
    with write_netcdf(place.at("u.nc")) as file:
        for kind, values in (("u1", [0, 1, 255]), ("i2", [-32767, 5, 6]), ("f4", [1, 2, 3])):
            file.createVariable(kind, kind, ("x",))[:] = values
    with xr.open_dataset(place.at("u.nc")) as theirs:
        theirs.load()
    v2, v3 = place.imported("u.nc", "--format", "v2") + "2", None
    shutil.move(v2[:-1], v2)
    v3 = place.imported("u.nc")
    place.zarrox.do("cp", v3, place.at("copy2"), "--format", "v2")
    for target in (v2, v3, place.at("copy2")):
        with xr.open_dataset(target, engine="zarr", consolidated=False) as ours:
            for name in theirs.variables:
                assert ours[name].load().equals(theirs[name]), f"{target}: {name}: {ours[name].values}"


@case
def to_v3_with_a_missing_value(place):
    dataset = xr.Dataset({"t": (("x",), np.array([1.5, np.nan, 3]))})
    dataset.to_zarr(place.at("p2"), zarr_format=2, consolidated=False, encoding={"t": {"dtype": "int16", "scale_factor": 0.1, "_FillValue": -999}})
    place.zarrox.do("cp", place.at("p2"), place.at("p3"), "--format", "v3")
    with xr.open_dataset(place.at("p3"), engine="zarr", consolidated=False) as ours:
        assert np.isnan(ours["t"].values[1]), ours["t"].values


# TIFF

STACK = np.arange(5 * 6 * 7, dtype="u2").reshape(5, 6, 7)


@case
def stacks_with_one_directory(place):
    tifffile.imwrite(place.at("i.tif"), STACK, imagej=True, truncate=True, metadata={"axes": "ZYX"})
    place.tiff("i.tif", NAMED)
    tifffile.imwrite(place.at("t.tif"), STACK, truncate=True, photometric="minisblack")
    place.tiff("t.tif", NAMED)


OME = '<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels ID="Pixels:0" DimensionOrder="XYCZT" Type="uint16" SizeX="7" SizeY="6" SizeZ="1" SizeC="2" SizeT="1"><Channel ID="Channel:0:0"/><Channel ID="Channel:0:1"/>{}</Pixels></Image></OME>'


@case
def planes_of_ome_in_their_order(place):
    places = '<TiffData FirstC="1" IFD="0" PlaneCount="1"/><TiffData FirstC="0" IFD="1" PlaneCount="1"/>'
    tifffile.imwrite(place.at("o.ome.tif"), STACK[:2], description=OME.format(places), metadata=None, photometric="minisblack")
    place.tiff("o.ome.tif")


@case
def planes_of_ome_in_other_files(place):
    places = "".join(f'<TiffData FirstC="{n}" IFD="0"><UUID FileName="m{n}.ome.tif">urn:uuid:0-{n}</UUID></TiffData>' for n in (0, 1))
    for number in (0, 1):
        tifffile.imwrite(place.at(f"m{number}.ome.tif"), STACK[number], description=OME.format(places), metadata=None)
    place.tiff("m0.ome.tif", NAMED)


@case
def planes_of_ome_that_are_missing(place):
    tifffile.imwrite(place.at("o.ome.tif"), STACK[:3], description=OME.format("").replace('SizeC="2"', 'SizeC="4"'), metadata=None, photometric="minisblack")
    target = place.at("o.zarr")
    code, output = place.zarrox("import", place.at("o.ome.tif"), target)
    assert code in (5, 6) or "note" in output or "WARN" in output, f"{code}, without a word: {output}"


@case
def volumes(place):
    tifffile.imwrite(place.at("v.tif"), (np.arange(16 * 40 * 48) % 251).astype("u1").reshape(16, 40, 48), volumetric=True, tile=(16, 16, 16), photometric="minisblack")
    place.tiff("v.tif", NAMED)
    tifffile.imwrite(place.at("w.tif"), np.arange(32 * 16 * 16, dtype="u2").reshape(32, 16, 16), volumetric=True, tile=(16, 16, 16), photometric="minisblack", metadata=None)
    place.tiff("w.tif", NAMED)


GEO = {"driver": "GTiff", "height": 7, "width": 9, "transform": from_origin(0, 0, 1, 1)}


@case
def scales_of_gdal(place):
    with rasterio.open(place.at("s.tif"), "w", count=1, dtype="int16", crs="EPSG:3035", **GEO) as file:
        file.write(np.arange(63, dtype="i2").reshape(1, 7, 9))
        file.scales, file.offsets = [0.01], [273.15]
    target = place.imported("s.tif")
    found = place.attributes(target, "image")
    assert (found.get("scale_factor"), found.get("add_offset")) == (0.01, 273.15), found


@case
def systems_of_coordinates_without_a_code(place):
    system = "+proj=lcc +lat_1=33 +lat_2=45 +lat_0=40 +lon_0=-97 +x_0=0 +y_0=0 +a=6370000 +b=6370000 +units=m"
    with rasterio.open(place.at("c.tif"), "w", count=1, dtype="int16", crs=system, **GEO) as file:
        file.write(np.zeros((1, 7, 9), "i2"))
    code, output = place.zarrox("import", place.at("c.tif"), place.at("c.zarr"))
    assert code == 0, output
    found = {name for path in ("", "image", "spatial_ref") for name in (Hierarchy(place.at("c.zarr")).document(path) or {"attributes": {}})["attributes"]}
    assert any("crs" in name.lower() or "geo" in name.lower() for name in found) or "note" in output, found


@case
def masks_in_the_file(place):
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(place.at("m.tif"), "w", count=1, dtype="uint8", crs="EPSG:4326", **GEO) as file:
        file.write(np.arange(63, dtype="u1").reshape(7, 9), 1)
        file.write_mask(np.arange(63).reshape(7, 9) > 5)
    place.tiff("m.tif", NAMED)


@case
def missing_values_of_64_bits(place):
    tifffile.imwrite(place.at("n.tif"), np.zeros((4, 4), "u8"), extratags=[(42113, "s", 0, "18446744073709551615", True)])
    target = place.imported("n.tif")
    document = Hierarchy(target).document("image" if os.path.exists(os.path.join(target, "image")) else "")
    assert document["fill_value"] == 2**64 - 1, document["fill_value"]


@case
def circles_and_bad_ends_of_directories(place):
    for name, end in (("circle.tif", None), ("end.tif", 0x7FFFFFF0)):
        tifffile.imwrite(place.at(name), STACK, photometric="minisblack", metadata=None)
        with tifffile.TiffFile(place.at(name)) as file:
            last, first = file.pages[-1].offset, file.pages[0].offset
        with open(place.at(name), "r+b") as file:
            file.seek(last)
            (count,) = struct.unpack("<H", file.read(2))
            file.seek(last + 2 + 12 * count)
            file.write(struct.pack("<I", first if end is None else end))
    # A cyclic chain of directories loses no page, and is only reported by a note.
    place.tiff("circle.tif", NAMED)
    code, output = place.zarrox("import", place.at("circle.tif"), place.at("circle.zarr"), "--force")
    assert code == 0 and "is that of page 0" in output, f"circle.tif: {code} {output}"
    code, output = place.zarrox("import", place.at("end.tif"), place.at("end.zarr"), "--force")
    assert code == 5, f"end.tif: {code} {output}"
    pages = Hierarchy(place.imported("end.tif", "--skip-damaged")).array("")[0][...]
    assert np.array_equal(pages, STACK), "end.tif: the pages before the link differ"


@case
def bits_that_are_no_whole_bytes(place):
    for bits in (1, 2, 4):
        values = (np.arange(9 * 13) % 2**bits).reshape(9, 13)
        if bits == 1:
            tifffile.imwrite(place.at(f"b{bits}.tif"), values.astype(bool), photometric="minisblack", metadata=None)
        else:
            tifffile.imwrite(place.at(f"b{bits}.tif"), values.astype("u1"), photometric="minisblack", bitspersample=bits, metadata=None)
        place.tiff(f"b{bits}.tif")


# Damage, and unsupported kinds


@case
def jpeg_2000_that_loses_something(place):
    values = np.add.outer(np.arange(70), np.arange(3 * 60)).astype("u1").reshape(70, 60, 3)
    for name, options in (("c.tif", {"photometric": "rgb"}), ("p.tif", {"photometric": "rgb", "tile": (32, 32)})):
        tifffile.imwrite(place.at(name), values, compression="jpeg2000", compressionargs={"level": 40, "reversible": False}, metadata=None, **options)
        place.tiff(name)


@case
def cut_files_are_damaged(place):
    with write_netcdf(place.at("c.nc"), "NETCDF3_CLASSIC", 1000) as file:
        file.createVariable("v", "f8", ("x",))[:] = 1
        file.createVariable("w", "f8", ("x",))[:] = 2
    with h5py.File(place.at("c.h5"), "w") as file:
        file["v"] = np.arange(1000.0)
        file.create_dataset("c", data=np.arange(1000.0), chunks=(100,), compression="gzip")
    table = pa.table({"a": np.arange(10_000), "b": np.arange(10_000) / 4})
    pq.write_table(table, place.at("c.parquet"))
    tifffile.imwrite(place.at("c.tif"), np.arange(40_000, dtype="u2").reshape(200, 200), metadata=None)
    for name in ("c.nc", "c.h5", "c.parquet", "c.tif"):
        size = os.path.getsize(place.at(name))
        with open(place.at(name), "rb") as file:
            raw = file.read(size // 2)
        with open(place.at(name), "wb") as file:
            file.write(raw)
        for options in ([], ["--skip-unsupported"]):
            code, output = place.zarrox("import", place.at(name), place.at(name + ".zarr"), "--force", *options)
            assert code == 5, f"{name} {options}: exit code {code}: {output}"


@case
def damaged_columns(place):
    pq.write_table(pa.table({"a": np.arange(1000), "b": np.arange(1000) / 4}), place.at("d.parquet"), compression="zstd")
    place_of_a = pq.ParquetFile(place.at("d.parquet")).metadata.row_group(0).column(0)
    with open(place.at("d.parquet"), "r+b") as file:
        file.seek((place_of_a.dictionary_page_offset or place_of_a.data_page_offset) + 30)
        file.write(b"\xff" * 40)
    for options in ([], ["--skip-unsupported"]):
        code, output = place.zarrox("import", place.at("d.parquet"), place.at("d.zarr"), "--force", *options)
        assert code == 5, f"{options}: exit code {code}: {output}"


@case
def kinds_that_are_not_read(place):
    starts = {"h.hdf": b"\x0e\x03\x13\x01" + bytes(100), "g.grib": b"GRIB\0\0\0\x02" + bytes(100), "f.fits": b"SIMPLE  =                    T" + b" " * 51 + b"END".ljust(80) + b" " * 2720}
    for name, raw in starts.items():
        with open(place.at(name), "wb") as file:
            file.write(raw)
        code, output = place.zarrox("import", place.at(name), place.at(name + ".zarr"))
        word = {"h.hdf": "HDF4", "g.grib": "GRIB", "f.fits": "FITS"}[name]
        assert code == 6 and word in output, f"{name}: exit code {code}: {output}"


@case
def structures_with_arrays_go_to_v2(place):
    with h5py.File(place.at("s.h5"), "w") as file:
        values = np.zeros(2, np.dtype([("v", "<i4", (2, 2)), ("x", "u1")]))
        values["v"] = np.arange(8).reshape(2, 2, 2)
        file["s"] = values
    target = place.at("s2")
    code, output = place.zarrox("import", place.at("s.h5"), target, "--format", "v2")
    assert code == 0, output
    found = zarr.open_array(target + "/s", mode="r")[...]["v"] if os.path.exists(target + "/s/.zarray") else zarr.open_array(target + "/s/v", mode="r")[...]
    assert (found == values["v"]).all()


@case
def chunks_of_another_rank_are_wrong_usage(place):
    with write_netcdf(place.at("c.nc")) as file:
        file.createVariable("v", "f8", ("x",))[:] = 1
    code, output = place.zarrox("import", place.at("c.nc"), place.at("c.zarr"), "--chunks", "2,2")
    assert code == 2, f"exit code {code}: {output}"


def run_all(command, directory, names=()):
    """Runs the cases. Returns their outcomes."""
    outcomes = {}
    for name, function in CASES.items():
        if names and name not in names:
            continue
        place = os.path.join(directory, name)
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        home = os.getcwd()
        try:
            function(Place(Command(command), place))
            outcomes[name] = None
        except Exception as error:  # noqa: BLE001, all cases are tried
            where = traceback.extract_tb(error.__traceback__)[-1]
            outcomes[name] = f"{type(error).__name__}: {error}" + ("" if isinstance(error, AssertionError) else f" ({os.path.basename(where.filename)}:{where.lineno})")
        finally:
            os.chdir(home)
    return outcomes


def main():
    warnings.simplefilter("ignore")
    command, directory, *names = sys.argv[1:]
    outcomes = run_all(os.path.abspath(command), os.path.abspath(directory), names)
    with open(os.path.join(directory, "made.json"), "w") as file:
        json.dump(outcomes, file, indent=1)
    for name, error in outcomes.items():
        print(f"{name}: {'right' if error is None else error[:500]}")
    failed = sum(error is not None for error in outcomes.values())
    print(f"{len(outcomes) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not outcomes else 0)


if __name__ == "__main__":
    main()
