"""Random operations on arrays and hierarchies, each run twice: by Zarrox, and on NumPy arrays in a dictionary.

An operation is Python code that runs on both sides (`operations` generates it). On one side, ``zarr`` is the package;
on the other side, it is `reference`, which keeps everything in memory and has no chunks. After each operation, `runner`
compares both sides. If they differ, it removes the operations that are not needed for the difference, and prints a
script.
"""
