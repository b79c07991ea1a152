"""Writes files of HDF5 and NetCDF-4 with unusual links, types, layouts and dimensions, and their content as h5py and netCDF4 read it.

    python make.py

Runs in the environment of `quality/conformance/requirements/files.txt`, with the program `ncgen`. `expected.json` has two members for each file: `nodes`, the elements of
each dataset and the attributes, and `left_out`, the paths of the parts that have no equivalent in Zarr.
"""

import base64
import json
import os
import struct
import subprocess
import sys

import h5py
import netCDF4
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "..", "..", "zarrox", "tests", "corpus")]

import pack  # noqa: E402

EXPECTED = {}


def little(values):
    """Returns the bytes of elements in little-endian order, without padding."""
    if values.dtype.names:
        flat = values.ravel()
        rows = (flat[index : index + 1] for index in range(len(flat)))
        return b"".join(b"".join(little(row[name]) for name in values.dtype.names) for row in rows)
    return values.astype(values.dtype.newbyteorder("<")).tobytes()


def expect(name, path, values, **more):
    """Records the elements of a dataset: as bytes, or as texts."""
    if isinstance(values, list):
        said = {"shape": [len(values)], "texts": values}
    else:
        values = np.asarray(values)
        said = {"shape": list(values.shape), "bytes": base64.b64encode(little(values)).decode()}
    EXPECTED.setdefault(name, {"nodes": {}, "left_out": []})["nodes"][path] = {**said, **more}


def leave_out(name, *paths):
    EXPECTED.setdefault(name, {"nodes": {}, "left_out": []})["left_out"] += paths


def attributes(name, path, **values):
    said = EXPECTED.setdefault(name, {"nodes": {}, "left_out": []}).setdefault("attributes", {})
    said.setdefault(path, {}).update(values)


class Writer:
    """A file that is written; elements are expected as h5py reads them afterwards."""

    def __init__(self, data, name, **options):
        self.path, self.name = os.path.join(data, name), name
        self.file = h5py.File(self.path, "w", **options)
        self.read = []

    def low(self, path, kind, values, memory=None, shape=None, dcpl=None):
        """Writes a dataset of a type of HDF5."""
        values = np.asarray(values)
        space = h5py.h5s.create_simple(shape if shape is not None else values.shape)
        dataset = h5py.h5d.create(self.file.id, path.encode(), kind, space, dcpl)
        if values.size:
            dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, values, mtype=memory)
        return dataset

    def expect(self, *paths, **more):
        self.read += [(path, more) for path in paths]

    def done(self):
        self.file.close()
        with h5py.File(self.path) as file:
            for path, more in self.read:
                expect(self.name, path, read(file, path), **more)


def read(file, path):
    """Returns the elements of a dataset, or of one of its fields."""
    parts = path.split("/")
    for count in range(len(parts), 0, -1):
        if "/".join(parts[:count]) in file:
            break
    values = file["/".join(parts[:count])][()]
    for field in parts[count:]:
        values = values[field]
    values = np.asarray(values)
    if values.dtype.kind == "O":
        return [text(file, each) for each in values.ravel()]
    return values


def text(file, value):
    if isinstance(value, h5py.Reference):
        return file[value].name if value else ""
    return value if isinstance(value, str) else bytes(value).decode()


def texts(padding, size):
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(size)
    kind.set_strpad(padding)
    return kind


def bits(base, precision, offset):
    kind = base.copy()
    kind.set_precision(precision)
    kind.set_offset(offset)
    return kind


def compound(size, *members):
    kind = h5py.h5t.create(h5py.h5t.COMPOUND, size)
    for name, offset, member in members:
        kind.insert(name, offset, member)
    return kind


def bfloat16():
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.set_fields(15, 7, 8, 0, 7)
    kind.set_size(2)
    kind.set_precision(16)
    kind.set_ebias(127)
    return kind


def write_types(data):
    w = Writer(data, "types.h5")
    f = w.file
    # Characters after the end of text are not read.
    raw = np.array([b"ab\0junk", b"cdefgh"]).astype("S8").view("V8")
    nullterm, nullpad = texts(h5py.h5t.STR_NULLTERM, 8), texts(h5py.h5t.STR_NULLPAD, 8)
    w.low("nullterm", nullterm, raw, nullterm)
    spaces = texts(h5py.h5t.STR_SPACEPAD, 8)
    w.low("spaces", spaces, np.array([b"ab", b"c d     ", b""], "S8"), nullpad)
    w.low("text_fields", compound(18, (b"a", 0, nullterm), (b"b", 8, spaces), (b"c", 16, h5py.h5t.STD_I16BE)),
          np.frombuffer(b"ab\0junk\0x y     \x01\x02" + b"abcdefgh        \xff\xfe", "V18"),
          compound(18, (b"a", 0, nullterm), (b"b", 8, spaces), (b"c", 16, h5py.h5t.STD_I16BE)))
    w.expect("nullterm", "spaces", "text_fields")
    # Integers that use only some of their bits.
    w.low("bits_u", bits(h5py.h5t.STD_U16LE, 12, 4), np.array([5, 4095, 100], "u2"))
    w.low("bits_i", bits(h5py.h5t.STD_I32BE, 17, 3), np.array([-1, 5, -65536, 65535], "i4"))
    w.expect("bits_u", "bits_i")
    kind = compound(8, (b"a", 0, h5py.h5t.STD_I32LE), (b"x", 4, bits(h5py.h5t.STD_U16LE, 12, 4)), (b"y", 6, bits(h5py.h5t.STD_I16BE, 9, 1)))
    w.low("bit_fields", kind, np.array([(1, 5, -1), (2, 4095, 255), (3, 100, -256)], [("a", "i4"), ("x", "u2"), ("y", "i2")]))
    w.expect("bit_fields")
    for name, kind in (("bits", bits(h5py.h5t.STD_U16LE, 12, 4)), ("minus", bits(h5py.h5t.STD_I16BE, 9, 1))):
        h5py.h5a.create(f["bits_u"].id, name.encode(), kind, h5py.h5s.create_simple((2,))).write(np.array([5, 100], "i2"))
    attributes("types.h5", "bits_u", bits=[5, 100], minus=[5, 100])
    # Upper halves of float32, alone and in structures.
    half = np.array([1.0, -2.5], "f4").view("u4") >> 16
    w.low("bfloat16", bfloat16(), np.array([1.0, -2.5], "f4"))
    expect("types.h5", "bfloat16", half.astype("u2"), type="bfloat16")
    pairs = np.array(list(zip(half, [7, 8])), [("b", "<u2"), ("i", "<i2")])
    kind = compound(4, (b"b", 0, bfloat16()), (b"i", 2, h5py.h5t.STD_I16LE))
    w.low("bfloat16_field", kind, pairs.view("V4"), kind)
    expect("types.h5", "bfloat16_field", pairs, type="struct(b: bfloat16, i: int16)")
    h5py.h5a.create(f["bfloat16"].id, b"a", bfloat16(), h5py.h5s.create_simple((2,))).write(np.array([1.0, -2.5], "f4"))
    attributes("types.h5", "bfloat16", a=[1.0, -2.5])
    # Dates of NumPy, and other bytes with a tag.
    times = np.array(["2020-01-02", "NaT", "1969-12-31"], "M8[s]")
    f["times"] = times.astype(h5py.opaque_dtype(times.dtype))
    spans = np.array([5, -1], ">m8[ms]")
    f["spans"] = spans.astype(h5py.opaque_dtype(spans.dtype))
    f["times"].attrs["start"] = times[:2].astype(h5py.opaque_dtype(times.dtype))
    w.expect("times", type="datetime64[s]")
    w.expect("spans", type="timedelta64[ms]")
    attributes("types.h5", "times", start=["2020-01-02T00:00:00", "NaT"])
    tagged = h5py.h5t.create(h5py.h5t.OPAQUE, 3)
    tagged.set_tag(b"pixel")
    w.low("tagged", tagged, np.array([b"abc", b"d\0f"], "V3"), tagged)
    expect("types.h5", "tagged", np.array([b"abc", b"d\0f"], "V3"))
    attributes("types.h5", "tagged", opaque_tag="pixel")
    # Enumerations in structures.
    colours = h5py.enum_dtype({"RED": 0, "BLUE": -2}, "i2")
    f["enum_field"] = np.array([(0, 1), (-2, 2)], [("c", colours), ("n", "u1")])
    attributes("types.h5", "enum_field", enum={"c": {"RED": 0, "BLUE": -2}})
    w.expect("enum_field")
    # Structures that need a group of columns.
    rows = np.zeros(3, [("v", "<i4", (2, 2)), ("x", "u1"), ("s", h5py.string_dtype()), ("n", [("r", h5py.ref_dtype), ("d", ">f8")])])
    rows["v"], rows["x"] = np.arange(12).reshape(3, 2, 2), [7, 8, 9]
    rows["s"] = ["a", "größe", ""]
    rows["n"]["d"] = [0.5, 1.5, 2.5]
    rows["n"]["r"] = [h5py.Reference(), f["times"].ref, h5py.Reference()]
    for name, options in (("columns", {}), ("columns_chunked", {"chunks": (2,), "compression": "gzip"})):
        f.create_dataset(name, data=rows, **options)
        f[name].attrs["note"] = "x"
        attributes("types.h5", name, note="x", columns=["v", "x", "s", "n"])
        w.expect(*(f"{name}/{field}" for field in ("v", "x", "s", "n/r", "n/d")))
    f["lists"] = np.zeros(2, [("v", "<i4", (2, 2)), ("x", "u1")])
    w.expect("lists/v", "lists/x")
    # Lists of numbers.
    ragged = f.create_dataset("ragged", (3,), h5py.vlen_dtype(">i4"))
    ragged[0], ragged[1] = [1, -2, 3], [4]
    small = [np.array(part, "<i4").tobytes() for part in ([1, -2, 3], [4], [])]
    EXPECTED["types.h5"]["nodes"]["ragged"] = {"shape": [3], "lists": [base64.b64encode(part).decode() for part in small]}
    attributes("types.h5", "ragged", list_of="int32")
    # Fill values.
    f.create_dataset("fill_text", (4,), h5py.string_dtype(), fillvalue="n/a", chunks=(2,))[0] = "x"
    f.create_dataset("fill_text_all", (2,), h5py.string_dtype(), fillvalue="n/a")
    pair = np.dtype([("a", "<i2"), ("b", ">f4"), ("s", "S3")])
    f.create_dataset("fill_struct", (3,), pair, fillvalue=np.array((-1, 2.5, b"no"), pair), chunks=(2,))[0] = (1, 1, b"y")
    f.create_dataset("fill_time", (2,), times.astype(h5py.opaque_dtype(times.dtype)).dtype)
    w.expect("fill_text_all", "fill_struct", "fill_time")
    # h5py reads this value only from a file that is open for writing.
    expect("types.h5", "fill_text", ["x", "n/a", "n/a", "n/a"])
    # Text in Latin-1, and with characters after a NUL.
    latin = h5py.h5t.TypeID.copy(h5py.h5t.C_S1)
    latin.set_size(h5py.h5t.VARIABLE)
    f.create_dataset("latin", data=np.array([b"T (\xb0C)", "größe".encode()], object), dtype=h5py.string_dtype("ascii"))
    expect("types.h5", "latin", ["T (°C)", "größe"])
    f["latin"].attrs.create("unit", np.bytes_(b"\xb0C"))
    attributes("types.h5", "latin", unit="°C")
    # Attributes without values, and attributes of exact floats.
    f["latin"].attrs["nothing"] = h5py.Empty("S3")
    f["latin"].attrs["tenth"] = np.float32(0.1)
    attributes("types.h5", "latin", nothing=None, tenth=float(np.float32(0.1)))
    # Committed types.
    f["type"] = np.dtype("f4")
    f.create_dataset("committed", data=[1.5, 2.5], dtype=f["type"])
    f["committed"].attrs.create("a", 1.5, dtype=f["type"])
    attributes("types.h5", "committed", a=1.5)
    w.expect("committed")
    # Parts that have no equivalent in Zarr.
    w.low("old_times", h5py.h5t.UNIX_D32LE, np.zeros(0), shape=(2,))
    f["regions"] = np.array([f["times"].regionref[:1]], dtype=h5py.regionref_dtype)
    f["long"] = np.zeros(2, np.longdouble)
    f["nested"] = 0
    del f["nested"]
    f.create_dataset("nested", (1,), h5py.vlen_dtype(h5py.vlen_dtype("i4")))
    f["good"] = 1
    f["good"].attrs["region"] = f["times"].regionref[:1]
    f["good"].attrs["kept"] = 2
    attributes("types.h5", "good", kept=2)
    w.expect("good")
    leave_out("types.h5", "/old_times", "/regions", "/long", "/nested", "/good")
    # Elements that are enumerations with names, and elements that are arrays.
    f.create_dataset("array_type", (2,), np.dtype((">i2", (3,))))[...] = np.arange(6).reshape(2, 3)
    w.expect("array_type")
    w.done()


def write_complex(data):
    """Writes complex numbers of HDF5 2.0, if the library has them."""
    if not hasattr(h5py.h5t, "COMPLEX_IEEE_F32LE"):
        return
    w = Writer(data, "complex.h5", libver=("latest", "latest"))
    low, high = h5py.h5t.COMPLEX_IEEE_F32LE, h5py.h5t.COMPLEX_IEEE_F64BE
    for name, kind, memory, dtype in (("c8", low, low, "<c8"), ("c16be", high, h5py.h5t.COMPLEX_IEEE_F64LE, "<c16")):
        values = np.array([1 + 2j, -0.5j], dtype)
        w.low(name, kind, values, memory)
        expect("complex.h5", name, values, type={"c8": "complex64", "c16be": "complex128"}[name])
    w.done()


def write_links(data):
    os.makedirs(os.path.join(data, "below"))
    for name, path in (("target.h5", "target.h5"), ("below/deep.h5", "below/deep.h5")):
        with h5py.File(os.path.join(data, name), "w") as f:
            f["g/d"] = np.arange(3)
            f["g"].attrs["from"] = name
            f["soft"] = h5py.SoftLink("g/d")
            f["ref"] = np.array([f["g/d"].ref], h5py.ref_dtype)
            f["out"] = h5py.ExternalLink("../target.h5", "/g/d") if "/" in name else h5py.ExternalLink("below/deep.h5", "soft")
    w = Writer(data, "links.h5")
    f = w.file
    f["a/b/d"] = np.arange(4.0)
    f["soft"] = h5py.SoftLink("/a/b/d")
    f["a/relative"] = h5py.SoftLink("b/d")
    f["a/b/dots"] = h5py.SoftLink("./d")
    f["chain"] = h5py.SoftLink("/soft")
    f["group"] = h5py.SoftLink("/a/b")
    f["hard"] = f["a/b/d"]
    f["external"] = h5py.ExternalLink("target.h5", "/g/d")
    f["external_group"] = h5py.ExternalLink("target.h5", "/g")
    f["through"] = h5py.ExternalLink("target.h5", "/out")
    f["into"] = h5py.SoftLink("/external_group/d")
    f["refs"] = np.array([f["a/b/d"].ref], h5py.ref_dtype)
    f["root"] = h5py.ExternalLink("below/deep.h5", "/")
    w.expect("soft", "a/relative", "a/b/dots", "chain", "group/d", "hard", "external", "external_group/d", "through", "into", "root/g/d", "root/soft")
    f["dangling"] = h5py.SoftLink("/nowhere")
    f["circle"] = h5py.SoftLink("/circle")
    f["no_file"] = h5py.ExternalLink("gone.h5", "/g")
    f["no_object"] = h5py.ExternalLink("target.h5", "/gone")
    f["outside"] = h5py.ExternalLink("/etc/passwd", "/")
    f["a/b/up"] = h5py.SoftLink("/a")
    attributes("links.h5", "external_group", **{"from": "target.h5"})
    leave_out("links.h5", "/dangling", "/circle", "/no_file", "/no_object", "/outside", "/a/b/up", "/group/up/b")
    w.done()
    expect("links.h5", "refs", ["/hard"])
    # The path is the first one that leads to the object.
    expect("links.h5", "root/ref", ["/through"])


def write_names(data):
    w = Writer(data, "names.h5")
    simple = h5py.h5s.create_simple((2,))
    for raw in (b"T (\xb0C)", "größe".encode(), b"a\\b", b"..."):
        h5py.h5d.create(w.file.id, raw, h5py.h5t.STD_U8LE, simple)
    h5py.h5a.create(w.file.id, b"\xb5m", h5py.h5t.STD_U8LE, h5py.h5s.create(h5py.h5s.SCALAR)).write(np.array(3, "u1"))
    w.done()
    for name in ("T (°C)", "größe"):
        expect("names.h5", name, np.zeros(2, "u1"))
    attributes("names.h5", "", **{"µm": 3})
    leave_out("names.h5", "/a\\b", "/...")


def write_damaged(data):
    """Writes a file with an object that cannot be parsed, and a truncated file."""
    w = Writer(data, "damaged.h5")
    w.file["bad"] = np.arange(5)
    w.file["good"] = np.arange(5)
    w.expect("good")
    where = h5py.h5o.get_info(w.file["bad"].id).addr
    w.done()
    with open(w.path, "r+b") as file:
        file.seek(where)
        file.write(b"\xee" * 16)
    leave_out("damaged.h5", "/bad")
    path = os.path.join(data, "cut.h5")
    with h5py.File(path, "w") as file:
        file["d"] = np.arange(1000)
        where = file["d"].id.get_offset()
    os.truncate(path, where + 1000)


def write_old(data):
    """Writes layouts and structures of old versions. No library writes them any more, so messages of a new file are changed."""
    for name, values in (("old3.h5", np.arange(24, dtype="<i4").reshape(2, 3, 4) + 1), ("old2.h5", np.arange(6, dtype="<i4").reshape(2, 3) + 1)):
        path = os.path.join(data, name)
        with h5py.File(path, "w", libver="earliest") as f:
            f.create_dataset("d", data=values, track_times=True)
            where = f["d"].id.get_offset()
        content = bytearray(open(path, "rb").read())
        at = content.find(struct.pack("<BBQQ", 3, 1, where, values.nbytes))
        kind, size = struct.unpack_from("<HH", content, at - 8)
        assert kind == 8
        dims = [*values.shape, values.itemsize]
        new = struct.pack("<BBB5xQ", 2, len(dims), 1, where) + struct.pack(f"<{len(dims)}I", *dims)
        new += bytes(-len(new) % 8)
        next_kind, next_size = struct.unpack_from("<HH", content, at + size)
        room = size + 8 + next_size
        assert next_kind in (0, 0x12) and len(new) <= room - 8
        struct.pack_into("<HHB3x", content, at - 8, 8, len(new), 0)
        content[at : at + len(new)] = new
        struct.pack_into("<HHB3x", content, at + len(new), 0, room - len(new) - 8, 0)
        open(path, "wb").write(content)
        expect(name, "d", h5py.File(path)["d"][()])
    for version in (1, 2):
        name = f"oldchunk{version}.h5"
        path = os.path.join(data, name)
        with h5py.File(path, "w", libver="earliest") as f:
            f.create_dataset("d", data=np.arange(1, 11, dtype="<i4"), chunks=(4,), compression="gzip")
        content = bytearray(open(path, "rb").read())
        at = next(i for i in range(len(content)) if content[i : i + 3] == b"\x03\x02\x02" and content[i + 11 : i + 19] == struct.pack("<II", 4, 4))
        address = content[at + 3 : at + 11]
        assert struct.unpack_from("<HH", content, at - 8) == (8, 24)
        content[at : at + 24] = struct.pack("<BBB5x", version, 2, 2) + address + struct.pack("<II", 4, 4)
        open(path, "wb").write(content)
        expect(name, "d", h5py.File(path)["d"][()])
    path = os.path.join(data, "oldcomp.h5")
    kind = compound(12, (b"xxxxxxx", 0, h5py.h5t.STD_I32LE))
    with h5py.File(path, "w", libver="earliest") as f:
        dataset = h5py.h5d.create(f.id, b"d", kind, h5py.h5s.create_simple((2,)))
        raw = np.arange(6, dtype="<i4")
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, raw.view("V12"), mtype=kind)
        at = dataset.get_offset()
    content = bytearray(open(path, "rb").read())
    content[at : at + 24] = raw.tobytes()
    at = content.find(b"xxxxxxx\0")
    struct.pack_into("<IB", content, at + 8, 0, 1)
    struct.pack_into("<I", content, at + 24, 3)
    open(path, "wb").write(content)
    expect("oldcomp.h5", "d/xxxxxxx", h5py.File(path)["d"]["xxxxxxx"])
    # The size in the message differs from the size of the elements.
    w = Writer(data, "size.h5", libver="earliest")
    values = np.arange(6, dtype="<i4").reshape(2, 3)
    w.file["d"] = values
    w.file["good"] = values
    w.expect("good")
    where = w.file["d"].id.get_offset()
    w.done()
    content = open(w.path, "rb").read()
    before = struct.pack("<BBQQ", 3, 1, where, values.nbytes)
    assert content.count(before) == 1
    open(w.path, "wb").write(content.replace(before, struct.pack("<BBQQ", 3, 1, where, values.nbytes - 4)))
    leave_out("size.h5", "/d")


def write_virtual(data):
    for number in range(3):
        with h5py.File(os.path.join(data, f"part_{number}.h5"), "w") as f:
            f.create_dataset("d", data=np.arange(12, dtype="<i4").reshape(4, 3) + 100 * number, chunks=(2, 3), maxshape=(None, 3))
            f["be"] = np.arange(5, dtype=">f8") + number
            f["s"] = np.array([f"t{number}", "x"], h5py.string_dtype())
    w = Writer(data, "virtual.h5", libver="latest")
    f = w.file
    f["inner"] = np.arange(10, dtype="<i2")
    # The sources are stacked, interleaved, or in the same file, and some elements have no source.
    stack = h5py.VirtualLayout((3, 4, 3), "<i4")
    interleaved = h5py.VirtualLayout((14, 3), "<i4")
    for number in range(3):
        source = h5py.VirtualSource(f"part_{number}.h5", "d", (4, 3))
        stack[number] = source
        interleaved[number:12:3] = source
    f.create_virtual_dataset("stack", stack)
    f.create_virtual_dataset("interleaved", interleaved, fillvalue=-7)
    part = h5py.VirtualLayout((6, 4), "<i2")
    part[1, :] = h5py.VirtualSource(".", "inner", (10,))[2:6]
    part[3, ::2] = h5py.VirtualSource(".", "inner", (10,))[0:10:9]
    part[5, 1:3] = h5py.VirtualSource(".", "inner", (10,))[8:]
    f.create_virtual_dataset("part", part, fillvalue=5)
    wide = h5py.VirtualLayout((2, 5), "<f4")
    for number in range(2):
        wide[number] = h5py.VirtualSource(f"part_{number}.h5", "be", (5,))
    f.create_virtual_dataset("converted", wide)
    texts_of = h5py.VirtualLayout((6,), h5py.string_dtype())
    for number in range(3):
        texts_of[2 * number : 2 * number + 2] = h5py.VirtualSource(f"part_{number}.h5", "s", (2,))
    f.create_virtual_dataset("texts", texts_of)
    nested = h5py.VirtualLayout((4, 3), "<i4")
    nested[...] = h5py.VirtualSource(".", "stack", (3, 4, 3))[1]
    f.create_virtual_dataset("nested", nested)
    reshaped = h5py.VirtualLayout((2, 6), "<i4")
    reshaped[...] = h5py.VirtualSource("part_1.h5", "d", (4, 3))
    f.create_virtual_dataset("reshaped", reshaped)
    growing = h5py.VirtualLayout((2, 3), "<i4", maxshape=(None, 3))
    growing[0 : h5py.h5s.UNLIMITED] = h5py.VirtualSource("part_2.h5", "d", (4, 3), maxshape=(None, 3))[0 : h5py.h5s.UNLIMITED]
    f.create_virtual_dataset("growing", growing)
    # The mapping has all numbered files that exist.
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    target = h5py.h5s.create_simple((1, 4, 3), (h5py.h5s.UNLIMITED, 4, 3))
    target.select_hyperslab((0, 0, 0), (h5py.h5s.UNLIMITED, 1, 1), (1, 4, 3), (1, 4, 3))
    dcpl.set_virtual(target, b"part_%b.h5", b"/d", h5py.h5s.create_simple((4, 3)))
    h5py.h5d.create(f.id, b"numbered", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((1, 4, 3), (h5py.h5s.UNLIMITED, 4, 3)), dcpl)
    w.expect("stack", "interleaved", "part", "converted", "texts", "nested", "reshaped", "growing", "numbered")
    lost = h5py.VirtualLayout((2, 3), "<i4")
    lost[0] = h5py.VirtualSource("gone.h5", "d", (3,))
    f.create_virtual_dataset("lost", lost)
    leave_out("virtual.h5", "/lost")
    w.done()


def write_external(data):
    w = Writer(data, "external.h5")
    values = np.arange(20, dtype=">i4").reshape(4, 5)
    raw = values.tobytes()
    for name, content in (("one.raw", b"xxx" + raw[:30]), ("two.raw", raw[30:])):
        open(os.path.join(data, name), "wb").write(content)
    with_parts = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    with_parts.set_external(b"one.raw", 3, 30)
    with_parts.set_external(b"two.raw", 0, 50)
    w.low("d", h5py.h5t.STD_I32BE, np.zeros(0), shape=(4, 5), dcpl=with_parts)
    gone = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    gone.set_external(b"gone.raw", 0, 80)
    w.low("gone", h5py.h5t.STD_I32BE, np.zeros(0), shape=(4, 5), dcpl=gone)
    w.done()
    expect("external.h5", "d", values)
    leave_out("external.h5", "/gone")


def write_netcdf(data):
    for name, form in (("uneven.nc", "NETCDF4"), ("classic4.nc", "NETCDF4_CLASSIC")):
        path = os.path.join(data, name)
        with netCDF4.Dataset(path, "w", format=form) as n:
            n.createDimension("t", None)
            n.createDimension("x", 3)
            n.number = np.int32(5)
            n.createVariable("z", "i4", ("t",), chunksizes=(4,))[:] = np.arange(6)
            n.createVariable("b", "i4", ("t", "x"), chunksizes=(4, 3), zlib=True, fill_value=-9)[0:2] = np.arange(6).reshape(2, 3)
            n.createVariable("c", "f8", ("t",))
            n.createVariable("plain", "f4", ("x",))[:] = 1
            n["plain"].missing_value = np.float32(1e20)
        with netCDF4.Dataset(path) as n:
            n.set_auto_mask(False)
            for variable in n.variables.values():
                expect(name, variable.name, variable[...], dimensions=list(variable.dimensions))
        attributes(name, "plain", missing_value=float(np.float32(1e20)))
        attributes(name, "", number=5)
    w = Writer(data, "labels.h5")
    w.file["v"] = np.zeros((4, 3))
    w.file["v"].dims[0].label = "time"
    w.file["v"].dims[1].label = "x"
    w.file["s"] = np.arange(4.0)
    w.file["s"].make_scale("the scale")
    w.file["u"] = np.zeros((4, 3))
    w.file["u"].dims[0].attach_scale(w.file["s"])
    w.file["u"].dims[0].label = "other"
    w.file["u"].dims[1].label = "x"
    w.expect("v", dimensions=["time", "x"])
    w.expect("u", dimensions=["s", "x"])
    attributes("labels.h5", "u", dimension_labels=["other", "x"])
    w.done()


# Missing values of user-defined types, which netCDF4-python does not write, and a dimension that only fields of structures have.
STRUCTURES = """netcdf structures {
types:
  compound obs_t { byte day ; short elev ; double time ; } ;
  opaque(3) raw_t ;
  compound deep_t { float x ; double y(3) ; } ;
dimensions:
  n = 3 ;
  bare = 2 ;
variables:
  obs_t obs(n) ;
    obs_t obs:_FillValue = {-99, -99, NaN} ;
  raw_t raw(n) ;
    raw_t raw:_FillValue = 0Xff00ff ;
  deep_t deep(bare) ;
data:
  obs = {1, 2, 3.5}, {-99, -99, NaN}, {4, 5, 6} ;
  raw = 0X010203, 0Xff00ff, 0X0a0b0c ;
  deep = {1, {2, 3, 4}}, {5, {6, 7, 8}} ;
}
"""


def write_structures(data):
    name = "structures.nc"
    subprocess.run(["ncgen", "-k", "nc4", "-o", os.path.join(data, name)], input=STRUCTURES, text=True, check=True)
    with h5py.File(os.path.join(data, name)) as file:
        expect(name, "obs", file["obs"][...], dimensions=["n"])
        expect(name, "raw", file["raw"][...], dimensions=["n"])
        for field, more in (("x", []), ("y", [None])):
            expect(name, f"deep/{field}", file["deep"][field], dimensions=["bare", *more])
    attributes(name, "obs", _nc_types="_FillValue: compound", _nc_type="obs_t")
    attributes(name, "raw", _nc_types="_FillValue: opaque", _nc_type="raw_t")
    attributes(name, "", _nc_dimensions="n = 3; bare = 2")


def write_percent(data):
    """In the names of sources, `%%` is a percent sign."""
    for number in ("", "_0", "_1"):
        with h5py.File(os.path.join(data, f"100%{number}.h5"), "w") as f:
            f.create_dataset("d%b", data=np.arange(4, dtype="<i4") + 10 * len(number), chunks=(2,), maxshape=(None,))
    w = Writer(data, "percent.h5", libver="latest")
    fixed, endless, four = (h5py.h5s.create_simple((4,), limits) for limits in (None, (h5py.h5s.UNLIMITED,), None))
    growing = endless.copy()
    growing.select_hyperslab((0,), (h5py.h5s.UNLIMITED,), (1,), (1,))
    blocks = endless.copy()
    blocks.select_hyperslab((0,), (h5py.h5s.UNLIMITED,), (4,), (4,))
    for name, space, source, file in (
        ("fixed", fixed, four, b"100%%.h5"),
        ("growing", growing, growing, b"100%%.h5"),
        ("numbered", blocks, four, b"100%%_%b.h5"),
    ):
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_virtual(space, file, b"d%%b", source)
        h5py.h5d.create(w.file.id, name.encode(), h5py.h5t.STD_I32LE, fixed if name == "fixed" else endless, dcpl)
        w.expect(name)
    w.done()


def write_bits(data):
    """Writes attributes of bit fields and of arrays."""
    w = Writer(data, "bits.h5")
    w.low("d", h5py.h5t.STD_B16LE, np.arange(3, dtype="<u2"), h5py.h5t.STD_B16LE)
    for owner in (w.file, w.file["d"]):
        for name, kind, values in (
            (b"b8", h5py.h5t.STD_B8LE, np.array([200], "<u1")),
            (b"b16", h5py.h5t.STD_B16BE, np.array([1, 65535], ">u2")),
            (b"b32", h5py.h5t.STD_B32LE, np.array([7], "<u4")),
            (b"b64", h5py.h5t.STD_B64LE, np.array([9], "<u8")),
        ):
            h5py.h5a.create(owner.id, name, kind, h5py.h5s.create_simple(values.shape)).write(values, mtype=kind)
        pair = h5py.h5t.array_create(h5py.h5t.STD_I16LE, (2,))
        h5py.h5a.create(owner.id, b"list", pair, h5py.h5s.create(h5py.h5s.SCALAR)).write(np.array([1, -2], "<i2"), mtype=pair)
    types = "b8: ubyte; b16: ushort; b32: uint; b64: uint64; list: short"
    w.done()
    expect("bits.h5", "d", np.arange(3, dtype="<u2"), type="uint16")
    for path in ("", "d"):
        attributes("bits.h5", path, b8=[200], b16=[1, 65535], b32=[7], b64=[9], list=[1, -2], _nc_types=types)


def write_taken(data):
    """Writes attributes with names that Zarrox or xarray interprets in Zarr."""
    w = Writer(data, "taken.h5")
    w.file["d"] = np.arange(3, dtype="<i2")
    for name in ("_nc_types", "_nc_kind", "_ARRAY_DIMENSIONS"):
        w.file["d"].attrs[name] = "text"
    w.expect("d")
    w.done()


def main():
    data = pack.begin(HERE)
    for write in (write_types, write_complex, write_links, write_names, write_damaged, write_old, write_virtual, write_external, write_netcdf, write_structures, write_percent, write_bits, write_taken):
        write(data)
    with open(os.path.join(data, "expected.json"), "w") as file:
        json.dump(EXPECTED, file)
    pack.pack(HERE)


if __name__ == "__main__":
    main()
