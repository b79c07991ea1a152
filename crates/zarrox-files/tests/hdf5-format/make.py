"""Writes HDF5 files of all versions of the format, and their structure as h5py reports it.

    python make.py

Runs in the environment of `quality/conformance/requirements/files.txt`.
"""

import ctypes
import glob
import os
import struct
import sys

import h5py
import numpy as np
from h5py import h5d, h5f, h5g, h5p, h5s, h5t

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..", "..")
sys.path += [HERE, os.path.join(ROOT, "crates/zarrox/tests/corpus")]

import pack  # noqa: E402
from described import described  # noqa: E402

# Some functions of HDF5 have no call in h5py.
SITE = os.path.dirname(os.path.dirname(h5py.__file__))
LIBRARY = ctypes.CDLL(next(path for path in glob.glob(f"{SITE}/h5py.libs/libhdf5*") if "_hl" not in path))


def call(name, identifier, *numbers):
    """Calls a function of HDF5 with an object and unsigned numbers."""
    assert getattr(LIBRARY, name)(ctypes.c_int64(identifier), *(ctypes.c_uint(number) for number in numbers)) >= 0, name


def links(f, is_tracked):
    many = f.create_group("links", track_order=is_tracked)
    for i in range(700):
        many[f"name{i * 7919 % 10007}"] = h5py.SoftLink(f"/t/{i}")
    few = f.create_group("few", track_order=is_tracked)
    few["z"] = h5py.ExternalLink("other.h5", "/a/b")
    few["a"] = h5py.SoftLink("nothing")
    few["h"] = many
    few["é€"] = h5py.SoftLink("ü" * 100)


def attributes(f, is_tracked, has_large):
    many = f.create_dataset("attributes", data=np.arange(5), track_order=is_tracked)
    for i in range(150):
        many.attrs[f"attribute{i * 31 % 1009}"] = np.arange(i % 50, dtype="i2")
    many.attrs["null"] = h5py.Empty("f4")
    many.attrs["text"] = "text"
    many.attrs["fixed"] = np.bytes_("abc")
    if has_large:
        many.attrs["large"] = np.arange(80000) // 1000
        many.attrs["middle"] = np.zeros(5000, "u1")
    few = f.create_dataset("few attributes", data=1.5, track_order=is_tracked)
    for i, name in enumerate("zyxwv"):
        few.attrs[name] = i
    f["committed"] = np.dtype([("a", "f4"), ("b", "i8", (2, 3))])
    few.attrs.create("committed", np.zeros((), f["committed"].dtype), dtype=f["committed"])
    f.create_dataset("of committed", (3,), dtype=f["committed"])


def types(f):
    structure = {"names": ["a", "bb", "c"], "offsets": [4, 8, 40], "itemsize": 64}
    structure["formats"] = ["i2", np.dtype([("x", "f8"), ("y", "S3")]), ("u1", (4,))]
    plain = ["i1", ">u8", "f2", ">f4", "f8", "?", "S5", "V7", "c16", np.dtype(("f4", (2, 3))), np.dtype(structure)]
    special = [h5py.enum_dtype({"A": 1, "B": -3, "CCC": 100}, ">i2"), h5py.string_dtype("utf-8", 9), h5py.string_dtype()]
    special += [h5py.string_dtype("ascii"), h5py.vlen_dtype("i4"), h5py.ref_dtype, h5py.regionref_dtype]
    for i, of in enumerate(plain + special):
        f.create_dataset(f"types/{i}", (3,), dtype=of)
    # NumPy has no equivalent of these types.
    precise = h5t.STD_I32BE.copy()
    precise.set_precision(24)
    precise.set_offset(3)
    compact = h5p.create(h5p.DATASET_CREATE)
    compact.set_layout(h5d.COMPACT)
    for name, of in (("precise", precise), ("bits", h5t.STD_B16LE), ("time", h5t.UNIX_D32LE)):
        h5d.create(f["types"].id, name.encode(), of, h5s.create_simple((2,)), dcpl=compact)


def fills(f):
    for time in (h5d.FILL_TIME_ALLOC, h5d.FILL_TIME_NEVER, h5d.FILL_TIME_IFSET):
        for value in (None, 0, 7):
            properties = h5p.create(h5p.DATASET_CREATE)
            properties.set_fill_time(time)
            if value is not None:
                properties.set_fill_value(np.array(value, "i4"))
            name = f"fill {time} {value}".encode()
            h5d.create(f.id, name, h5t.STD_I32LE, h5s.create_simple((4,)), dcpl=properties)
    external = h5p.create(h5p.DATASET_CREATE)
    external.set_external(b"e1.raw", 0, 8)
    external.set_external(b"longer name.raw", 100, h5f.UNLIMITED)
    h5d.create(f.id, b"external", h5t.STD_I32LE, h5s.create_simple((40,)), dcpl=external)
    f.create_dataset("scalar", data=3)
    f.create_dataset("null", data=h5py.Empty("i4"))
    f.create_dataset("no elements", shape=(0, 3), dtype="f4")


def chunks(f, options, name):
    g = f.create_group(name)
    small, large = np.arange(63).reshape(7, 9), np.arange(315).reshape(7, 9, 5)
    g.create_dataset("single", data=small, chunks=(7, 9), **options)
    g.create_dataset("fixed", data=small, chunks=(2, 4), **options)
    g.create_dataset("growing", data=small, chunks=(2, 4), maxshape=(20, 17), **options)
    g.create_dataset("one unlimited", data=small, chunks=(2, 4), maxshape=(None, 9), **options)
    g.create_dataset("the second", data=large, chunks=(2, 4, 2), maxshape=(8, None, 15), **options)
    g.create_dataset("the third", data=large, chunks=(2, 4, 2), maxshape=(8, 11, None), **options)
    g.create_dataset("two unlimited", data=small, chunks=(2, 4), maxshape=(None, None), **options)
    shrunk = g.create_dataset("shrunk", data=small, chunks=(3, 3), maxshape=(None, None), **options)
    shrunk.resize((4, 5))
    g.create_dataset("not written", (10, 10), "f4", chunks=(3, 3), **options)
    # The index has pages, super blocks, and nodes above other nodes; most chunks are not written.
    paged = g.create_dataset("paged", (5000,), "i1", chunks=(1,), **options)
    long = g.create_dataset("long", (30000,), "i1", chunks=(1,), maxshape=(None,), **options)
    for at in (3, 1500, 4999):
        paged[at] = long[at] = 1
    long[29000:29003] = 1
    many = g.create_dataset("many", (200, 200), "i1", chunks=(2, 2), maxshape=(None, None), **options)
    many[0:200:9, ::10] = 1


def odd_chunks(f):
    early = h5p.create(h5p.DATASET_CREATE)
    early.set_chunk((3, 4))
    early.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    for name, most in ((b"early", (10, 10)), (b"early growing", (20, 30)), (b"early unlimited", (h5s.UNLIMITED, 30))):
        h5d.create(f.id, name, h5t.STD_I32LE, h5s.create_simple((10, 10), most), dcpl=early)
    skipped = f.create_dataset("skipped", (4, 4), "i4", chunks=(2, 2), compression="gzip", shuffle=True)
    skipped.id.write_direct_chunk((2, 2), b"\0" * 16, filter_mask=3)
    skipped.id.write_direct_chunk((0, 0), b"\0" * 16, filter_mask=2)


def edges(f):
    """Writes datasets whose chunks at the edges have no filters."""
    unlimited = h5s.UNLIMITED
    for i, most in enumerate(((20, 30), (unlimited, 30), (unlimited, unlimited), (10, 10))):
        properties = h5p.create(h5p.DATASET_CREATE)
        properties.set_chunk((3, 4))
        properties.set_deflate(3)
        call("H5Pset_chunk_opts", properties.id, 2)
        made = h5d.create(f.id, f"edges {i}".encode(), h5t.STD_I32LE, h5s.create_simple((10, 10), most), dcpl=properties)
        h5py.Dataset(made)[...] = 3


def virtual(f):
    for number, file in enumerate(("source.h5", ".", "source{}.h5")):
        layout = h5py.VirtualLayout((4, 100), maxshape=(4, None) if number == 2 else None, dtype="i4")
        for i in range(4):
            source = h5py.VirtualSource(file.format(i), "data", shape=(100,), maxshape=(None,))
            if number == 2:
                layout[i, : h5s.UNLIMITED] = source[: h5s.UNLIMITED]
            else:
                layout[i, 2:90:3] = source[5:93:3]
        f.create_virtual_dataset(f"virtual {number}", layout, fillvalue=-5)
    layout = h5py.VirtualLayout((4, 100), dtype="i4")
    layout[1:3] = h5py.VirtualSource("same.h5", "/x/y", shape=(2, 100))
    layout[3] = h5py.VirtualSource("same.h5", "/x/y", shape=(100,))
    f.create_virtual_dataset("virtual 3", layout)


def versions(data):
    for version in ("earliest", "v108", "v110", "latest"):
        is_tracked = version in ("v108", "latest")
        most = "latest" if version == "earliest" else version
        with h5py.File(f"{data}/{version}.h5", "w", libver=(version, most), track_order=is_tracked) as f:
            links(f, is_tracked)
            attributes(f, is_tracked, has_large=version != "earliest")
            types(f)
            fills(f)
            chunks(f, {}, "plain")
            chunks(f, {"compression": "gzip", "fletcher32": True}, "filtered")
            odd_chunks(f)
            if version in ("v110", "latest"):
                edges(f)
                virtual(f)


def shared(data):
    """Writes messages that all objects share."""
    for version in (h5f.LIBVER_EARLIEST, h5f.LIBVER_LATEST):
        creation, access = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
        kinds = [1 << 3, 1 << 12, 1 << 1 | 1 << 5 | 1 << 11]
        call("H5Pset_shared_mesg_nindexes", creation.id, len(kinds))
        for index, bits in enumerate(kinds):
            call("H5Pset_shared_mesg_index", creation.id, index, bits, 10)
        access.set_libver_bounds(version, h5f.LIBVER_LATEST)
        with h5py.File(h5f.create(f"{data}/shared{version}.h5".encode(), h5f.ACC_TRUNC, creation, access)) as f:
            structure = np.dtype([("a", "f4"), ("b", "i8", (2, 3)), ("c", "S10")])
            for i in range(70):
                of = structure if i % 2 else "f8"
                fill = None if i % 2 else 3.5
                d = f.create_dataset(f"d{i}", (10, i % 3 + 1), of, chunks=(5, 1), compression="gzip", fillvalue=fill)
                for j in range(12):
                    d.attrs[f"attribute{j}"] = np.arange(20) + i % 5
                d.attrs["own"] = i
                d.attrs.create("structure", np.zeros(2, structure), dtype=structure)


def sizes(data):
    """Writes addresses and lengths of other widths, and user blocks."""
    for offset, length in ((4, 4), (8, 4), (2, 2)):
        for version in (h5f.LIBVER_EARLIEST, h5f.LIBVER_LATEST):
            if length == 2 and version == h5f.LIBVER_LATEST:
                # HDF5 2.0 cannot read the heap that it writes itself.
                continue
            creation, access = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
            creation.set_sizes(offset, length)
            creation.set_userblock(512 * offset)
            access.set_libver_bounds(version, h5f.LIBVER_LATEST)
            name = f"{data}/sizes{offset}{length}{version}.h5"
            with h5py.File(h5f.create(name.encode(), h5f.ACC_TRUNC, creation, access)) as f:
                f["a"] = np.arange(10)
                f.create_dataset("chunks", data=np.arange(100).reshape(10, 10), chunks=(7, 3), compression="gzip")
                f["texts"] = ["a", "bb"]
                for i in range(60):
                    f[f"links/{i}"] = h5py.SoftLink("a")
                    f["a"].attrs[f"attribute {i}"] = i


def filtered_heaps(data):
    with h5py.File(f"{data}/heaps.h5", "w", libver="latest") as f:
        for name, has_checksum in ((b"deflate", False), (b"checksum", True)):
            properties = h5p.create(h5p.GROUP_CREATE)
            call("H5Pset_deflate", properties.id, 6)
            if has_checksum:
                call("H5Pset_fletcher32", properties.id)
            g = h5py.Group(h5g.create(f.id, name, gcpl=properties))
            for i in range(600):
                g[f"link {i}"] = h5py.SoftLink("x" * (i % 90 + 1))
            g["large"] = h5py.SoftLink("x" * 60000)


def old_layout(path, values):
    """Writes a contiguous dataset whose layout message has version 2, as HDF5 1.4 to 1.6 wrote it."""
    with h5py.File(path, "w", libver="earliest") as f:
        f.create_dataset("d", data=values, track_times=True)
        place = f["d"].id.get_offset()
    file = bytearray(open(path, "rb").read())
    at = file.find(struct.pack("<BBQQ", 3, 1, place, values.nbytes))
    (length,) = struct.unpack_from("<H", file, at - 6)
    shape = [*values.shape, values.itemsize]
    new = struct.pack(f"<BBB5xQ{len(shape)}I", 2, len(shape), 1, place, *shape)
    new += bytes(-len(new) % 8)
    # The message after the layout, the modification time, may be overwritten.
    room = length + 8 + struct.unpack_from("<H", file, at + length + 2)[0]
    struct.pack_into("<HHB3x", file, at - 8, 8, len(new), 0)
    file[at : at + len(new)] = new
    struct.pack_into("<HHB3x", file, at + len(new), 0, room - len(new) - 8, 0)
    open(path, "wb").write(file)


def main():
    data = pack.begin(HERE)
    versions(data)
    shared(data)
    sizes(data)
    filtered_heaps(data)
    old_layout(f"{data}/layout2.h5", np.arange(24, dtype="<i4").reshape(2, 3, 4))
    for path in sorted(glob.glob(f"{data}/*.h5")):
        with open(path.removesuffix(".h5") + ".txt", "w") as text:
            text.write(described(path))
    pack.pack(HERE)


if __name__ == "__main__":
    main()
