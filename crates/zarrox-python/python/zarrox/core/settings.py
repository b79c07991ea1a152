"""Settings of arrays and groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarrox.storage import BaseStore

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """The settings with which a node was opened. Views of a node and the nodes below it share them.

    Attributes
    ----------
    chunk_store : BaseStore or None
        The store of chunks, if it differs from the store of the metadata.
    synchronizer : object
        The locks of writers: ``synchronizer[key]``.
    read_only : bool or None
        True if writing is rejected; ``None`` for the setting of the native node.
    cache_metadata, cache_attrs : bool
        True if metadata and attributes are read once, instead of before each access.
    write_empty_chunks : bool
        True if chunks that hold only the fill value are stored.
    read_missing_chunks : bool
        True if missing chunks are read as the fill value; otherwise they are an error.
    order : str or None
        The order of elements in memory; ``None`` for the stored order.
    partial_decompress : bool
        No effect: parts of chunks are always read separately if the codecs allow it.
    meta_array : object
        An array of the class that reads return.
    consolidated : bool
        True if a group was opened with consolidated metadata.
    """

    chunk_store: BaseStore | None = None
    synchronizer: Any = None
    read_only: bool | None = None
    cache_metadata: bool = True
    cache_attrs: bool = True
    write_empty_chunks: bool = False
    read_missing_chunks: bool = True
    order: str | None = None
    partial_decompress: bool = False
    meta_array: Any = None
    consolidated: bool = False

    def with_(self, **changes: Any) -> Settings:
        """Returns the settings with some of them changed."""
        return replace(self, **changes)
