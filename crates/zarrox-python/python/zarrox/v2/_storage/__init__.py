"""The modules of zarr-python 2.13 to 2.18 for base classes of stores, and for the stores of its experimental version
3."""
