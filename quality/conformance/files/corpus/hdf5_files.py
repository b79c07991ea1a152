"""Compares the import of an HDF5 file with h5py's reading of it, and exports it again."""

import os
import shutil
import sys

import h5py
import hdf5plugin  # noqa: F401, so that h5py reads its filters
import numpy as np

from command import DAMAGED, SKIPPED, UNSUPPORTED, Failed, Notes, other
from hierarchy import Hierarchy
from same import alike, plain, same

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from file_values import in_order, is_bare, values_of  # noqa: E402

# The attributes with which HDF5 and NetCDF store dimensions and the missing value. xarray stores both differently in Zarr.
INTERNAL = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS", "_FillValue", "_nc3_strict"}

# Larger arrays are compared in parts.
MOST = 1 << 24
MOST_NODES = 20_000


class Broken(Exception):
    """h5py cannot read the file."""


class Node:
    """The target of a path in a file: a group, a dataset, a dangling link, or an object that h5py cannot open."""

    def __init__(self, path, kind, node=None):
        self.path, self.kind, self.node = path, kind, node


def nodes(file):
    """Returns all nodes of a file by their paths in Zarr."""
    found = [Node("", "group", file)]

    def walk(group, above, inside):
        for raw in group.id:
            if len(found) > MOST_NODES:
                return
            name = raw.decode("latin-1") if not utf8(raw) else raw.decode()
            path = above + name.replace("_nc4_non_coord_", "")
            try:
                info = group.id.links.get_info(raw)
                is_link = info.type != h5py.h5l.TYPE_HARD
            except (KeyError, RuntimeError, OSError):
                is_link = False
            try:
                node = group[raw]
            except (KeyError, RuntimeError, OSError, TypeError, ValueError):
                found.append(Node(path, "link" if is_link else "unreadable"))
                continue
            if isinstance(node, h5py.Group):
                info = h5py.h5g.get_objinfo(node.id)
                place = (node.file.filename, info.objno)
                if place in inside:
                    found.append(Node(path, "circle"))
                    continue
                found.append(Node(path, "group", node))
                walk(node, path + "/", inside | {place})
            elif isinstance(node, h5py.Dataset):
                found.append(Node(path, "dataset", node))
            else:
                found.append(Node(path, "type", node))

    root = h5py.h5g.get_objinfo(file["/"].id)
    walk(file, "", {(file.filename, root.objno)})
    return found


def utf8(raw):
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def target_kind(hierarchy, path):
    try:
        return hierarchy.kind(path)
    except (OSError, ValueError):
        return None


def compare(path, hierarchy, notes):
    """Returns the differences between a file and its import, and the parts that h5py cannot read."""
    differences, unreadable = [], []
    with h5py.File(path) as file:
        with open(path, "rb") as raw:
            is_netcdf = path.endswith((".nc", ".nc4")) or b"_NCProperties" in (content := raw.read()) or b"_nc3_strict" in content
        for node in nodes(file):
            if notes.name(node.path or "/."):
                continue
            try:
                check_node(node, hierarchy, notes, is_netcdf, differences, unreadable)
            except Exception as error:  # noqa: BLE001, all nodes are compared
                differences.append(f"/{node.path}: {type(error).__name__}: {error}" if not isinstance(error, AssertionError) else str(error))
    return differences, unreadable


def check_node(node, hierarchy, notes, is_netcdf, differences, unreadable):
    ours = target_kind(hierarchy, node.path)
    if node.kind == "type":
        return
    if node.kind in ("link", "unreadable", "circle"):
        if node.kind == "unreadable":
            unreadable.append(f"/{node.path}: h5py cannot open it")
        if ours is None and not notes.forgives:
            differences.append(f"/{node.path}: a {node.kind} that is skipped silently")
        return
    if node.kind == "group":
        if ours is None:
            differences.append(f"/{node.path}: the group is missing")
            return
        check_attributes(node, hierarchy, notes, differences, unreadable)
        return
    try:
        bare = is_bare(node.node)
    except Exception as error:  # noqa: BLE001
        unreadable.append(f"/{node.path}: {error}")
        return
    try:
        node.node.dtype  # noqa: B018
    except Exception as error:  # noqa: BLE001
        # Types that h5py does not support cannot be compared; but their datasets must exist or be reported as skipped.
        unreadable.append(f"/{node.path}: {error}")
        if ours is None:
            differences.append(f"/{node.path}: the dataset, whose type h5py does not support, is missing")
        return
    if bare:
        return
    if ours is None:
        differences.append(f"/{node.path}: the dataset is missing: {node.node.shape} {node.node.dtype}")
        return
    if ours == "array":
        check_elements(node, hierarchy, is_netcdf, unreadable)
    elif node.node.dtype.names:
        check_fields(node, hierarchy, notes, unreadable)
    else:
        differences.append(f"/{node.path}: a dataset became a {ours}")
        return
    check_attributes(node, hierarchy, notes, differences, unreadable)


def check_elements(node, hierarchy, is_netcdf, unreadable):
    dataset, where = node.node, f"/{node.path}"
    array, formed = hierarchy.array(node.path)
    if dataset.shape is None:
        if array.size:
            raise AssertionError(f"{where}: {array.shape} elements of a dataset without any")
        return
    shape = array.shape
    expected, kind = dataset.shape, dataset.dtype
    while kind.subdtype:
        expected, kind = (*expected, *kind.shape), kind.subdtype[0]
    if is_netcdf and shape != expected and len(shape) == len(expected) and all(a >= b for a, b in zip(shape, expected)):
        # Unlimited dimensions are as long as the longest of their variables; netcdf_files.py compares the whole.
        shape = expected
    if shape != expected:
        raise AssertionError(f"{where}: shape {shape} instead of {expected}")
    for selection in selections(dataset, expected):
        try:
            theirs = named(elements(dataset) if selection is ... else dataset[selection], dataset.file)
        except Exception as error:  # noqa: BLE001, whatever h5py cannot read
            unreadable.append(f"{where}: {type(error).__name__}: {error}")
            return
        chosen = tuple(slice(0, n) for n in expected) if selection is ... else selection
        same(formed(np.asarray(array[chosen if expected else ...])), theirs, where)


def check_fields(node, hierarchy, notes, unreadable):
    """Compares the elements of structures that Zarr does not support: their fields are arrays in a group."""
    try:
        values = named(elements(node.node), node.node.file)
    except Exception as error:  # noqa: BLE001, whatever h5py cannot read
        unreadable.append(f"/{node.path}: {type(error).__name__}: {error}")
        return

    def check(values, path):
        if values.dtype.names and hierarchy.kind(path) == "group":
            for name in values.dtype.names:
                check(values[name], f"{path}/{name}")
        elif not notes.name(path):
            assert hierarchy.kind(path) == "array", f"/{path}: the field is missing"
            array, formed = hierarchy.array(path)
            same(formed(np.asarray(array[...])), values, f"/{path}")

    check(values, node.path)


def elements(dataset):
    """Returns all elements. Variable-length text is returned as bytes, since h5py may not support its encoding."""
    if dataset.shape is not None and (kind := h5py.check_string_dtype(dataset.dtype)) and kind.length is None:
        return np.array(dataset[()], object)
    if dataset.shape == () and h5py.check_vlen_dtype(dataset.dtype):
        # One list is one element.
        made = np.empty((), object)
        made[()] = dataset[()]
        return in_order(made, dataset.id.get_type())
    return values_of(dataset)


# The paths of objects by their addresses, for the last file.
PATHS = {}


def path_of(reference, file):
    """Returns the path of the target of a reference. To find one name, HDF5's library searches the whole file."""
    if not reference:
        return ""
    target = file[reference]
    if file.filename not in PATHS:
        PATHS.clear()
        paths = PATHS[file.filename] = {}
        file.visititems(lambda name, node: paths.setdefault(h5py.h5o.get_info(node.id).addr, f"/{name}"))
    info = h5py.h5o.get_info(target.id)
    # The library chooses one of several names.
    return PATHS[file.filename].get(info.addr) or target.name if info.rc == 1 else target.name


def named(values, file):
    """Returns structures with the paths of the targets of their references."""
    if not getattr(values, "dtype", None) or not values.dtype.names or not any(h5py.check_ref_dtype(values.dtype[name]) for name in values.dtype.names):
        return values
    kinds = [(name, object if h5py.check_ref_dtype(values.dtype[name]) else values.dtype[name]) for name in values.dtype.names]
    made = np.zeros(values.shape, kinds)
    for name in values.dtype.names:
        if h5py.check_ref_dtype(values.dtype[name]):
            paths = np.empty(values.size, object)
            paths[:] = [path_of(each, file) for each in values[name].ravel()]
            made[name] = paths.reshape(values.shape)
        else:
            made[name] = values[name]
    return made


def selections(dataset, shape):
    """Returns all elements; of a large array, the first and the last elements, some in between, and some in stored chunks."""
    if np.prod(shape, dtype=object) <= MOST:
        return [...]
    side = max(1, int(1_000_000 ** (1 / len(shape))))
    rng = np.random.default_rng(1)
    starts = [[0] * len(shape), [max(0, n - side) for n in shape]]
    starts += [[int(rng.integers(0, max(1, n - side))) for n in shape] for _ in range(4)]
    if dataset.chunks:
        for number in range(min(20, dataset.id.get_num_chunks())):
            starts.append(list(dataset.id.get_chunk_info(number).chunk_offset))
    return [tuple(slice(at, min(at + side, n)) for at, n in zip(start, shape)) for start in starts]


def check_attributes(node, hierarchy, notes, differences, unreadable):
    document = hierarchy.document(node.path)
    found = document.get("attributes", {})
    names = []
    try:
        attributes = node.node.attrs
        raw = [h5py.h5a.open(node.node.id, index=i).name for i in range(h5py.h5a.get_num_attrs(node.node.id))]
        names = [name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape") for name in raw]
    except Exception as error:  # noqa: BLE001
        unreadable.append(f"/{node.path}: attributes: {error}")
    for raw in names:
        name = raw.decode() if utf8(raw) else raw.decode("latin-1")
        if name in INTERNAL or name.startswith(("_Netcdf4", "_NCProperties", "_NC")):
            continue
        where = f"/{node.path}: attribute {name!r}"
        if name not in found:
            if not notes.name_attribute(node.path, name):
                differences.append(f"{where} is missing")
            continue
        try:
            theirs = attributes[raw if not utf8(raw) else name]
        except Exception as error:  # noqa: BLE001
            unreadable.append(f"{where}: {type(error).__name__}: {error}")
            continue
        theirs = in_order(referred(theirs, node.node.file), attributes.get_id(raw).get_type())
        if theirs is NotImplemented:
            continue
        if not alike(plain(found[name]), plain(theirs)):
            differences.append(f"{where} is {found[name]!r:.100} instead of {plain(theirs)!r:.100}")


def referred(value, file):
    """Returns references as the paths of their targets."""
    if isinstance(value, h5py.h5r.RegionReference):
        return NotImplemented
    if isinstance(value, h5py.Reference):
        try:
            return path_of(value, file)
        except (ValueError, KeyError, RuntimeError):
            return NotImplemented
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        if value.dtype.names:
            return value if not any(h5py.check_ref_dtype(value.dtype[name]) for name in value.dtype.names) else NotImplemented
        changed = [referred(each, file) for each in value.ravel()]
        if any(each is NotImplemented for each in changed):
            return NotImplemented
        made = np.empty(value.size, object)
        made[:] = changed if value.size else []
        return made.reshape(value.shape)
    return value


def readable(path, work):
    """Returns the path of a file that h5py can open: the file itself, or a copy in which h5clear has cleared the marks of its last writer.

    Raises `Broken` if h5py can open neither.
    """
    try:
        with h5py.File(path) as file:
            list(file)
        return path
    except Exception as error:  # noqa: BLE001
        reason = f"h5py: {type(error).__name__}: {error}"
    copy = os.path.join(work, os.path.basename(path))
    shutil.copy(path, copy)
    other("h5clear", "-s", copy)
    other("h5clear", "--increment=65536", copy)
    try:
        with h5py.File(copy) as file:
            list(file)
        return copy
    except Exception:  # noqa: BLE001
        raise Broken(reason) from None


def is_loss(path, target, compare):
    """Returns true if a part that others read is missing in the target, except dangling links."""
    notes = Notes("")
    notes.forgives = True
    return bool(compare(path, Hierarchy(target), notes)[0])


def import_and_compare(zarrox, path, target, compare):
    """Returns the class of a file, its reasons, and the skipped parts.

    `compare` returns the differences between the file and the target, and the parts that the other program cannot read.
    """
    code, output = zarrox("import", path, target, "--force")
    refused = None
    if code in SKIPPED:
        refused = output.strip()[:1000]
        code, output = zarrox("import", path, target, "--force", "--skip-unsupported")
    if code in SKIPPED:
        return "refused", [f"as a whole: {output.strip()[:300]}"], None
    if code not in (0, DAMAGED):
        return "failed", [f"exit code {code}: {output.strip()[:500]}"], None
    damage = output.strip()[:500] if code == DAMAGED else None
    if damage:
        # The damaged part is reported; the rest must be right.
        code, output = zarrox("import", path, target, "--force", "--skip-unsupported", "--skip-damaged")
        if code != 0:
            _, unreadable = compare(path, Hierarchy(target + ".none"), Notes(output))
            if unreadable:
                return "broken", [f"an error: {damage}", *unreadable[:3]], None
            return "failed", [f"damaged, though others read it: {damage}"], None
    notes = Notes(output)
    differences, unreadable = compare(path, Hierarchy(target), notes)
    if differences:
        return "failed", differences[:20], notes
    if damage and unreadable:
        return "broken", [f"an error: {damage}", *unreadable[:3]], None
    if damage:
        is_read = is_loss(path, target, compare)
        return ("failed", [f"damaged, though others read it: {damage}"], None) if is_read else ("refused", [damage], notes)
    # A reported part is not a loss if h5py cannot read it either, such as a dangling link.
    if refused or (notes and is_loss(path, target, compare)):
        return "refused", [refused or "\n".join(notes.lines[:5])], notes
    return ("broken", unreadable[:5], notes) if unreadable else ("right", [], notes)


def check(zarrox, path, work):
    """Returns the outcome of an HDF5 file."""
    target = os.path.join(work, "target.zarr")
    try:
        whole = readable(path, work)
    except Broken as broken:
        code, output = zarrox("import", path, target, "--force")
        if code == 0:
            return {"class": "failed", "reasons": [f"imported, though {broken}"]}
        return {"class": "broken", "reasons": [f"exit code {code}: {output.strip()[:200]}", str(broken)]}
    kind, reasons, notes = import_and_compare(zarrox, path, target, lambda _, *others: compare(whole, *others))
    if kind == "failed" and whole != path and reasons[0].startswith("damaged"):
        # h5py can only read a repaired copy.
        kind = "broken"
    outcome = {"class": kind, "reasons": reasons}
    if notes is not None:
        outcome["exported"] = exported(zarrox, whole, target, os.path.join(work, "again.h5"), notes, kind)
    return outcome


def exported(zarrox, path, target, again, notes, kind):
    """Returns the outcome of exporting an import to HDF5."""
    try:
        code, output = zarrox("export", target, again, "--force")
        if code == UNSUPPORTED:
            return {"class": "refused", "reasons": [output.strip()[:300]]}
        if code != 0:
            return {"class": "failed", "reasons": [f"exit code {code}: {output.strip()[:300]}"]}
        code, output = other("h5dump", "-H", again)
        if code != 0:
            return {"class": "failed", "reasons": [f"h5dump: {output.strip()[:300]}"]}
        if kind == "failed":
            return {"class": "failed", "reasons": ["the import differs"]}
        differences = []
        with h5py.File(path) as before, h5py.File(again) as after:
            for node in nodes(before):
                if node.kind == "dataset" and not notes.name(node.path):
                    compare_exported(node, after, differences)
        return {"class": "failed" if differences else "right", "reasons": differences[:10]}
    except Failed as error:
        return {"class": "failed", "reasons": [str(error)]}


def compare_exported(node, after, differences):
    dataset = node.node
    try:
        if is_bare(dataset) or dataset.shape is None or h5py.check_ref_dtype(dataset.dtype) or np.prod(dataset.shape, dtype=object) > MOST:
            return
        theirs = elements(dataset)
    except Exception:  # noqa: BLE001, the comparison with the import has named it
        return
    try:
        if isinstance(after[node.path], h5py.Group) and theirs.dtype.names:
            # Structures that Zarr does not support come back as their fields.
            return
        ours = elements(after[node.path])
        if theirs.dtype.kind == "M" and ours.dtype == "i8":
            # Times are exported as integers with units.
            ours = ours.view(theirs.dtype)
        if ours.shape != theirs.shape and ours.ndim == theirs.ndim:
            ours = ours[tuple(slice(0, n) for n in theirs.shape)]
        same(ours, theirs, f"/{node.path}")
    except Exception as error:  # noqa: BLE001
        differences.append(f"{node.path}: {type(error).__name__}: {error}"[:300])
