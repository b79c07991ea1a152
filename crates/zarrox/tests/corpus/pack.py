"""Packs the data of a writer into an archive: `data.tar.xz` in the writer's directory, with the directory `data` in it.

    python pack.py DIRECTORY…

packs DIRECTORY/data, as every `make.py` does at its end. To change the data, unpack it with `tar -xf data.tar.xz`, edit it, and
pack it again.
Runs with Python 3.6 or newer.
"""

import lzma
import os
import shutil
import sys
import tarfile

ARCHIVE = "data.tar.xz"


def begin(directory):
    """Creates an empty directory for the data of the writer in this directory, and returns its path."""
    data = os.path.join(os.path.abspath(directory), "data")
    shutil.rmtree(data, ignore_errors=True)
    os.makedirs(data)
    return data


def pack(directory):
    """Packs the data of the writer in this directory into its archive. The same data and the same Python give the same bytes."""
    data = os.path.join(directory, "data")
    # This preset needs no more than 8 MiB to unpack.
    options = {"format": lzma.FORMAT_XZ, "preset": 6 | lzma.PRESET_EXTREME}
    with lzma.open(os.path.join(directory, ARCHIVE), "wb", **options) as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path in sorted(below(data)):
                entry = archive.gettarinfo(path, os.path.relpath(path, directory))
                assert entry.isfile() or entry.isdir() or entry.issym(), path + " is not a file, directory or symbolic link"
                entry.mode = 0o755 if entry.isdir() else 0o644
                entry.mtime = entry.uid = entry.gid = 0
                entry.uname = entry.gname = ""
                if entry.isfile():
                    with open(path, "rb") as content:
                        archive.addfile(entry, content)
                else:
                    archive.addfile(entry)
    shutil.rmtree(data)


def below(directory):
    """Returns the path of a directory, and the paths of all its files and directories."""
    yield directory
    for root, directories, files in os.walk(directory):
        for name in directories + files:
            yield os.path.join(root, name)


if __name__ == "__main__":
    for writer in sys.argv[1:]:
        pack(writer)
