"""Writes `hexdigests.json`: the results of `Array.hexdigest` of zarr-python 2 for the arrays of the corpus that it has written.

`README.md` has the commands.
"""

import json
import sys
import tarfile
import tempfile
from pathlib import Path

import zarr

CORPUS = Path(__file__).parent.parent / "corpus"
WRITERS = ["zarr-python/2.11", "zarr-python/2.18", "numcodecs/0.15"]

found = {}
for writer in WRITERS:
    with tempfile.TemporaryDirectory() as directory, tarfile.open(CORPUS / writer / "data.tar.xz") as archive:
        archive.extractall(directory, filter="data")
        data = Path(directory, "data")
        documents = [document for document in data.rglob(".zarray") if '"pickle"' not in document.read_text()]
        arrays = sorted(document.parent for document in documents)
        digests = found[writer] = {}
        for array in arrays:
            try:
                digests[str(array.relative_to(data))] = zarr.open_array(str(array), mode="r").hexdigest()
            except Exception as error:
                print(f"{array}: {error}", file=sys.stderr)
Path(__file__).with_name("hexdigests.json").write_text(json.dumps(found, indent=1) + "\n")
