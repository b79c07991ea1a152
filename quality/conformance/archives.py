"""zarr-python's part in the exchange of zip archives; see `quality/conformance/driver/src/archives.rs`.

    python archives.py write|read DIRECTORY
"""

import pathlib
import shutil
import subprocess
import sys
import warnings
import zipfile

import numpy
import zarr

IS_OLD = zarr.__version__.startswith("2.")
ZipStore = zarr.ZipStore if IS_OLD else zarr.storage.ZipStore
DATA = numpy.arange(60, dtype="int32").reshape(6, 10)
COMPRESSIONS = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}


def formats():
    return [2] if IS_OLD else [2, 3]


def write(path, version, compression):
    """Writes a group with an array; the third row is overwritten in an archive that was closed before."""
    own = {} if IS_OLD else {"zarr_format": version}
    store = ZipStore(path, mode="w", compression=compression)
    root = zarr.open_group(store, mode="w", **own)
    root.attrs["title"] = "größer"
    create = root.create if IS_OLD else root.create_array
    array = create(name="g/a", shape=DATA.shape, chunks=(4, 5), dtype="int32")
    array[:] = DATA
    store.close()
    store = ZipStore(path, mode="a", compression=compression)
    zarr.open_group(store, mode="a", **own)["g/a"][2] = 7
    store.close()


def read(path):
    """Checks the rows that Zarrox wrote and changed, then changes the fourth row."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None, f"{path}: {archive.testzip()}"
        assert len(set(archive.namelist())) == len(archive.namelist()), f"{path}: a name is duplicated"
    unzip = shutil.which("unzip") or sys.exit("unzip was not found: install Info-ZIP")
    subprocess.run([unzip, "-tq", path], check=True)
    store = ZipStore(path, mode="a")
    array = zarr.open_group(store, mode="a")["g/a"]
    expected = DATA.copy()
    expected[2] = 7
    numpy.testing.assert_array_equal(array[:], expected)
    array[3] = 8
    store.close()


warnings.simplefilter("ignore")
action, directory = sys.argv[1], pathlib.Path(sys.argv[2])
for version in formats():
    for name, compression in COMPRESSIONS.items():
        path = str(directory / f"v{version}-{name}.zip")
        write(path, version, compression) if action == "write" else read(path)
