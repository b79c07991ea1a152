"""The modules that contain the base classes of stores, and the stores for the experimental version 3, in zarr-python 2.13 to 2.18."""
