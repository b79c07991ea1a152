"""Compares the outcomes of `stand_in.py` with the list of the tests that do not pass.

    ZARROX_OUTCOMES=FILE python stand_in.py zarrox.v2 DIRECTORY -p outcomes
    python compare.py FILE LIST

The plug-in `outcomes.py`, in this folder, writes FILE. Each line of LIST is a pattern, `test_file.py::name`, in which `*` matches any text;
comments above the patterns give the reasons. A failed test that no pattern matches is an error, and so is a pattern that matches no failed
test.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def patterns(text: str) -> dict[str, re.Pattern[str]]:
    """Returns the patterns of a list."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {line: re.compile(".*".join(map(re.escape, line.split("*")))) for line in lines}


def failures(text: str) -> set[str]:
    """Returns the names of the failed tests among outcomes."""
    failed = [line.split("\t")[0].removeprefix("failed ") for line in text.splitlines() if line.startswith("failed ")]
    return {name.rpartition("tests_of_zarr/")[2] for name in failed}


def main(outcomes: str, expected: str) -> int:
    text = Path(outcomes).read_text(encoding="utf-8")
    failed, listed = failures(text), patterns(Path(expected).read_text(encoding="utf-8"))
    passed = sum(line.startswith("passed ") for line in text.splitlines())
    unlisted = sorted(name for name in failed if not any(pattern.fullmatch(name) for pattern in listed.values()))
    unused = [line for line, pattern in listed.items() if not any(map(pattern.fullmatch, failed))]
    print(f"{passed} passed, {len(failed)} failed")
    for name in unlisted:
        print(f"fails, and is not listed: {name}")
    for line in unused:
        print(f"is listed, and does not fail: {line}")
    return 1 if unlisted or unused else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
