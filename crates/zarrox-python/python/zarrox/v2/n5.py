"""Hierarchies of N5, as zarr-python 2 has them."""

from zarrox.storage.n5 import (
    N5_FORMAT,
    N5ChunkWrapper,
    N5FSStore,
    N5Store,
    array_metadata_to_n5,
    array_metadata_to_zarr,
    attrs_to_zarr,
    compressor_config_to_n5,
    compressor_config_to_zarr,
    group_metadata_to_n5,
    group_metadata_to_zarr,
    invert_chunk_coords,
    is_chunk_key,
    n5_attrs_key,
    n5_keywords,
    zarr_to_n5_keys,
)

__all__ = [
    "N5_FORMAT",
    "N5ChunkWrapper",
    "N5FSStore",
    "N5Store",
    "array_metadata_to_n5",
    "array_metadata_to_zarr",
    "attrs_to_zarr",
    "compressor_config_to_n5",
    "compressor_config_to_zarr",
    "group_metadata_to_n5",
    "group_metadata_to_zarr",
    "invert_chunk_coords",
    "is_chunk_key",
    "n5_attrs_key",
    "n5_keywords",
    "zarr_to_n5_keys",
]

# Classes are called by the name under which users find them.
for _class in (N5ChunkWrapper, N5FSStore, N5Store):
    _class.__module__ = __name__
del _class
