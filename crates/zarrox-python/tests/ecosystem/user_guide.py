"""Runs the examples of one page of zarr-python 3's user guide. It is a program, for a separate process.

Usage: ``user_guide.py PAGE PACKAGE REPORT``. The package, zarrox or zarr, is imported under the name `zarr`. The
working directory should be empty. The report is JSON: for each example its line, its output, and its error, if any.
Examples of one session share their variables.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import pkgutil
import re
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

#: The opening line of an example, with its parts.
BLOCK = re.compile(r"^```python(?P<settings>[^\n]*)\n(?P<source>.*?)^```", re.MULTILINE | re.DOTALL)
SETTING = re.compile(r'(\w+)="([^"]*)"')


def stand_in() -> None:
    """Makes ``import zarr`` import Zarrox with all its modules."""
    root = importlib.import_module("zarrox")
    sys.modules["zarr"] = root
    for found in pkgutil.walk_packages(root.__path__, "zarrox."):
        if found.name.split(".")[1] not in ("__main__", "_native", "dask", "v2", "xarray", "zarr3"):
            sys.modules[found.name.replace("zarrox", "zarr", 1)] = importlib.import_module(found.name)


def examples(page: Path) -> list[tuple[int, str, str]]:
    """Returns the line, the session and the source of each example that the page runs."""
    text = page.read_text(encoding="utf-8")
    found = []
    for block in BLOCK.finditer(text):
        settings = dict(SETTING.findall(block["settings"]))
        if settings.get("exec") == "true":
            found.append((text.count("\n", 0, block.start()) + 1, settings.get("session", ""), block["source"]))
    return found


def run(source: str, names: dict[str, Any]) -> dict[str, str]:
    """Returns the output of an example, and the error that it raises."""
    printed, error = io.StringIO(), ""
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(compile(source, "<example>", "exec"), names)  # noqa: S102 (that is what examples are for)
        except Exception:
            error = traceback.format_exc(limit=-1)
    return {"printed": printed.getvalue(), "error": error}


def main(page: str, package: str, report: str) -> None:
    """Runs the examples of a page."""
    if package == "zarrox":
        stand_in()
    warnings.simplefilter("ignore")
    sessions: dict[str, dict[str, Any]] = {}
    results = []
    for line, session, source in examples(Path(page)):
        names = sessions.setdefault(session, {"__name__": "__main__"})
        results.append({"line": line, "source": source, **run(source, names)})
    Path(report).write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
