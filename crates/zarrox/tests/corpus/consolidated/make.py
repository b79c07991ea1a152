"""Writes the hierarchies of this directory; README.md has the commands."""

import os
import sys
import warnings

warnings.simplefilter("ignore")
os.environ["ZARR_V3_EXPERIMENTAL_API"] = "1"

import numpy as np
import zarr

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import pack  # noqa: E402


def fill(group, create):
    """Writes attributes that are not JSON, arrays with known values, and groups within the group."""
    group.attrs["title"] = "consolidated"
    group.attrs["nothing"] = float("nan")
    create("a", np.arange(6, dtype="<i4").reshape(2, 3), 7)
    inner = group.create_group("g/inner")
    inner.attrs["deep"] = [1, {"x": None}]
    create("g/inner/b", np.array([0.5, np.nan, -1.0]), float("nan"))
    group.create_group("H")


def zarr2(data):
    for name, options in [("v2-zarr2.zarr", {}), ("v3-experimental.zarr", {"zarr_version": 3})]:
        path = os.path.join(data, name)
        store = zarr.DirectoryStoreV3(path) if options else zarr.DirectoryStore(path)
        group = zarr.open_group(store, mode="w", **options)

        def create(path, values, fill_value):
            array = group.create_dataset(
                path, shape=values.shape, chunks=values.shape, dtype=values.dtype, fill_value=fill_value, compressor=None
            )
            array[...] = values

        fill(group, create)
        if not options:
            group.create_dataset("odd", shape=(2,), dtype="M8[s]", compressor=zarr.codecs.Zlib(1)).attrs["kept"] = True
            # An unknown codec, as if another writer had written the array.
            document = os.path.join(path, "odd", ".zarray")
            text = open(document).read().replace('"zlib"', '"nobody-knows"')
            open(document, "w").write(text)
        if options:
            zarr.consolidate_metadata(store, path="")
        else:
            zarr.consolidate_metadata(store)


def zarr3(data):
    for name, version in [("v2-zarr3.zarr", 2), ("v3.zarr", 3)]:
        path = os.path.join(data, name)
        group = zarr.open_group(path, mode="w", zarr_format=version)

        def create(path, values, fill_value):
            array = group.create_array(
                path, shape=values.shape, chunks=values.shape, dtype=values.dtype, fill_value=fill_value, compressors=None
            )
            array[...] = values

        fill(group, create)
        zarr.consolidate_metadata(path, zarr_format=version)


make = {"2": zarr2, "3": zarr3}[zarr.__version__[0]]
writer = os.path.join(HERE, make.__name__)
make(pack.begin(writer))
pack.pack(writer)
print(zarr.__version__, np.__version__, sys.version.split()[0])
