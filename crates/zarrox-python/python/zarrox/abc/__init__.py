"""The base classes that programs subclass, as zarr-python 3 has them."""
