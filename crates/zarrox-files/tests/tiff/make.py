"""Writes TIFF images with tifffile and rasterio, and a description of their content: `expected.json`.

    python make.py

The files are those of `quality/conformance/files/tiff_files.py`. Runs in the environment of `quality/conformance/requirements/files.txt`.
"""

import json
import os
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..", "..")
sys.path += [os.path.join(ROOT, "quality", "conformance", "files"), os.path.join(ROOT, "crates/zarrox/tests/corpus")]

import pack  # noqa: E402
import tiff_files  # noqa: E402


def described(values):
    """Returns the shape of an image, its type, and the checksum of its elements in little-endian order."""
    little = values.astype(values.dtype.newbyteorder("<")).tobytes()
    return {"shape": list(values.shape), "type": values.dtype.name, "crc32": zlib.crc32(little)}


def main():
    data = pack.begin(HERE)
    expected = {}
    for path in tiff_files.write(data):
        images = [described(values) for values in tiff_files.expected(path)]
        said = {**images[0], "images": images, "pages": tiff_files.pages(path)}
        said["levels"] = [described(level) for level in tiff_files.levels(path)]
        place = tiff_files.place(path)
        if place is not None:
            said["place"] = {**place, "x": place["x"][:3], "y": place["y"][:3]}
        expected[os.path.basename(path)] = said
    with open(os.path.join(data, "expected.json"), "w") as file:
        json.dump(expected, file)
    pack.pack(HERE)


if __name__ == "__main__":
    main()
