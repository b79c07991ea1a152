"""Imports images of tifffile and rasterio, and compares the elements and coordinates with their own readings.

    python run_tiff.py COMMAND DIRECTORY

COMMAND is the program `zarrox`. The files are written by tiff_files.py into DIRECTORY.
"""

import os
import sys

import numpy as np
import xarray as xr
import zarr

import tiff_files
from each_file import prepare, try_all, zarrox

DIRECTORY = sys.argv[2]


def images(node):
    """Returns the images of an import: the array itself, the member of a group with coordinates, or all members."""
    if isinstance(node, zarr.Array):
        return [node]
    if "image" in node:
        return [node["image"]]
    return [image for name in sorted(node, key=int) for image in images(node[name])]


def check(path):
    target = os.path.join(DIRECTORY, "made", os.path.basename(path) + ".zarr")
    zarrox("import", path, target, "--skip-unsupported", "--skip-damaged")
    found, wanted, place = images(zarr.open(target, mode="r")), tiff_files.expected(path), tiff_files.place(path)
    assert len(found) == len(wanted), f"{path}: {len(found)} images instead of {len(wanted)}"
    for image, values in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(image[...], values, err_msg=path)
    image = found[0]
    for number, values in enumerate(tiff_files.levels(path), 1):
        level = f"{target}.{number}"
        zarrox("import", path, level, "--level", str(number))
        np.testing.assert_array_equal(images(zarr.open(level, mode="r"))[0][...], values, err_msg=level)
    if place is not None:
        check_place(target, image, place)
    print(f"{os.path.basename(path)}: {image.shape} {image.dtype}")


def check_place(target, image, place):
    """Checks the coordinates and attributes, also as xarray reads them."""
    assert image.attrs["crs"] == place["crs"], image.attrs["crs"]
    np.testing.assert_allclose(image.attrs["transform"], place["transform"], rtol=1e-15)
    with xr.open_zarr(target, consolidated=False) as dataset:
        np.testing.assert_allclose(dataset["x"], place["x"], rtol=1e-12)
        np.testing.assert_allclose(dataset["y"], place["y"], rtol=1e-12)
        if place["nodata"] is not None:
            missing = (np.asarray(image[...]) == place["nodata"]).sum()
            assert np.isnan(dataset["image"].values).sum() == missing, f"{target}: {missing}"


def main():
    prepare(DIRECTORY)
    try_all(tiff_files.write(os.path.join(DIRECTORY, "written")), check)


if __name__ == "__main__":
    main()
