"""Runs operations on both sides, compares the results, and finds the operations that a difference requires."""

from __future__ import annotations

import contextlib
import re
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from . import changes, copies, operations, reference, values
from .both import Both

#: The modules that add operations.
_OPERATIONS = (changes, copies)

#: The number of operations on the same arrays, before new arrays are created.
_TOGETHER = 80

#: The kind of a failure that is not a difference: an operation needs the results of operations that were left out.
_DOES_NOT_FIT = "does not fit"

#: The maximum number of attempts to reproduce a failure with fewer operations.
_TRIES = 200


@dataclass(frozen=True)
class Step:
    """An operation."""

    name: str
    text: str

    def names(self) -> set[str]:
        """The names that the operation mentions."""
        return set(re.findall(r"\ba\d+\b", self.text))


@dataclass(frozen=True)
class Difference:
    """A failure, and its operation."""

    step: Step
    kind: str
    message: str

    def is_like(self, other: Difference | None) -> bool:
        """Returns true if another difference most likely has the same cause."""
        return other is not None and (self.step.name, self.kind) == (other.step.name, other.kind)


class Run:
    """The state of both sides after the operations so far."""

    def __init__(self, directory: str) -> None:
        shared = {"np": np, "element": values.element, "values": values.values, "directory": directory, "raises": raises}
        self.ours = {**shared, "zarr": Both(), "of": values.of}
        self.reference = {**shared, "zarr": reference.Zarr(), "of": reference.of, "dict": reference.Store}

    def do(self, step: Step) -> Difference | None:
        """Runs an operation on both sides; skips it if it does not fit the existing nodes."""
        code = compile(step.text, f"<{step.name}>", "exec")
        for side in (self.ours, self.reference):
            side.pop("result", None)
        try:
            exec(code, self.reference)
        except Exception:
            return Difference(step, _DOES_NOT_FIT, traceback.format_exc(limit=-3))
        try:
            exec(code, self.ours)
            self._compare(step)
        except Exception as error:
            return Difference(step, type(error).__name__, traceback.format_exc())
        return None

    def _compare(self, step: Step) -> None:
        found, expected = self.ours.get("result"), self.reference.get("result")
        pairs = zip(found, expected, strict=True) if isinstance(expected, list) else [(found, expected)]
        for one, other in pairs:
            if not values.same(one, other):
                raise AssertionError(f"found {one!r}\nexpected {other!r}")
        for name in step.names():
            array = self.reference.get(name)
            if isinstance(array, reference.Array) and array.is_there():
                compare(name, self.ours[name], array)


@contextlib.contextmanager
def raises(expected: type[Exception]) -> Any:
    """Checks that the ``with`` block raises an exception."""
    try:
        yield
    except expected:
        return
    raise AssertionError(f"does not raise {expected.__name__}")


def compare(name: str, found: Any, expected: reference.Array) -> None:
    """Compares all elements and properties of an array."""
    elements = np.asarray(found[...], dtype=found.dtype)
    if not values.same(elements, expected.data):
        raise AssertionError(f"{name}[...] is {elements!r}\nexpected {expected.data!r}")
    members: dict[str, tuple[Any, Any]] = {"attrs": (found.attrs.asdict(), expected.attrs)}
    if isinstance(expected.chunks, tuple):
        members |= {"chunks": (found.chunks, expected.chunks), "shards": (found._native.shards, expected.shards)}
    for member, (one, other) in members.items():
        if one != other:
            raise AssertionError(f"{name}.{member} is {one!r}, expected {other!r}")


def replay(steps: Sequence[Step]) -> Difference | None:
    """Runs operations from the beginning; operations that no longer fit are skipped."""
    with _empty_directory() as directory:
        run = Run(directory)
        for step in steps:
            difference = run.do(step)
            if difference is not None and difference.kind != _DOES_NOT_FIT:
                return difference
    return None


@contextlib.contextmanager
def _empty_directory() -> Any:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield directory


def episode(seed: str, count: int) -> tuple[list[Step], Difference | None]:
    """Chooses operations and runs them."""
    steps: list[Step] = []
    with _empty_directory() as directory:
        run = Run(directory)
        world = operations.World(Random(seed), run.reference)
        while len(steps) < count:
            name, texts = operations.choose(world)
            for step in (Step(name, text) for text in texts):
                steps.append(step)
                difference = run.do(step)
                if difference is not None:
                    return steps, difference
            world.renew()
    return steps, None


def shrink(steps: list[Step], difference: Difference) -> tuple[list[Step], Difference]:
    """Leaves out operations, many at a time and then one by one, as long as the difference remains."""
    tries, size = 0, max(1, len(steps) // 2)
    while True:
        start = 0
        while start < len(steps) and tries < _TRIES:
            fewer = steps[:start] + steps[start + size :]
            found, tries = replay(fewer), tries + 1
            if found is not None and difference.is_like(found):
                steps, difference = fewer, found
            else:
                start += size
        if size == 1 or tries >= _TRIES:
            return steps, difference
        size = max(1, size // 2)


def script(steps: Sequence[Step], difference: Difference) -> str:
    """Returns a program that runs the operations."""
    lines = ["import tempfile", "import numpy as np", "from model.both import Both", "from model.runner import raises"]
    lines += ["from model.values import element, of, values", "", "zarr, directory = Both(), tempfile.mkdtemp()"]
    body = [step.text for step in steps]
    compared = [f"print({name}[...])" for name in sorted(difference.step.names())]
    return "\n".join([*lines, *body, *compared])


def run(seed: str, count: int, report: Callable[[int], None] = lambda _: None) -> None:
    """Runs ``count`` operations.

    Raises
    ------
    AssertionError If both sides differ, with a script that shows the difference.
    """
    for start in range(0, count, _TOGETHER):
        own = f"{seed}/{start}"
        steps, difference = episode(own, min(_TOGETHER, count - start))
        if difference is not None:
            raise AssertionError(_explained(own, steps, difference))
        report(start)


def _explained(seed: str, steps: list[Step], difference: Difference) -> str:
    if difference.kind != _DOES_NOT_FIT:
        steps, difference = shrink(steps, difference)
    return f"seed {seed!r}:\n\n{script(steps, difference)}\n\n{difference.message}"
