"""The datasets of an HDF5 file, and their elements."""

import h5py
import numpy as np


def datasets(file):
    """Returns all datasets by their paths, also those with several names."""
    found = {}

    def walk(group, above):
        for name in group:
            link = group.get(name, getlink=True)
            if isinstance(link, (h5py.SoftLink, h5py.ExternalLink)) and name not in group:
                continue
            try:
                node = group[name]
            except KeyError:
                continue
            path = f"{above}{name}"
            if isinstance(node, h5py.Dataset):
                found[path] = node
            elif isinstance(node, h5py.Group):
                walk(node, path + "/")

    walk(file, "")
    return found


def values_of(dataset):
    """Returns the elements of a dataset in the form of zarr-python."""
    if dataset.shape is None:
        return np.zeros((0,), dataset.dtype)
    if h5py.check_ref_dtype(dataset.dtype):
        names = [dataset.file[ref].name if ref else "" for ref in np.ravel(dataset[()])]
        return np.array(names, object).reshape(dataset.shape)
    if h5py.check_string_dtype(dataset.dtype) and h5py.check_string_dtype(dataset.dtype).length is None:
        return np.array(dataset.asstr()[()], object)
    return in_order(np.asarray(dataset[()]), dataset.id.get_type())


def in_order(value, kind):
    """Returns the elements of lists in this machine's byte order: h5py returns elements of big-endian types as they are stored."""
    if not isinstance(kind, h5py.h5t.TypeVlenID) or not isinstance(value, np.ndarray) or not value.dtype.hasobject:
        return value
    base = kind.get_super()
    if isinstance(base, h5py.h5t.TypeCompoundID):
        base = base.get_member_type(0)
    if not isinstance(base, (h5py.h5t.TypeIntegerID, h5py.h5t.TypeFloatID)) or base.get_order() != h5py.h5t.ORDER_BE:
        return value
    made = np.empty(value.shape, object)
    for place in np.ndindex(value.shape):
        each = value[place]
        made[place] = each.byteswap() if isinstance(each, np.ndarray) and each.dtype.isnative else each
    return made


def is_bare(dataset):
    """Returns true for a dimension without values, and for datasets that h5py cannot read."""
    scale = b"This is a netCDF dimension but not"
    if dataset.attrs.get("NAME", b"")[: len(scale)] == scale:
        return True
    try:
        return dataset.dtype is None
    except (TypeError, ValueError):
        return True
