"""Converts values to a stored data type, and fails if that would change a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from xarray.namedarray.parallelcompat import get_chunked_array_type

_NUMBERS = "iufc"
_NAT = np.iinfo("i8").min


def fitted(variable: xr.Variable, dtype: np.dtype[Any], rounds: bool, place: str, are_times: bool = False) -> Any:
    """Returns the values of a variable as a numeric data type, or as fixed-length strings.

    Blocks of chunked arrays are checked when they are computed, since their values are not known earlier.

    Raises
    ------
    ValueError
        If the type cannot represent a value.
    """
    if dtype.kind not in _NUMBERS + "US" or variable.dtype == dtype:
        return variable.data
    if _always_fits(variable.dtype, dtype):
        return variable.astype(dtype).data
    if variable.chunks is None:
        return _fit(variable.values, dtype, rounds, place, are_times)
    manager = get_chunked_array_type(variable.data)
    options: dict[str, Any] = {"to": dtype, "rounds": rounds, "place": place, "are_times": are_times}
    return manager.map_blocks(_fit, variable.data, dtype=dtype, **options)


def _always_fits(source: np.dtype[Any], dtype: np.dtype[Any]) -> bool:
    if source.kind == "b":
        return True
    return source.kind in _NUMBERS and dtype.kind in _NUMBERS and np.can_cast(source, dtype, "safe")


def _fit(values: Any, to: np.dtype[Any], rounds: bool, place: str, are_times: bool) -> Any:
    values = np.asarray(values)
    if are_times and values.dtype.kind == "i":
        _check(values != _NAT, values.astype("M8[ns]"), to, place)
    if to.kind in "US":
        return _fit_text(values, to, place)
    if values.dtype.kind == "c" and to.kind != "c":
        _check(values.imag == 0, values, to, place)
        values = values.real
    if to.kind in "iu":
        return _fit_integers(values, to, rounds, place)
    with np.errstate(all="ignore"):
        cast = values.astype(to)
        if values.dtype.kind in "iu" or are_times:
            _check((cast.astype(values.dtype) == values) | (values != values), values, to, place)
        else:
            _check(np.isfinite(cast) | ~np.isfinite(values), values, to, place)
    return cast


def _fit_integers(values: Any, to: np.dtype[Any], rounds: bool, place: str) -> Any:
    limits = np.iinfo(to)
    if values.dtype.kind == "f":
        whole = np.rint(values)
        if not rounds:
            _check(whole == values, values, to, place)
        # These are the limits as floats. The upper limit is exact, since it is a power of two.
        _check((whole >= float(limits.min)) & (whole < float(limits.max + 1)), values, to, place)
        return whole.astype(to)
    if values.size and not limits.min <= int(values.min()) <= int(values.max()) <= limits.max:
        _check(np.array([limits.min <= int(each) <= limits.max for each in values.flat]), values.ravel(), to, place)
    return values.astype(to)


def _fit_text(values: Any, to: np.dtype[Any], place: str) -> Any:
    length: Callable[[Any], int] = len
    unit = 4 if to.kind == "U" else 1
    fits = np.array([length(each) * unit <= to.itemsize for each in values.flat], dtype=bool)
    _check(fits, values.ravel(), to, place)
    return values.astype(to)


def _check(fits: Any, values: Any, to: np.dtype[Any], place: str) -> None:
    if not np.all(fits):
        value = values[~fits].flat[0] if np.ndim(values) else values[()]
        raise ValueError(
            f"{place} has the value {value!r}, which cannot be stored as {to}: convert the values, or store them under "
            "another name"
        )
