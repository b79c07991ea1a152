"""Runs zarr-python's own tests with one of the package's interfaces in the place of `zarr`, and counts those that pass.

    python stand_in.py zarrox.v2 DIRECTORY [ARGUMENT …]

DIRECTORY contains the tests: `zarr/tests` of zarr-python 2, or `tests` of zarr-python 3's source distribution. Arguments are passed to
pytest. The tests are copied, so that nothing of that zarr-python is imported except `zarr.testing`, which is meant for other packages. Some
tests import names that only zarr-python's own code needs. These names are objects that fail when they are used: a missing name would fail
all tests of a file. For version 3, tests that use only public names are counted separately from tests that use internal names.
"""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import shutil
import sys
import tempfile
from abc import ABCMeta
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from public import Names, Usage

#: The excluded files: benchmarks, and a package that is installed for some tests.
LEFT_OUT = ("benchmarks", "package_with_entrypoint-0.1.dist-info", "test_cli", "test_docs.py", "test_examples.py", "scripts")

#: The modules with public names, and the modules that define these objects.
PUBLIC = (
    "zarr zarr.codecs zarr.dtype zarr.errors zarr.storage zarr.abc.store zarr.abc.codec zarr.abc.buffer zarr.buffer.cpu zarr.buffer "
    "zarr.registry zarr.types zarr.core.array_config zarr.core.metadata zarr.hierarchy zarr.core.dtype.common"
).split()

#: Modules that have other names here.
SAME = {
    "zarr.core.buffer": "zarr.abc.buffer",
    "zarr.core.buffer.core": "zarr.abc.buffer",
    "zarr.core.buffer.cpu": "zarr.buffer.cpu",
    "zarr.core.group": "zarr.hierarchy",
    "zarr.core.array_spec": "zarr.core.array_config",
    "zarr.core.metadata.v2": "zarr.core.metadata",
    "zarr.core.metadata.v3": "zarr.core.metadata",
}

#: Modules of zarr-python that `zarr.testing` imports.
OF_TESTING = ("zarr.storage._utils",)

#: Warnings that are named in the marks of tests.
WARNINGS = ("UnstableSpecificationWarning", "ZarrUserWarning", "ZarrDeprecationWarning", "ZarrFutureWarning", "ZarrRuntimeWarning")

#: The name of the package with the copied tests.
COPY = "tests_of_zarr"


class Missing(ABCMeta):
    """A name that the interface does not have. Test modules can import the name; tests that use it fail."""

    #: True while tests run.
    fails = False

    def __new__(cls, name: str, bases: tuple[type, ...] = (), members: dict[str, Any] | None = None) -> Missing:
        # A class that is derived from a missing class is missing as well. Python requires the class cell of methods that call `super()`.
        cell = {key: value for key, value in (members or {}).items() if key == "__classcell__"}
        doc = str(bases[0].__doc__) if bases else name
        return super().__new__(cls, name.rpartition(".")[2], (), {"__doc__": doc, **cell})

    def __init__(cls, name: str, *_: Any) -> None:
        super().__init__(name)
        cls.__module__ = name.rpartition(".")[0]

    def _used(cls) -> Missing:
        if Missing.fails:
            raise AssertionError(f"the interface has no {cls.__doc__}")
        return cls

    def __bool__(cls) -> bool:
        return False

    def __call__(cls, *args: Any, **_: Any) -> Any:
        used = cls._used()
        # As a decorator, a placeholder leaves functions unchanged.
        return args[0] if len(args) == 1 and callable(args[0]) and not isinstance(args[0], Missing) else used

    def __getattr__(cls, name: str) -> Missing:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls._used()

    def __getitem__(cls, _: object) -> Missing:
        return cls if not Missing.fails else cls._used()

    def __iter__(cls) -> Iterator[object]:
        cls._used()
        return iter(())

    def __or__(cls, _: object) -> Missing:
        return cls

    __ror__ = __or__


class Plugin:
    """A pytest plug-in: once all tests are collected, tests fail when they use a missing name, and the outcomes are counted."""

    def __init__(self, names: Names | None, tests: Path) -> None:
        self.names, self.tests = names, tests
        self.usages: dict[str, Usage] = {}
        self.internal: dict[str, set[str]] = {}
        self.outcomes: dict[str, str] = {}
        self.messages: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        Missing.fails = True
        only = os.environ.get("STAND_IN_ONLY")
        if only:
            wanted = {line.partition("\t")[0].rstrip("\n") for line in open(only, encoding="utf-8")}
            items[:] = [item for item in items if item.nodeid.partition(COPY + "/")[2] in wanted]
        for item in items:
            if self.names is not None:
                cls = None if item.cls is None else item.cls.__name__
                usage = self._usage(str(item.path))
                reasons = usage.reasons(getattr(item, "originalname", None) or item.name, cls)
                if reasons:
                    self.internal[item.nodeid] = reasons

    def _usage(self, path: str) -> Usage:
        if path not in self.usages:
            assert self.names is not None
            above = None if Path(path).name == "conftest.py" else self._usage(str(self.tests / "conftest.py"))
            self.usages[path] = Usage(self.names, ast.parse(Path(path).read_text(encoding="utf-8")), above)
        return self.usages[path]

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            if self.outcomes.get(report.nodeid) != "failed":
                self.outcomes[report.nodeid] = report.outcome
            if report.outcome == "failed":
                crash = getattr(report.longrepr, "reprcrash", None)
                message = crash.message.partition("\n")[0] if crash else str(report.longrepr)[-200:]
                self.messages[report.nodeid] = message[:200]
                name = message.rpartition("the interface has no ")[2]
                if name != message and self.names is not None and not self.names.has(*name.rpartition(".")[::2]):
                    self.internal.setdefault(report.nodeid, set()).add(name)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        write = terminalreporter.write_line
        for title, chosen in (("public names only", False), ("internal names", True)):
            counts = Counter(outcome for test, outcome in self.outcomes.items() if (test in self.internal) is chosen)
            run = counts["passed"] + counts["failed"]
            write(f"tests that use {title}: {counts['passed']} of {run} pass ({counts['skipped']} are skipped)")
        directory = os.environ.get("STAND_IN_REPORT")
        if directory:
            self._report(Path(directory))

    def _report(self, directory: Path) -> None:
        """Writes each list of tests to a file, for inspection."""
        directory.mkdir(parents=True, exist_ok=True)
        lists: dict[str, list[str]] = {}
        for test, outcome in sorted(self.outcomes.items()):
            kind = f"{'internal' if test in self.internal else 'public'}-{outcome}.txt"
            reason = " | ".join(sorted(self.internal.get(test, ())))
            lists.setdefault(kind, []).append(f"{test.partition(COPY + '/')[2]}\t{self.messages.get(test, '')}\t{reason}")
        for kind, lines in lists.items():
            (directory / kind).write_text("\n".join(lines) + "\n", encoding="utf-8")


def stand_in(interface: str) -> None:
    """Makes `import zarr` import the interface, with all its modules."""
    root = importlib.import_module(interface)
    sys.modules["zarr"] = root
    for blocking, awaited in (("Array", "async_array"), ("Group", "async_group")):
        # Tests expect the object of `async_array` at this name.
        cls = getattr(root, blocking)
        if hasattr(cls, awaited):
            setattr(cls, f"_{awaited}", getattr(cls, awaited))
    for found in pkgutil.walk_packages(root.__path__, f"{interface}."):
        # These modules are for other packages, or are the other interface.
        if found.name.removeprefix(f"{interface}.").partition(".")[0] not in ("__main__", "_native", "dask", "v2", "xarray", "zarr3"):
            sys.modules[found.name.replace(interface, "zarr", 1)] = importlib.import_module(found.name)
    for theirs, ours in SAME.items():
        if ours in sys.modules:
            sys.modules[theirs] = sys.modules[ours]
            # If both packages have a module of this name, tests expect the one with zarr-python's meaning.
            parent, _, name = theirs.rpartition(".")
            if parent in sys.modules:
                setattr(sys.modules[parent], name, sys.modules[ours])
    waiting = ModuleType("zarr.core.sync")
    vars(waiting).update(sync=Waiting._sync, _collect_aiterator=_collected, SyncMixin=Waiting)
    sys.modules["zarr.core.sync"] = waiting
    _into_parent("zarr.core.sync")


class Waiting:
    """Waits for coroutines, as `zarr.testing` does."""

    @staticmethod
    def _sync(work: Any, *_: Any, **__: Any) -> Any:
        return importlib.import_module("zarrox.waiting").wait(work)

    @classmethod
    def _sync_iter(cls, items: Any) -> list[Any]:
        return list(cls._sync(_collected(items)))


async def _collected(items: Any) -> tuple[Any, ...]:
    return tuple([item async for item in items])


def _into_parent(module: str) -> None:
    """Makes a module an attribute of its parent module."""
    above, _, name = module.rpartition(".")
    if above in sys.modules and not hasattr(sys.modules[above], name):
        setattr(sys.modules[above], name, sys.modules[module])


def provide(module: str, names: list[str]) -> None:
    """Adds placeholders for a missing module, or for missing names of a module."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        parent = ".".join(parts[:count])
        if parent not in sys.modules:
            sys.modules[parent] = ModuleType(parent)
            sys.modules[parent].__path__ = []  # type: ignore[attr-defined]
            sys.modules[parent].__file__ = parent
            _into_parent(parent)
    for name in names:
        if name != "*" and not _has(sys.modules[module], name):
            # A public name may also be where zarr-python's own code has it.
            # Functions of that module are awaited.
            places = ["zarr.api.asynchronous", *PUBLIC] if module == "zarr.core.array" else PUBLIC
            public = (vars(each).get(name) for each in map(sys.modules.get, places) if each is not None)
            found = next((each for each in public if each is not None), None)
            setattr(sys.modules[module], name, Missing(f"{module}.{name}") if found is None else found)


def _from_source(name: str, source: Path) -> None:
    """Imports a module of zarr-python."""
    text = (source / (name.replace(".", "/") + ".py")).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("zarr"):
            provide(str(node.module), [alias.name for alias in node.names])
    sys.modules[name] = module = ModuleType(name)
    exec(compile(text, name, "exec"), vars(module))  # noqa: S102 (it is part of the tests)
    _into_parent(name)


def _has(module: ModuleType, name: str) -> bool:
    if f"{module.__name__}.{name}" in sys.modules:
        return True
    try:
        return hasattr(module, name)
    except ImportError:
        return False


def copy(tests: Path, target: Path) -> None:
    """Copies the tests, and provides the names that they import."""
    shutil.copytree(tests, target, ignore=shutil.ignore_patterns(*LEFT_OUT))
    testing = tests.parent / "src" / "zarr" / "testing"
    if testing.is_dir():
        shutil.copytree(testing, target / "testing_of_zarr")
        sys.modules["zarr.testing"] = ModuleType("zarr.testing")
        sys.modules["zarr.testing"].__path__ = [str(target / "testing_of_zarr")]  # type: ignore[attr-defined]
        _into_parent("zarr.testing")
        for name in OF_TESTING:
            _from_source(name, tests.parent / "src")
    for file in target.rglob("*.py"):
        text = file.read_text(encoding="utf-8").replace("zarr.tests", COPY).replace("from tests.", f"from {COPY}.")
        # The tests of version 2 are inside the package `zarr`.
        text = text.replace("from .._storage", "from zarr._storage")
        file.write_text(text, encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").partition(".")[0] == "zarr":
                if not str(node.module).startswith("zarr.testing"):
                    provide(str(node.module), [alias.name for alias in node.names])
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("zarr.") and not alias.name.startswith("zarr.testing"):
                        provide(alias.name, [])


def only_theirs(names: Names) -> None:
    """Omits data types that zarr-python does not have: tests create an object of each class without arguments."""
    known = names.of("zarr.dtype")
    contents = importlib.import_module("zarrox.core.dtype").data_type_registry.contents
    for name in [name for name, cls in contents.items() if cls.__name__ not in known]:
        del contents[name]


def main(interface: str, tests: str, *arguments: str) -> int:
    stand_in(interface)
    # Tests of zarr-python 2.11 were written for NumPy 1.
    vars(np).setdefault("product", np.prod)
    source = Path(tests).parent / "src"
    names = Names(source) if source.is_dir() else None
    options = ["-q", "--continue-on-collection-errors", "-p", "no:cacheprovider"]
    if names is None:
        # The tests of zarr-python 2 pickle objects, which must be allowed here.
        importlib.import_module("zarrox").config.set({"array.allow_unsafe_pickle_decode": True})
    else:
        only_theirs(names)
        options += ["-o", "asyncio_mode=auto", "-o", "markers=gpu\ns3\nslow_hypothesis", "--benchmark-disable"]
    with tempfile.TemporaryDirectory() as directory:
        target = Path(directory) / COPY
        copy(Path(tests), target)
        (target / "__init__.py").touch()
        provide("zarr.core.dtype.common", list(WARNINGS))
        sys.path.insert(0, directory)
        plugin = Plugin(names, target)
        return int(pytest.main([*options, "--rootdir", directory, str(target), *arguments], plugins=[plugin]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
