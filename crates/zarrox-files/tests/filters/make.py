"""Writes chunks of HDF5 through every filter, and the bytes that HDF5 decodes from them; and a file for fuzzing.

    python make.py

Runs in the environment of `quality/conformance/requirements/files.txt`.
"""

import base64
import json
import os
import sys
import zlib

import h5py
import hdf5plugin
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..", "..")
sys.path.append(os.path.join(ROOT, "crates/zarrox/tests/corpus"))

import pack  # noqa: E402

random = np.random.default_rng(7)

TYPES = ["<i2", ">i4", "<u8", ">i8", "u1", "<f4", ">f4", "<f8", ">f8"]
SHAPES = [((100,), (100,)), ((11, 9), (6, 7)), ((3, 5, 7), (2, 3, 7))]


def filters():
    """Returns the options of every lossless filter, by name."""
    szip = [(method, block) for method in ("ec", "nn") for block in (2, 8, 32)]
    blosc = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]
    blosc2 = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
    return {
        "deflate": {"compression": "gzip"},
        "deflate-shuffle": {"compression": "gzip", "shuffle": True},
        "shuffle": {"shuffle": True},
        "fletcher32": {"fletcher32": True},
        "all": {"compression": "gzip", "shuffle": True, "fletcher32": True},
        "lzf": {"compression": "lzf", "shuffle": True},
        "bzip2": hdf5plugin.BZip2(),
        "zstd": hdf5plugin.Zstd(),
        "lz4": hdf5plugin.LZ4(),
        "lz4-blocks": hdf5plugin.LZ4(nbytes=64),
        "szip-shuffle": {"compression": "szip", "compression_opts": ("nn", 16), "shuffle": True},
        "szip-fletcher32": {"compression": "szip", "compression_opts": ("nn", 16), "fletcher32": True},
        **{f"szip-{m}{b}": {"compression": "szip", "compression_opts": (m, b)} for m, b in szip},
        **{f"bitshuffle-{c}": hdf5plugin.Bitshuffle(cname=c) for c in ("none", "lz4", "zstd")},
        **{f"bitshuffle-{c}16": hdf5plugin.Bitshuffle(nelems=16, cname=c) for c in ("none", "lz4", "zstd")},
        **{f"blosc-{c}{s}": hdf5plugin.Blosc(cname=c, shuffle=s) for c in blosc for s in (0, 1, 2)},
        **{f"blosc2-{c}{f}": hdf5plugin.Blosc2(cname=c, filters=f) for c in blosc2 for f in (0, 1, 2, 3)},
    }


def zfp():
    return {
        "reversible": hdf5plugin.Zfp(reversible=True),
        "rate": hdf5plugin.Zfp(rate=5.5),
        "precision": hdf5plugin.Zfp(precision=12),
        "accuracy": hdf5plugin.Zfp(accuracy=0.01),
        "expert": hdf5plugin.Zfp(minbits=1, maxbits=500, maxprec=20, minexp=-100),
    }


def elements(dtype, shape):
    """Returns numbers near one another, with a run of equal numbers."""
    dtype = np.dtype(dtype)
    values = np.cumsum(random.integers(-2, 3, int(np.prod(shape))))
    values[10:40] = values[10]
    values = values / 8 if dtype.kind == "f" else values - values.min()
    return values.astype(dtype).reshape(shape)


def create(file, name, values, chunk, **options):
    file.create_dataset(name, data=values, chunks=chunk, maxshape=(None,) * values.ndim, **options)


def create_with(file, name, datatype, values, chunk, change):
    """Creates a dataset of a type that NumPy does not have."""
    space = h5s.create_simple(values.shape, (h5s.UNLIMITED,) * values.ndim)
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_chunk(chunk)
    change(properties)
    group, _, name = name.rpartition("/")
    dataset = h5d.create(file.require_group(group).id, name.encode(), datatype, space, properties)
    dataset.write(h5s.ALL, h5s.ALL, values, h5t.py_create(values.dtype))


def bits(base, precision, offset=0):
    datatype = base.copy()
    datatype.set_precision(precision)
    datatype.set_offset(offset)
    return datatype


def write(file):
    for index, (name, options) in enumerate(filters().items()):
        for turn in range(3):
            dtype = TYPES[(index + turn * 4) % len(TYPES)]
            shape, chunk = SHAPES[(index + turn) % len(SHAPES)]
            create(file, f"{name}/{dtype}", elements(dtype, shape), chunk, **options)
    write_lossy(file)
    write_special(file)
    write_nbit(file)


def write_lossy(file):
    for name, options in zfp().items():
        for dtype, (shape, chunk) in zip(["<i4", "<f4", "<i8", "<f8"], SHAPES + [((3, 4, 5, 6), (2, 4, 3, 5))]):
            if name != "accuracy" or "f" in dtype:
                create(file, f"zfp-{name}/{dtype}", elements(dtype, shape), chunk, **options)
    for dtype in TYPES:
        is_float = np.dtype(dtype).kind == "f"
        for fill in ({}, {"fillvalue": 3}):
            values = elements(dtype, (11, 9))
            values[::3, ::2] = 3
            for bits_or_decimals in (0, 2) if is_float else (0, 7):
                name = f"scale-offset{bits_or_decimals}-{len(fill)}/{dtype}"
                create(file, name, values, (6, 5), scaleoffset=bits_or_decimals, **fill)
            name = f"scale-offset-equal-{len(fill)}/{dtype}"
            create(file, name, np.full_like(values, 3), (6, 5), scaleoffset=2 if is_float else True, **fill)
        if is_float:
            values = elements(dtype, (60,))
            values[[3, 50]] = np.nan
            create(file, f"scale-offset-nan/{dtype}", values, (60,), scaleoffset=2)
            values[20] = np.inf
            create(file, f"scale-offset-infinity/{dtype}", values, (60,), scaleoffset=2)
        else:
            values = random.integers(0, np.iinfo(dtype).max, (11, 9), dtype=np.dtype(dtype).newbyteorder("="), endpoint=True)
            values[0, 0], values[1, 1] = 0, np.iinfo(dtype).max
            create(file, f"scale-offset-full/{dtype}", values.astype(dtype), (6, 5), scaleoffset=True)
        options = {"scaleoffset": 2 if is_float else True, "compression": "gzip", "shuffle": True}
        create(file, f"scale-offset-deflate/{dtype}", elements(dtype, (11, 9)), (6, 5), **options)


def write_special(file):
    for dtype in ("<f4", ">f8", "<i4"):
        for name, value in (("zeros", 0), ("sevens", 7), ("nan", np.nan)):
            if value == value or "f" in dtype:
                options = hdf5plugin.Blosc2(cname="lz4", filters=1)
                create(file, f"blosc2-{name}/{dtype}", np.full((40, 30), value, dtype), (40, 30), **options)
    create(file, "blosc2-trunc/<f4", elements("<f4", (40, 30)), (13, 17), **hdf5plugin.Blosc2(filters=4))
    rank = elements("<i2", (3,) * 9)
    create(file, "blosc2-rank/<i2", rank, (3,) * 8 + (2,), **hdf5plugin.Blosc2(cname="zstd"))
    values = np.arange(1200).reshape(30, 40)

    def with_filters(*added):
        return lambda properties: [properties.set_filter(number, 1, given) for number, given in added]

    blosc2 = (32026, (0, 64, 0, 0, 5, 1, 1))
    for name, added in {
        "blosc2-fletcher32": ((3, ()), blosc2),
        "blosc2-deflate": (blosc2, (1, (1,))),
        "lz4-deflate": ((32004, ()), (1, (1,))),
        "lzf-zstd": ((32000, ()), (32015, (3,))),
        "deflate-deflate": ((1, (1,)), (1, (1,))),
        "fletcher32-bzip2": ((3, ()), (307, (9,))),
        "bitshuffle-deflate": ((32008, (0, 2)), (1, (1,))),
    }.items():
        create_with(file, f"{name}/>i2", h5t.STD_I16BE, values, (13, 17), with_filters(*added))
    for precision in (9, 12, 17, 24, 31, 40, 63):
        for base in (h5t.STD_U16LE, h5t.STD_I32BE, h5t.STD_I32LE, h5t.STD_U64BE):
            if base.get_size() * 4 < precision <= base.get_size() * 8:
                for method in (h5z.SZIP_NN_OPTION_MASK, h5z.SZIP_EC_OPTION_MASK):
                    name = f"szip-{precision}-{method}/{'<>'[base.get_order()]}{base.get_size()}"
                    numbers = (values * 7919) % (1 << min(precision - 1, 20))
                    numbers[:15] = 5
                    change = lambda properties: properties.set_szip(method, 8)  # noqa: B023, E731
                    create_with(file, name, bits(base, precision), numbers, (13, 33), change)
    mask = file.create_dataset("mask/<i4", (100,), "<i4", chunks=(50,), compression="gzip", shuffle=True, fletcher32=True)
    mask.id.write_direct_chunk((0,), np.arange(50, dtype="<i4").tobytes(), filter_mask=7)
    mask.id.write_direct_chunk((50,), zlib.compress(np.arange(50, dtype="<i4").tobytes()), filter_mask=5)


def write_nbit(file):
    def nbit(properties):
        properties.set_filter(h5z.FILTER_NBIT, h5z.FLAG_OPTIONAL)

    values = random.integers(0, 200, (11, 9))
    for base in (h5t.STD_I32LE, h5t.STD_I32BE, h5t.STD_U16BE, h5t.STD_I64LE, h5t.STD_I64BE, h5t.STD_U8LE):
        size = base.get_size() * 8
        for precision, offset in ((size, 0), (size - 3, 1), (size // 2 + 1, 3), (size // 2 + 1, 0)):
            name = f"nbit-{precision}-{offset}/{'<>'[base.get_order()]}{size // 8}"
            create_with(file, name, bits(base, precision, offset), values, (6, 5), nbit)
    for base in (h5t.IEEE_F32LE, h5t.IEEE_F32BE):
        short = base.copy()
        short.set_fields(26, 20, 6, 7, 13)
        short.set_offset(7)
        short.set_precision(20)
        short.set_ebias(31)
        for name, datatype in (("short", short), ("whole", base)):
            create_with(file, f"nbit-{name}/{'<>'[base.get_order()]}f4", datatype, values / 8, (6, 5), nbit)
    inner = h5t.create(h5t.COMPOUND, 20)
    inner.insert(b"a", 1, bits(h5t.STD_I32LE, 19, 3))
    inner.insert(b"b", 6, bits(h5t.STD_U16BE, 11, 2))
    text = h5t.C_S1.copy()
    text.set_size(3)
    inner.insert(b"s", 9, text)
    inner.insert(b"list", 12, h5t.array_create(bits(h5t.STD_I16LE, 10, 1), (2, 2)))
    outer = h5t.create(h5t.COMPOUND, 48)
    outer.insert(b"x", 0, inner)
    outer.insert(b"y", 21, h5t.array_create(bits(h5t.STD_I32BE, 20, 2), (3,)))
    outer.insert(b"z", 40, h5t.IEEE_F64LE)
    one = np.dtype([("a", "i4"), ("b", "u2"), ("s", "S3"), ("list", "i2", (2, 2))])
    records = np.zeros(11, np.dtype([("x", one), ("y", "i4", (3,)), ("z", "f8")]))
    records["x"]["a"] = random.integers(-100, 100, 11)
    records["x"]["b"] = random.integers(0, 100, 11)
    records["x"]["s"] = b"abc"
    records["x"]["list"] = random.integers(-8, 8, (11, 2, 2))
    records["y"] = random.integers(-100, 100, (11, 3))
    records["z"] = random.normal(size=11)
    create_with(file, "nbit-compound/records", outer, records, (4,), nbit)


def chunks_of(dataset):
    """Returns the chunks of a dataset, each with its filters and its decoded bytes."""
    dataset.resize(tuple(-(-length // chunk) * chunk for length, chunk in zip(dataset.shape, dataset.chunks)))
    datatype = dataset.id.get_type()
    item = datatype.get_size()
    # The bytes are read in the type of the file, since NumPy would drop bits that it does not know.
    stored = np.zeros(dataset.shape, np.dtype(("V", item)))
    dataset.id.read(h5s.ALL, h5s.ALL, stored, datatype)
    properties = dataset.id.get_create_plist()
    used = [properties.get_filter(index) for index in range(properties.get_nfilters())]
    for index in range(dataset.id.get_num_chunks()):
        place = dataset.id.get_chunk_info(index).chunk_offset
        mask, encoded = dataset.id.read_direct_chunk(place)
        box = tuple(slice(start, start + length) for start, length in zip(place, dataset.chunks))
        yield {
            "filters": [[number, [int(value) for value in given]] for number, _, given, _ in used],
            "mask": mask,
            "item": item,
            "encoded": base64.b64encode(encoded).decode(),
            "decoded": base64.b64encode(stored[box].tobytes()).decode(),
        }


def write_seed(path):
    """Writes a small file with each filter once, with which fuzzing begins."""
    names = ["all", "lzf", "bzip2", "zstd", "lz4", "szip-nn8", "szip-ec8", "bitshuffle-none", "bitshuffle-lz4"]
    names += ["bitshuffle-zstd", "blosc-lz41", "blosc2-blosclz1", "blosc2-zstd2", "blosc2-lz43"]
    with h5py.File(path, "w", libver="latest") as file:
        options = {name: filters()[name] for name in names}
        options |= {f"zfp-{name}": given for name, given in zfp().items()}
        options["scale-offset"] = {"scaleoffset": 2}
        for name, given in options.items():
            file.create_dataset(name, data=elements("<f4", (9, 9)), chunks=(9, 9), **given)
        values = elements("<i4", (9, 9))
        create_with(file, "nbit/i4", bits(h5t.STD_I32LE, 29, 1), values, (9, 9), lambda p: p.set_filter(h5z.FILTER_NBIT, 1))


def main():
    data = pack.begin(HERE)
    path = os.path.join(data, "filters.h5")
    with h5py.File(path, "w") as file:
        write(file)
    chunks = {}
    with h5py.File(path, "r+") as file:

        def visit(name, node):
            if isinstance(node, h5py.Dataset) and node.id.get_num_chunks():
                chunks[name] = list(chunks_of(node))

        file.visititems(visit)
    os.remove(path)
    with open(os.path.join(data, "chunks.json"), "w") as file:
        json.dump(chunks, file, indent=0)
    pack.pack(HERE)
    write_seed(os.path.join(ROOT, "quality", "fuzz", "regressions", "files", "filters-of-hdf5"))


if __name__ == "__main__":
    main()
