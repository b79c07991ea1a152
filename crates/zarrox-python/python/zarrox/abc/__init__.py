"""The base classes for subclasses in programs, with the names of zarr-python 3."""
