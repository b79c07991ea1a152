"""Exports arrays as TIFF, NIfTI and image stacks, and compares the readings of tifffile, rasterio, nibabel and Pillow.

    python run_images.py COMMAND DIRECTORY

COMMAND is the program `zarrox`. Everything is written into DIRECTORY. The files are imported again as well.
"""

import os
import shutil
import subprocess
import sys
import traceback
import warnings

import nibabel as nib
import numpy as np
import rasterio
import tifffile
import xarray as xr
import zarr
from PIL import Image

COMMAND, DIRECTORY = sys.argv[1], os.path.abspath(sys.argv[2])

warnings.simplefilter("ignore")


def zarrox(*arguments, code=0):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True)
    assert done.returncode == code, f"{arguments}: {done.returncode} {done.stderr}"
    return done.stderr


def path(*parts):
    return os.path.join(DIRECTORY, *parts)


def values(shape, kind):
    dtype = np.dtype(kind)
    numbers = np.random.default_rng(len(shape)).integers(0, 2 if kind == "?" else 120, shape).astype(dtype)
    numbers[..., : shape[-1] // 2] = numbers[..., :1]
    return (numbers / dtype.type(4) if dtype.kind in "fc" else numbers).astype(dtype)


def make(name, array, chunks=None, attributes=None, names=None, **others):
    zarr.create_array(
        path(name), data=array, chunks=chunks or "auto", attributes=attributes, dimension_names=names, overwrite=True, **others
    )
    return path(name)


def image_of(node):
    return node["image"] if isinstance(node, zarr.Group) else node


def again(file, array):
    """Returns the elements of an import of an exported file."""
    shutil.rmtree(path("again.zarr"), ignore_errors=True)
    zarrox("import", file, path("again.zarr"))
    found = image_of(zarr.open(path("again.zarr"), mode="r"))
    expected = array.astype("u1") if array.dtype == bool else array
    np.testing.assert_array_equal(np.asarray(found[...]).reshape(expected.shape), expected, err_msg=file)
    assert found.dtype == expected.dtype, f"{found.dtype} {expected.dtype}"
    return found


TYPES = ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16"]
FORMS = [
    ((37, 53), (37, 53)),
    ((300, 700), (64, 128)),
    ((300, 700), (100, 99)),
    ((5, 300, 270), (2, 100, 300)),
    ((2, 3, 40, 50), (1, 3, 16, 16)),
]


def tiff_types():
    for kind in TYPES:
        for number, (shape, chunks) in enumerate(FORMS):
            array = values(shape, kind)
            source = make("types.zarr", array, chunks)
            for compression in ["deflate", "zstd", "none"]:
                if compression != "deflate" and kind not in ("u1", "i2", "f4", "c8"):
                    continue
                file = path(f"{kind.replace('?', 'b')}-{number}-{compression}.tif")
                zarrox("export", source, file, "--compression", compression, "--memory", "200KiB" if number else "512MiB")
                found = tifffile.imread(file)
                expected = array.astype("u1") if kind == "?" else array
                assert found.shape == shape and found.dtype == expected.dtype, f"{file}: {found.shape} {found.dtype}"
                np.testing.assert_array_equal(found, expected, err_msg=file)
                again(file, array)
                if len(shape) == 2 and kind not in ("f2",):
                    with rasterio.open(file) as opened:
                        np.testing.assert_array_equal(opened.read(1), expected, err_msg=file)
                if len(shape) == 2 and kind == "u1" and compression != "zstd":
                    np.testing.assert_array_equal(np.asarray(Image.open(file)), expected, err_msg=file)


def tiff_colours():
    for kind in ["u1", "u2"]:
        for samples in [3, 4]:
            array = values((70, 90, samples), kind)
            file = path(f"colours-{kind}-{samples}.tif")
            zarrox("export", make("rgb.zarr", array, (32, 32, samples)), file)
            with tifffile.TiffFile(file) as opened:
                assert opened.pages[0].photometric.name == "RGB"
                np.testing.assert_array_equal(opened.asarray(), array)
            again(file, array)
            if kind == "u1":
                np.testing.assert_array_equal(np.asarray(Image.open(file)), array)
    many = values((20, 30, 7), "f4")
    file = path("samples.tif")
    zarrox("export", make("samples.zarr", many, names=["y", "x", "channel"]), file)
    np.testing.assert_array_equal(tifffile.imread(file), many)
    again(file, many)
    planes = values((6, 20, 30), "u2")
    file = path("planes.tif")
    zarrox("export", make("planes.zarr", planes, names=["band", "y", "x"]), file)
    with rasterio.open(file) as opened:
        np.testing.assert_array_equal(opened.read(), planes)
    again(file, planes)
    part = path("part.tif")
    zarrox("export", make("part.zarr", values((9, 300, 400), "i2"), (4, 64, 64)) + "[::-2, 7:205:3, 3]", part, code=0)
    np.testing.assert_array_equal(tifffile.imread(part), values((9, 300, 400), "i2")[::-2, 7:205:3, 3])


def same_place(first, second):
    with rasterio.open(first) as one, rasterio.open(second) as other:
        assert one.crs == other.crs, f"{one.crs} {other.crs}"
        np.testing.assert_allclose(list(one.transform), list(other.transform), rtol=1e-13, atol=1e-13)
        assert one.nodata == other.nodata or (np.isnan(one.nodata) and np.isnan(other.nodata)), f"{one.nodata} {other.nodata}"
        np.testing.assert_array_equal(one.read(), other.read())


def geotiff():
    from rasterio.transform import Affine, from_origin

    places = [
        ("utm", "EPSG:32633", from_origin(500000, 5200000, 30, 30), "u2", 65535, 1),
        ("lonlat", "EPSG:4326", from_origin(-10.05, 60.1, 0.1, 0.1), "f4", np.nan, 3),
        ("gda", "EPSG:7844", from_origin(110, -10, 0.25, 0.25), "f8", -9999.5, 2),
        ("turned", "EPSG:3857", Affine(10, 2, 1000, 3, -9, 2000), "i4", -(2**31), 1),
        ("up", "EPSG:4258", Affine(0.5, 0, 5, 0, 0.5, 40), "i2", -32768, 1),
        ("large", "EPSG:25832", from_origin(1, 2, 1, 1), "u1", None, 4),
    ]
    for name, crs, transform, kind, nodata, bands in places:
        file = path(f"{name}.tif")
        array = values((bands, 300, 200), kind)
        with rasterio.open(
            file, "w", driver="GTiff", width=200, height=300, count=bands, dtype=np.dtype(kind).name, crs=crs, transform=transform, nodata=nodata
        ) as out:
            out.write(array)
        zarrox("import", file, path(f"{name}.zarr"))
        for source in [path(f"{name}.zarr"), path(f"{name}.zarr/image")]:
            if name == "turned" and source.endswith("image"):
                continue
            zarrox("export", source, path(f"{name}-again.tif"), "--force")
            same_place(file, path(f"{name}-again.tif"))
    # A window has its own position.
    zarrox("export", path("utm.zarr/image") + "[10:50, 20:80]", path("window.tif"))
    with rasterio.open(path("utm.tif")) as whole, rasterio.open(path("window.tif")) as part:
        window = rasterio.windows.Window(20, 10, 60, 40)
        np.testing.assert_allclose(list(part.transform), list(whole.window_transform(window)))
        np.testing.assert_array_equal(part.read(), whole.read(window=window))


def geotiff_of_coordinates():
    for step in [-0.25, 0.25]:
        lat = np.arange(40) * step + 50
        lon = np.arange(60) * 0.25 - 10
        array = values((3, 40, 60), "f4")
        dataset = xr.Dataset(
            {"t2m": (("time", "lat", "lon"), array, {"units": "K"})},
            coords={"time": np.arange(3), "lat": lat.astype("f4"), "lon": lon},
        )
        dataset["t2m"].encoding = {"scale_factor": 0.5, "add_offset": 10.0, "dtype": "i2", "_FillValue": -999}
        dataset["t2m"].values[0, 0, 0] = np.nan
        for version in [2, 3]:
            source = path(f"era{version}.zarr")
            dataset.to_zarr(source, mode="w", zarr_format=version, consolidated=False)
            zarrox("export", source + "/t2m", path("era.tif"), "--force")
            with rasterio.open(path("era.tif")) as opened:
                assert opened.crs == "EPSG:4326" and opened.count == 3
                west, north = -10.125, 50 - step / 2
                np.testing.assert_allclose(list(opened.transform)[:6], [0.25, 0, west, 0, step, north])
                assert opened.nodata == -999 and opened.scales == (0.5,) * 3 and opened.offsets == (10.0,) * 3
                assert opened.units == ("K",) * 3, opened.units
                np.testing.assert_array_equal(opened.read(), zarr.open(source + "/t2m", mode="r")[...])
    group = zarr.open_group(path("cf.zarr"), mode="w")
    for name, numbers in [("x", np.arange(30) * 100.0 + 50), ("y", 9000 - np.arange(20) * 100.0)]:
        group.create_array(name, data=numbers, dimension_names=[name])
    array = values((20, 30), "u1")
    group.create_array("v", data=array, dimension_names=["y", "x"], attributes={"grid_mapping": "mapping"})
    wkt = rasterio.crs.CRS.from_epsg(32633).to_wkt()
    group.create_array("mapping", data=np.array(0), attributes={"crs_wkt": wkt})
    zarrox("export", path("cf.zarr"), path("cf.tif"))
    with rasterio.open(path("cf.tif")) as opened:
        assert opened.crs == "EPSG:32633", opened.crs
        assert list(opened.transform)[:6] == [100, 0, 0, 0, -100, 9050]
        np.testing.assert_array_equal(opened.read(1), array)


def ome():
    group = zarr.open_group(path("ome.zarr"), mode="w")
    full = values((2, 3, 4, 200, 300), "u2")
    levels = [full, full[..., ::2, ::2], full[..., ::4, ::4]]
    for number, level in enumerate(levels):
        group.create_array(str(number), data=level, chunks=(1, 1, 2, 64, 64))
    axes = [
        {"name": "t", "type": "time", "unit": "second"},
        {"name": "c", "type": "channel"},
        {"name": "z", "type": "space", "unit": "micrometer"},
        {"name": "y", "type": "space", "unit": "micrometer"},
        {"name": "x", "type": "space", "unit": "micrometer"},
    ]
    datasets = [
        {"path": str(n), "coordinateTransformations": [{"type": "scale", "scale": [2.5, 1, 1.5, 0.25 * 2**n, 0.25 * 2**n]}]}
        for n in range(3)
    ]
    channels = [{"label": name, "color": "FFFFFF", "window": {"min": 0, "max": 1, "start": 0, "end": 1}} for name in ["DAPI", "a<b&\"c", "GFP"]]
    group.attrs["ome"] = {
        "version": "0.5",
        "multiscales": [{"name": "cells", "axes": axes, "datasets": datasets}],
        "omero": {"channels": channels},
    }
    zarrox("export", path("ome.zarr"), path("cells.ome.tif"))
    with tifffile.TiffFile(path("cells.ome.tif")) as opened:
        series = opened.series[0]
        assert opened.is_ome and series.axes == "TCZYX" and series.name == "cells", (series.axes, series.name)
        assert len(series.levels) == 3
        for level, expected in zip(series.levels, levels):
            np.testing.assert_array_equal(level.asarray(), expected)
        pixels = tifffile.xml2dict(opened.ome_metadata)["OME"]["Image"]["Pixels"]
        assert (pixels["PhysicalSizeX"], pixels["PhysicalSizeXUnit"]) == (0.25, "µm"), pixels
        assert (pixels["PhysicalSizeZ"], pixels["TimeIncrement"], pixels["TimeIncrementUnit"]) == (1.5, 2.5, "s")
        assert [channel["Name"] for channel in pixels["Channel"]] == ["DAPI", "a<b&\"c", "GFP"]
    zarrox("export", path("ome.zarr/0") + "[1, 1:, :, 10:50]", path("part.ome.tiff"))
    with tifffile.TiffFile(path("part.ome.tiff")) as opened:
        assert opened.series[0].axes == "CZYX"
        np.testing.assert_array_equal(opened.asarray(), full[1, 1:, :, 10:50])
        pixels = tifffile.xml2dict(opened.ome_metadata)["OME"]["Image"]["Pixels"]
        assert [channel["Name"] for channel in pixels["Channel"]] == ["a<b&\"c", "GFP"]
    for kind in ["u1", "i1", "i2", "u4", "i4", "f4", "f8", "c8"]:
        for shape, axes in [((40, 50), "YX"), ((3, 40, 50), "ZYX"), ((2, 3, 40, 50), "CZYX")]:
            array = values(shape, kind)
            zarrox("export", make("plain.zarr", array), path("plain.ome.tif"), "--force")
            with tifffile.TiffFile(path("plain.ome.tif")) as opened:
                assert opened.series[0].axes == axes, opened.series[0].axes
                np.testing.assert_array_equal(opened.asarray(), array)
    rgb = values((4, 40, 50, 3), "u1")
    zarrox("export", make("rgb5.zarr", rgb, names=["t", "y", "x", "c"]), path("rgb.ome.tif"))
    with tifffile.TiffFile(path("rgb.ome.tif")) as opened:
        assert opened.series[0].axes == "TYXS", opened.series[0].axes
        np.testing.assert_array_equal(opened.asarray(), rgb)
    assert "int64" in zarrox("export", make("long.zarr", values((4, 5), "i8")), path("long.ome.tif"), code=6)
    angle = make("angle.zarr", values((2, 4, 5), "u1"), names=["angle", "y", "x"])
    assert "angle" in zarrox("export", angle, path("angle.ome.tif"), code=6)
    assert not os.path.exists(path("angle.ome.tif"))


FIELDS = ["dim", "pixdim", "qform_code", "sform_code", "xyzt_units", "intent_code", "cal_max", "cal_min", "descrip", "scl_slope", "scl_inter"]


def same_header(one, other):
    for name in FIELDS:
        first, second = one[name], other[name]
        if name.startswith("scl") and np.isnan(first):
            continue
        np.testing.assert_array_equal(second, first, err_msg=name)


def nifti():
    affine = np.array([[-2, 0.1, 0, 90], [0, 2.5, 0.2, -126], [0, 0, 3, -72], [0, 0, 0, 1.0]])
    for kind in [kind for kind in TYPES if kind not in ("?", "f2")]:
        for version in [nib.Nifti1Image, nib.Nifti2Image]:
            image = version(values((7, 6, 5, 3), kind), affine, dtype=np.dtype(kind))
            image.header.set_xyzt_units("mm", "msec")
            image.header.set_intent("t test", (10,), "made")
            image.header["cal_max"], image.header["descrip"] = 100, b"by hand"
            image.header["pixdim"][4] = 2.5
            image.set_qform(np.diag([2, 3, -4, 1]), 1)
            image.header.extensions.append(nib.nifti1.Nifti1Extension("comment", b"Hello"))
            for suffix in [".nii", ".nii.gz"]:
                name = f"{version.__name__}-{kind}{suffix}"
                nib.save(image, path(name))
                zarrox("import", path(name), path(name + ".zarr"))
                zarrox("export", path(name + ".zarr"), path("again-" + name))
                found, saved = nib.load(path("again-" + name)), nib.load(path(name))
                assert type(found) is type(saved)
                np.testing.assert_array_equal(np.asarray(found.dataobj), np.asarray(saved.dataobj))
                np.testing.assert_array_equal(found.affine, saved.affine)
                np.testing.assert_allclose(found.get_qform(), saved.get_qform(), atol=1e-6)
                same_header(saved.header, found.header)
                assert [e.get_content() for e in found.header.extensions] == [e.get_content() for e in saved.header.extensions]
    scaled = nib.Nifti1Image(values((9, 8, 7), "i2"), affine)
    scaled.header.set_slope_inter(0.5, -3)
    nib.save(scaled, path("scaled.nii"))
    zarrox("import", path("scaled.nii"), path("scaled.zarr"))
    cases = [("[1:6:2, ::-1, 3:]", np.s_[3:, 7::-1, 1:6:2]), ("[4]", np.s_[:, :, 4:5]), ("[:, 2]", np.s_[:, 2:3, :]), ("[...]", np.s_[:])]
    for number, (selection, slicer) in enumerate(cases):
        zarrox("export", path("scaled.zarr") + selection, path(f"part{number}.nii"))
        found, expected = nib.load(path(f"part{number}.nii")), nib.load(path("scaled.nii")).slicer[slicer]
        np.testing.assert_array_equal(found.get_fdata().squeeze(), expected.get_fdata().squeeze())
        np.testing.assert_allclose(found.affine, expected.affine, atol=1e-5)
    group = zarr.open_group(path("grid.zarr"), mode="w")
    for name, (first, step, count) in {"x": (10, 0.5, 6), "y": (-4, 2, 5), "z": (0, -3, 4)}.items():
        numbers = first + step * np.arange(count)
        group.create_array(name, data=numbers, dimension_names=[name], attributes={"units": "um" if name != "z" else "nm"})
    group.create_array("v", data=values((4, 5, 6), "f4"), dimension_names=["z", "y", "x"])
    zarrox("export", path("grid.zarr/v"), path("grid.nii"))
    found = nib.load(path("grid.nii"))
    expected = [[0.5, 0, 0, 10], [0, 2, 0, -4], [0, 0, -0.003, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(found.affine, expected, atol=1e-9)
    assert found.header.get_xyzt_units()[0] == "micron", found.header.get_xyzt_units()
    np.testing.assert_array_equal(np.asarray(found.dataobj).T, values((4, 5, 6), "f4"))
    zarrox("export", path("ome.zarr"), path("cells.nii.gz"))
    cells = nib.load(path("cells.nii.gz"))
    np.testing.assert_array_equal(np.asarray(cells.dataobj).T, zarr.open(path("ome.zarr/0"), mode="r")[...])
    np.testing.assert_allclose(np.diag(cells.affine), [0.25, 0.25, 1.5, 1])
    long = values((2, 40000), "u1")
    zarrox("export", make("wide.zarr", long), path("wide.nii"))
    found = nib.load(path("wide.nii"))
    assert isinstance(found, nib.Nifti2Image)
    np.testing.assert_array_equal(np.asarray(found.dataobj).T, long)
    rgb = values((3, 4, 5, 3), "u1")
    zarrox("export", make("rgb3.zarr", rgb, names=["z", "y", "x", "channel"]), path("rgb.nii"))
    found = np.asarray(nib.load(path("rgb.nii")).dataobj).T
    np.testing.assert_array_equal(np.stack([found[name] for name in "RGB"], -1), rgb)
    assert "float16" in zarrox("export", make("half.zarr", values((2, 3), "f2")), path("half.nii"), code=6)
    assert not os.path.exists(path("half.nii"))


def stacks():
    for kind in ["u1", "u2"]:
        for shape in [(5, 20, 30), (5, 20, 30, 3), (5, 20, 30, 4)]:
            if kind == "u2" and len(shape) == 4:
                continue
            array = values(shape, kind)
            source = make("stack.zarr", array, chunks=(2, 10, 10, *shape[3:]))
            out = path(f"stack-{kind}-{len(shape)}-{shape[-1]}")
            zarrox("export", source, out, "--stack", "png")
            assert sorted(os.listdir(out)) == [f"{n:04}.png" for n in range(5)]
            for number in range(5):
                np.testing.assert_array_equal(np.asarray(Image.open(f"{out}/{number:04}.png")), array[number])
            again(out, array)
            zarrox("export", source, out + "/s{:02}.tif", "--compression", "none")
            for number in range(5):
                np.testing.assert_array_equal(tifffile.imread(f"{out}/s{number:02}.tif"), array[number])
            assert "exists" in zarrox("export", source, out + "/%04d.png", code=4)
            zarrox("export", source, out + "/%04d.png", "--force")
            if shape[-1] != 4 and kind == "u1":
                smooth = np.broadcast_to(np.arange(shape[2], dtype="u1").reshape(1, 1, -1, *([1] * (len(shape) - 3))), shape)
                zarrox("export", make("smooth.zarr", smooth), out + "-j/%d.jpg")
                for number in range(5):
                    found = np.asarray(Image.open(f"{out}-j/{number}.jpg")).astype(int)
                    assert found.shape == shape[1:] and abs(found - smooth[number]).max() <= 4
    floats = values((3, 20, 30), "f4")
    source = make("floats.zarr", floats)
    assert "float32" in zarrox("export", source, path("floats"), "--stack", "png", code=6)
    assert not os.path.exists(path("floats"))
    zarrox("export", source, path("floats"), "--stack", "png", "--cmap", "gray")
    low, high = floats.min(), floats.max()
    for number in range(3):
        found = np.asarray(Image.open(path("floats", f"{number:04}.png"))).astype(float)
        expected = (floats[number] - low) / (high - low) * 255
        assert abs(found[..., 0] - expected).max() <= 1
    zarrox("export", source, path("float-tiff"), "--stack", "tiff")
    np.testing.assert_array_equal(tifffile.imread(path("float-tiff", "0002.tif")), floats[2])
    assert [name for name in os.listdir(DIRECTORY) if name.startswith(".")] == []


def main():
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    os.makedirs(DIRECTORY)
    failed = []
    parts = [tiff_types, tiff_colours, geotiff, geotiff_of_coordinates, ome, nifti, stacks]
    for part in parts:
        try:
            part()
            print(f"{part.__name__}: passed")
        except Exception as error:  # noqa: BLE001, all parts are tried
            failed.append(part.__name__)
            traceback.print_exc(limit=3)
            print(f"{part.__name__}: {type(error).__name__}: {error}"[:1500])
    print(f"{len(parts) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
