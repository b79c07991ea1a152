"""Random operations on arrays and hierarchies, each done twice: by Zarrox, and on NumPy arrays in a dictionary.

An operation is a piece of Python that both understand (`operations` writes them): for one of them ``zarr`` is the package,
for the other it is `reference`, which keeps everything in memory and knows nothing of chunks. After each operation `runner`
compares what both have; from those that end in a difference it leaves out what is not needed, and prints a script.
"""
