"""Which tests run where.

There are two environments, since one process cannot have zarr-python 2 and 3. Each test module runs in both, or in
the one that is named here; what a module needs must be there, so a missing package is a failure.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

#: The modules that need one environment, and which.
ONLY_IN = {
    "test_dask.py": "zarr3",
    "test_exchange_v2.py": "zarr2",
    "test_exchange_v3.py": "zarr3",
    "test_published_examples.py": "zarr3",
    "test_xarray.py": "zarr3",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that names the environment."""
    parser.addoption("--environment", choices=["zarr2", "zarr3"], default="zarr3", help="what the tests run beside")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out what belongs to the other environment."""
    environment = config.getoption("--environment")
    return True if ONLY_IN.get(collection_path.name, environment) != environment else None


def pytest_report_header(config: pytest.Config) -> str:
    """Says which environment this is."""
    return f"environment: {config.getoption('--environment')}, numpy {np.__version__}"
