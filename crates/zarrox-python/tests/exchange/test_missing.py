"""Tests that `docs/zarr-python.md` lists exactly the names that are missing.

Both releases of zarr-python are compared, each in its environment: public modules, their functions and classes, the
public methods and properties of classes, and all parameters.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import warnings
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import zarrox
from zarrox import v2
from zarrox.config import WITHOUT_EFFECT

GUIDE = Path(__file__).parents[4] / "docs" / "zarr-python.md"

#: Names that are private according to their documentation, or are not part of the interface.
PRIVATE = {
    "zarr2": ("*._*", "zarr.tests*", "zarr.context", "zarr.version"),
    "zarr3": ("*._*", "zarr.core*", "zarr.testing*", "zarr.codecs.[!n]*", "zarr.metadata*"),
}


#: The package with the names of each release.
INTERFACES = {"zarr2": "zarrox.v2", "zarr3": "zarrox"}


def modules(environment: str) -> Iterator[ModuleType]:
    """Yields the public modules of the installed zarr-python."""
    import zarr

    yield zarr
    for found in pkgutil.walk_packages(zarr.__path__, "zarr.", onerror=lambda _: None):
        if not any(fnmatchcase(found.name, pattern) for pattern in PRIVATE[environment]):
            yield importlib.import_module(found.name)


def public(module: ModuleType) -> dict[str, Any]:
    """Returns the names in ``__all__`` of a module, or else the functions and classes that it defines."""
    if hasattr(module, "__all__"):
        return {name: getattr(module, name) for name in module.__all__ if not name.startswith("_")}
    own = inspect.getmembers(module, lambda value: inspect.isclass(value) or inspect.isfunction(value))
    return {name: value for name, value in own if value.__module__ == module.__name__ and not name.startswith("_")}


def members(owner: type) -> dict[str, Any]:
    """Returns the public methods and properties of a class."""
    found = {name: inspect.getattr_static(owner, name) for name in dir(owner) if not name.startswith("_")}
    kinds = (property, classmethod, staticmethod)
    return {name: getattr(owner, name) for name, value in found.items() if callable(value) or isinstance(value, kinds)}


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    """Returns the parameters of a function; empty if it has no signature."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def lost_parameters(theirs: Any, ours: Any) -> Iterator[str]:
    """Yields the parameters that only the first of two functions has."""
    mine = parameters(ours)
    if not mine or any(parameter.kind is parameter.VAR_KEYWORD for parameter in mine.values()):
        return
    for name, parameter in parameters(theirs).items():
        named = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        if named and name not in mine and not name.startswith("_"):
            yield f"{name}="


def missing(environment: str) -> set[tuple[str, str]]:
    """Returns each module or class with a missing name, and the name; ``*`` for a whole module."""
    found = set()
    for module in modules(environment):
        try:
            ours = importlib.import_module(module.__name__.replace("zarr", INTERFACES[environment], 1))
        except ModuleNotFoundError:
            found.add((module.__name__, "*"))
            continue
        for name, theirs in public(module).items():
            if not hasattr(ours, name):
                found.add((module.__name__, name))
            elif callable(theirs):
                found |= {(f"{module.__name__}.{name}", lost) for lost in lost_in(theirs, getattr(ours, name))}
    return found


def lost_in(theirs: Any, ours: Any) -> Iterator[str]:
    """Yields the missing members of a class, and the missing parameters."""
    yield from lost_parameters(theirs, ours)
    if not isinstance(theirs, type):
        return
    for name, member in members(theirs).items():
        if not hasattr(ours, name):
            yield name
        elif callable(member):
            yield from (f"{name}({lost})" for lost in lost_parameters(member, getattr(ours, name)))


def table(heading: str) -> list[str]:
    """Returns the rows below a heading of the page."""
    section = GUIDE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n#")[0]
    return [row for row in section.splitlines() if row.startswith("| ") and not row.startswith("| | ")]


def listed(environment: str) -> list[tuple[str, str]]:
    """Returns the names that the page lists as missing: the module or class, which may be a pattern, and the name."""
    version = environment.removeprefix("zarr")
    rows = [row.split(" | ") for row in table(f"Names of zarr-python {version} that are missing")]
    return [
        (place, name)
        for places, names, *_ in rows
        for place in re.findall("`([^`]+)`", places)
        for name in (["*"] if names == "all" else re.findall("`([^`]+)`", names))
    ]


@pytest.fixture
def environment(pytestconfig: pytest.Config) -> str:
    """Returns the environment whose zarr-python is compared."""
    return str(pytestconfig.getoption("--environment"))


@pytest.fixture
def really(environment: str) -> set[tuple[str, str]]:
    """Returns the names that are missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return missing(environment)


def matches(row: tuple[str, str]) -> Callable[[tuple[str, str]], bool]:
    """Returns a function that tests whether a row lists a name."""
    return lambda found: fnmatchcase(found[0], row[0]) and found[1] == row[1]


def test_all_that_is_missing_is_listed(environment: str, really: set[tuple[str, str]]) -> None:
    rows = listed(environment)
    assert rows
    unlisted = sorted(found for found in really if not any(matches(row)(found) for row in rows))
    assert not unlisted, f"missing and not in docs/zarr-python.md: {unlisted}"


def test_all_that_is_listed_is_missing(environment: str, really: set[tuple[str, str]]) -> None:
    there = [row for row in listed(environment) if not any(map(matches(row), really))]
    assert not there, f"in docs/zarr-python.md, and there: {there}"


def settings(values: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Yields the names of settings, with dots."""
    for name, value in values.items():
        yield from settings(value, f"{prefix}{name}.") if isinstance(value, dict) else [prefix + name]


def test_all_settings_of_no_effect_are_listed(environment: str) -> None:
    if environment != "zarr3":
        return
    from zarr.core.config import config

    rows = [name for row in table("Settings of no effect") for name in re.findall("`([^`]+)`", row.split(" | ")[0])]
    assert set(settings(config.defaults[0])) == set(settings(zarrox.config.defaults[0]))
    assert set(rows) == set(WITHOUT_EFFECT)


def changed(**changes: Any) -> dict[str, bytes]:
    """Returns the keys and values of an array of two elements, with changed metadata."""
    store: dict[str, bytes] = {}
    zarrox.create(2, dtype="<i4", compressor=None, store=store, zarr_format=2)[:] = 1
    return {**store, ".zarray": json.dumps(json.loads(store[".zarray"]) | changes).encode()}


def group_of_an_array(mode: str) -> zarrox.Group:
    """Returns a group that contains a single array."""
    store: dict[str, bytes] = {}
    zarrox.group(store).create_array("a", shape=3, dtype="u1")
    return zarrox.open_group(store, mode=mode)


#: The calls that raise an exception, by the first cells of the page's rows.
RAISING: dict[str, Callable[[], Any]] = {
    "a document is not JSON": lambda: zarrox.open({".zarray": b"{"}, mode="r"),
    "a document has a missing or invalid member": lambda: zarrox.open({".zarray": b'{"zarr_format": 2}'}, mode="r"),
    "an unknown codec": lambda: zarrox.open(changed(compressor={"id": "unknown"}), mode="r")[:],
    "an unknown data type in a document": lambda: zarrox.open(changed(dtype="<q9"), mode="r")[:],
    "a damaged chunk": lambda: zarrox.open({**changed(), "0": b"x"}, mode="r")[:],
    "`open_array` of a group": lambda: zarrox.open_array(zarrox.group().store, mode="r"),
    "`require_group` at the path of an array": lambda: group_of_an_array("r+").require_group("a"),
    "`require_array` with a type that cannot be cast": lambda: group_of_an_array("r+").require_array("a", shape=3, dtype="f8"),
    "changing attributes of a read-only node": lambda: group_of_an_array("r").attrs.update(a=1),
    "an argument that is not a store": lambda: zarrox.open_group(1, mode="w"),
    "deleting a member that is missing": lambda: group_of_an_array("r+").__delitem__("b"),
    "`z[:2] = [1, 2, 3]`": lambda: zarrox.zeros(5).set_basic_selection(slice(2), [1, 2, 3]),
    "iterating over an array without dimensions": lambda: list(zarrox.zeros(())),
    '`ZipStore(path, mode="r")` for a missing file': lambda: v2.ZipStore("no/such/file.zip", mode="r"),
}


@pytest.mark.parametrize("row", [row for row in table("Exceptions") if row.split(" | ")[0].strip("| ") in RAISING])
def test_exceptions_are_those_of_the_page(row: str) -> None:
    name, *_, ours = row.strip("| ").split(" | ")
    with pytest.raises(Exception) as raised:
        RAISING[name]()
    classes = {found.__name__ for found in type(raised.value).__mro__}
    assert {*re.findall("`([^`]+)`", ours)} <= classes


def test_every_row_of_exceptions_is_tried() -> None:
    rows = {row.strip("| ").split(" | ")[0] for row in table("Exceptions")}
    assert rows - {"an unknown parameter"} == set(RAISING)
