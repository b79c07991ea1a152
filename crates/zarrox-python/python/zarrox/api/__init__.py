"""The functions of the package, organized in modules as in zarr-python 3."""
