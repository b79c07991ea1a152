"""A plug-in of pytest for `cargo xtask test --zarr-python`: it writes how each test ended, one a line."""

import os

if "zarrox" in os.environ.get("ZARR_CODEC_PIPELINE__PATH", ""):
    # It registers the pipeline.
    import zarrox.zarr3  # noqa: F401


def pytest_runtest_logreport(report):
    """Writes the outcome of a test, and of its preparation and its end where these fail."""
    path = os.environ["ZARROX_OUTCOMES"]
    if report.when == "call" or report.outcome != "passed":
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{report.outcome} {report.nodeid.encode('unicode_escape').decode()}\n")
