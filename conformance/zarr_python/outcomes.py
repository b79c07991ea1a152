"""A plug-in of pytest for `cargo xtask test --zarr-python`: it writes the outcome of each test, one a line."""

import os


def pytest_runtest_logreport(report):
    """Writes the outcome of a test, and of its preparation and its end where these fail."""
    path = os.environ["ZARROX_OUTCOMES"]
    if report.when == "call" or report.outcome != "passed":
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{report.outcome} {report.nodeid.encode('unicode_escape').decode()}\n")
