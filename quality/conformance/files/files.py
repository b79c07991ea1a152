"""HDF5 and NetCDF files with many types, layouts and filters; and real files from packages."""

import glob
import os

import h5py
import hdf5plugin
import netCDF4
import numpy as np
import xarray as xr


def write(out):
    """Writes all files into a directory. Returns their paths."""
    os.makedirs(out, exist_ok=True)
    rng = np.random.default_rng(1)
    def h5(name, **kw): return h5py.File(os.path.join(out, name), "w", **kw)
    # types
    for lib in ("earliest", "latest"):
        with h5(f"types-{lib}.h5", libver=lib) as f:
            for t in ["i1","u1","<i2",">i2","<u4",">i4","<i8",">u8","<f2","<f4",">f4","<f8",">f8","<c8",">c16","?"]:
                a = (rng.integers(0, 100, (7, 5))).astype(t) if t != "?" else rng.integers(0,2,(7,5)).astype("?")
                f.create_dataset("plain/"+t.strip("<>?") + ("be" if ">" in t else "") + ("bool" if t=="?" else ""), data=a)
                f.create_dataset("chunked/"+t.strip("<>?")+ ("be" if ">" in t else "") + ("bool" if t=="?" else ""), data=a, chunks=(3,2), compression="gzip", shuffle=True)
            f["scalar"] = 3.5
            f["empty"] = h5py.Empty("f4")
            f["zero"] = np.zeros((0, 4), "i2")
            f["fixed"] = np.array([b"a", b"bcd", b""], "S5")
            f["text"] = np.array(["", "größe", "x"*100], dtype=h5py.string_dtype())
            f.create_dataset("textc", data=np.array([f"t{i}" for i in range(50)], dtype=h5py.string_dtype()), chunks=(7,), compression="gzip")
            f["utf8fixed"] = np.array(["ä".encode(), b"bc"], dtype=h5py.string_dtype(length=6))
            f["opaque"] = np.array([b"abc", b"def"], "V3")
            f["enum"] = np.array([0, 2, 1], dtype=h5py.enum_dtype({"RED":0,"GREEN":1,"BLUE":2}, basetype="i2"))
            dt = np.dtype([("x","<f4"),("y",">i2"),("s","S3"),("n",[("a","u1"),("b","<f8")])])
            c = np.zeros(4, dt); c["x"]=[1,2,3,4]; c["y"]=[-1,300,5,6]; c["s"]=b"ab"; c["n"]["b"]=0.5; c["n"]["a"]=7
            f["compound"] = c
            f["lists"] = np.zeros(2, np.dtype([("v", "<i4", (2, 2)), ("x", "u1")]))
            al = np.zeros(3, np.dtype([("a","u1"),("b","<f8")], align=True)); al["a"]=[1,2,3]; al["b"]=[.5,1.5,2.5]
            f["aligned"] = al
            f.create_dataset("packed", data=np.array([(1,2.5),(3,4.5)],np.dtype([("a","<i4"),("b","<f8")])), chunks=(1,), compression="gzip")
            f["arraytype"] = np.zeros((3,), np.dtype(("<i4",(2,)))) if False else np.arange(6).reshape(3,2)
            d = f.create_dataset("sub", (4,), dtype=np.dtype((np.int32,(3,)))); d[...] = np.arange(12).reshape(4,3)
            d = f.create_dataset("subc", (4,), dtype=np.dtype((np.int32,(3,))), chunks=(3,), compression="gzip"); d[...] = np.arange(12).reshape(4,3)
            f.create_dataset("refs", data=np.array([f["scalar"].ref, f["plain"].ref, h5py.Reference()], dtype=h5py.ref_dtype))
            d = f.create_dataset("fill", (10, 10), "f4", chunks=(4, 4), fillvalue=-9.5, maxshape=(None, 20)); d[0, :3] = 1
            f.create_dataset("unwritten", (100, 100), "i4", fillvalue=7)
            f.create_dataset("unlimited", data=np.arange(100, dtype="i4").reshape(20,5), chunks=(3, 5), maxshape=(None, 5))
            f.create_dataset("unlimited2", data=np.arange(100, dtype="i4").reshape(20,5), chunks=(3, 2), maxshape=(None, None), compression="gzip")
            f.create_dataset("onechunk", data=np.arange(100, dtype="i4").reshape(20,5), chunks=(20, 5), compression="gzip")
            at = f["scalar"].attrs
            at["int"] = np.int32(-5); at["u8"]=np.uint64(2**64-1); at["f"]=np.float32(0.5); at["s"]="text"; at["b"]=np.bytes_(b"fixed"); at["arr"]=np.arange(3); at["arr2"]=np.arange(4.).reshape(2,2); at["strs"]=["a","bc"]; at["bool"]=True; at["ref"]=f["plain"].ref; at["e"]=h5py.Empty("i4"); at["nan"]=np.nan
            at.create("vl", np.array([np.arange(2), np.arange(3)], dtype=object), dtype=h5py.vlen_dtype("i4"))
            f["scalar"].attrs["cmp"] = np.array((1, 2.5), dtype=[("a","i4"),("b","f8")])
            for i in range(20): f["plain"].attrs[f"many{i}"] = "v"*i
            f["link"] = h5py.SoftLink("/zero"); f["hard"] = f["zero"]; f["dangling"] = h5py.SoftLink("/nowhere")
            for i in range(50): f.create_group(f"many/{i}")
    # filters
    data = np.cumsum(rng.integers(-3, 4, (40, 30)), axis=1).astype("<i4")
    fd = data.astype("<f8")/10
    with h5("filters.h5") as f:
        def add(name, d=data, **kw): f.create_dataset(name, data=d, chunks=(16, 16), **kw)
        add("none"); add("gzip", compression="gzip", compression_opts=9); add("shuffle", shuffle=True); add("fletcher", fletcher32=True)
        add("all", compression="gzip", shuffle=True, fletcher32=True); add("allf8", fd, compression="gzip", shuffle=True, fletcher32=True)
        add("lzf", compression="lzf"); add("lzfshuffle", compression="lzf", shuffle=True); add("szip", compression="szip") if h5py.h5z.filter_avail(4) else None
        add("scaleoffset", scaleoffset=8); add("scaleoffsetf", fd, scaleoffset=2)
        add("random_lzf", rng.integers(0, 256, (40, 30)).astype("u1"), compression="lzf")
        for c in ["blosclz","lz4","lz4hc","zlib","zstd"]:
            for s in (0,1,2): add(f"blosc_{c}_{s}", **hdf5plugin.Blosc(cname=c, clevel=5, shuffle=s))
        add("blosc_random", rng.integers(0, 256, (40, 30)).astype("u1"), **hdf5plugin.Blosc())
        add("zstd", **hdf5plugin.Zstd(5)); add("lz4", **hdf5plugin.LZ4()); add("lz4small", **hdf5plugin.LZ4(nbytes=500)); add("bzip2", **hdf5plugin.BZip2())
        add("bitshuffle_none", **hdf5plugin.Bitshuffle(cname="none")); add("bitshuffle_lz4", **hdf5plugin.Bitshuffle(cname="lz4")); add("bitshuffle_zstd", **hdf5plugin.Bitshuffle(cname="zstd"))
        add("bitshuffle_f8", fd[:39, :29], **hdf5plugin.Bitshuffle(cname="lz4"))
        f.create_dataset("bitshuffle_odd", data=rng.integers(0,99,(1001,)).astype("u2"), chunks=(333,), **hdf5plugin.Bitshuffle(nelems=64, cname="lz4"))
    with h5("filters-latest.h5", libver="latest") as f:
        f.create_dataset("fixedarray", data=data, chunks=(7, 7), compression="gzip", shuffle=True)
        f.create_dataset("implicit", data=data, chunks=(7, 7))
        d = f.create_dataset("big", (150, 150), "i2", chunks=(3, 3), maxshape=(None, 150), compression="gzip"); d[...] = np.arange(22500).reshape(150,150) % 1000
        d = f.create_dataset("big2", (150, 150), "i2", chunks=(3, 3), maxshape=(None, None), compression="gzip"); d[...] = np.arange(22500).reshape(150,150) % 1000
    with h5("user.h5", userblock_size=1024) as f: f["a"] = data; f.create_dataset("b", data=data, chunks=(5,5), compression="gzip")
    with h5("scales.h5") as f:
        f["x"] = np.arange(3.); f["y"] = np.arange(4.); f["d"] = np.zeros((3,4,2)); f["x"].make_scale("the x"); f["y"].make_scale()
        f["d"].dims[0].attach_scale(f["x"]); f["d"].dims[1].attach_scale(f["y"]); f["d"].dims[2].label = "z"
        f["labelled"] = np.zeros((2,3)); f["labelled"].dims[0].label = "p"
    # netCDF4
    with netCDF4.Dataset(os.path.join(out, "nc4.nc"), "w") as n:
        n.title = "Größe"; n.history = ["a", "b"]; n.number = 5; n.pi = 3.5
        n.createDimension("time", None); n.createDimension("lat", 4); n.createDimension("lon", 5); n.createDimension("nv", 2); n.createDimension("strlen", 6)
        t = n.createVariable("time", "f8", ("time",)); t.units="days since 2000-01-01"; t[:] = np.arange(3)
        for k, nn in (("lat",4),("lon",5)): v = n.createVariable(k, "f4", (k,)); v[:] = np.arange(nn)
        v = n.createVariable("t2m", "i2", ("time","lat","lon"), zlib=True, fill_value=-99, chunksizes=(1,2,5), fletcher32=True); v.scale_factor=.1; v.set_auto_maskandscale(False); v[:] = np.arange(60).reshape(3,4,5)
        v = n.createVariable("bnds", "f8", ("time","nv")); v[:] = 1
        v = n.createVariable("name", str, ("lat",)); v[:] = np.array(["a","bb","ccc","ü"], object)
        v = n.createVariable("chars", "S1", ("lat","strlen")); v[:] = netCDF4.stringtochar(np.array(["abc","d","",  "efghij"],"S6"))
        v = n.createVariable("lon2", "f4", ("lat","lon")); v[:] = 2
        v = n.createVariable("strlen", "i4", ("lat",)); v[:] = 3
        v = n.createVariable("big", ">f4", ("lat","lon"), endian="big"); v[:] = np.arange(20).reshape(4,5)
        v = n.createVariable("sc", "i4"); v[...] = 42
        g = n.createGroup("sub/deep"); g.note="x"; g.createDimension("lat", 2); v = g.createVariable("v","u1",("time","lat")); v[:] = 9
        e = n.createEnumType(np.uint8, "sky", {"clear":0,"cloudy":1}); v = n.createVariable("skyv", e, ("lat",)); v[:] = [0,1,1,0]
        for c in ("zstd", "bzip2"):
            try: v = n.createVariable("c_"+c, "f4", ("lat","lon"), compression=c); v[:] = np.arange(20).reshape(4,5)
            except Exception as ex: print(c, ex)
    ds = xr.Dataset({"a": (("t","x"), rng.random((5,6))), "flag": (("x",), np.array([1,0,1,0,1,1],bool)), "s": (("x",), np.array(list("abcdef")))}, coords={"t": np.arange("2001-01-01","2001-01-06",dtype="M8[D]").astype("M8[ns]"), "x": np.arange(6)}, attrs={"k":1})
    ds.to_netcdf(os.path.join(out, "xr-netcdf4.nc"), engine="netcdf4", encoding={"a": {"zlib": True, "dtype":"int16","scale_factor":1e-4,"_FillValue":-1}})
    ds.to_netcdf(os.path.join(out, "xr-h5netcdf.nc"), engine="h5netcdf", encoding={"a": {"compression": "gzip", "chunksizes": (2, 3)}})

    for kind in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
        write_classic(os.path.join(out, kind.lower() + ".nc"), kind)
    return sorted(glob.glob(os.path.join(out, "*")))


def write_matrix(path):
    """Writes every type with every filter, in arrays whose last chunks are partial. Returns the path."""
    filters = {
        "gzip": {"compression": "gzip"},
        "shuffle": {"compression": "gzip", "shuffle": True},
        "all": {"compression": "gzip", "shuffle": True, "fletcher32": True},
        "fletcher32": {"fletcher32": True},
        "lzf": {"compression": "lzf", "shuffle": True},
        "blosc": hdf5plugin.Blosc(cname="lz4"),
        "zstd": hdf5plugin.Zstd(),
        "lz4": hdf5plugin.LZ4(),
        "bitshuffle": hdf5plugin.Bitshuffle(cname="lz4"),
        "bzip2": hdf5plugin.BZip2(),
    }
    if h5py.h5z.get_filter_info(h5py.h5z.FILTER_SZIP) & h5py.h5z.FILTER_CONFIG_ENCODE_ENABLED:
        filters["szip"] = {"compression": "szip"}
    rng = np.random.default_rng(5)
    compound = np.dtype([("x", "<f4"), ("y", ">i2"), ("name", "S3")])
    kinds = ["i1", "u1", "<i2", ">u2", "<i4", ">i4", "<u8", ">i8", "<f2", "<f4", ">f8", "<c8", "?", "S5", compound]
    with h5py.File(path, "w") as file:
        for kind in kinds:
            values = rng.integers(0, 2 if kind == "?" else 90, (23, 17))
            if kind is compound:
                made = np.zeros(values.shape, compound)
                made["x"], made["y"], made["name"] = values / 4, values, values.astype("S3")
                values = made
            name = "compound" if kind is compound else np.dtype(kind).str.strip("|<").replace(">", "big_").replace("?", "bool")
            for filter_name, options in filters.items():
                # SZIP supports only numbers.
                if filter_name == "szip" and (kind is compound or np.dtype(kind).kind in "cSb"):
                    continue
                file.create_dataset(f"{name}/{filter_name}", data=values.astype(kind), chunks=(8, 10), **options)
    return path


def write_classic(path, kind):
    """Writes a NetCDF-3 file with and without records."""
    with netCDF4.Dataset(path, "w", format=kind) as n:
        n.title = "classic"
        n.number = np.int32(5)
        n.list = np.arange(3, dtype="f8")
        for name, length in (("time", None), ("x", 5), ("y", 3), ("n", 7)):
            n.createDimension(name, length)
        types = ["i1", "i2", "i4", "f4", "f8"]
        if kind == "NETCDF3_64BIT_DATA":
            types += ["u1", "u2", "u4", "i8", "u8"]
        for number, dtype in enumerate(types):
            n.createVariable(f"fixed_{dtype}", dtype, ("y", "x"))[:] = np.arange(15).reshape(3, 5) + number
            n.createVariable(f"record_{dtype}", dtype, ("time", "x"))[:] = np.arange(20).reshape(4, 5) + number
        n.createVariable("odd", "i1", ("time", "y"))[:] = np.arange(12).reshape(4, 3)
        n.createVariable("chars", "S1", ("y", "n"))[:] = netCDF4.stringtochar(np.array(["abc", "", "efghijk"], "S7"))
        v = n.createVariable("masked", "f4", ("time",), fill_value=-9)
        v[:] = np.ma.masked_array([1.0, 2, 3, 4], [0, 1, 0, 0])
        n.createVariable("scalar", "f8")[...] = 2.5
    with netCDF4.Dataset(path.replace(".nc", "-one.nc"), "w", format=kind) as n:
        n.createDimension("t", None)
        n.createDimension("x", 3)
        # Records of a single variable are not padded.
        n.createVariable("v", "i1", ("t", "x"))[:] = np.arange(9).reshape(3, 3)


def shipped():
    """Returns the files in packages of the environment."""
    import site

    found = []
    for directory in site.getsitepackages():
        for suffix in ("h5", "hdf5", "nc", "nc4", "mnc"):
            found += glob.glob(os.path.join(directory, "**", f"*.{suffix}"), recursive=True)
    return sorted(filter(lambda path: is_hdf5(path) or path.endswith(".nc"), found))


def is_hdf5(path):
    """Returns true for HDF5, and false for classic NetCDF."""
    with open(path, "rb") as file:
        return file.read(4) == b"\x89HDF" or "user" in os.path.basename(path)
