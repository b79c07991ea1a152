"""Creates the hierarchies for the tests of the page: `make.py DIRECTORY`."""

import pathlib
import sys
import tarfile
import warnings

import numpy as np
import xarray as xr
import zarr

warnings.simplefilter("ignore")


def climate(path):
    """A cube of temperatures like those of a reanalysis, with coordinates, CF times, and a region of missing values."""
    time, lat, lon = np.arange(48) * 6.0, np.linspace(90, -90, 181), np.arange(0, 360, 1.0)
    south = -40 * np.sin(np.radians(lat))[None, :, None] ** 2
    values = 288 + south + 8 * np.cos(np.radians(lon))[None, None, :] + 5 * np.sin(time / 24 * np.pi)[:, None, None]
    values[:, 100:110, 50:70] = np.nan
    dims = ("time", "lat", "lon")
    data = xr.Dataset(
        {
            "t2m": (dims, values.astype("f4"), {"units": "K", "long_name": "temperature"}),
            "anomaly": (dims, (values - np.nanmean(values)).astype("f4")),
        },
        coords={
            "time": ("time", time, {"units": "hours since 2020-02-28 00:00:00"}),
            "lat": ("lat", lat, {"units": "degrees_north"}),
            "lon": ("lon", lon, {"units": "degrees_east"}),
        },
    )
    data.to_zarr(path, mode="w", encoding={"t2m": {"chunks": (12, 60, 90)}})


def microscopy(group):
    """An image of two channels in three sizes: OME-Zarr 0.5."""
    y, x = np.mgrid[:1000, :1200]
    image = np.stack([127 + 127 * np.sin(x / 90) * np.cos(y / 70), 127 + 127 * np.cos(x / 200 + y / 150)]).astype("u1")
    space = [{"name": name, "type": "space", "unit": "micrometer"} for name in "yx"]
    scales = [{"path": str(n), "coordinateTransformations": [{"type": "scale", "scale": [1, 2**n, 2**n]}]} for n in range(3)]
    window = {"start": 0, "end": 255, "min": 0, "max": 255}
    channels = [{"label": label, "color": color, "active": True, "window": window} for label, color in (("DAPI", "0000FF"), ("GFP", "00FF00"))]
    multiscales = [{"axes": [{"name": "c", "type": "channel"}, *space], "datasets": scales}]
    ome = {"version": "0.5", "multiscales": multiscales, "omero": {"channels": channels}}
    levels = group.create_group("image", attributes={"ome": ome})
    for n in range(3):
        part = image[:, :: 2**n, :: 2**n]
        levels.create_array(str(n), shape=part.shape, dtype="u1", chunks=(1, 256, 256))[:] = part
    labels = levels.create_group("labels", attributes={"ome": {"version": "0.5", "labels": ["cells"]}})
    said = {"version": "0.5", "image-label": {}, "multiscales": [{"axes": space, "datasets": [{"path": "0"}]}]}
    cells = np.zeros((1000, 1200), dtype="u2")
    cells[300:500, 200:400], cells[300:500, 400:600] = 1, 2
    labels.create_group("cells", attributes={"ome": said}).create_array("0", data=cells, chunks=(256, 256))


def world(group):
    """An array from the south to the north and from -180 to 179 degrees, whose dimensions are identified only by their standard names."""
    group = group.create_group("world")
    for name, values, standard in (("phi", np.arange(-90, 91.0), "latitude"), ("lambda", np.arange(-180, 180.0), "longitude")):
        group.create_array(name, data=values, dimension_names=[name], attributes={"standard_name": standard})
    group.create_array("height", shape=(181, 360), dtype="f4", dimension_names=["phi", "lambda"])[:] = 1


def curved(path):
    """Temperatures on a rotated grid of Europe, as regional climate models have them, and on a grid of the ocean with two poles in the north."""
    rlat, rlon = np.linspace(-23, 21, 89), np.linspace(-28, 18, 93)
    y, x = np.radians(rlat)[:, None], np.radians(rlon)[None, :]
    pole = np.radians(39.25)
    lat = np.degrees(np.arcsin(np.sin(y) * np.sin(pole) + np.cos(y) * np.cos(x) * np.cos(pole)))
    lon = 18 + np.degrees(np.arctan2(np.cos(y) * np.sin(x), np.sin(pole) * np.cos(y) * np.cos(x) - np.sin(y) * np.cos(pole)))
    time = ("time", np.arange(4) * 6.0, {"units": "hours since 2020-06-24 00:00:00"})
    values = (290 - 0.5 * (lat - 35))[None] + np.arange(4.0)[:, None, None] + 3 * np.sin(np.radians(lon * 8))[None]
    attributes = {"lat": {"units": "degrees_north", "standard_name": "latitude"}, "lon": {"units": "degrees_east", "standard_name": "longitude"}}
    grid = {"lat": (("rlat", "rlon"), lat, attributes["lat"]), "lon": (("rlat", "rlon"), lon, attributes["lon"])}
    data = xr.Dataset({"tas": (("time", "rlat", "rlon"), values.astype("f4"), {"units": "K", "long_name": "air temperature"})}, coords={"time": time, "rlat": rlat, "rlon": rlon, **grid})
    data.to_zarr(path, group="europe", mode="w")
    j, i = np.mgrid[:150, :180]
    lat = -78 + j * 1.13 - 0.002 * np.maximum(j - 100, 0) ** 2 * np.cos(np.radians(i * 4))
    lon = (73 + i * 2.0 + 0.006 * np.maximum(j - 100, 0) ** 2 * np.sin(np.radians(i * 4)) + 180) % 360 - 180
    sea = np.where(np.cos(np.radians(lon * 3)) + np.sin(np.radians(lat * 4)) < -1.1, np.nan, 30 * np.cos(np.radians(lat)) ** 2)
    grid = {"nav_lat": (("y", "x"), lat, {"units": "degrees_north"}), "nav_lon": (("y", "x"), lon, {"units": "degrees_east"})}
    data = xr.Dataset({"sst": (("y", "x"), sea.astype("f4"), {"units": "degC", "long_name": "sea surface temperature"})}, coords=grid)
    data.to_zarr(path, group="ocean", mode="a")


def mixed(path):
    """Arrays of every kind, and large, sparse and damaged arrays."""
    group = zarr.open_group(path, mode="w")
    group.create_array("text", shape=(300,), dtype=str)[:] = np.array([f"name {n} ü" for n in range(300)], dtype=object)
    points = np.array([(n / 4, n) for n in range(50)], dtype=[("x", "f4"), ("n", "i4")])
    group.create_array("points", shape=points.shape, dtype=points.dtype)[:] = points
    waves = np.arange(2400).reshape(40, 60) * np.exp(1j * np.arange(60) / 9)
    group.create_array("complex", shape=waves.shape, dtype="c8")[:] = waves
    group.create_array("scalar", shape=(), dtype="f8")[...] = 3.5
    group.create_array("mask", shape=(30, 30), dtype=bool)[:] = np.eye(30, dtype=bool)
    group.create_array("times", shape=(20,), dtype="M8[s]")[:] = np.arange(20).astype("M8[s]")
    group.create_array("days", shape=(20, 30), dtype="M8[D]")[:] = (np.arange(600).reshape(20, 30) % 31).astype("M8[D]")
    group.create_array("wave", shape=(100_000,), dtype="f4")[:] = np.sin(np.arange(100_000) / 3000)
    colours = np.zeros((60, 80, 3), dtype="u1")
    colours[:, :40, 0], colours[:, 40:, 2] = 255, 255
    group.create_array("rgb", shape=colours.shape, dtype="u1", dimension_names=["y", "x", "c"])[:] = colours
    sparse = group.create_array("sparse", shape=(4000, 4000), dtype="i2", chunks=(100, 100), shards=(400, 400))
    sparse[500:900, 700:2000] = np.repeat(np.arange(400, dtype="i2")[:, None], 1300, axis=1)
    damaged = group.create_array("damaged", shape=(40, 40), dtype="i4", chunks=(10, 10))
    damaged[:] = np.arange(1600, dtype="i4").reshape(40, 40)
    (pathlib.Path(path) / "damaged/c/1/1").write_bytes(b"no zstd")
    gaps = group.create_array("gaps", shape=(3000, 3000), dtype="f4", attributes={"missing_value": 1e20})
    gaps[:] = np.where(np.arange(9_000_000).reshape(3000, 3000) % 3 == 0, np.float32(1e20), np.float32(5))
    wide = group.create_array("wide", shape=(8000, 8000), dtype="i4", chunks=(1000, 1000))
    squares = np.add.outer(np.arange(8000) // 1000, np.arange(8000) // 1000) % 8
    wide[:] = squares.astype("i4")
    many = group.create_group("many")
    for n in range(300):
        many.create_group(f"g{n:04d}")
    microscopy(group)
    world(group)
    (pathlib.Path(path) / "broken").mkdir()
    (pathlib.Path(path) / "broken/zarr.json").write_text('{"zarr_format": 3, "node_type": "array"}')


def plenty(path):
    """A group of 10,000 arrays."""
    group = zarr.open_group(path, mode="w")
    first = group.create_array("a00000", data=np.arange(12, dtype="i4").reshape(3, 4))
    document = (path / first.name.strip("/") / "zarr.json").read_bytes()
    for n in range(1, 10_000):
        (path / f"a{n:05d}").mkdir()
        (path / f"a{n:05d}/zarr.json").write_bytes(document)


def packed(group):
    """Packed numbers and missing values, as xarray writes them in Zarr 3 and in Zarr 2."""
    x = np.arange(40.0)
    values = np.where((x[:, None] // 10 + x[None, :] // 10) % 2 == 0, x[None, :], np.nan)
    data = xr.Dataset({"degrees": (("y", "x"), values, {"units": "K"})})
    for name, version in (("packed3", 3), ("packed2", 2)):
        encoding = {"degrees": {"dtype": "i2", "scale_factor": 0.5, "add_offset": 100.0, "_FillValue": -9999}}
        data.to_zarr(group / name, mode="w", zarr_format=version, encoding=encoding, consolidated=False)
        floats = {"degrees": {"dtype": "f4", "_FillValue": 1e20}}
        data.to_zarr(group / f"{name}f", mode="w", zarr_format=version, encoding=floats, consolidated=False)


def odd(path):
    """Arrays that are easily displayed wrongly."""
    group = zarr.open_group(path, mode="w")

    def put(name, values, dims=None, chunks="auto", **attributes):
        group.create_array(name, data=np.asarray(values), dimension_names=dims, chunks=chunks, attributes=attributes)

    put("big", np.array([2**53 + 1, 10**15 + 1, -(2**63), 7], dtype="i8"))
    put("bigger", np.array([[2**64 - 1, 2**53 + 1], [1, 2]], dtype="u8"))
    put("exact", np.array([0.1, 1 / 3, 123456789.123456789, 1e20]))
    put("single", np.array([0.1, 271.88], dtype="f4"))
    put("moments", (np.arange(40) * 86400 + 1577836800).astype("M8[s]"))
    stations = np.array(
        [(n, 50 + n / 10, np.datetime64("2020-01-01") + n, f"s{n}") for n in range(40)],
        dtype=[("id", "i4"), ("lat", "f8"), ("since", "M8[s]"), ("name", "U4")],
    )
    group.create_array("stations", shape=stations.shape, dtype=stations.dtype)[:] = stations
    for name, units, calendar in (
        ("month", "days since 1859-12-01", "360_day"),
        ("noleap", "days since 2020-02-27", "noleap"),
        ("julian", "days since 1582-10-04", "julian"),
        ("mixed", "days since 1582-10-04", "standard"),
        ("allleap", "days since 2019-02-27", "all_leap"),
    ):
        put(name, np.arange(20) + (0.5 if name == "month" else 0), (name,), units=units, calendar=calendar)
        put(f"of_{name}", np.arange(20 * 6.0).reshape(20, 2, 3), (name, "y", "x"))
    put("lat", np.linspace(-60, 60, 61), ("lat",), units="degrees_north")
    put("lon", np.linspace(0, 118, 60), ("lon",), units="degrees_east")
    put("north", np.repeat(np.arange(61.0)[:, None], 60, axis=1), ("lat", "lon"))
    put("level", np.array([1000, 850, 500, 200, 100.0]), ("level",), units="hPa")
    put("step", np.arange(30), ("step",), units="hours since 2020-06-24", calendar="standard")
    values = np.arange(5 * 30 * 61 * 60).reshape(5, 30, 61, 60) % 1000.0
    put("u", values, ("level", "step", "lat", "lon"), chunks=(1, 30, 61, 60), units="m s-1", long_name="eastward wind", standard_name="eastward_wind")
    put("v", -values, ("level", "step", "lat", "lon"), chunks=(1, 10, 61, 60), units="m s-1", long_name="northward wind")
    put("holes", np.full((30, 40), np.nan))
    put("infinite", np.full((30, 40), np.inf))
    put("negative", -np.arange(1200.0).reshape(30, 40))
    group.create_array("unwritten", shape=(300, 400), chunks=(100, 100), dtype="f4", fill_value=0)
    waves = np.exp(1j * np.linspace(-np.pi, np.pi, 2400).reshape(40, 60))
    group.create_array("waves", shape=waves.shape, dtype="c16", attributes={"units": "a.u."})[:] = waves
    series = group.create_array("series", shape=(6, 40, 40), chunks=(1, 10, 10), dtype="f4", dimension_names=["t", "y", "x"])
    series[:] = np.arange(6)[:, None, None] * 100 + np.arange(1600).reshape(40, 40) / 40
    (pathlib.Path(path) / "series/c/3/1/2").write_bytes(b"no zstd")
    for row in range(4):
        for column in range(4):
            (pathlib.Path(path) / f"series/c/5/{row}/{column}").write_bytes(b"no zstd")
    long = group.create_array("long", shape=(2_000_000_000,), chunks=(1_000_000,), dtype="f4", fill_value=0)
    long[:1_000_000] = np.sin(np.arange(1_000_000))
    huge = group.create_array("huge", shape=(100_000, 100_000), chunks=(1000, 1000), shards=(10_000, 10_000), dtype="f4", fill_value=0)
    for at in (0, 22_000, 44_000, 66_000, 88_000):
        huge[at : at + 1000, at : at + 1000] = 7
    put("plain", np.arange(12.0).reshape(3, 4))
    group.create_array("table", data=np.arange(400 * 120).reshape(400, 120), dimension_names=["row", "column"])
    (pathlib.Path(path) / "empty").mkdir()


def folder(path):
    """A directory of hierarchies, and a plate of OME-Zarr."""
    zarr.open_group(path / "one.zarr", mode="w").create_array("a", data=np.arange(12).reshape(3, 4))
    plate = zarr.open_group(path / "plate.zarr", mode="w")
    wells = [{"path": f"{row}/{column}", "rowIndex": "AB".index(row), "columnIndex": column - 1} for row in "AB" for column in (1, 2, 3) if (row, column) != ("B", 3)]
    names = {"rows": [{"name": row} for row in "AB"], "columns": [{"name": str(column)} for column in (1, 2, 3)]}
    plate.attrs["ome"] = {"version": "0.5", "plate": {**names, "wells": wells}}
    for number, well in enumerate(wells):
        group = plate.create_group(well["path"])
        group.attrs["ome"] = {"version": "0.5", "well": {"images": [{"path": "0"}]}}
        image = group.create_group("0")
        axes = [{"name": name, "type": "space", "unit": "micrometer"} for name in "yx"]
        scale = [{"type": "scale", "scale": [0.5, 0.5]}]
        image.attrs["ome"] = {"version": "0.5", "multiscales": [{"axes": axes, "datasets": [{"path": "0", "coordinateTransformations": scale}]}]}
        image.create_array("0", data=(np.add.outer(np.arange(60), np.arange(80)) * (number + 1) % 256).astype("u1"))


def old_microscopy(path):
    """An image of OME-Zarr 0.4 with channels and depth, in two sizes, with labels in two sizes that have no channels."""
    group = zarr.open_group(path, mode="w", zarr_format=2)
    c, z, y, x = np.mgrid[:2, :3, :200, :300]
    image = (c * 100 + z * 20 + x / 10).astype("u2")
    cells = np.zeros((3, 200, 300), dtype="i4")
    cells[1, 40:80, 60:120], cells[1, 120:160, 180:240], cells[2, :, :] = 7, 8, 9
    axes = [{"name": "c", "type": "channel"}] + [{"name": name, "type": "space"} for name in "zyx"]

    def levels(into, values, axes):
        datasets = []
        for n in range(2):
            part = values[..., :: 2**n, :: 2**n]
            array = into.create_array(str(n), shape=part.shape, dtype=part.dtype, chunks=(*([1] * (part.ndim - 2)), 100, 100))
            array[:] = part
            scale = [1.0] * (part.ndim - 2) + [2.0**n] * 2
            datasets.append({"path": str(n), "coordinateTransformations": [{"type": "scale", "scale": scale}]})
        into.attrs["multiscales"] = [{"version": "0.4", "axes": axes, "datasets": datasets}]

    levels(group, image, axes)
    labels = group.create_group("labels")
    labels.attrs["labels"] = ["cells"]
    into = labels.create_group("cells")
    levels(into, cells, axes[1:])
    into.attrs["image-label"] = {"version": "0.4"}


def brain(path):
    """A magnetic resonance image of a brain, which nibabel ships as an example, under the licence of MIT."""
    archive = pathlib.Path(__file__).resolve().parents[3] / "zarrox-files/tests/nifti/data.tar.xz"
    with tarfile.open(archive) as file:
        path.write_bytes(file.extractfile("data/anatomical.nii").read())


def corpus(path):
    """The stores that other programs wrote for the tests of the library: a directory for each writer."""
    root = pathlib.Path(__file__).resolve().parents[3] / "zarrox/tests/corpus"
    for archive in sorted(root.rglob("data.tar.xz")):
        writer = "-".join(archive.parent.relative_to(root).parts)
        with tarfile.open(archive) as file:
            file.extractall(path / writer, filter="data")


if __name__ == "__main__":
    directory = pathlib.Path(sys.argv[1])
    corpus(directory / "corpus")
    brain(directory / "anatomical.nii")
    climate(directory / "climate.zarr")
    curved(directory / "curved.zarr")
    mixed(directory / "mixed.zarr")
    plenty(directory / "plenty.zarr")
    packed(directory / "packed")
    old_microscopy(directory / "old.zarr")
    odd(directory / "odd.zarr")
    folder(directory / "folder")
