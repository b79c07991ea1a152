"""Describes the structure of a file as h5py reports it, as text: objects, types, shapes, fill values, filters, links, attributes and chunks."""

import os

import h5py
import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5l, h5o, h5p, h5s, h5t

ORDERS = {h5t.ORDER_LE: "L", h5t.ORDER_BE: "B", 2: "V"}
PADDINGS = ["NullTerminated", "NullPadded", "SpacePadded"]
COMPLEX = 11


def type_text(t):
    kind, size = t.get_class(), t.get_size()
    if kind == h5t.BITFIELD:
        return f"bits{size}{ORDERS[t.get_order()]}"
    if kind == h5t.INTEGER:
        signed = int(t.get_sign() == h5t.SGN_2)
        return f"int{size}{ORDERS[t.get_order()]}o{t.get_offset()}p{t.get_precision()}s{signed}"
    if kind == h5t.FLOAT:
        fields = ",".join(map(str, t.get_fields()))
        norm = int(t.get_norm() == h5t.NORM_IMPLIED)
        return f"float{size}{ORDERS[t.get_order()]}o{t.get_offset()}p{t.get_precision()}[{fields}]b{t.get_ebias()}n{norm}"
    if kind == h5t.TIME:
        return f"time{size}"
    if kind == h5t.STRING:
        length = "vstr" if t.is_variable_str() else f"str{size}"
        return f"{length}{PADDINGS[t.get_strpad()]}{t.get_cset()}"
    if kind == h5t.OPAQUE:
        return f"opaque{size}'{t.get_tag().decode()}'"
    if kind == h5t.COMPOUND:
        members = range(t.get_nmembers())
        text = (f"{t.get_member_name(i).hex()}@{t.get_member_offset(i)}:{type_text(t.get_member_type(i))}" for i in members)
        return f"comp{size}{{{','.join(text)}}}"
    if kind == h5t.REFERENCE:
        name = "Object" if t.equal(h5t.STD_REF_OBJ) else "Region" if t.equal(h5t.STD_REF_DSETREG) else "Standard"
        return f"ref{size}{name}"
    if kind == h5t.ENUM:
        base = t.get_super()
        order = "big" if base.get_order() == h5t.ORDER_BE else "little"

        def value(i):
            return (int(t.get_member_value(i)) % (1 << (8 * size))).to_bytes(size, order).hex()

        text = (f"{t.get_member_name(i).hex()}={value(i)}" for i in range(t.get_nmembers()))
        return f"enum{size}<{type_text(base)}>{{{','.join(text)}}}"
    if kind == h5t.VLEN:
        return f"vlen<{type_text(t.get_super())}>"
    if kind == h5t.ARRAY:
        return f"array{size}{list(t.get_array_dims())}<{type_text(t.get_super())}>"
    if kind == COMPLEX:
        return f"complex{size}<{type_text(t.get_super())}>"
    raise ValueError(kind)


def has_heap(t):
    kind = t.get_class()
    if kind == h5t.STRING:
        return t.is_variable_str()
    if kind == h5t.COMPOUND:
        return any(has_heap(t.get_member_type(i)) for i in range(t.get_nmembers()))
    if kind in (h5t.ARRAY, h5t.ENUM, COMPLEX):
        return has_heap(t.get_super())
    return kind in (h5t.REFERENCE, h5t.VLEN)


def space_text(space):
    if space.get_simple_extent_type() == h5s.NULL:
        return "null"
    most = [-1 if length == h5s.UNLIMITED else length for length in space.get_simple_extent_dims(True)]
    return f"{list(space.get_simple_extent_dims())}{most}"


def selection_text(space):
    kind = space.get_select_type()
    if kind in (h5s.SEL_ALL, h5s.SEL_NONE):
        return "all" if kind == h5s.SEL_ALL else "none"
    if kind == h5s.SEL_POINTS:
        return f"points{space.get_select_elem_pointlist().tolist()}"
    unlimited = (h5s.UNLIMITED, 2**64 - 1, -1)
    if space.is_regular_hyperslab():
        start, stride, count, block = space.get_regular_hyperslab()
        if any(number in unlimited for number in count + block):
            parts = zip(start, stride, count, block)
            return "regular" + str([[-1 if number in unlimited else number for number in part] for part in parts])
    return "boxes" + str([(list(one[0]), list(one[1])) for one in sorted(space.get_select_hyper_blocklist().tolist())])


def value_text(attribute):
    t, space = attribute.get_type(), attribute.get_space()
    if has_heap(t):
        return "heap"
    if space.get_simple_extent_type() == h5s.NULL:
        return ""
    values = np.zeros(space.get_simple_extent_npoints(), dtype=f"V{t.get_size()}")
    attribute.read(values, mtype=t)
    return values.tobytes().hex()


def fill_text(properties, t):
    if properties.fill_value_defined() != h5d.FILL_VALUE_USER_DEFINED or has_heap(t):
        return "-"
    value = np.zeros((), dtype=t.dtype)
    properties.get_fill_value(value)
    return value.tobytes().hex() if any(value.tobytes()) else "-"


def chunks(dataset):
    """Returns the chunks inside the shape. Returns none if the only unlimited dimension is not the first, since HDF5 2.0 reports wrong addresses."""
    shape, most = dataset.get_space().get_simple_extent_dims(), dataset.get_space().get_simple_extent_dims(True)
    if most.count(h5s.UNLIMITED) == 1 and most[0] != h5s.UNLIMITED:
        return []
    found = []
    dataset.chunk_iter(found.append)
    found = [one for one in found if all(at < length for at, length in zip(one.chunk_offset, shape))]
    return sorted(found, key=lambda one: one.chunk_offset)


def dataset_lines(dataset, path):
    properties, t = dataset.get_create_plist(), dataset.get_type()
    layout = properties.get_layout()
    space = space_text(dataset.get_space())
    if layout == h5d.CONTIGUOUS:
        place = dataset.get_offset()
        text = f"contiguous {-1 if place is None or properties.get_external_count() else place}"
    elif layout == h5d.CHUNKED:
        text = f"chunked {list(properties.get_chunk())}"
    else:
        text = "compact" if layout == h5d.COMPACT else "virtual"
    # HDF5 adapts the shape of a virtual dataset to its sources.
    yield f"object {path} dataset {'?' if text == 'virtual' else space} {type_text(t)} {text}"
    yield f" fill {fill_text(properties, t)}"
    for index in range(properties.get_nfilters()):
        number, flags, parameters, _ = properties.get_filter(index)
        yield f" filter {number} {flags & 1} {list(parameters)}"
    for index in range(properties.get_external_count()):
        name, offset, size = properties.get_external(index)
        yield f" external {name.hex()} {offset} {size % 2**64}"
    if layout == h5d.VIRTUAL:
        for index in range(properties.get_virtual_count()):
            file, name = properties.get_virtual_filename(index), properties.get_virtual_dsetname(index)
            source, target = properties.get_virtual_srcspace(index), properties.get_virtual_vspace(index)
            names = f"{os.fsencode(file).hex()} {os.fsencode(name).hex()}"
            yield f" mapping {names} {selection_text(source)} {selection_text(target)}"
    if layout == h5d.CHUNKED:
        for one in chunks(dataset):
            yield f" chunk {list(one.chunk_offset)} {one.byte_offset} {one.size} {one.filter_mask}"


def attribute_lines(o):
    for index in range(h5a.get_num_attrs(o)):
        attribute = h5a.open(o, index=index)
        name = os.fsencode(attribute.name).hex()
        t = attribute.get_type()
        yield f" attribute {name} {space_text(attribute.get_space())} {type_text(t)} {value_text(attribute)}"


def link_text(group, name, info):
    if info.type == h5l.TYPE_HARD:
        return f"hard {info.u}"
    if info.type == h5l.TYPE_SOFT:
        return f"soft {group.links.get_val(name).hex()}"
    if info.type == h5l.TYPE_EXTERNAL:
        file, path = group.links.get_val(name)
        return f"external {file.hex()} {path.hex()}"
    return f"user {info.type}"


def object_lines(o, path, seen):
    address = h5o.get_info(o).addr
    if address in seen:
        return
    seen.add(address)
    if isinstance(o, h5t.TypeID):
        yield f"object {path} datatype {type_text(o)}"
    elif isinstance(o, h5d.DatasetID):
        yield from dataset_lines(o, path)
    else:
        yield f"object {path} group"
    yield from sorted(attribute_lines(o))
    if not isinstance(o, h5g.GroupID):
        return
    infos = {name: o.links.get_info(name) for name in list(o)}
    is_tracked = o.get_create_plist().get_link_creation_order() & h5p.CRT_ORDER_TRACKED
    orders = sorted(info.corder for info in infos.values()) if is_tracked else "-" * len(infos)
    yield " orders " + " ".join(map(str, orders))
    for name in sorted(infos):
        yield f" link {name.hex()} {link_text(o, name, infos[name])}"
    for name in sorted(infos):
        if infos[name].type == h5l.TYPE_HARD:
            yield from object_lines(h5o.open(o, name), f"{path}/{name.hex()}", seen)


def described(path):
    """Returns the lines that describe a file."""
    file = h5f.open(os.fsencode(path), h5f.ACC_RDONLY)
    return "".join(line + "\n" for line in object_lines(h5o.open(file, b"/"), "", set()))


if __name__ == "__main__":
    import sys

    print(h5py.version.version, file=sys.stderr)
    sys.stdout.write(described(sys.argv[1]))
