"""The examples in the package's own documentation give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import zarrox

#: Modules that need a package which is not in every environment.
NEEDS_OTHERS = ("zarrox.dask", "zarrox.xarray", "zarrox.zarr3")
PAGES = [Path(__file__).parent / "dtype" / "data_types.md"]
#: The pages that show what the package does with others.
GUIDES = [Path(__file__).parents[3] / "docs" / name for name in ("python.md", "pipeline.md", "ecosystem.md", "lazy.md", "questions.md")]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


class Checker(doctest.OutputChecker):
    """Forgives that NumPy prints the shape of a shortened array since 2.2."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Returns true if both are the same text."""
        return super().check_output(*(re.sub(r",\s+shape=\([\d, ]+\)", "", text) for text in (want, got)), optionflags)


def modules() -> list[str]:
    """All modules of the package that are Python."""
    found = {module.name for module in pkgutil.walk_packages(zarrox.__path__, "zarrox.")}
    return sorted({"zarrox"} | found - {"zarrox._native"})


def register_engine() -> None:
    """Tells xarray of the engine, which an installed package does by its entry point."""
    from xarray.backends import BackendEntrypoint, refresh_engines
    from xarray.backends.common import BACKEND_ENTRYPOINTS

    from zarrox.xarray import ZarroxBackendEntrypoint

    assert issubclass(ZarroxBackendEntrypoint, BackendEntrypoint)
    BACKEND_ENTRYPOINTS["zarrox"] = ("zarrox", ZarroxBackendEntrypoint)
    refresh_engines()


@pytest.fixture(autouse=True)
def _empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples write where they are."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", modules())
def test_docstrings(name: str, pytestconfig: pytest.Config) -> None:
    """Every docstring of a module; those of one are apart from those of another."""
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
    """Every example of a page, from its top to its end."""
    failed, ran = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS, encoding="utf-8")
    assert ran > 0
    assert failed == 0


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_guides(page: Path, pytestconfig: pytest.Config) -> None:
    """Every example of a page that needs other packages."""
    if pytestconfig.getoption("--environment") != "zarr3":
        return
    import zarr

    register_engine()
    # The setting that the page changes is what it was afterwards.
    with zarr.config.set({}):
        _check_guide(page)


def _check_guide(page: Path) -> None:
    failed, ran = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS, encoding="utf-8")
    assert ran > 0
    assert failed == 0
