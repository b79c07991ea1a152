"""Operations that copy, convert, view and move arrays."""

from __future__ import annotations

import numpy as np

from . import layouts, selections
from .operations import World, call, operation
from .reference import Array
from .values import KINDS, N5, V2, V3

#: Types of the same size, between which the bytes of an array can be viewed.
_VIEWS = {
    "<i4": ("<u4", "<f4"),
    "<i8": ("<u8", "<f8", "<M8[ns]"),
    ">i8": (">f8",),
    "<f4": ("<i4",),
    "<f8": ("<i8",),
    "|u1": ("|i1",),
}


def _target(world: World, source: Array) -> str | None:
    """Returns a group whose format supports an array: N5 supports only the fill value 0."""
    group = world.group(source.kind)
    return group if group is None or _fits(world, source, group) else None


def _fits(world: World, source: Array, group: str) -> bool:
    zarr_format = world.format(group)
    return zarr_format in source.kind.formats and (zarr_format != N5 or _is_zero(source))


def _regridded(world: World, source: Array, zarr_format: str) -> dict[str, str]:
    """Returns arguments for other chunks in some cases."""
    if world.rng.random() < 0.5 or not source.shape:
        return {}
    if source.zarr_format == V3 == zarr_format:
        arguments = layouts.grid(world.rng, source.shape, zarr_format)
        return {"shards": "None", **arguments}
    return {"chunks": str(layouts.lengths(world.rng, source.shape))}


def _named(world: World, group: str) -> tuple[str, str]:
    """Returns a name for a new array, and its quoted name in a group."""
    name = world.new("a")
    world.arrays.append(name)
    return name, repr(world.member(name))


@operation(8)
def from_array(world: World) -> str | None:
    """Calls `from_array` for a group or a separate store, perhaps with another format."""
    source = world.array()
    if source is None:
        return None
    array = world.names[source]
    formats = [zarr_format for zarr_format in (V2, V3) if zarr_format in array.kind.formats]
    group = _target(world, array) if world.rng.random() < 0.5 else None
    if group is not None and world.format(group) in (V2, V3, N5):
        zarr_format = world.format(group)
        name, path = _named(world, group)
        where = {"data": source, "name": path}
        if zarr_format != N5:
            where["zarr_format"] = zarr_format
        return f"{name} = " + call("zarr.from_array", f"{group}.store", **where, **_regridded(world, array, zarr_format))
    name = world.new("a")
    world.arrays.append(name)
    zarr_format = world.rng.choice(formats)
    arguments = _regridded(world, array, zarr_format)
    return f"{name} = " + call("zarr.from_array", "dict()", data=source, zarr_format=zarr_format, **arguments)


@operation(6)
def like(world: World) -> str | None:
    """Creates arrays with the same properties, but without the elements."""
    source = world.array()
    if source is None:
        return None
    array, name = world.names[source], world.new("a")
    functions = ["empty_like", "full_like"] if array.kind.pool.dtype.hasobject else ["empty_like", "zeros_like", "full_like"]
    function = world.rng.choice(functions)
    world.arrays.append(name)
    return f"{name} = zarr.{function}({source})"


@operation(5)
def array_of_array(world: World) -> str | None:
    """Calls `array`, or assigns an array to a member of a group."""
    source = world.array()
    if source is None:
        return None
    array = world.names[source]
    group = _target(world, array)
    choice = world.rng.random()
    if choice < 0.4 or group is None:
        name = world.new("a")
        world.arrays.append(name)
        further = {} if V2 in array.kind.formats else {"zarr_format": "3"}
        return f"{name} = " + call("zarr.array", source, **further)
    name, path = _named(world, group)
    if choice < 0.7:
        return f"{name} = zarr.array_in({group}, {path}, {source})"
    return f"{group}[{path}] = {source}\n{name} = {group}[{path}]"


@operation(12)
def copy(world: World) -> str | None:
    """Calls `copy` for an array and a group."""
    source = world.array(lambda array: array.home is not None)
    group = source and _target(world, world.names[source])
    if source is None or group is None:
        return None
    array = world.names[source]
    arguments = _regridded(world, array, world.format(group)) if world.rng.random() < 0.5 else {}
    if world.rng.random() < 0.2:
        arguments["without_attrs"] = "True"
    if world.rng.random() < 0.2 and world.format(group) in (V2, N5):
        arguments["compressor"] = "zarr.GZip(1)"
    name, path = _named(world, group)
    return call("zarr.copy", source, group, **{"name": path}, **arguments) + f"\n{name} = {group}[{path}]"


@operation(3)
def copy_group(world: World) -> str | None:
    """Calls `copy` for a group and a group."""
    source = world.group()
    paths = source and [path for path in world.names[source].store if path.startswith("sub/")]
    if source is None or not paths:
        return None
    store = world.names[source].store
    fitting = [name for name in world.groups if all(_fits(world, store[path], name) for path in paths)]
    if not fitting:
        return None
    group, name = world.rng.choice(fitting), world.new("copied")
    lines = [f'zarr.copy({source}["sub"], {group}, name="{name}")']
    for path in paths:
        array = world.new("a")
        world.arrays.append(array)
        lines.append(f'{array} = {group}["{name}/{path.removeprefix("sub/")}"]')
    return "\n\n".join(lines)


@operation(3)
def copy_all(world: World) -> str | None:
    """Copies the content of a group to a new hierarchy whose format supports it."""
    source = world.group()
    if source is None:
        return None
    kinds = {array.kind.name for array in world.names[source].store.values()}
    formats = [zarr_format for zarr_format in (V2, V3) if all(zarr_format in KINDS[kind].formats for kind in kinds)]
    if not formats:
        return None
    name = world.new("g")
    created = call(f"{name} = zarr.group", "dict()", zarr_format=world.rng.choice(formats))
    return f"{created}\nzarr.copy_all({source}, {name})" + _bound(world, source, name)


@operation(3)
def copy_store(world: World) -> str | None:
    """Copies all keys of a store."""
    source = world.group()
    if source is None:
        return None
    name, store = world.new("g"), "dict()"
    if world.format(source) == N5:
        store = f'zarr.N5Store(f"{{directory}}/{name}.n5")'
    lines = f"store = {store}\nzarr.copy_store({source}.store, store)\n{name} = zarr.open_group(store, mode='r+')"
    return lines + _bound(world, source, name)


def _bound(world: World, source: str, copied: str) -> str:
    """Returns statements that name the copied arrays and the group."""
    world.groups.append(copied)
    lines = []
    for path in world.names[source].store:
        name = world.new("a")
        world.arrays.append(name)
        lines.append(f'\n\n{name} = {copied}["{path}"]')
    return "".join(lines)


@operation(4)
def save_and_load(world: World) -> str | None:
    """Calls `save` for one or several arrays."""
    first, second = (world.array(lambda array: V2 in array.kind.formats) for _ in range(2))
    if first is None or second is None:
        return None
    name = world.new("saved")
    place = f'f"{{directory}}/{name}{world.rng.choice((".zarr", ".zip"))}"'
    if world.rng.random() < 0.6:
        return f"zarr.save({place}, {first})\nresult = zarr.load({place})"
    arrays = f"zarr.save({place}, {first}, {second})\nloaded = zarr.load({place})"
    return f"{arrays}\nresult = [loaded['arr_0'], loaded['arr_1']]"


@operation(4)
def rechunk(world: World) -> str | None:
    """Calls `rechunk` with an array that has other chunks."""
    source = world.array(lambda array: array.zarr_format in (V2, V3) and array.shape != ())
    if source is None:
        return None
    array, name = world.names[source], world.new("a")
    world.arrays.append(name)
    created = call("zarr.empty_like", source, **_regridded(world, array, array.zarr_format))
    further = world.rng.choice(("", ", memory=1 << 20", f', scratch=f"{{directory}}/{name}"'))
    return f"{name} = {created}\nzarr.rechunk({source}, {name}{further})"


@operation(4)
def view(world: World) -> str | None:
    """Reads and writes the bytes of an array as another type."""
    source = world.array(lambda array: _is_viewed(array))
    if source is None:
        return None
    array = world.names[source]
    other = world.rng.choice(_VIEWS[array.kind.name])
    read = f'result = zarr.shown({source}).view(dtype="{other}"){selections.basic(world.rng, array)}'
    if world.rng.random() < 0.5:
        return read
    selected = selections.orthogonal(world.rng, array)
    return f'view = zarr.shown({source}).view(dtype="{other}")\nview{selected} = element("{other}", 1)\n{read}'


def _is_viewed(array: Array) -> bool:
    """Returns true if the elements of a view with another type are known, including unwritten ones."""
    if array.fill_value is None:
        return False
    is_native = array.kind.name[0] != ">"  # In version 3 the byte order is not part of the type.
    return array.kind.name in _VIEWS and array.zarr_format in (V2, V3)[: 1 + is_native] and _is_zero(array)


def _is_zero(array: Array) -> bool:
    """Returns true if unwritten elements consist of zero bits, which are zero in any type."""
    return array.fill_value is None or not any(np.asarray(array.fill_value).tobytes())


@operation(4)
def as_type(world: World) -> str | None:
    """Reads an array as another numeric type."""
    source = world.array(lambda array: array.kind.name in ("|u1", "<i4", ">i2", "<u8", "<f4", ">f8", "?"))
    if source is None:
        return None
    dtype = world.rng.choice(("<f8", "<c16", "<f4") if world.names[source].dtype.kind == "f" else ("<f8", "<i8", "<u2", "?"))
    return f'result = zarr.shown({source}).astype("{dtype}"){selections.basic(world.rng, world.names[source])}'


# Hierarchies


@operation(6)
def open_again(world: World) -> str | None:
    """Closes the store of a hierarchy, and opens the hierarchy again."""
    group = world.group()
    if group is None:
        return None
    store, lines = world.stores.get(group), []
    if store is not None:
        lines.append(f"{group}.store.close()")
    lines.append(f"{group} = zarr.open_group({store or f'{group}.store'}, mode='r+')")
    home = world.names[group].store
    arrays = [name for name in world.arrays if world.names[name].home is home]
    return "\n\n".join(["\n".join(lines), *(f'{name} = {group}["{world.names[name].path}"]' for name in arrays)])


@operation(2)
def delete(world: World) -> str | None:
    """Deletes a member of a group."""
    group = world.group()
    names = group and list(world.names[group].store)
    if group is None or not names:
        return None
    return f'del {group}["{world.rng.choice(names).split("/")[0]}"]'


@operation(2)
def move(world: World) -> str | None:
    """Moves a member of a group."""
    group = world.group()
    paths = group and list(world.names[group].store)
    if group is None or not paths:
        return None
    path, name = world.rng.choice(paths), world.new("moved")
    home = world.names[group].store
    arrays = [array for array in world.arrays if world.names[array].home is home and world.names[array].path == path]
    lines = [f'{group}.move("{path}", "{name}")', *(f'{array} = {group}["{name}"]' for array in arrays)]
    return "\n".join(lines)


@operation(6)
def set_attributes(world: World) -> str | None:
    """Adds attributes to a node."""
    name = world.array()
    documents = (
        *('{"unit": "K"}', '{"n": 1.5, "list": [1, "a", None]}', '{"deep": {"x": 1e300}}'),
        *('{"big": 12345678901234567890123}', '{"limits": [float("inf"), -float("inf")]}'),
    )
    added = world.rng.choice(documents)
    return name and f"{name}.attrs.update({added})"
