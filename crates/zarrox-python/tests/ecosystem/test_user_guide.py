"""The examples of zarr-python 3.4's user guide, run with Zarrox in its place.

All examples that the guide itself runs are run here. Examples that fail are listed with the reason, and the list is
exact.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

RELEASE = "zarr-3.4.2"
CACHE = Path(__file__).parents[4] / "target" / "corpora"
RUNNER = Path(__file__).with_name("user_guide.py")

NETWORK = "reads data in the cloud"
FILE_OBJECTS = "archives are files here, since Rust reads and writes them: objects of Python that are like files are not taken"

#: For each page the lines of the examples that fail, by reason.
DIFFERENCES: dict[str, dict[str, list[int]]] = {
    "quick-start": {},
    "user-guide/arrays": {},
    "user-guide/attributes": {},
    "user-guide/cli": {},
    "user-guide/config": {},
    "user-guide/consolidated_metadata": {},
    "user-guide/data_types": {},
    "user-guide/experimental": {},
    "user-guide/groups": {},
    "user-guide/performance": {},
    "user-guide/storage": {NETWORK: [26, 156, 211], FILE_OBJECTS: [139]},
}

#: The number of examples on each page.
EXAMPLES = 175


@pytest.fixture(scope="session")
def pages() -> Path:
    """Returns the pages of the guide, which are downloaded on the first run."""
    sources = CACHE / RELEASE
    if not sources.exists():
        archive = CACHE / f"{RELEASE}.tar.gz"
        command = ["download", "--quiet", "--no-deps", "--no-binary", "zarr", "--dest", str(CACHE), "zarr==3.4.2"]
        pip = subprocess.run([sys.executable, "-m", "pip", *command], capture_output=True, text=True, check=False)
        if not archive.exists():
            pytest.fail(f"{archive} is missing, and pip cannot download it from PyPI; is there a network?\n{pip.stderr}")
        with tarfile.open(archive) as packed:
            packed.extractall(CACHE, filter="data")
    return sources / "docs"


def run(page: Path, directory: Path) -> list[dict[str, Any]]:
    """Runs the examples of a page in an empty directory."""
    report, work = directory / "report.json", directory / "work"
    work.mkdir()
    program = [sys.executable, str(RUNNER), str(page), "zarrox", str(report)]
    finished = subprocess.run(program, cwd=work, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    results: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))
    return results


@pytest.mark.parametrize("name", sorted(DIFFERENCES))
def test_examples_run(name: str, pages: Path, tmp_path: Path) -> None:
    """Exactly the listed examples fail."""
    pytest.importorskip("rich")
    listed = {line for lines in DIFFERENCES[name].values() for line in lines}
    network = set(DIFFERENCES[name].get(NETWORK, ()))
    failed = {example["line"]: example for example in run(pages / f"{name}.md", tmp_path) if example["error"]}
    unlisted = ["line {line}: {source}{error}".format(**example) for line, example in failed.items() if line not in listed]
    assert not unlisted, "these fail and are not listed:\n" + "\n".join(unlisted)
    assert listed - network <= set(failed), f"these run and are listed: {sorted(listed - network - set(failed))}"


def test_no_page_is_forgotten(pages: Path) -> None:
    """Every page with examples is run."""
    found = {os.fspath(page.relative_to(pages).with_suffix("")): page for page in pages.glob("**/*.md")}
    counts = {name: page.read_text(encoding="utf-8").count('exec="true"') for name, page in found.items()}
    counted = {name: count for name, count in counts.items() if count and name.split("/")[0] in ("quick-start", "user-guide")}
    assert set(counted) == set(DIFFERENCES)
    assert sum(counted.values()) >= EXAMPLES
