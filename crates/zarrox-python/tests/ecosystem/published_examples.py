"""Runs the examples of one document of zarr-python 2.11 with Zarrox in its place. It is a program, for a separate
process.

Usage: ``published_examples.py DOCUMENT REPORT``. The working directory should be empty. A ``.rst`` document is one
session; in a ``.py`` document, each docstring is one. The report is JSON: for each example its line, its source, the
expected and the actual output, and whether these agree.
"""

from __future__ import annotations

import ast
import dbm.dumb
import doctest
import importlib
import json
import pkgutil
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from zarrox import v2

#: The doctest options of zarr-python's own tests.
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL

# A flag of a pytest plugin for examples that need the network. Here no example needs it.
doctest.register_optionflag("REMOTE_DATA")


class Runner(doctest.DocTestRunner):
    """Collects the output of each example."""

    def __init__(self) -> None:
        super().__init__(Checker(), verbose=False, optionflags=OPTIONS)
        self.results: list[dict[str, Any]] = []

    def _add(self, test: doctest.DocTest, example: doctest.Example, got: str, agrees: bool) -> None:
        line = (test.lineno or 0) + example.lineno + 1
        self.results.append(
            {"line": line, "source": example.source, "want": example.want, "got": got, "agrees": agrees}
        )

    def report_start(self, out: Any, test: doctest.DocTest, example: doctest.Example) -> None:
        """Prints nothing."""

    def report_success(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        """Records an example with the expected output."""
        self._add(test, example, got, True)

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        """Records an example with another output."""
        self._add(test, example, got, False)

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        """Records an example that raises an exception."""
        kind, error, _ = exc_info
        self._add(test, example, f"{kind.__name__}: {error}", False)


class Checker(doctest.OutputChecker):
    """Treats the names of the two packages as equal."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Returns true if the expected and the actual output are equal."""
        return super().check_output(want, got.replace("zarrox.v2.", "zarr."), optionflags)


def stand_in() -> None:
    """Makes ``import zarr`` import Zarrox with all its modules, and replaces modules and stores that the examples
    need."""
    sys.modules["zarr"] = v2
    for found in pkgutil.walk_packages(v2.__path__, "zarrox.v2."):
        sys.modules[found.name.replace("zarrox.v2", "zarr", 1)] = importlib.import_module(found.name)
    # The package for Berkeley DB cannot be built any more. It is replaced by a database with the same interface.
    sys.modules["bsddb3"] = module("bsddb3", btopen=dbm.dumb.open)
    # The examples read one array from Amazon's S3. Here the array is in memory.
    sys.modules["s3fs"] = module("s3fs", S3FileSystem=types.SimpleNamespace, S3Map=cloud)


def module(name: str, **members: Any) -> types.ModuleType:
    """Returns a module with these members."""
    made = types.ModuleType(name)
    vars(made).update(members)
    return made


def cloud(root: str, **options: Any) -> dict[str, bytes]:
    """Returns the store that the examples open in the cloud."""
    assert root == "zarr-demo/store", root
    store: dict[str, bytes] = {}
    text = np.frombuffer(b"Hello from the cloud!", dtype="S1")
    v2.group(store=store).create_dataset("foo/bar/baz", data=text, chunks=7)
    return store


def sessions(document: Path) -> Iterator[doctest.DocTest]:
    """Yields the examples of a document, in groups that share variables."""
    parser = doctest.DocTestParser()
    text = document.read_text(encoding="utf-8")
    if document.suffix != ".py":
        yield parser.get_doctest(text, {}, document.name, str(document), 0)
        return
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            continue
        docstring = ast.get_docstring(node, clean=False)
        if docstring and ">>>" in docstring:
            line = node.body[0].lineno - 1
            # The examples run as in their module, which has imported NumPy.
            yield parser.get_doctest(docstring, {"np": np}, getattr(node, "name", document.stem), str(document), line)


def main(document: str, report: str) -> None:
    """Runs the examples of a document."""
    stand_in()
    # NumPy prints in the format of NumPy 1.
    np.set_printoptions(legacy="1.25")
    warnings.simplefilter("ignore")
    runner = Runner()
    for session in sessions(Path(document)):
        runner.run(session, clear_globs=True)
    Path(report).write_text(json.dumps(runner.results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
