"""Finds files by their first bytes in archives of packages, also in nested archives, and unpacks them."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib

# Companions of a file: elements in other files, headers without elements.
COMPANIONS = (".raw", ".img", ".hdr", ".companion.ome", ".ome.xml", ".bin", ".tfw")

HDF5 = b"\x89HDF\r\n\x1a\n"

# The greatest depth of nested archives.
DEEPEST = 3


def kind_of(name, start):
    """Returns the kind of a file: hdf5, netcdf3, tiff, nifti, parquet, archive, companion, or `None` for others."""
    if any(start[at : at + 8] == HDF5 for at in (0, 512, 1024, 2048, 4096)):
        return "hdf5"
    if start[:3] == b"CDF" and start[3:4] in (b"\x01", b"\x02", b"\x05"):
        return "netcdf3"
    if start[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return "tiff"
    if start[344:348] == b"n+1\0" or start[4:8] == b"n+2\0":
        return "nifti"
    if start[344:348] == b"ni1\0" or start[4:8] == b"ni2\0":
        return "nifti-pair"
    if start[:4] in (b"PAR1", b"PARE"):
        return "parquet"
    if name.endswith(COMPANIONS):
        return "companion"
    if start[:4] == b"PK\x03\x04" and name.endswith((".zip", ".whl")):
        return "archive"
    if start[:2] == b"\x1f\x8b" or start[:3] == b"BZh" or start[:6] == b"\xfd7zXZ\0":
        return "archive"
    if start[257:262] == b"ustar" and name.endswith(".tar"):
        return "archive"
    return None


def unpack(archive, into, largest):
    """Unpacks the files of an archive or of a directory. Returns their paths below `into`, and their kinds."""
    found = []
    os.makedirs(into, exist_ok=True)
    if os.path.isdir(archive):
        for above, _, names in sorted(os.walk(archive)):
            for name in sorted(names):
                path = os.path.join(above, name)
                if not os.path.islink(path):
                    with open(path, "rb") as file:
                        take(os.path.relpath(path, archive), file, os.path.getsize(path), into, largest, found, 0)
        return found
    with open(archive, "rb") as file:
        members(os.path.basename(archive), file, "", into, largest, found, 0)
    return found


def take(name, file, size, into, largest, found, depth):
    """Writes a file if its kind is requested, or searches it if it is an archive."""
    start = file.read(8192)
    kind = kind_of(name, start)
    if kind is None or size > largest:
        return
    rest = file.read(largest + 1)
    if len(start) + len(rest) > largest:
        return
    if kind == "archive":
        # A NIfTI volume stays compressed.
        if name.endswith(".nii.gz"):
            kind = "nifti"
        else:
            if depth < DEEPEST:
                members(name, io.BytesIO(start + rest), name + ".d", into, largest, found, depth + 1)
            return
    # Files keep their names in the package, without components that lead outside of the directory.
    path = os.path.normpath("/" + name).lstrip("/")
    target = os.path.join(into, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as out:
        out.write(start + rest)
    if kind != "companion":
        found.append((path, kind))


def members(name, file, below, into, largest, found, depth):
    """Unpacks all members of an archive."""
    try:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                for info in archive.infolist():
                    if not info.is_dir():
                        with archive.open(info) as member:
                            take(os.path.join(below, info.filename), member, info.file_size, into, largest, found, depth)
            return
        file.seek(0)
        try:
            with tarfile.open(fileobj=file, mode="r:*") as archive:
                for info in archive:
                    if info.isfile():
                        take(os.path.join(below, info.name), archive.extractfile(info), info.size, into, largest, found, depth)
            return
        except tarfile.ReadError:
            pass
        file.seek(0)
        start = file.read(6)
        file.seek(0)
        opener = gzip.open if start[:2] == b"\x1f\x8b" else bz2.open if start[:3] == b"BZh" else lzma.open
        with opener(file) as member:
            take(os.path.splitext(below.removesuffix(".d") or name)[0], member, 0, into, largest, found, depth)
    except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, RuntimeError, NotImplementedError, ValueError):
        # A package may contain damaged archives, for its tests.
        return
