"""Operations: each is a few lines of random Python that fit the existing nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from .reference import Array
from .values import Kind

#: The maximum number of nodes; further new nodes replace older ones.
_MOST_ARRAYS = 8
_MOST_GROUPS = 4


@dataclass
class World:
    """The existing nodes, as objects of the reference."""

    rng: Random
    names: dict[str, Any]
    arrays: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    #: The code that opens the groups of persistent stores again.
    stores: dict[str, str] = field(default_factory=dict)
    counted: int = 0

    def new(self, letter: str) -> str:
        """Returns an unused name."""
        self.counted += 1
        return f"{letter}{self.counted}"

    def array(self, fits: Callable[[Array], bool] = lambda _: True) -> str | None:
        """Returns the name of a random array that fits; ``None`` if no array fits."""
        fitting = [name for name in self.arrays if fits(self.names[name])]
        return self.rng.choice(fitting) if fitting else None

    def group(self, kind: Kind | None = None) -> str | None:
        """Returns the name of a random group whose format supports a type."""
        fitting = [name for name in self.groups if kind is None or self.format(name) in kind.formats]
        return self.rng.choice(fitting) if fitting else None

    def format(self, group: str) -> str:
        """Returns the format of a group."""
        zarr_format = self.names[group].store.zarr_format
        assert zarr_format is not None
        return str(zarr_format)

    def member(self, name: str) -> str:
        """Returns a name for a new member of a group."""
        return f"sub/{name}" if self.rng.random() < 0.3 else name

    def renew(self) -> None:
        """Removes nodes that are no longer in their stores, and the oldest nodes if there are too many."""
        self.arrays = [name for name in self.arrays if self.names[name].is_there()][-_MOST_ARRAYS:]
        self.groups = self.groups[-_MOST_GROUPS:]


Operation = Callable[[World], str | None]
ALL: list[tuple[int, Operation]] = []


def operation(weight: int) -> Callable[[Operation], Operation]:
    """Registers an operation, which is chosen in proportion to its weight."""

    def add(function: Operation) -> Operation:
        ALL.append((weight, function))
        return function

    return add


def choose(world: World) -> tuple[str, list[str]]:
    """Returns the name of an operation, and its code; empty lines separate the parts that can be left out."""
    weights, operations = zip(*ALL, strict=True)
    while True:
        (chosen,) = world.rng.choices(operations, weights)
        text = chosen(world)
        if text is not None:
            return chosen.__name__, text.split("\n\n")


def call(function: str, *arguments: str, **named: str) -> str:
    """Returns the code of a call."""
    return f"{function}({', '.join([*arguments, *(f'{name}={value}' for name, value in named.items())])})"
