"""Writes the golden Berkeley DB files. See README.md."""

import dbm.ndbm
import os
import sys
import warnings
from pathlib import Path

import bsddb3
import numpy
import zarr
from bsddb3 import db

warnings.simplefilter("ignore", FutureWarning)
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))


def hierarchy(name, open):
    """Writes the same hierarchy as in the other databases, with zarr-python."""
    from write import fill

    store = zarr.DBMStore(str(HERE / name), flag="n", open=open)
    fill(store)
    store.close()


def many(name, kind, order):
    """Writes many keys into small pages, so that trees are high, tables are doubled often, and values and keys do not fit into a page."""
    path = HERE / name
    path.unlink(missing_ok=True)
    file = db.DB()
    file.set_pagesize(512)
    file.set_lorder(order)
    file.open(str(path), dbtype=kind, flags=db.DB_CREATE)
    for n in range(400):
        file.put(b"many/%d" % n, bytes([n % 256]) * (n % 40))
    for n in range(1, 5):
        file.put(b"large/%d" % n, bytes([n]) * (n * 600))
        file.put(b"long/%d/" % n + b"x" * (n * 200), b"%d" % n)
    for n in range(0, 400, 7):
        file.delete(b"many/%d" % n)
    file.close()


if __name__ == "__main__":
    hierarchy("hierarchy.btree", lambda path, flag, mode: bsddb3.btopen(path, flag, mode))
    hierarchy("hierarchy.hash", lambda path, flag, mode: bsddb3.hashopen(path, flag, mode))
    hierarchy("hierarchy", dbm.ndbm.open)
    os.rename(HERE / "hierarchy.db", HERE / "hierarchy.ndbm")
    for order, name in [(1234, "little"), (4321, "big")]:
        many(f"{name}.btree", db.DB_BTREE, order)
        many(f"{name}.hash", db.DB_HASH, order)
    print(sys.version, zarr.__version__, numpy.__version__, bsddb3.__version__, db.version(), dbm.ndbm.library)
