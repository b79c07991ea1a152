"""Groups, and functions that open and create them."""

from zarrox.hierarchy._nodes import ConsolidatedMetadata, GroupMetadata
from zarrox.hierarchy._group import Group
from zarrox.hierarchy._async_group import AsyncGroup
from zarrox.hierarchy._open import create_group, create_hierarchy, group, open_group

__all__ = ["AsyncGroup", "ConsolidatedMetadata", "Group", "GroupMetadata", "create_group", "create_hierarchy", "group", "open_group"]

# Public names belong to this module, not to the private ones that define them.
for _public in (ConsolidatedMetadata, Group, GroupMetadata, create_group, create_hierarchy, group, open_group):
    _public.__module__ = __name__
del _public
