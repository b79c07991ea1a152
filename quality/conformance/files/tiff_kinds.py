"""Rarer kinds of TIFF images: stacks with one directory, OME-TIFF in several files, volumes, packed bits, and further compressions."""

import os
import struct

import imagecodecs
import numpy as np
import rasterio
import tifffile

OME = (
    '<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"{uuid}><Image ID="Image:0"><Pixels ID="Pixels:0" DimensionOrder="XYCZT" '
    'Type="uint16" SizeX="7" SizeY="6" SizeZ="1" SizeC="2" SizeT="1" PhysicalSizeX="0.5" PhysicalSizeY="0.25" PhysicalSizeYUnit="mm">'
    '<Channel ID="Channel:0:0" Name="DAPI" Color="65535"/><Channel ID="Channel:0:1"/>{planes}</Pixels></Image></OME>'
)


def pixels(shape, dtype="u2", most=120):
    rng = np.random.default_rng(sum(shape))
    return rng.integers(0, most, shape).astype(dtype)


def write(out):
    """Writes all files into a directory."""
    at = lambda name: os.path.join(out, name)  # noqa: E731
    write_stacks(at)
    write_ome(at)
    write_volumes(at)
    write_bits(at)
    write_codecs(at)
    write_bands(at)
    write_damaged(at)


def write_stacks(at):
    """Writes one directory for all planes, as ImageJ does for files above 4 GB."""
    stack = {"imagej": True, "truncate": True}
    tifffile.imwrite(at("imagej-z.tif"), pixels((5, 6, 7)), metadata={"axes": "ZYX", "unit": "um", "spacing": 2.5}, resolution=(2, 4), **stack)
    tifffile.imwrite(at("imagej-tzc.tif"), pixels((2, 3, 4, 6, 7), "f4"), metadata={"axes": "TZCYX", "finterval": 3.0}, **stack)
    tifffile.imwrite(at("imagej-rgb.tif"), pixels((4, 6, 7, 3), "u1"), metadata={"axes": "ZYXS"}, **stack)
    tifffile.imwrite(at("shaped-truncated.tif"), pixels((5, 20, 30)), truncate=True, photometric="minisblack")
    tifffile.imwrite(at("shaped-axes.tif"), pixels((2, 3, 8, 9)), photometric="minisblack", metadata={"axes": "TZYX"})
    tifffile.imwrite(at("shaped-rgb.tif"), pixels((2, 3, 8, 9, 3), "u1"), photometric="rgb", truncate=True)
    with tifffile.TiffWriter(at("series.tif")) as file:
        file.write(pixels((3, 10, 12)), photometric="minisblack")
        file.write(pixels((3, 10, 12)) + 1, photometric="minisblack")
        file.write(pixels((20, 9), "f4"))
    planes, data = 3, pixels((3, 4, 5), "u1").tobytes()
    place = 1024
    about = b"".join(struct.pack("<6I", 2, 1, 0, 0, 0, 0) for _ in range(planes))
    tags = [(256, 3, 5), (257, 3, 4), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, place), (277, 3, 1), (278, 3, 4), (279, 4, 20)]
    write_raw(at("metamorph.stk.tif"), "<", tags, data, place, (33629, 5, planes, about))


def write_raw(path, order, tags, data, place, last=None):
    """Writes a file with one directory. The values of its last tag follow the directory."""
    count = len(tags) + (last is not None)
    out = (b"II\x2a\0" if order == "<" else b"MM\0\x2a") + struct.pack(order + "IH", 8, count)
    for tag, kind, value in tags:
        out += struct.pack(order + "HHI", tag, kind, 1)
        out += struct.pack(order + "HH", value, 0) if kind == 3 else struct.pack(order + "I", value)
    if last is not None:
        out += struct.pack(order + "HHII", *last[:3], 512)
    out = (out + bytes(4)).ljust(512, b"\0") + (last[3] if last else b"")
    with open(path, "wb") as file:
        file.write(out.ljust(place, b"\0") + data)


def write_ome(at):
    planes = pixels((2, 6, 7))
    plane = '<TiffData FirstC="{}" IFD="{}" PlaneCount="1"/>'
    swapped = OME.format(uuid="", planes=plane.format(1, 0) + plane.format(0, 1))
    tifffile.imwrite(at("order.ome.tif"), planes, description=swapped, metadata=None, photometric="minisblack")
    one = OME.format(uuid="", planes=plane.format(0, 0))
    tifffile.imwrite(at("missing.ome.tif"), planes[0], description=one, metadata=None)
    name = '<TiffData FirstC="{0}" IFD="0"><UUID FileName="part{0}.ome.tif">urn:uuid:0-{0}</UUID></TiffData>'
    parts = name.format(0) + name.format(1)
    for number in (0, 1):
        order = "<>"[number]
        text = OME.format(uuid=f' UUID="urn:uuid:0-{number}"', planes=parts)
        tifffile.imwrite(at(f"part{number}.ome.tif"), planes[number], description=text, metadata=None, byteorder=order)
    gone = name.replace("part", "gone").format(0) + name.replace("part{0}", "gone").format(1)
    tifffile.imwrite(at("gone.ome.tif"), planes[1], description=OME.format(uuid="", planes=gone), metadata=None)
    binary = '<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><BinaryOnly MetadataFile="both.companion.ome" UUID="urn:uuid:1"/></OME>'
    both = name.replace("part{0}", "binary").format(0) + '<TiffData FirstC="1" IFD="1"><UUID FileName="binary.ome.tif">urn:uuid:1</UUID></TiffData>'
    with open(at("both.companion.ome"), "w") as file:
        file.write(OME.format(uuid="", planes=both))
    tifffile.imwrite(at("binary.ome.tif"), planes, description=binary, metadata=None, photometric="minisblack")
    tifffile.imwrite(at("rgb.ome.tif"), pixels((4, 8, 9, 3), "u1"), photometric="rgb", metadata={"axes": "ZYXS"})
    with tifffile.TiffWriter(at("images.ome.tif")) as file:
        file.write(pixels((3, 8, 9)), metadata={"axes": "ZYX"}, photometric="minisblack")
        file.write(pixels((2, 10, 12), "f4"), metadata={"axes": "CYX"}, photometric="minisblack")
    big = np.kron(pixels((2, 16, 24)), np.ones((4, 4), "u2"))
    with tifffile.TiffWriter(at("pyramid.ome.tif")) as file:
        about = {"axes": "CYX", "PhysicalSizeX": 0.5, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 0.25, "Channel": {"Name": ["a", "b"]}}
        file.write(big, subifds=2, tile=(32, 32), metadata=about, photometric="minisblack")
        for step in (2, 4):
            file.write(big[:, ::step, ::step], subfiletype=1, tile=(32, 32))


def write_volumes(at):
    deep = {"volumetric": True, "metadata": None}
    tifffile.imwrite(at("volume.tif"), pixels((20, 40, 24), "u1"), tile=(16, 16, 16), photometric="minisblack", compression="zlib", **deep)
    tifffile.imwrite(at("volume-strips.tif"), pixels((5, 20, 30)), rowsperstrip=7, photometric="minisblack", **deep)
    tifffile.imwrite(at("volume-rgb.tif"), pixels((16, 16, 20, 3), "u1"), tile=(16, 16, 16), photometric="rgb", compression="zlib", **deep)
    tifffile.imwrite(at("volume-planar.tif"), pixels((3, 8, 16, 20), "u1"), tile=(8, 16, 16), photometric="rgb", planarconfig="separate", compression="zlib", **deep)


def write_bits(at):
    for order in "<>":
        for bits in (1, 2, 3, 4, 6, 10, 12, 14, 15, 20, 31):
            dtype = "u1" if bits <= 8 else "u2" if bits <= 16 else "u4"
            data = b"".join(imagecodecs.packints_encode(row, bits) for row in pixels((13, 11), dtype, 2**bits - 1))
            tags = [(256, 3, 11), (257, 3, 13), (258, 3, bits), (259, 3, 1), (262, 3, 1), (273, 4, 512), (277, 3, 1), (278, 3, 13), (279, 4, len(data))]
            write_raw(at(f"bits-{bits}-{'big' if order == '>' else 'little'}.tif"), order, tags, data, 512)
    data = imagecodecs.bitorder_encode(pixels((6, 7)).tobytes())
    tags = [(256, 3, 7), (257, 3, 6), (258, 3, 16), (259, 3, 1), (262, 3, 1), (266, 3, 2), (273, 4, 512), (277, 3, 1), (278, 3, 6), (279, 4, 84)]
    write_raw(at("fill-order.tif"), "<", tags, data, 512)
    tifffile.imwrite(at("bits-rgb.tif"), pixels((9, 7, 3), "u1", 16), bitspersample=4, photometric="rgb")
    tifffile.imwrite(at("bits-planar.tif"), pixels((3, 9, 7), "u2", 4096), bitspersample=12, photometric="rgb", planarconfig="separate")
    tifffile.imwrite(at("palette.tif"), pixels((9, 7), "u1"), photometric="palette", colormap=pixels((3, 256), "u2", 65535), compression="zlib")
    write_image(at("float24.tif"), pixels((1, 9, 7), "f4") / 7, nbits=24)
    write_image(at("complex-int16.tif"), pixels((2, 9, 7), "i2").astype("c8"), dtype="complex_int16")


def write_image(path, values, **options):
    """Writes an image with GDAL."""
    profile = {"driver": "GTiff", "height": values.shape[1], "width": values.shape[2], "count": values.shape[0], "dtype": values.dtype.name}
    with rasterio.open(path, "w", **{**profile, **options}) as file:
        file.write(values)


def write_codecs(at):
    gray, colours = pixels((20, 30), "u1"), pixels((20, 30, 3), "u1")
    tifffile.imwrite(at("lzma.tif"), gray, compression="lzma", rowsperstrip=8)
    tifffile.imwrite(at("png.tif"), colours, compression="png", rowsperstrip=8, photometric="rgb")
    tifffile.imwrite(at("webp.tif"), colours, compression="webp", compressionargs={"lossless": True}, rowsperstrip=8, photometric="rgb")
    write_jpeg2000(at)
    lines = (pixels((1, 20, 153), "u1", 10) > 7).astype("u1").repeat(3, axis=2)
    for codec in ("CCITTRLE", "CCITTFAX3", "CCITTFAX4"):
        write_image(at(f"{codec.lower()}.tif"), lines, compress=codec, nbits=1, blockysize=8)
    for codec in ("LERC", "LERC_DEFLATE", "LERC_ZSTD"):
        for dtype in ("uint8", "int16", "float32", "float64"):
            values = (np.add.outer(np.arange(20), np.arange(30)) + pixels((2, 20, 30), "u1", 3)).astype(dtype)
            error = {"max_z_error": 0.5} if codec == "LERC_ZSTD" else {}
            write_image(at(f"{codec.lower()}-{dtype}.tif"), values, compress=codec, interleave="pixel", **error)
    missing = pixels((2, 20, 30), "f4")
    missing[:, :4, :5] = np.nan
    write_image(at("lerc-nan.tif"), missing, compress="LERC", interleave="pixel")


def write_jpeg2000(at):
    """Writes lossless codestreams of OpenJPEG: bare, inside a JP2 file, and with fewer bits than the samples."""
    gray, colours = pixels((40, 50), "u2", 65535), pixels((20, 30, 3), "u1", 255)
    for name, values, options, form in (
        ("", gray, {"tile": (32, 32)}, {}),
        ("-signed", gray.view("i2"), {"tile": (32, 32)}, {}),
        ("-bytes", gray.view("i1"), {"rowsperstrip": 16}, {}),
        ("-12-bits", gray >> 4, {"rowsperstrip": 16}, {"bitspersample": 12}),
        ("-rgb", colours, {"photometric": "rgb", "rowsperstrip": 8}, {"mct": True}),
        ("-planar", np.moveaxis(colours, -1, 0), {"photometric": "rgb", "planarconfig": "separate"}, {}),
        ("-boxes", colours, {"photometric": "rgb", "tile": (16, 32)}, {"codecformat": "jp2"}),
        ("-aperio", colours, {"photometric": "rgb", "tile": (32, 32), "compression": "aperio_jp2000_rgb"}, {}),
    ):
        lossless = {"level": 0, "reversible": True, **form}
        tifffile.imwrite(at(f"jpeg2000{name}.tif"), values, **{"compression": "jpeg2000", **options}, compressionargs=lossless)
    data = imagecodecs.jpeg2k_encode(gray, level=0, codecformat="j2k", reversible=True)
    tags = [(256, 3, 50), (257, 3, 40), (258, 3, 16), (259, 3, 34712), (262, 3, 1), (273, 4, 512), (277, 3, 1), (278, 3, 40), (279, 4, len(data))]
    write_raw(at("jpeg2000-big.tif"), ">", tags, data, 512)


def write_bands(at):
    """Returns GDAL's description of bands and georeferencing."""
    from rasterio.control import GroundControlPoint
    from rasterio.transform import from_origin

    place = {"driver": "GTiff", "height": 7, "width": 9, "transform": from_origin(0, 0, 10, 10), "crs": "EPSG:3035"}
    for name, scales, offsets, units in (("scale", [0.01, 0.01], [273.15, 273.15], ["K", "K"]), ("scales", [0.01, 0.5], [273.15, 0], ["K", "mm"])):
        with rasterio.open(at(f"{name}.tif"), "w", count=2, dtype="int16", **place) as file:
            file.write(pixels((2, 7, 9), "i2"))
            file.scales, file.offsets, file.units, file.descriptions = scales, offsets, units, ("temp", "rain")
            file.update_tags(title="weather")
            file.update_tags(2, source="model")
    wrf = "+proj=lcc +lat_1=33 +lat_2=45 +lat_0=40 +lon_0=-97 +x_0=0 +y_0=0 +a=6370000 +b=6370000 +units=m"
    with rasterio.open(at("no-code.tif"), "w", count=1, dtype="int16", **{**place, "crs": wrf}) as file:
        file.write(pixels((1, 7, 9), "i2"))
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(at("mask.tif"), "w", count=1, dtype="uint8", **place) as file:
        file.write(pixels((1, 7, 9), "u1"))
        file.write_mask(pixels((7, 9), "u1") > 5)
    tifffile.imwrite(at("nodata-u8.tif"), pixels((4, 4), "u8"), extratags=[(42113, "s", 0, "18446744073709551615", True)])
    tifffile.imwrite(at("nodata-other.tif"), pixels((4, 4), "u1"), extratags=[(42113, "s", 0, "-9999", True)])
    points = [GroundControlPoint(row=row, col=col, x=10 + col, y=50 - row) for row, col in ((0, 0), (0, 8), (6, 8), (6, 0))]
    with rasterio.open(at("points.tif"), "w", driver="GTiff", height=7, width=9, count=1, dtype="uint8") as file:
        file.write(pixels((1, 7, 9), "u1"))
        file.gcps = (points, rasterio.CRS.from_epsg(4326))


def write_damaged(at):
    """Writes chains of directories whose end is dangling, or cyclic."""
    tifffile.imwrite(at("chain.tif"), pixels((2, 6, 7)), photometric="minisblack", metadata=None)
    with tifffile.TiffFile(at("chain.tif")) as file:
        first, last = file.pages[0].offset, file.pages[1].offset
    with open(at("chain.tif"), "rb") as file:
        whole = file.read()
    os.remove(at("chain.tif"))
    count = struct.unpack_from("<H", whole, last)[0]
    link = last + 2 + 12 * count
    for name, offset in (("chain-circle.tif", first), ("chain-outside.tif", len(whole) + 1000)):
        with open(at(name), "wb") as file:
            file.write(whole[:link] + struct.pack("<I", offset) + whole[link + 4 :])
