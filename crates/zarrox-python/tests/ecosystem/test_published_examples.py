"""The examples that zarr-python 2.11 publishes, run with Zarrox in its place.

All of them are run: the examples of the tutorial, of the specification and of the API reference. Examples with another
output are listed here with the reason, and the list is exact: an example with the expected output may not be in it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pytest

RELEASE = "zarr-2.11.0"
CACHE = Path(__file__).parents[4] / "target" / "corpora"
RUNNER = Path(__file__).with_name("published_examples.py")

#: For each document the lines of the examples with another output, by reason.
DIFFERENCES: dict[str, dict[str, list[int]]] = {
    "docs/tutorial.rst": {
        "bytes stored depend on the versions of the compressors": [170, 389, 1271, 1285],
        "snappy is no longer among Blosc's compressors, in numcodecs": [195],
        "the values have been changed by an example before": [527, 529],
        "bytes stored, of an array from before `dimension_separator` was written": [799],
        "prints times": [1358],
        "a quotation mark is missing": [1395, 1403],
        "stores into the existing array, since the line before is broken": [1396],
    },
    "docs/spec/v2.rst": {},
    "docs/api/codecs.rst": {},
    "zarr/convenience.py": {},
    "zarr/core.py": {},
    "zarr/creation.py": {},
    "zarr/hierarchy.py": {},
    "zarr/n5.py": {},
    "zarr/storage.py": {},
}

#: The number of examples in the tutorial that can be run, and the number of those that zarr-python 2.11 itself passes.
TUTORIAL_EXAMPLES = 346
TUTORIAL_AGREES = 326


@pytest.fixture(scope="session")
def documents() -> Path:
    """Returns the sources of zarr-python 2.11, which are downloaded on the first run."""
    sources = CACHE / RELEASE
    if sources.exists():
        return sources
    archive = CACHE / f"{RELEASE}.tar.gz"
    command = ["download", "--quiet", "--no-deps", "--no-binary", "zarr", "--dest", str(CACHE), "zarr==2.11.0"]
    pip = subprocess.run([sys.executable, "-m", "pip", *command], capture_output=True, text=True, check=False)
    if not archive.exists():
        pytest.fail(f"{archive} is missing, and pip cannot download it from PyPI; is there a network?\n{pip.stderr}")
    with tarfile.open(archive) as packed:
        packed.extractall(CACHE, filter="data")
    return sources


def run(document: Path, report: Path) -> list[dict[str, Any]]:
    """Runs the examples of a document in an empty directory.

    The path of the directory is short, since an example prints the size of a pickle that contains the path.
    """
    program = [sys.executable, str(RUNNER), str(document), str(report)]
    with tempfile.TemporaryDirectory() as work:
        finished = subprocess.run(program, cwd=work, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    results: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))
    return results


def told(example: dict[str, Any]) -> str:
    """Returns an example as readable text."""
    return "line {line}: {source}    wanted: {want!r}\n    got:    {got!r}".format(**example)


@pytest.mark.parametrize("name", sorted(DIFFERENCES))
def test_examples_agree(name: str, documents: Path, tmp_path: Path) -> None:
    """Exactly the listed examples differ."""
    results = run(documents / name, tmp_path / "report.json")
    listed = {line for lines in DIFFERENCES[name].values() for line in lines}
    assert len(listed) == sum(map(len, DIFFERENCES[name].values())), "an example is listed twice"
    differs = {example["line"]: example for example in results if not example["agrees"]}
    unlisted = [told(example) for line, example in differs.items() if line not in listed]
    assert not unlisted, "these differ and are not listed:\n" + "\n".join(unlisted)
    assert listed <= set(differs), f"these agree and are listed: {sorted(listed - set(differs))}"
    assert results
    if name.endswith("tutorial.rst"):
        assert len(results) == TUTORIAL_EXAMPLES
        assert len(results) - len(differs) >= TUTORIAL_AGREES


def test_no_document_is_forgotten(documents: Path) -> None:
    """Every published document with examples is run, except the document of format 1, which zarr-python 2 does not
    write either."""
    pages = [*documents.glob("docs/**/*.rst"), *documents.glob("zarr/*.py")]
    having = {os.fspath(page.relative_to(documents)) for page in pages if ">>> " in page.read_text(encoding="utf-8")}
    assert having - {"docs/spec/v1.rst"} == set(DIFFERENCES)
