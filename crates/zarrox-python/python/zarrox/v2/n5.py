"""Hierarchies of N5, as zarr-python 2 has them."""

from zarrox.storage.n5 import *  # noqa: F403
from zarrox.storage.n5 import __all__ as __all__
from zarrox.storage.n5 import N5ChunkWrapper, N5FSStore, N5Store

# Classes are called by the name under which users find them.
for _class in (N5ChunkWrapper, N5FSStore, N5Store):
    _class.__module__ = __name__
del _class
