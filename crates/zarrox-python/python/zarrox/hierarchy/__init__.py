"""Groups of arrays, and how they are opened and created."""

from zarrox.hierarchy._nodes import ConsolidatedMetadata, GroupMetadata
from zarrox.hierarchy._group import Group
from zarrox.hierarchy._async_group import AsyncGroup
from zarrox.hierarchy._open import create_group, create_hierarchy, group, open_group

__all__ = ["AsyncGroup", "ConsolidatedMetadata", "Group", "GroupMetadata", "create_group", "create_hierarchy", "group", "open_group"]

# What is public has its home here, not in the files that it is spread over.
for _public in (ConsolidatedMetadata, Group, GroupMetadata, create_group, create_hierarchy, group, open_group):
    _public.__module__ = __name__
del _public
