"""A plug-in of pytest for `cargo xtask test --zarr-python`: it writes the outcome of each test, one a line, with the reason of a failure."""

import os


def pytest_runtest_logreport(report):
    """Writes the outcome of a test, and of its preparation and its end where these fail."""
    path = os.environ["ZARROX_OUTCOMES"]
    if report.when == "call" or report.outcome != "passed":
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{report.outcome} {name(report)}{reason(report)}\n")


def name(report):
    """The name of a test. That of one in an installed package says nothing about where that is."""
    return escaped(report.nodeid.rpartition("/site-packages/")[2])


def reason(report):
    """The first line of the error, after a tabulator."""
    if report.outcome != "failed":
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = str(report.longrepr if crash is None else crash.message).strip().splitlines()
    return "\t" + escaped(lines[0] if lines else "no reason")


def escaped(text):
    return text.encode("unicode_escape").decode()
