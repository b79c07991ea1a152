"""Compares imports of NIfTI and Parquet files with nibabel's and pyarrow's readings."""

import os
import sys

import nibabel
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from command import DAMAGED, MISSING, SKIPPED, Notes
from hierarchy import Hierarchy
from same import same

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tables"))
from table_files import plain  # noqa: E402


def check(zarrox, path, work, read, compare):
    """Returns the outcome of a file. `read` reads it with another program, and `compare` returns the differences of the target."""
    target = os.path.join(work, "target.zarr")
    code, output = zarrox("import", path, target, "--force")
    refused = None
    if code in SKIPPED:
        refused = output.strip()[:500]
        code, output = zarrox("import", path, target, "--force", "--skip-unsupported")
    try:
        theirs = read(path)
    except Exception as error:  # noqa: BLE001, whatever the other program cannot read
        reasons = [f"{type(error).__name__}: {error}"[:300], output.strip()[:300]]
        if code == 0 and not refused:
            return {"class": "unknown", "reasons": reasons}
        kind = "refused" if refused else "broken" if code in (DAMAGED, MISSING) else "failed"
        return {"class": kind, "reasons": [f"exit code {code}", *reasons]}
    if code in SKIPPED:
        return {"class": "refused", "reasons": [output.strip()[:500]]}
    if code != 0:
        return {"class": "failed", "reasons": [f"exit code {code}: {output.strip()[:400]}"]}
    notes = Notes(output)
    try:
        compare(theirs, Hierarchy(target), notes)
    except Exception as error:  # noqa: BLE001
        return {"class": "failed", "reasons": [f"{type(error).__name__}: {error}"[:500]]}
    return {"class": "refused", "reasons": [refused or "; ".join(notes.lines[:5])]} if refused or notes else {"class": "right", "reasons": []}


def read_nifti(path):
    image = nibabel.load(path)
    header = getattr(image, "nifti_header", image.header)
    slope, inter = (float(header[name]) if name in header else np.nan for name in ("scl_slope", "scl_inter"))
    values = np.asarray(image.dataobj.get_unscaled() if hasattr(image.dataobj, "get_unscaled") else image.dataobj)
    return values, slope, inter


def compare_nifti(theirs, hierarchy, _):
    values, slope, inter = theirs
    paths = hierarchy.arrays()
    path = "" if "" in paths else next(path for path in paths if len(hierarchy.document(path)["shape"]) > 1 or len(paths) == 1)
    array, formed = hierarchy.array(path)
    ours, values = formed(np.asarray(array[...])), values.T
    if values.dtype.names:
        values = np.stack([values[name] for name in values.dtype.names], axis=-1)
    ours, values = np.squeeze(ours), np.squeeze(values)
    if values.ndim == 1 and ours.size == values.size:
        # FreeSurfer divides long vectors into several dimensions, since a dimension had 16 bits for its length.
        ours = ours.ravel()
    same(ours, values, "elements")
    attributes = hierarchy.document(path).get("attributes", {})
    if slope == slope and slope != 0 and (slope, inter) != (1, 0) and not values.dtype.kind == "c":
        assert attributes.get("scale_factor", 1) == slope and attributes.get("add_offset", 0) == inter, f"scale: {attributes}, {slope}, {inter}"


def read_parquet(path):
    # Opens the file itself: the path might also suggest a directory of parts.
    with open(path, "rb") as file:
        table = pq.ParquetFile(file).read()
    return {name: table.column(number) for number, name in enumerate(table.column_names)}


def compare_parquet(theirs, hierarchy, notes):
    for stored, column in theirs.items():
        # Zarr reserves names with this prefix, and a slash would create a group.
        name = (stored.strip("_") if stored.startswith("__") else stored).replace("/", "_")
        if notes.name(name):
            continue
        if pa.types.is_nested(column.type):
            # The columns inside a nested column have their own names.
            parts = (path.startswith((name + ".", name + "/")) for path in [*hierarchy.arrays(), *(line.lstrip("/") for line in notes.lines)])
            assert hierarchy.kind(name) is not None or any(parts), f"column {name} is missing"
            continue
        assert hierarchy.kind(name) is not None, f"column {name} is missing"
        try:
            values = plain(column)
        except Exception:  # noqa: BLE001, types that have no one form: lists, decimals
            continue
        if values.dtype.kind == "O":
            values = np.array([b"" if value is None else value for value in values], object)
        array, formed = hierarchy.array(name)
        ours = formed(np.asarray(array[...]))
        if values.dtype.kind in "O" and ours.dtype.kind not in "OTSU":
            continue
        same(ours, values, f"column {name}")


def check_nifti(zarrox, path, work):
    return check(zarrox, path, work, read_nifti, compare_nifti)


def check_parquet(zarrox, path, work):
    return check(zarrox, path, work, read_parquet, compare_parquet)
