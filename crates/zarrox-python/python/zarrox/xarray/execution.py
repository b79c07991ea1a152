"""Executes a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from xarray.backends.common import ArrayWriter

from zarrox import _native
from zarrox.core.array import Array
from zarrox.core.settings import Settings
from zarrox.hierarchy import Group
from zarrox.xarray.gate import Gate, Guarded, shaped
from zarrox.xarray.pieces import cut
from zarrox.xarray.plan import Plan, Write
from zarrox.xarray.undo import Undo

#: The plans of groups, by path below the group that is written.
Plans = Sequence[tuple[str, Plan]]
Options = Mapping[str, Any] | None


def prepare(root: Group, plans: Plans, undo: Undo) -> list[tuple[Array, Write]]:
    """Creates groups and arrays. Arrays that grow keep their old shapes at first. See `growing`."""
    prepared = []
    for path, plan in plans:
        group = _group(root, path, undo)
        for write in plan.writes:
            if write.creation is None:
                array = group[write.name]
            else:
                undo.will_create_above(group._store, f"{group.path}/{write.name}".lstrip("/"), group.path)
                array = group.create_array(write.name, **write.creation)
                undo.created(array)
            if write.before is not None and array.shape != write.before:
                raise ValueError(
                    f"{array.name!r} has got the shape {array.shape} meanwhile, where it had {write.before}: try again"
                )
            prepared.append((_storing_empty(array, plan, write), write))
    return prepared


def reopened(root: Group, plans: Plans) -> list[tuple[Array, Write]]:
    """Returns the arrays that `prepare` created, after their group was moved."""
    return [
        (_storing_empty(root[f"{path}/{write.name}" if path else write.name], plan, write), write)
        for path, plan in plans
        for write in plan.writes
    ]


def _group(root: Group, path: str, undo: Undo) -> Group:
    if not path:
        return root
    if path in root:
        there: Group = root[path]
        return there
    group = root.require_group(path)
    undo.created(group)
    return group


def longer(root: Group, prepared: Sequence[tuple[Array, Write]]) -> Iterator[tuple[str, int, int, int]]:
    """Yields the arrays that grow: the path below the group, the axis, and the old and new length."""
    for array, write in prepared:
        for axis, (before, after) in enumerate(zip(write.before or (), write.shape, strict=False)):
            if before != after:
                yield array.path.removeprefix(root.path).lstrip("/"), axis, before, after


def growing(prepared: Sequence[tuple[Array, Write]], work: Callable[[Sequence[tuple[Array, Write]]], None]) -> None:
    """Writes to arrays in their new shapes, and then stores the shapes of the arrays that grow, those of coordinates last.

    Until the shapes are stored, and if the work fails, readers see the old shapes.
    """
    # All appending writers pass the arrays in this order, in which they are locked. The shape of the first array is stored last.
    growing = sorted(
        (number for number, (_, write) in enumerate(prepared) if write.before is not None),
        key=lambda number: (not prepared[number][1].is_label, prepared[number][0].path),
    )

    def write(grown: list[_native.Array]) -> None:
        arrays = list(prepared)
        for number, native in zip(growing, grown, strict=True):
            array, write = prepared[number]
            arrays[number] = (shaped(array, native), write)
        work(arrays)

    _native.grow_together(
        [prepared[number][0]._native for number in growing], [prepared[number][1].shape for number in growing], write
    )


def _storing_empty(array: Array, plan: Plan, write: Write) -> Array:
    """Returns the array with the requested option ``write_empty_chunks``, which is set for all arrays or only for this one."""
    own = None if write.creation is None else write.creation["config"].get("write_empty_chunks")
    wanted = plan.write_empty_chunks if own is None else own
    if wanted is None:
        return array
    return Array._of(
        array._native.with_options(write_empty_chunks=wanted), array._store, Settings(write_empty_chunks=wanted)
    )


def write_values(prepared: Sequence[tuple[Array, Write]]) -> None:
    """Writes the values that are in memory. Coordinates are written last, so that an earlier failure leaves the old coordinates
    unchanged."""
    in_memory = [(array, write) for array, write in prepared if write.variable.chunks is None]
    for array, write in sorted(in_memory, key=lambda each: each[1].is_label):
        array[write.region or ...] = write.variable.data


def write_pieces(prepared: Sequence[tuple[Array, Write]], aligns: bool, compute: bool, options: Options) -> Any:
    """Writes the values of chunked arrays, in parallel."""
    writer, gate = ArrayWriter(), Gate()
    for array, write in prepared:
        if write.variable.chunks is not None:
            variable = cut(array, write.variable, write.shape, write.region) if aligns else write.variable
            writer.add(variable.data, Guarded(array, gate) if compute else array, write.region)
    try:
        return writer.sync(compute=compute, chunkmanager_store_kwargs=None if options is None else dict(options))
    except BaseException:
        # Other threads may still be writing, and would otherwise write after everything has been undone.
        gate.close()
        raise


def set_attributes(root: Group, plans: Plans) -> None:
    """Adds the attributes of groups to their existing attributes."""
    for path, plan in plans:
        if plan.attributes:
            (root[path] if path else root).attrs.update(plan.attributes)
