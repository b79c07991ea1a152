"""Checks the arguments of v3 codecs."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable, Mapping
from enum import Enum
from numbers import Integral
from typing import Any

__all__ = ["DeprecatedNames", "choice", "chunk_shape", "integer", "split"]


def split(data: Mapping[str, Any] | str) -> tuple[str, dict[str, Any]]:
    """Returns the name and the configuration of an object in metadata."""
    if isinstance(data, str):
        return data, {}
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise ValueError(f"Named configuration does not have a 'name' key. Got {data!r}.")
    configuration = data.get("configuration", {})
    if not isinstance(configuration, Mapping) or not data.keys() <= {"name", "configuration", "must_understand"}:
        raise ValueError(f"Expected an object with 'name' and 'configuration'. Got {data!r}.")
    return data["name"], dict(configuration)


def integer(name: str, value: object, lowest: int, highest: int | None) -> int:
    """Returns an integer parameter, if it is within its range."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"Failed to parse input for '{name}': expected int, got {value!r}.")
    if value < lowest or (highest is not None and value > highest):
        end = "" if highest is None else f" to {highest}"
        raise ValueError(f"{name} must be an integer from {lowest}{end}. Got {value} instead.")
    return value


class DeprecatedNames(type):
    """The metaclass of classes that were enumerations in zarr-python 3.0. Each name is an attribute that issues a warning."""

    names: tuple[str, ...]

    def __getattr__(cls, name: str) -> str:
        if name not in cls.names:
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        warnings.warn(f"{cls.__name__}.{name} is deprecated: write {name!r}", DeprecationWarning, stacklevel=2)
        return name


def choice(name: str, value: object, names: tuple[str, ...], codec: object) -> str:
    """Returns a codec parameter that must be one of several names. A member of an enumeration has the name as its value."""
    if isinstance(value, Enum):
        warnings.warn(f"Passing an enum to {type(codec).__name__} is deprecated: give the name as text", DeprecationWarning, stacklevel=3)
        value = value.value
    if value not in names:
        raise ValueError(f"{name} must be one of {list(names)!r}. Got {value!r}.")
    return str(value)


def chunk_shape(value: Any) -> tuple[int, ...]:
    """Returns the chunk shape for one or several lengths. Each length must be at least 1."""
    given = [value] if isinstance(value, Integral) else value
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"Expected an integer or an iterable of integers. Got {value!r} instead.")
    try:
        lengths = tuple(operator.index(length) for length in given)
    except TypeError:
        raise TypeError(f"Expected an iterable of integers. Got {value!r} instead.") from None
    if any(length < 0 for length in lengths):
        raise ValueError(f"Expected all values to be non-negative. Got {value!r} instead.")
    for dimension, length in enumerate(lengths):
        if length < 1:
            raise ValueError(f"Dimension {dimension}: chunk edge length must be >= 1, got {length}")
    return lengths
