"""Checks of the arguments of v3's codecs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

__all__ = ["choice", "integer", "split"]


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
    """Returns an integer parameter, if it is in its range."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"Failed to parse input for '{name}': expected int, got {value!r}.")
    if value < lowest or (highest is not None and value > highest):
        end = "" if highest is None else f" to {highest}"
        raise ValueError(f"{name} must be an integer from {lowest}{end}. Got {value} instead.")
    return value


def choice(name: str, value: object, of: type[Enum]) -> str:
    """Returns a parameter with one of the given names."""
    text = value.value if isinstance(value, Enum) else value
    names = [member.value for member in of]
    if text not in names:
        raise ValueError(f"{name} must be one of {names!r}. Got {text!r}.")
    return str(text)
