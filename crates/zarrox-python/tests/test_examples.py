"""The examples in the documentation of the package have the documented output."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import zarrox

#: Modules that require a package that is not in every environment.
NEEDS_OTHERS = ("zarrox.dask", "zarrox.xarray", "zarrox.zarr3")
PAGES = [Path(__file__).parent / "dtype" / "data_types.md"]
#: The pages about the use with other packages.
GUIDES = [Path(__file__).parents[3] / "docs" / name for name in ("python.md", "pipeline.md", "ecosystem.md", "lazy.md", "questions.md", "cookbook.md", "migrating.md")]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


class Checker(doctest.OutputChecker):
    """Ignores the shape that NumPy 2.2 and newer prints for a shortened array."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Returns true if the expected and the actual output are equal."""
        return super().check_output(*(re.sub(r",\s+shape=\([\d, ]+\)", "", text) for text in (want, got)), optionflags)


def modules() -> list[str]:
    """Returns all Python modules of the package."""
    found = {module.name for module in pkgutil.walk_packages(zarrox.__path__, "zarrox.")}
    return sorted({"zarrox"} | found - {"zarrox._native"})


def register_engine() -> None:
    """Registers the engine with xarray, as the entry point of an installed package does."""
    from xarray.backends import BackendEntrypoint, refresh_engines
    from xarray.backends.common import BACKEND_ENTRYPOINTS

    from zarrox.xarray import ZarroxBackendEntrypoint

    assert issubclass(ZarroxBackendEntrypoint, BackendEntrypoint)
    BACKEND_ENTRYPOINTS["zarrox"] = ("zarrox", ZarroxBackendEntrypoint)
    refresh_engines()


@pytest.fixture(autouse=True)
def _empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs each test in an empty directory, since examples write to the working directory."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", modules())
def test_docstrings(name: str, pytestconfig: pytest.Config) -> None:
    """Every docstring of a module is run; each docstring has separate variables."""
    if name.startswith(NEEDS_OTHERS) and pytestconfig.getoption("--environment") != "zarr3":
        return
    module = importlib.import_module(name)
    if name.startswith("zarrox.xarray"):
        register_engine()
    runner = doctest.DocTestRunner(Checker(), optionflags=OPTIONS)
    for example in doctest.DocTestFinder().find(module, extraglobs={"zarr": zarrox, "np": np}):
        runner.run(example)
    assert runner.summarize().failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages(page: Path) -> None:
    """All examples of a page are run in order."""
    failed, ran = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS, encoding="utf-8")
    assert ran > 0
    assert failed == 0


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_guides(page: Path, pytestconfig: pytest.Config) -> None:
    """All examples of a page that requires other packages are run."""
    if pytestconfig.getoption("--environment") != "zarr3":
        return
    import zarr

    register_engine()
    # The setting that the page changes is restored afterwards.
    with zarr.config.set({}):
        _check_guide(page)


def _check_guide(page: Path) -> None:
    failed, ran = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS, encoding="utf-8")
    assert ran > 0
    assert failed == 0
