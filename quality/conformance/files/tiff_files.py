"""TIFF images of tifffile and rasterio, as these programs read them."""

import os

import numpy as np
import rasterio
import rasterio.shutil
import tifffile
from rasterio.enums import Resampling
from rasterio.transform import from_origin

import tiff_kinds

TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4", "f8", "u8", "c8"]


def pixels(shape, dtype):
    """Returns smooth numbers with some noise."""
    rng = np.random.default_rng(sum(shape))
    smooth = np.add.outer(np.arange(shape[-2]), np.arange(shape[-1])) if len(shape) > 1 else np.arange(shape[0])
    values = ((np.broadcast_to(smooth, shape) + rng.integers(0, 5, shape)) % 120).astype(dtype)
    return values / np.array(4, dtype) if values.dtype.kind in "fc" else values


def write(out):
    """Writes all files into a directory. Returns their paths."""
    os.makedirs(out, exist_ok=True)
    at = lambda name: os.path.join(out, name + ".tif")  # noqa: E731
    for kind in TYPES:
        tifffile.imwrite(at(f"plain-{kind}"), pixels((37, 23), kind), rowsperstrip=5)
        predictor = {"u": 2, "i": 2, "f": 3}.get(kind[0])
        tifffile.imwrite(at(f"tiled-{kind}"), pixels((50, 37), kind), tile=(16, 32), compression="zlib", predictor=predictor, byteorder=">" if kind in ("u2", "f4", "f8") else "<")
    for codec in ["lzw", "packbits", "zstd", "deflate"]:
        for predictor in [1, 2]:
            name = {"deflate": "adobe_deflate"}.get(codec, codec)
            if codec == "packbits" and predictor == 2:
                continue
            tifffile.imwrite(at(f"{codec}-{predictor}"), pixels((41, 60), "u2"), compression=name, predictor=predictor if predictor > 1 else None, rowsperstrip=7)
    tifffile.imwrite(at("rgb"), pixels((20, 31, 3), "u1"), photometric="rgb", rowsperstrip=6)
    tifffile.imwrite(at("rgba"), pixels((20, 31, 4), "u2"), photometric="rgb", extrasamples=["unassalpha"], compression="lzw", predictor=2)
    tifffile.imwrite(at("planar"), pixels((3, 20, 31), "u1"), photometric="rgb", planarconfig="separate", tile=(16, 16))
    tifffile.imwrite(at("white"), pixels((20, 31), "u1"), photometric="miniswhite")
    tifffile.imwrite(at("pages"), pixels((6, 20, 31), "u2"), photometric="minisblack", compression="zlib")
    tifffile.imwrite(at("big"), pixels((3, 20, 31), "f4"), photometric="minisblack", bigtiff=True, byteorder=">")
    tifffile.imwrite(at("imagej"), pixels((2, 3, 4, 20, 31), "u2"), imagej=True, metadata={"axes": "TZCYX"})
    tifffile.imwrite(at("ome"), pixels((2, 3, 4, 20, 31), "u2"), ome=True, metadata={"axes": "TCZYX"})
    tifffile.imwrite(at("jpeg"), np.repeat(np.repeat(pixels((8, 8), "u1"), 8, 0), 8, 1), compression="jpeg", tile=(32, 32))
    tifffile.imwrite(at("rgbjpeg"), np.dstack([np.full((64, 64), n, "u1") for n in (200, 100, 50)]), compression="jpeg", photometric="rgb", tile=(32, 32))
    write_geo(at)
    tiff_kinds.write(out)
    return sorted(os.path.join(out, name) for name in os.listdir(out) if name.endswith(".tif"))


def write_geo(at):
    """Writes files of GDAL: with coordinates, many bands, overviews, and tiles that are not stored."""
    profile = {"driver": "GTiff", "crs": "EPSG:32633", "transform": from_origin(500000, 5200000, 10, 20)}
    dem = pixels((100, 130), "f4")
    dem[:20, :30] = -9999
    with rasterio.open(at("dem"), "w", height=100, width=130, count=1, dtype="float32", nodata=-9999, compress="zstd", predictor=3, tiled=True, blockxsize=64, blockysize=64, **profile) as file:
        file.write(dem, 1)
    with rasterio.open(at("bands"), "w", height=40, width=50, count=5, dtype="int16", nodata=-1, compress="deflate", predictor=2, interleave="pixel", **profile) as file:
        file.write(pixels((5, 40, 50), "i2"))
    with rasterio.open(at("bandplanes"), "w", height=40, width=50, count=5, dtype="uint8", interleave="band", **{**profile, "crs": "EPSG:4326", "transform": from_origin(-10, 60, 0.5, 0.25)}) as file:
        file.write(pixels((5, 40, 50), "u1"))
    with rasterio.open(at("sparse"), "w", height=128, width=128, count=1, dtype="uint16", nodata=7, sparse_ok=True, tiled=True, blockxsize=64, blockysize=64, **profile) as file:
        file.write(pixels((64, 64), "u2"), 1, window=rasterio.windows.Window(64, 0, 64, 64))
    with rasterio.open(at("point"), "w", height=10, width=12, count=1, dtype="uint8", **profile) as file:
        file.write(pixels((10, 12), "u1"), 1)
        file.update_tags(AREA_OR_POINT="Point")
    with rasterio.MemoryFile() as memory:
        with memory.open(**{**profile, "height": 200, "width": 300, "count": 3, "dtype": "uint8"}) as file:
            file.write(pixels((3, 200, 300), "u1"))
            file.build_overviews([2, 4], Resampling.nearest)
            rasterio.shutil.copy(file, at("cog"), driver="COG", blocksize=128, compress="lzw", overviews="auto", overview_resampling="nearest")


def expected(path):
    """Returns the elements of each image of a file as tifffile reads them, with the samples of pixels last or first as they are stored."""
    if path.endswith(".stk.tif"):
        # tifffile recognizes stacks only with further tags.
        return [tiff_kinds.pixels((3, 4, 5), "u1")]
    if os.path.basename(path) == "lerc-nan.tif":
        # tifffile does not support LERC masks, which stand for NaN.
        with rasterio.open(path) as file:
            return [np.moveaxis(file.read(), 0, -1)]
    with tifffile.TiffFile(path) as file:
        images = [series for series in file.series if not series.keyframe.subfiletype & 4]
        found = [np.squeeze(series.levels[0].asarray()) for series in images]
    return [values.astype("u1") if values.dtype == bool else values for values in found]


def levels(path):
    """Returns the overviews of an image: those of OME-TIFF as tifffile reads them, and those of GDAL with the samples last."""
    if path.endswith(".ome.tif"):
        with tifffile.TiffFile(path) as file:
            return [level.asarray() for level in file.series[0].levels[1:]]
    if not path.endswith("cog.tif"):
        return []
    with rasterio.open(path) as file:
        factors = file.overviews(1)
    found = []
    for number in range(len(factors)):
        with rasterio.open(path, overview_level=number) as file:
            found.append(np.moveaxis(file.read(), 0, -1))
    return found


def pages(path):
    """Returns the number of pages of a file, including pages that other pages refer to."""
    with tifffile.TiffFile(path) as file:
        # A cycle of directories would not end.
        return sum(1 + len(file.pages[number].pages or []) for number in range(len(file.pages)))


def place(path):
    """Returns the coordinate system, the geotransform and the missing value of an image from rasterio; `None` without a geotransform."""
    try:
        file = rasterio.open(path)
    except rasterio.errors.RasterioIOError:
        return None
    with file:
        if file.crs is None or not file.crs.to_string().startswith("EPSG"):
            return None
        nodata = file.nodata
        return {"crs": file.crs.to_string(), "transform": list(file.transform)[:6], "nodata": nodata, "x": [file.xy(0, n)[0] for n in range(file.width)], "y": [file.xy(n, 0)[1] for n in range(file.height)]}
