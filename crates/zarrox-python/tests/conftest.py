"""The selection of the tests for each environment.

There are two environments, since one process cannot have zarr-python 2 and 3. Each test module runs in both, or in the
environment that is named here for its folder or for the module. The packages that a module needs must be installed, so
a missing package is a failure.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import TypeVar

import hypothesis
import numpy as np
import pytest

TESTS = Path(__file__).parent

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

#: The folders and modules that need one of the environments, or take long and are alike in both, with its name.
ONLY_IN = {
    "ecosystem": "zarr3",
    "zarr3": "zarr3",
    "exchange/test_exchange_v2.py": "zarr2",
    "exchange/test_exchange_v3.py": "zarr3",
    "exchange/test_names.py": "zarr3",
    "test_damage.py": "zarr2",
    "test_model.py": "zarr2",
}

#: The modules that need servers, with the environment variables of the addresses. One of the servers is enough.
NEEDS_SERVER = {
    "test_dask_on_s3.py": ["ZARROX_TEST_S3"],
    "test_zarr3_on_servers.py": [f"ZARROX_TEST_{name}" for name in ("S3", "AZURE", "GCS", "HTTP")],
}

#: Texts in the reasons of tests that are skipped because a package is missing.
MISSING = ("could not import", "required is", "has no")

#: Modules of the standard library that a Python may be built without.
OPTIONAL = ("dbm.gnu", "dbm.sqlite3")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option for the environment, and the options of random operations."""
    parser.addoption("--environment", choices=["zarr2", "zarr3"], default="zarr3", help="what the tests run beside")
    parser.addoption("--operations", type=int, default=5_000, help="how many random operations are done")
    parser.addoption("--seed", default="fixed", help="what the random operations are chosen by")


def pytest_configure(config: pytest.Config) -> None:
    """Sets a fixed seed for all random examples, unless another seed is requested, so that a failing test fails
    again."""
    hypothesis.settings.register_profile("fixed", derandomize=True)
    if config.getoption("--seed") == "fixed":
        hypothesis.settings.load_profile("fixed")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skips modules of the other environment, and modules whose servers do not run."""
    environment = config.getoption("--environment")
    needed = [only for name, only in ONLY_IN.items() if collection_path.is_relative_to(TESTS / name)]
    if any(only != environment for only in needed):
        return True
    servers = NEEDS_SERVER.get(collection_path.name)
    if servers is not None and os.environ.keys().isdisjoint(servers):
        _record_missing(collection_path.name, servers)
        return True
    return None


def _record_missing(module: str, servers: list[str]) -> None:
    """Reports to `cargo xtask test` that the tests of a module do not run, since none of these servers runs."""
    needs = " or ".join(name.removeprefix("ZARROX_TEST_").lower() for name in servers)
    if record := os.environ.get("ZARROX_TEST_RECORD"):
        with open(record, "a", encoding="utf-8") as file:
            file.write(f"missing\t{needs}\tzarrox-python {module}\n")


def pytest_report_header(config: pytest.Config) -> str:
    """Prints the name of the environment."""
    return f"environment: {config.getoption('--environment')}, numpy {np.__version__}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turns a skipped test into a failure if the package that it misses should be installed."""
    return _missing_is_failed((yield), item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Does the same for a skipped module."""
    return _missing_is_failed((yield), collector.config)


def _missing_is_failed(report: Report, config: pytest.Config) -> Report:
    if not report.skipped or not isinstance(report.longrepr, tuple) or config.getoption("--environment") != "zarr3":
        return report
    reason = report.longrepr[-1]
    if any(sign in reason for sign in MISSING) and not any(module in reason for module in OPTIONAL):
        report.outcome = "failed"
        report.longrepr = f"{reason}\nThis environment should have it: see requirements-zarr3.txt."
    return report
