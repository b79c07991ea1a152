"""Operations: each is a few lines of Python, written at random so that they fit what there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from .reference import Array
from .values import Kind

#: Beyond these, new ones take the place of others.
_MOST_ARRAYS = 8
_MOST_GROUPS = 4


@dataclass
class World:
    """The nodes that there are, as the reference has them."""

    rng: Random
    names: dict[str, Any]
    arrays: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    #: How groups of stores that keep what they hold are opened again.
    stores: dict[str, str] = field(default_factory=dict)
    counted: int = 0

    def new(self, letter: str) -> str:
        """A name that nothing had yet."""
        self.counted += 1
        return f"{letter}{self.counted}"

    def array(self, fits: Callable[[Array], bool] = lambda _: True) -> str | None:
        """Any array that fits."""
        fitting = [name for name in self.arrays if fits(self.names[name])]
        return self.rng.choice(fitting) if fitting else None

    def group(self, kind: Kind | None = None) -> str | None:
        """Any group whose format can hold a kind."""
        fitting = [name for name in self.groups if kind is None or self.format(name) in kind.formats]
        return self.rng.choice(fitting) if fitting else None

    def format(self, group: str) -> str:
        """The format of a group."""
        zarr_format = self.names[group].store.zarr_format
        assert zarr_format is not None
        return str(zarr_format)

    def member(self, name: str) -> str:
        """A name for a new member of a group."""
        return f"sub/{name}" if self.rng.random() < 0.3 else name

    def renew(self) -> None:
        """Forgets what is no longer in its store, and the oldest where there is too much."""
        self.arrays = [name for name in self.arrays if self.names[name].is_there()][-_MOST_ARRAYS:]
        self.groups = self.groups[-_MOST_GROUPS:]


Operation = Callable[[World], str | None]
ALL: list[tuple[int, Operation]] = []


def operation(weight: int) -> Callable[[Operation], Operation]:
    """Adds an operation, which is done more often the more it weighs."""

    def add(function: Operation) -> Operation:
        ALL.append((weight, function))
        return function

    return add


def choose(world: World) -> tuple[str, list[str]]:
    """The name of an operation, and its text; empty lines divide it into what can be left out."""
    weights, operations = zip(*ALL, strict=True)
    while True:
        (chosen,) = world.rng.choices(operations, weights)
        text = chosen(world)
        if text is not None:
            return chosen.__name__, text.split("\n\n")


def call(function: str, *arguments: str, **named: str) -> str:
    """A call as it is written."""
    return f"{function}({', '.join([*arguments, *(f'{name}={value}' for name, value in named.items())])})"
