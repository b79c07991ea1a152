"""N5 hierarchies, with the interface of zarr-python 2."""

from zarrox.storage.n5 import *  # noqa: F403
from zarrox.storage.n5 import __all__ as __all__
from zarrox.storage.n5 import N5ChunkWrapper, N5FSStore, N5Store

# Classes have the module name under which users find them.
for _class in (N5ChunkWrapper, N5FSStore, N5Store):
    _class.__module__ = __name__
del _class
