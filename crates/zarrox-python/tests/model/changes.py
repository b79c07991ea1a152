"""Operations that create, read, write and resize."""

from __future__ import annotations

from . import layouts, selections
from .operations import World, call, operation
from .reference import Array
from .values import N5, V1, V2, V3, Kind


@operation(3)
def new_group(world: World) -> str | None:
    """Creates a hierarchy in a new store."""
    name = world.new("g")
    stores = layouts.IN_MEMORY | layouts.IN_FILES
    template = world.rng.choice(list(stores))
    store = template.replace("%s", name)
    zarr_format = world.rng.choice(stores[template])
    world.groups.append(name)
    if template in layouts.IN_FILES:
        world.stores[name] = store
    arguments = {} if zarr_format == N5 else {"zarr_format": repr(zarr_format)}
    return f"{name} = " + call("zarr.group", store, **arguments)


@operation(14)
def new_array(world: World) -> str | None:
    """Creates an array in a group, with a grid, codecs and a fill value."""
    group = world.group()
    if group is None:
        return None
    zarr_format = world.format(group)
    kind, arguments = _new(world, zarr_format)
    create = "create_array" if zarr_format == V3 else "create_dataset"
    if zarr_format == V2 and "Nested" not in world.stores.get(group, "") and world.rng.random() < 0.3:
        arguments["dimension_separator"] = "'/'"
    name = world.new("a")
    world.arrays.append(name)
    return f"{name} = " + call(f"{group}.{create}", repr(world.member(name)), f'**of("{kind.name}")', **arguments)


@operation(1)
def new_array_of_version_1(world: World) -> str | None:
    """Creates an array of version 1 in a separate store."""
    kind, arguments = _new(world, V1)
    name = world.new("a")
    world.arrays.append(name)
    return f"{name} = " + call("zarr.create", f'**of("{kind.name}")', store="dict()", zarr_format="1", **arguments)


def _new(world: World, zarr_format: str) -> tuple[Kind, dict[str, str]]:
    rng = world.rng
    kind = layouts.kind(rng, zarr_format)
    shape = layouts.shape(rng, least=1 if zarr_format in (N5, V1) or kind.pool.dtype.hasobject else 0)
    arguments = {"shape": str(shape), **layouts.grid(rng, shape, zarr_format)}
    arguments |= layouts.codecs(rng, kind, len(shape), zarr_format)
    if rng.random() < 0.6 and zarr_format != N5 and kind.object_codec is None and kind.name != "ragged":
        arguments["fill_value"] = f'element("{kind.name}", {rng.randrange(len(kind.pool))})'
    return kind, arguments


@operation(25)
def read(world: World) -> str | None:
    """Reads a random selection."""
    name = world.array()
    return name and f"result = {name}{selections.text(world.rng, world.names[name])}"


@operation(40)
def write(world: World) -> str | None:
    """Writes values to a random selection."""
    name = world.array()
    if name is None:
        return None
    array = world.names[name]
    selected = selections.text(world.rng, array)
    shape = selections.shape(array, selected)
    value = selections.value(world.rng, array.kind, shape, selected)
    return value and f"{name}{selected} = {value}"


@operation(4)
def read_out_of_bounds(world: World) -> str | None:
    """Reads an element that is out of bounds."""
    name = world.array(lambda array: array.shape != () and 0 not in array.shape)
    if name is None:
        return None
    outside = world.names[name].shape[0] + world.rng.randint(0, 2)
    selected = world.rng.choice((f"[{outside}]", f".oindex[[{outside}]]", f"[{-outside - 1}]"))
    return f"with raises(IndexError):\n    {name}{selected}"


@operation(8)
def resize(world: World) -> str | None:
    """Resizes an array along any dimension."""
    name = world.array(lambda array: array.shape != ())
    if name is None:
        return None
    array = world.names[name]
    most = 4 if _may_grow(array) else 0
    shape = [max(0, length + world.rng.randint(-4, most)) for length in array.shape]
    return f"{name}.resize({tuple(shape)})"


@operation(6)
def append(world: World) -> str | None:
    """Appends some values to an array."""
    name = world.array(lambda array: array.shape != () and _may_grow(array))
    if name is None:
        return None
    array = world.names[name]
    shape = list(array.shape)
    axis = world.rng.randrange(len(shape))
    shape[axis] = world.rng.randint(0, 4)
    return f'{name}.append(values("{array.kind.name}", {tuple(shape)}, {world.rng.randrange(10_000)}), axis={axis})'


def _may_grow(array: Array) -> bool:
    """Returns false if chunks differ in length, since such an array is never made longer than its chunks."""
    return not isinstance(array.chunks, list)
