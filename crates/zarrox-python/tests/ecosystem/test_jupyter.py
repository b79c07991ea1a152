"""Arrays in notebooks that run in Jupyter's kernel."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook


@pytest.mark.filterwarnings("ignore")
def test_a_notebook_shows_the_page_of_an_array_until_its_kernel_ends(tmp_path: Path) -> None:
    """The last value of a cell is shown as a frame, whose page responds while the kernel runs."""
    cells = ["import zarrox as zarr\nz = zarr.zeros((20, 30), chunks=10, dtype='u1')\nz[3] = 5", "z.show(height=250)"]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    client = NotebookClient(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    with client.setup_kernel():
        for number, cell in enumerate(notebook.cells):
            client.execute_cell(cell, number)
        (output,) = notebook.cells[1].outputs
        html = output.data["text/html"]
        frame = re.fullmatch(r'<iframe src="(http://127\.0\.0\.1:\d+/t/\w+/)#/memory" .*height="250".*></iframe>', html)
        assert frame, html
        with urllib.request.urlopen(f"{frame[1]}api/v1/slice/memory?select=2:5,7&as=json", timeout=30) as answer:
            assert json.load(answer)["values"] == [0, 5, 0]
        nbformat.validate(notebook)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(frame[1], timeout=30)
