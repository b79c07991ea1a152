"""Writes the cases of `chains.py` with the versions in README.md."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import chains  # noqa: E402

chains.with_zarr_2(__file__)
