"""Compares elements and attributes of two programs."""

import base64
import math
import struct

import h5py
import numpy as np


def same(ours, theirs, where):
    """Checks that elements are the same, of the same type."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        raise AssertionError(f"{where}: shape {ours.shape} instead of {theirs.shape}")
    if theirs.dtype.names and ours.dtype.names:
        if len(ours.dtype.names) != len(theirs.dtype.names):
            raise AssertionError(f"{where}: fields {ours.dtype.names} instead of {theirs.dtype.names}")
        # Fields are compared in order; their names may lack characters that Zarr does not support.
        for mine, name in zip(ours.dtype.names, theirs.dtype.names):
            same(ours[mine], theirs[name], f"{where}.{name}")
        return
    if theirs.dtype.hasobject or ours.dtype.hasobject or "T" in (ours.dtype.kind, theirs.dtype.kind):
        for number, (a, b) in enumerate(zip(ours.ravel(), theirs.ravel())):
            a, b = plain(a), plain(b)
            if not alike(a, b):
                raise AssertionError(f"{where}: element {number} is {a!r:.80} instead of {b!r:.80}")
        return
    if theirs.dtype.kind == "V" or ours.dtype.kind == "V":
        if np.ascontiguousarray(ours).tobytes() != np.ascontiguousarray(theirs).tobytes():
            raise AssertionError(f"{where}: bytes differ: {ours.dtype}, {theirs.dtype}")
        return
    if theirs.dtype.kind in "SU":
        same_text(ours, theirs, where)
        return
    if ours.dtype.kind in "mM" and theirs.dtype.kind in "iV":
        ours = ours.view("i8")
    a, b = ours.dtype.newbyteorder("="), theirs.dtype.newbyteorder("=")
    if a != b and not (theirs.dtype.kind == "b" and a in ("u1", "i1")):
        raise AssertionError(f"{where}: type {a} instead of {b}")
    equal = ours == theirs
    if theirs.dtype.kind in "fcmM":
        equal |= (ours != ours) & (theirs != theirs)
    if not equal.all():
        at = int(np.argmin(equal.ravel()))
        raise AssertionError(f"{where}: {int((~equal).sum())} of {equal.size} elements differ: {ours.ravel()[at]!r} instead of {theirs.ravel()[at]!r} at {at}")


def same_text(ours, theirs, where):
    for number, (a, b) in enumerate(zip(ours.ravel().tolist(), theirs.ravel().tolist())):
        if a != b and not alike(a, b):
            raise AssertionError(f"{where}: element {number} is {a!r:.80} instead of {b!r:.80}")


def plain(value):
    """Returns a value of NumPy or h5py as lists, numbers and text."""
    if isinstance(value, h5py.Empty):
        return None
    if isinstance(value, np.ndarray):
        if value.shape == ():
            return plain(value[()])
        return [plain(each) for each in value]
    if isinstance(value, np.void):
        if value.dtype.names:
            return [plain(value[name]) for name in value.dtype.names]
        return bytes(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return [plain(each) for each in value.values()]
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, complex):
        return [value.real, value.imag]
    return value


def readings(value):
    """Returns the decoded text: as UTF-8, or as Latin-1 if it is not valid UTF-8."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape")
    value = value.rstrip(b"\0")
    try:
        return {value.decode()}
    except UnicodeDecodeError:
        return {value.decode("latin-1")}


def alike(ours, theirs):
    """Checks that two plain values are the same. `ours` may come from JSON, which represents some values differently."""
    if isinstance(ours, bytes) and isinstance(theirs, list):
        ours = list(ours)
    ours, theirs = single(ours), single(theirs)
    if isinstance(theirs, complex):
        theirs = [theirs.real, theirs.imag]
    if isinstance(ours, complex):
        ours = [ours.real, ours.imag]
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(theirs, bool) or isinstance(ours, bool):
        return ours == theirs
    if isinstance(theirs, float):
        return same_number(ours, theirs)
    if isinstance(theirs, int):
        return ours == theirs and not isinstance(ours, str)
    if isinstance(theirs, (str, bytes)):
        if isinstance(ours, bytes):
            return bool(readings(ours) & readings(theirs))
        if isinstance(ours, str):
            if ours.rstrip("\0") in readings(theirs):
                return True
            return isinstance(theirs, bytes) and ours == base64.b64encode(theirs).decode()
        # Bytes that are not text may be a list of numbers.
        return isinstance(ours, list) and isinstance(theirs, bytes) and ours == list(theirs)
    return ours == theirs or (theirs is None and ours in ([], "", None))


def single(value):
    """Treats a list of one element as the element, as NetCDF does."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value


def same_number(ours, theirs):
    if isinstance(ours, str):
        if ours in ("NaN", "Infinity", "-Infinity"):
            value = float(ours)
        else:
            try:
                raw = base64.b64decode(ours, validate=True)
                value = struct.unpack("<d", raw)[0]
            except (ValueError, struct.error):
                return False
        return value == theirs or (value != value and theirs != theirs)
    if not isinstance(ours, (int, float)):
        return False
    return ours == theirs or (math.isnan(theirs) and ours != ours)
