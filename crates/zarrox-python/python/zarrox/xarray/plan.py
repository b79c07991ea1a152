"""The plan for writing a dataset to a group. It is complete before anything is changed."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr
from xarray import conventions
from xarray.backends.common import NONE_VAR_NAME
from xarray.coding.times import infer_calendar_name

from zarrox.xarray.encoding import (
    ENCODINGS,
    check_encoding,
    creation,
    encode_to,
    is_packed,
    kind_of,
    plain,
    settled,
    wanted_type,
)
from zarrox.xarray.faults import Faults

#: The names of calendars that agree on all dates that occur in datasets.
_USUAL_CALENDARS = {"standard", "gregorian", "proleptic_gregorian"}
_FLOATS = "fc"


def stored_name(name: Hashable) -> str:
    """Returns the name of the array for a variable. The variable of an unnamed ``DataArray`` gets a name as well."""
    return NONE_VAR_NAME if name is None else str(name)


@dataclass(frozen=True)
class Wanted:
    """The options for writing a dataset.

    Attributes
    ----------
    mode : str
        ``"w"``, ``"w-"``, ``"a"``, ``"a-"`` or ``"r+"``.
    zarr_format : int
        The format of the group: 2 or 3.
    append_dim : hashable, optional
        The dimension that grows.
    region : mapping
        For each dimension the slice that is written; other dimensions are written as a whole.
    write_empty_chunks : bool, optional
        Whether chunks with only the fill value are stored.
    is_repeated : bool
        Whether the same append was killed after it had stored all of its rows.
    """

    mode: str
    zarr_format: int
    append_dim: Hashable | None = None
    region: Mapping[Hashable, slice] = field(default_factory=dict)
    write_empty_chunks: bool | None = None
    is_repeated: bool = False


@dataclass(frozen=True)
class Write:
    """The planned write of one array.

    Attributes
    ----------
    name : str
        The name of the array.
    variable : xarray.Variable
        The values, encoded.
    shape : tuple of int
        The shape of the array after the write.
    region : tuple of slice
        The region of the array that is written.
    before : tuple of int, optional
        The shape before the write, if the array grows.
    creation : dict, optional
        The arguments of `zarrox.create_array`, if the array does not exist yet.
    """

    name: str
    variable: xr.Variable
    shape: tuple[int, ...]
    region: tuple[slice, ...]
    before: tuple[int, ...] | None = None
    creation: Mapping[str, Any] | None = None

    @property
    def is_label(self) -> bool:
        """True if the array contains the coordinates of the dimension of the same name."""
        return self.variable.dims == (self.name,)


@dataclass(frozen=True)
class Plan:
    """The planned changes of a group.

    Attributes
    ----------
    writes : list of Write
        The arrays that are created, extended or changed.
    attributes : dict
        The attributes to add to the group.
    write_empty_chunks : bool, optional
        Whether chunks with only the fill value are stored.
    """

    writes: list[Write]
    attributes: dict[str, Any]
    write_empty_chunks: bool | None = None


def plan(
    stored: Mapping[str, xr.Variable],
    variables: Mapping[Hashable, xr.Variable],
    attributes: Mapping[Hashable, Any],
    wanted: Wanted,
    encoded: Collection[Hashable],
    faults: Faults,
) -> Plan:
    """Plans the changes that writing variables makes to a group."""
    found, stored = stored, _without_interrupted(stored, variables, wanted.append_dim)
    _check_names(stored, variables, wanted, faults)
    writes: list[Write] = []
    for name, variable in variables.items():
        with faults.caught():
            key = stored_name(name)
            if key not in stored:
                writes.append(_new(key, variable, wanted, name in encoded))
                continue
            write = _into(stored[key], key, variable, wanted, found[key].shape)
            if write is not None:
                writes.append(write)
    if not faults:
        # Each variable by itself is valid. Now the new variables are checked together with the stored ones.
        _check_sizes(stored, writes, faults)
        _check_labels(stored, writes, faults)
    kept = {} if wanted.mode == "r+" else {str(name): plain(value) for name, value in attributes.items()}
    return Plan(writes, kept, wanted.write_empty_chunks)


def _without_interrupted(
    stored: Mapping[str, xr.Variable], variables: Mapping[Hashable, xr.Variable], dimension: Hashable | None
) -> Mapping[str, xr.Variable]:
    """Returns the stored state. If the same append was killed while it was storing the shapes, its rows are left out."""
    lengths = {variable.sizes[dimension] for variable in stored.values() if dimension in variable.dims}
    more = {variable.sizes[dimension] for variable in variables.values() if dimension in variable.dims}
    if len(lengths) != 2 or more != {max(lengths) - min(lengths)}:
        return stored
    rows = {dimension: slice(0, min(lengths))}
    return {name: variable.isel(rows, missing_dims="ignore") for name, variable in stored.items()}


def _check_names(
    stored: Mapping[str, xr.Variable], variables: Mapping[Hashable, Any], wanted: Wanted, faults: Faults
) -> None:
    names = {stored_name(name) for name in variables}
    missing = sorted(names - set(stored))
    if wanted.mode == "r+" and missing:
        faults.add(f"{missing!r} are not in the store, and mode='r+' creates nothing: use mode='a'")
    dimension = wanted.append_dim
    if dimension is None or not stored:
        return
    there = {name: variable.sizes[dimension] for name, variable in stored.items() if dimension in variable.dims}
    if not there:
        known = sorted({str(each) for variable in stored.values() for each in variable.dims})
        faults.add(f"append_dim={dimension!r} is not a dimension of those in the store: {known}")
    elif len(set(there.values())) > 1:
        faults.add(
            f"the arrays in the store have different lengths along {dimension!r}: {there}, as another append has them while "
            "it ends, and an interrupted one leaves them: try again, or give the longer ones the length of the others by "
            "their method resize"
        )
    left = sorted(set(there) - names)
    if left and any(dimension in variable.dims for variable in variables.values()):
        faults.add(
            f"{left!r} have the dimension {dimension!r} in the store, and are not in the dataset: they would be "
            "shorter than the others, and the group could not be opened: append to all of them"
        )


def _new(name: str, variable: xr.Variable, wanted: Wanted, is_encoded: bool) -> Write:
    """Returns the write of a new array for a variable."""
    encoded = encode_to(name, variable, wanted_type(variable), rounds=True)
    encoded.encoding = settled(encoded.encoding)
    check_encoding(name, encoded, is_encoded, wanted.zarr_format)
    options = creation(name, encoded, wanted.zarr_format, wanted.write_empty_chunks, is_encoded)
    return Write(name, encoded, encoded.shape, (slice(None),) * encoded.ndim, creation=options)


def _into(
    raw: xr.Variable, name: str, variable: xr.Variable, wanted: Wanted, before: tuple[int, ...]
) -> Write | None:
    """Returns the write to an existing array; ``None`` if nothing changes."""
    dimension = wanted.append_dim
    grows = dimension is not None and dimension in variable.dims
    is_label = variable.dims == (name,)
    if grows and wanted.is_repeated:
        return None
    if dimension is not None and not grows and wanted.mode == "a-" and not is_label:
        return None
    encoded = like(raw, name, variable)
    region = {each: _slice(wanted.region.get(each, slice(None)), size) for each, size in raw.sizes.items()}
    shape = dict(raw.sizes)
    if grows and dimension is not None:
        shape[dimension] += encoded.sizes[dimension]
        region[dimension] = slice(raw.sizes[dimension], shape[dimension])
    for each, part in region.items():
        if encoded.sizes[each] != part.stop - part.start:
            raise ValueError(
                f"variable {name!r} has {encoded.sizes[each]} along {each!r}, where there is room for "
                f"{part.stop - part.start}: append_dim= makes a dimension longer, region= writes a part"
            )
    if dimension is not None and not grows and not set(wanted.region) & set(variable.dims):
        _check_equal(raw, name, encoded, dimension)
        return None
    return Write(name, encoded, tuple(shape.values()), tuple(region.values()), before if grows else None)


def _slice(part: slice, size: int) -> slice:
    start, stop, _ = part.indices(size)
    return slice(start, max(start, stop))


def _check_equal(raw: xr.Variable, name: str, encoded: xr.Variable, dimension: Hashable) -> None:
    if not same_values(encoded, raw):
        raise ValueError(
            f"variable {name!r} has no dimension {dimension!r}, and other values in the store: the stored data "
            "would get other labels. Give it the values of the store, or write it alone with mode='a'"
        )


def same_values(one: xr.Variable, other: xr.Variable) -> bool:
    """Returns true if two encoded variables have the same values. Missing values are equal to one another."""
    if one.shape != other.shape:
        return False
    left, right = np.asarray(one.values), np.asarray(other.values)
    if left.dtype.kind in _FLOATS and right.dtype.kind in _FLOATS:
        return bool(np.array_equal(left, right, equal_nan=True))
    return bool(np.array_equal(left, right)) or left.tolist() == right.tolist()


def like(raw: xr.Variable, name: str, variable: xr.Variable) -> xr.Variable:
    """Returns the variable, encoded like the array to which it is written.

    Raises
    ------
    ValueError
        If the array cannot represent a value.
    """
    stored = conventions.decode_cf_variable(name, raw)
    if set(stored.dims) != set(variable.dims):
        raise ValueError(f"variable {name!r} has the dimensions {stored.dims} in the store, and {variable.dims} here")
    variable = variable.transpose(*stored.dims).copy(deep=False)
    _check_kinds(name, variable, stored)
    variable.encoding = {key: value for key, value in stored.encoding.items() if key not in ENCODINGS}
    encoded = encode_to(name, variable, raw.dtype, rounds=is_packed(variable))
    if raw.dtype.kind in "biufc" and not np.can_cast(encoded.dtype, raw.dtype, "same_kind"):
        raise ValueError(
            f"the values of {name!r} are {encoded.dtype} when they are encoded, and the store has {raw.dtype}"
        )
    if kind_of(stored) in ("time", "duration"):
        _check_units(name, encoded, raw)
    return encoded


def _check_kinds(name: str, variable: xr.Variable, stored: xr.Variable) -> None:
    kind, there = kind_of(variable), kind_of(stored)
    alike = {kind, there}
    if len(alike) == 1 or "object" in alike or variable.size == 0 or alike == {"text", "bytes"}:
        pass
    elif (kind, there) not in (("Boolean", "number"), ("number", "complex number")):
        raise ValueError(f"the values of {name!r} are of the kind {kind}, and those in the store {there}")
    if there == "time" == kind and variable.size:
        _check_calendars(name, variable, stored)


def _check_calendars(name: str, variable: xr.Variable, stored: xr.Variable) -> None:
    calendar = infer_calendar_name(variable.data)
    there = stored.encoding.get("calendar", "standard")
    if calendar != there and not {calendar, there} <= _USUAL_CALENDARS:
        raise ValueError(f"the dates of {name!r} are of the calendar {calendar!r}, and those in the store of {there!r}")


def _check_units(name: Hashable, encoded: xr.Variable, raw: xr.Variable) -> None:
    """Checks that encoded times have the units of the existing array: if these are too coarse, xarray chooses other units."""
    moments = (_first_moments(name, attributes) for attributes in (encoded.attrs, raw.attrs))
    if not np.array_equal(*moments):
        units, wanted = encoded.attrs.get("units"), raw.attrs.get("units")
        raise ValueError(
            f"the times of {name!r} cannot be written in {wanted!r}, which are the units in the store, but in {units!r}"
        )


def _first_moments(name: Hashable, attributes: Mapping[str, Any]) -> Any:
    """Returns the times that 0 and 1 represent in the units of an attribute, for comparison: the same units can be written in many
    ways."""
    units = {key: attributes[key] for key in ("units", "calendar", "dtype") if key in attributes}
    return conventions.decode_cf_variable(name, xr.Variable("x", np.arange(2), units)).values


def _check_sizes(stored: Mapping[str, xr.Variable], writes: list[Write], faults: Faults) -> None:
    """Checks that each dimension has a single length in the resulting dataset."""
    shapes = {name: dict(variable.sizes) for name, variable in stored.items()}
    shapes |= {write.name: dict(zip(write.variable.dims, write.shape, strict=True)) for write in writes}
    touched = {dimension for write in writes for dimension in write.variable.dims}
    for dimension in sorted(touched, key=str):
        lengths = {name: sizes[dimension] for name, sizes in shapes.items() if dimension in sizes}
        if len(set(lengths.values())) > 1:
            faults.add(
                f"the dimension {dimension!r} would have different lengths: {lengths}. New variables need all of the length "
                "that it will have, also beside an append or a region"
            )


def _check_labels(stored: Mapping[str, xr.Variable], writes: list[Write], faults: Faults) -> None:
    """Checks that no unchanged array gets different coordinates."""
    written = {write.name for write in writes}
    for write in writes:
        if not write.is_label or write.before is not None or write.creation is not None:
            continue
        left = sorted(
            name for name, variable in stored.items() if write.name in variable.dims and name not in written
        )
        if left and not same_values(write.variable, stored[write.name]):
            faults.add(
                f"the coordinates {write.name!r} differ from those in the store, where {left!r} have them as well and "
                "are not in the dataset: they would get other labels"
            )
