"""The modules in which zarr-python 2.13 to 2.18 has base classes of stores, and the stores of its experimental version 3."""
