"""The functions of the package, in the modules of zarr-python 3."""
