"""The command in the Python package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import zarrox


def test_the_module_runs_commands(tmp_path: Path) -> None:
    zarrox.save_array(tmp_path / "a.zarr", np.arange(1000))
    command = [sys.executable, "-m", "zarrox", "info", "a.zarr"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "(1000,)" in done.stdout
    missing = subprocess.run([*command[:-1], "b.zarr"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert missing.returncode == 3
    assert "b.zarr" in missing.stderr


def test_a_program_that_has_used_the_package_runs_commands(tmp_path: Path) -> None:
    program = (
        "import sys, zarrox; from zarrox.__main__ import main\n"
        "zarrox.create_array('a.zarr', shape=(7,), dtype='i4')\n"
        "sys.exit(main(['info', 'a.zarr']))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "(7,)" in done.stdout
