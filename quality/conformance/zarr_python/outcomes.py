"""A pytest plug-in for `cargo xtask test --zarr-python`: it writes a line for each test, with the outcome and the reason of a failure."""

import os


def pytest_runtest_logreport(report):
    """Writes the outcome of a test, and of its setup and teardown if they fail."""
    path = os.environ["ZARROX_OUTCOMES"]
    if report.when == "call" or report.outcome != "passed":
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{report.outcome} {name(report)}{reason(report)}\n")


def name(report):
    """Returns the name of a test; for a test in an installed package, without the path of the package."""
    return escaped(report.nodeid.rpartition("/site-packages/")[2])


def reason(report):
    """Returns the first line of the error, after a tab."""
    if report.outcome != "failed":
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = str(report.longrepr if crash is None else crash.message).strip().splitlines()
    return "\t" + escaped(lines[0] if lines else "no reason")


def escaped(text):
    return text.encode("unicode_escape").decode()
