"""zarr-python 2's part in the exchange of hierarchies in its stores; see `quality/conformance/driver/src/databases.rs`.

    python databases.py write|change|changed KIND LOCATION

`write` creates a hierarchy, `change` reads Zarrox's hierarchy and changes it, `changed` reads the hierarchy that Zarrox has
changed. The location is the path of a file or a directory, or the URL of a server; the name of the hierarchy follows a `#`.
"""

import os
import shutil
import sys
import urllib.parse
import warnings

import numpy
import zarr
from numcodecs import Blosc, Zlib

SHAPE, CHUNKS = (6, 10), (4, 5)
N = numpy.arange(60)

# The elements and the compressor of each array. Element n is n, n / 2, whether n is divisible by three, or n after a letter.
ARRAYS = {
    "int32": (N.astype("<i4"), Blosc()),
    "float64": ((N / 2).astype(">f8"), Zlib(1)),
    "bool": (N % 3 == 0, None),
    "uint16": (N.astype("<u2"), Blosc("zstd", shuffle=Blosc.BITSHUFFLE)),
    "U3": (numpy.array([f"é{n}" for n in N], "<U3"), Zlib(9)),
}


class Temporary(zarr.TempStore):
    """A store that exists as long as the process: its content is read from a directory, and written back at the end."""

    def __init__(self, path):
        super().__init__(dir=os.path.dirname(path))
        self.outside = path
        if os.path.exists(path):
            shutil.copytree(path, self.path, dirs_exist_ok=True)

    def close(self):
        shutil.rmtree(self.outside, ignore_errors=True)
        shutil.copytree(self.path, self.outside)


def gdbm(path):
    import dbm.gnu

    return zarr.DBMStore(path, flag="c", open=dbm.gnu.open)


def mongodb(url):
    """Opens MongoDB as its users do: with the parts of the URL as separate arguments."""
    parts = urllib.parse.urlsplit(url)
    return zarr.MongoDBStore(host=parts.hostname, port=parts.port, directConnection=True)


def redis(url):
    parts = urllib.parse.urlsplit(url)
    return zarr.RedisStore(host=parts.hostname, port=parts.port)


def azure(url, name):
    from azure.storage.blob import ContainerClient

    # The account of every Azure emulator, which has a public key.
    key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
    return zarr.ABSStore(client=ContainerClient(url, "zarrox", credential=key), prefix=name)


def s3(url, name):
    return zarr.storage.FSStore(
        f"s3://zarrox/{name}", key="AKIAEXAMPLE", secret="secretkey", client_kwargs={"endpoint_url": url}
    )


def gcs(url, name):
    # Otherwise gcsfs requests the kind of the bucket by gRPC, which the server does not support.
    os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
    return zarr.storage.FSStore(f"gs://zarrox/{name}", token="anon", endpoint_url=url)


def webdav(url, name):
    from webdav4.fsspec import WebdavFileSystem

    return zarr.storage.FSStore(name, fs=WebdavFileSystem(url))


STORES = {
    "directory": zarr.DirectoryStore,
    "nested": zarr.NestedDirectoryStore,
    "temporary": Temporary,
    "files": zarr.storage.FSStore,
    "sqlite": zarr.SQLiteStore,
    "lmdb": zarr.LMDBStore,
    "gdbm": gdbm,
    "redis": redis,
    "mongodb": mongodb,
    "azure": azure,
    "s3": s3,
    "gcs": gcs,
    "webdav": webdav,
}


def expected(values, changed):
    values = values.reshape(SHAPE).copy()
    if changed:
        values[2] = numpy.zeros((), values.dtype)
    return values


def write(store):
    """Writes a root with attributes, and a group with an array of each type. The node `gone` is deleted again."""
    root = zarr.group(store, overwrite=True)
    root.attrs.put({"title": "größer", "numbers": [1, 2]})
    for name, (values, compressor) in ARRAYS.items():
        array = root.create(f"g/{name}", shape=SHAPE, chunks=CHUNKS, dtype=values.dtype, compressor=compressor)
        array[:] = values.reshape(SHAPE)
    root.zeros("g/gone/a", shape=SHAPE)[:] = 1
    del root["g/gone"]


def change(store):
    """Sets the third row of each array to zero, and changes the title."""
    read(store, changed=False)
    root = zarr.open_group(store, mode="r+")
    for name, (values, _) in ARRAYS.items():
        root[f"g/{name}"][2] = numpy.zeros(SHAPE[1], values.dtype)
    root.attrs["title"] = "kleiner"


def read(store, changed):
    root = zarr.open_group(store, mode="r")
    assert root.attrs.asdict() == {"title": "kleiner" if changed else "größer", "numbers": [1, 2]}
    assert sorted(root["g"].array_keys()) == sorted(ARRAYS) and not list(root["g"].group_keys())
    for name, (values, _) in ARRAYS.items():
        array = root[f"g/{name}"]
        assert array.dtype == values.dtype, f"{name}: {array.dtype}"
        numpy.testing.assert_array_equal(array[:], expected(values, changed), name)


warnings.simplefilter("ignore")
action, kind, location = sys.argv[1:]
store = STORES[kind](*location.split("#"))
{"write": write, "change": change, "changed": lambda store: read(store, changed=True)}[action](store)
if hasattr(store, "close"):
    store.close()
