"""Groups and their metadata, under the module name of the user guide of zarr-python 3."""

from zarrox.hierarchy import AsyncGroup, ConsolidatedMetadata, Group, GroupMetadata

__all__ = ["AsyncGroup", "ConsolidatedMetadata", "Group", "GroupMetadata"]
