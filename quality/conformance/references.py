"""kerchunk's part in reading files of other formats through references; see `quality/conformance/driver/src/references.rs`.

    python references.py DIRECTORY

Writes HDF5 and NetCDF files with h5py and xarray, references to them as JSON and as Parquet, and in `cases.json` the expected content of
each variable: its path, and its values as h5py reads them, as a list of numbers or texts.
"""

import json
import pathlib
import sys
import warnings

import h5py
import kerchunk.combine
import kerchunk.df
import kerchunk.hdf
import numpy
import xarray

N = numpy.arange(60)


def hdf5(path):
    """Writes every layout that kerchunk can refer to."""
    with h5py.File(path, "w", libver="latest") as file:
        create = file.create_dataset
        create("contiguous", data=N.astype("<i4").reshape(6, 10))
        create("big_endian", data=N.astype(">i8").reshape(6, 10))
        create("chunked", data=N.astype("<u2").reshape(6, 10), chunks=(4, 5))
        filters = {"chunks": (4, 5), "compression": "gzip", "compression_opts": 9}
        create("deflated", data=(N / 2).astype("<f8").reshape(6, 10), **filters)
        create("shuffled", data=(N / 4).astype("<f4").reshape(6, 10), shuffle=True, fillvalue=-1.0, **filters)
        create("texts", data=numpy.array([b"abc", b"de", b""], "S4"))
        create("strings", data=numpy.array(["größer", "x"], object), dtype=h5py.string_dtype())
        create("scalar", data=numpy.float32(4.5))
        create("empty", shape=(20,), dtype="<i2", chunks=(6,), fillvalue=7)
        sparse = create("sparse", shape=(20,), dtype="<i2", chunks=(6,), fillvalue=-7)
        sparse[7:9] = 5
        file.create_group("group").create_dataset("inside", data=N[:6].astype("i1"))


def netcdf(path, day):
    """Writes a file with xarray, packed by scale and offset, with a record of one time."""
    values = (numpy.arange(12).reshape(1, 3, 4) / 2 + day).astype("f8")
    dataset = xarray.Dataset(
        {"t": (("time", "y", "x"), values)},
        coords={"time": ("time", [day], {"units": "days since 2026-01-01"}), "y": [0, 1, 2], "x": [0, 1, 2, 3]},
    )
    packing = {"dtype": "i2", "scale_factor": 0.5, "add_offset": 1.0, "_FillValue": -99}
    dataset.to_netcdf(path, engine="netcdf4", encoding={"t": {**packing, "zlib": True, "chunksizes": (1, 2, 2)}})


def listed(values):
    values = numpy.asarray(values)
    if values.dtype.kind == "S":
        values = values.astype(str)
    flat = values.ravel().tolist()
    return [value.decode() if isinstance(value, bytes) else value for value in flat]


def variables(path):
    """Returns the variables of a file with their values."""
    found = {}

    def visit(name, node):
        if isinstance(node, h5py.Dataset):
            found[name] = {"shape": list(node.shape), "values": listed(node[()])}

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def refer(directory, name, references, expected, cases):
    """Writes references in both formats."""
    document = str(directory / f"{name}.json")
    pathlib.Path(document).write_text(json.dumps(references))
    table = str(directory / f"{name}.parq")
    kerchunk.df.refs_to_dataframe(references, table, record_size=4)
    for place in (document, table):
        cases += [{"references": place, "variable": variable, **case} for variable, case in expected.items()]


def translate(path, inline):
    return kerchunk.hdf.SingleHdf5ToZarr(str(path), inline_threshold=inline, error="raise").translate()


def main(directory):
    cases = []
    file = directory / "all.h5"
    hdf5(file)
    for inline in (0, 300):
        refer(directory, f"all-{inline}", translate(file, inline), variables(file), cases)

    files = [directory / f"day{day}.nc" for day in range(2)]
    for day, path in enumerate(files):
        netcdf(path, day)
        refer(directory, path.stem, translate(path, 0), variables(path), cases)

    combined = kerchunk.combine.MultiZarrToZarr(
        [translate(path, 0) for path in files], concat_dims=["time"], identical_dims=["y", "x"]
    ).translate()
    days = [variables(path) for path in files]
    both = [day["t"] for day in days]
    expected = {
        "t": {"shape": [2, *both[0]["shape"][1:]], "values": both[0]["values"] + both[1]["values"]},
        "y": days[0]["y"],
        "time": {"shape": [2], "values": [0, 1]},
    }
    refer(directory, "combined", combined, expected, cases)
    (directory / "cases.json").write_text(json.dumps(cases))


warnings.simplefilter("ignore")
main(pathlib.Path(sys.argv[1]).absolute())
