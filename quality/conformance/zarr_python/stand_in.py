"""Runs zarr-python's own tests with one of the package's interfaces in the place of `zarr`: how many pass is counted.

    python stand_in.py zarrox.v2 DIRECTORY [ARGUMENT …]

DIRECTORY has the tests: `zarr/tests` of zarr-python 2, or `tests` of zarr-python 3's source distribution. Arguments go to pytest. The tests
are copied, so that nothing else of that zarr-python is imported. Names that only zarr-python's own code needs, and that tests import
all the same, are there as objects that fail when they are used: else one such name would lose all tests of a file.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

#: Tests that make an object of every class of data types without arguments, of which the package has more.
LEFT_OUT = ("test_dtype",)

#: The modules with public names.
PUBLIC = ("zarr", "zarr.codecs", "zarr.dtype", "zarr.errors", "zarr.storage")

#: Warnings that marks of tests name.
WARNINGS = ("UnstableSpecificationWarning", "ZarrUserWarning", "ZarrDeprecationWarning", "ZarrFutureWarning", "ZarrRuntimeWarning")

#: The name that the copied tests have.
COPY = "tests_of_zarr"


class Missing:
    """A name that the interface does not have. Modules of tests can be imported with it; tests that use it fail."""

    #: True while tests run.
    fails = False

    def __init__(self, name: str) -> None:
        self._name = name

    def _used(self) -> Missing:
        if Missing.fails:
            raise AssertionError(f"the interface has no {self._name}")
        return self

    def __bool__(self) -> bool:
        return False

    def __call__(self, *_: object, **__: object) -> Missing:
        return self._used()

    def __getattr__(self, name: str) -> Missing:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._used()

    def __getitem__(self, _: object) -> Missing:
        return self._used()

    def __iter__(self) -> Iterator[object]:
        self._used()
        return iter(())

    def __or__(self, _: object) -> Missing:
        return self._used()

    __ror__ = __or__

    def __mro_entries__(self, _: object) -> tuple[type, ...]:
        return (object,)


class Plugin:
    """Lets tests fail by what is missing, once all are collected."""

    @staticmethod
    def pytest_collection_finish() -> None:
        Missing.fails = True


def stand_in(interface: str) -> None:
    """Lets `import zarr` give the interface, with all its modules."""
    root = importlib.import_module(interface)
    # Their tests pickle objects, which has to be allowed here.
    importlib.import_module("zarrox").config.set({"codecs.allow_pickle": True})
    sys.modules["zarr"] = root
    for found in pkgutil.walk_packages(root.__path__, f"{interface}."):
        # These are for other packages, or are the other interface.
        if found.name.removeprefix(f"{interface}.").partition(".")[0] not in ("__main__", "_native", "dask", "v2", "xarray", "zarr3"):
            sys.modules[found.name.replace(interface, "zarr", 1)] = importlib.import_module(found.name)


def provide(module: str, names: list[str]) -> None:
    """Puts placeholders where a module, or names of it, are missing."""
    for parent in (module.rpartition(".")[0], module):
        if parent and parent not in sys.modules:
            sys.modules[parent] = ModuleType(parent)
            sys.modules[parent].__path__ = []  # type: ignore[attr-defined]
    for name in names:
        if name != "*" and not hasattr(sys.modules[module], name):
            # What is public may also be where zarr-python's own code has it.
            public = (getattr(each, name, None) for each in map(sys.modules.get, PUBLIC) if each is not None)
            found = next((each for each in public if each is not None), None)
            setattr(sys.modules[module], name, Missing(f"{module}.{name}") if found is None else found)


def copy(tests: Path, target: Path) -> None:
    """Copies the tests, and provides the names that they import."""
    shutil.copytree(tests, target, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for file in target.rglob("*.py"):
        text = file.read_text(encoding="utf-8").replace("zarr.tests", COPY).replace("from tests.", f"from {COPY}.")
        file.write_text(text, encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").partition(".")[0] == "zarr":
                provide(str(node.module), [alias.name for alias in node.names])
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("zarr."):
                        provide(alias.name, [])


def main(interface: str, tests: str, *arguments: str) -> int:
    stand_in(interface)
    # Tests of zarr-python 2.11 are of the time of NumPy 1.
    vars(np).setdefault("product", np.prod)
    with tempfile.TemporaryDirectory() as directory:
        target = Path(directory) / COPY
        copy(Path(tests), target)
        (target / "__init__.py").touch()
        provide("zarr.core.dtype.common", list(WARNINGS))
        sys.path.insert(0, directory)
        return int(pytest.main(["-q", "--continue-on-collection-errors", "-p", "no:cacheprovider", str(target), *arguments], plugins=[Plugin()]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
