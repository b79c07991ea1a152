"""Asynchronous groups with the interface of zarr-python 3. A blocking group does the work on other threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarrox.core.awaiting import Awaited, kinds, later, one_by_one, same
from zarrox.waiting import run
from zarrox.hierarchy._group import Group

if TYPE_CHECKING:
    from zarrox.hierarchy._nodes import GroupMetadata

__all__ = ["AsyncGroup"]


class AsyncGroup(Awaited):
    """A group with asynchronous methods for reading and writing, which do not block the event loop.

    The functions of `zarrox.api.asynchronous` return such groups.

    Examples
    --------
    >>> import asyncio, zarrox as zarr
    >>> async def main():
    ...     root = await zarr.api.asynchronous.create_group({})
    ...     await root.create_array("a", shape=3, dtype="i4")
    ...     return [name async for name, _ in root.members()]
    >>> asyncio.run(main())
    ['a']
    """

    __slots__ = ()

    _blocking: Group

    def __init__(self, metadata: GroupMetadata, store_path: Any) -> None:
        self._blocking = Group.from_dict(store_path, metadata)

    @classmethod
    async def from_store(cls, store: Any, **kwargs: Any) -> AsyncGroup:
        """Create a group at the root of a store."""
        return cls.of(await run(Group.from_store, store, **kwargs))

    @classmethod
    async def open(cls, store: Any, zarr_format: int | None = 3, use_consolidated: bool | str | None = None) -> AsyncGroup:
        """Open the group at the root of a store."""
        return cls.of(await run(Group.open, store, zarr_format=zarr_format, use_consolidated=use_consolidated))

    @classmethod
    def from_dict(cls, store_path: Any, data: dict[str, Any]) -> AsyncGroup:
        """Returns the group with the metadata in a mapping."""
        return cls.of(Group.from_dict(store_path, data))

    synchronizer = same("synchronizer")

    getitem = later("__getitem__")
    setitem = later("__setitem__")
    delitem = later("__delitem__")
    get = later("get")
    get_array = later("get_array")
    get_group = later("get_group")
    contains = later("__contains__")
    create_group = later("create_group")
    require_group = later("require_group")
    require_groups = later("require_groups")
    create_array = later("create_array")
    require_array = later("require_array")
    empty = later("empty")
    zeros = later("zeros")
    ones = later("ones")
    full = later("full")
    empty_like = later("empty_like")
    zeros_like = later("zeros_like")
    ones_like = later("ones_like")
    full_like = later("full_like")
    move = later("move")
    tree = later("tree")
    nmembers = later("nmembers")

    keys = one_by_one("keys")
    members = one_by_one("members")
    groups = one_by_one("groups")
    group_keys = one_by_one("group_keys")
    group_values = one_by_one("group_values")
    arrays = one_by_one("arrays")
    array_keys = one_by_one("array_keys")
    array_values = one_by_one("array_values")
    create_hierarchy = one_by_one("create_hierarchy")

    def __repr__(self) -> str:
        return f"<AsyncGroup {self.store_path}>"


AsyncGroup.__module__ = "zarrox"
kinds[Group] = AsyncGroup
