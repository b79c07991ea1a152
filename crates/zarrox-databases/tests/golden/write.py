"""Writes the golden databases with zarr-python 2. See README.md."""

import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import dbm.gnu
import lmdb
import numpy
import zarr

warnings.simplefilter("ignore", FutureWarning)
HERE = Path(__file__).parent


def fill(store):
    root = zarr.group(store=store, overwrite=True)
    root.attrs["a"] = [1, 2]
    counts = root.create_group("group").zeros("counts", shape=(6, 8), chunks=(3, 4), dtype="<i4", compressor=None)
    counts.attrs["unit"] = "1"
    for first, rows, columns in [(0, 0, 0), (100, 0, 4), (200, 3, 0)]:
        counts[rows : rows + 3, columns : columns + 4] = numpy.arange(first, first + 12).reshape(3, 4)


def write(name, make, single_file=True):
    target = HERE / name
    target.unlink(missing_ok=True)
    store = make(str(target))
    fill(store)
    store.close()


def write_lmdb(name):
    """Writes LMDB's compact copy of a database of zarr-python, whose files are sparse and 1 TiB long."""
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "source.lmdb"
        store = zarr.LMDBStore(str(source))
        fill(store)
        store.flush()
        copy = Path(directory) / "copy"
        copy.mkdir()
        store.db.copy(str(copy), compact=True)
        store.close()
        shutil.copy(copy / "data.mdb", HERE / name)


if __name__ == "__main__":
    write("hierarchy.sqlite", zarr.SQLiteStore)
    write("hierarchy.gdbm", lambda path: zarr.DBMStore(path, flag="n", open=dbm.gnu.open))
    write_lmdb("hierarchy.lmdb")
    print(sys.version, zarr.__version__, lmdb.version())
