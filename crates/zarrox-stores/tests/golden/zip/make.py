"""Writes the golden archives; see README.md. Run with zarr-python 2: python make.py DIRECTORY"""

import io
import os
import subprocess
import sys
import warnings
import zipfile

import numpy
import zarr

os.chdir(sys.argv[1])
VALUES = {"a": b"one", "b/c/d": b"two" * 100, "empty": b""}


def write(name, compression=zipfile.ZIP_STORED, comment=b"", **options):
    with zipfile.ZipFile(name, "w", compression) as archive:
        for key, value in VALUES.items():
            with archive.open(archive_info(key, compression), "w", **options) as entry:
                entry.write(value)
        archive.comment = comment


def archive_info(key, compression):
    info = zipfile.ZipInfo(key)
    info.compress_type = compression
    return info


class Stream(io.RawIOBase):
    """An output without seeking, so that sizes follow the data."""

    def __init__(self, file):
        self.file = file

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)


write("stored.zip")
write("deflated.zip", zipfile.ZIP_DEFLATED)
write("zip64.zip", force_zip64=True)
write("comment.zip", comment=b"PK\x05\x06, and more: " + b"-" * 300)
for method, name in [(zipfile.ZIP_BZIP2, "bzip2"), (zipfile.ZIP_LZMA, "lzma")]:
    write(f"{name}.zip", method)

for compression, name in [(0, "streamed_stored.zip"), (8, "streamed_deflated.zip")]:
    with open(name, "wb") as file, zipfile.ZipFile(Stream(file), "w", compression) as archive:
        for key, value in VALUES.items():
            archive.writestr(archive_info(key, compression), value)

with warnings.catch_warnings(), zipfile.ZipFile("duplicates.zip", "w") as archive:
    warnings.simplefilter("ignore")
    for value in [b"first", b"second, longer", b"one"]:
        archive.writestr(archive_info("a", 0), value)
    for key, value in list(VALUES.items())[1:]:
        archive.writestr(archive_info(key, 0), value)

with zipfile.ZipFile("names.zip", "w") as archive:
    for name in ["../out", "/absolute", "back\\slash", "a/../../b", "directory/", "good", "ñ/д", "x//y", "./z"]:
        info = archive_info("x", 0)
        info.filename = name
        archive.writestr(info, b"" if name.endswith("/") else name.encode())

# An archive that follows a program.
with open("prefixed.zip", "wb") as out, open("stored.zip", "rb") as archive:
    out.write(b"#!/bin/sh\nexit 0\n" + archive.read())

# Info-ZIP archives of a directory, with records for the directory and for the times of files.
os.makedirs("tree/b/c", exist_ok=True)
for key, value in VALUES.items():
    os.makedirs(os.path.dirname(os.path.join("tree", key)), exist_ok=True)
    with open(os.path.join("tree", key), "wb") as file:
        file.write(value)
subprocess.run(["zip", "-q", "-r", "../info_zip.zip", "."], cwd="tree", check=True)
with open("info_zip_streamed.zip", "wb") as out:
    subprocess.run(["zip", "-q", "-r", "-", "."], cwd="tree", stdout=out, check=True)
subprocess.run(["rm", "-r", "tree"], check=True)

# zarr-python 2: a group, and an array that is written in parts.
store = zarr.ZipStore("zarr2.zip", mode="w")
root = zarr.group(store=store)
root.attrs["title"] = "a group in a zip archive"
data = numpy.arange(60, dtype="<i4").reshape(6, 10)
array = root.create_dataset("measured/a", shape=(6, 10), chunks=(4, 5), dtype="<i4", fill_value=-1)
array[:4] = data[:4]
array[4:] = data[4:]
array.attrs["unit"] = "m"
store.close()
store = zarr.ZipStore("zarr2_deflated.zip", mode="w", compression=zipfile.ZIP_DEFLATED)
zarr.array(numpy.linspace(0, 1, 11), store=store, chunks=(4,), compressor=None)
store.close()
