"""Groups and their metadata, under the module name from which the user guide of zarr-python 3 takes them."""

from zarrox.hierarchy import AsyncGroup, ConsolidatedMetadata, Group, GroupMetadata

__all__ = ["AsyncGroup", "ConsolidatedMetadata", "Group", "GroupMetadata"]
