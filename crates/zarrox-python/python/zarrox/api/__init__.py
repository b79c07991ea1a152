"""The functions of the package, as modules that zarr-python 3 has."""
