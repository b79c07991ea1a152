"""The base classes of stores, and the names of documents, in zarr-python 2.13 to 2.18."""

from __future__ import annotations

from zarrox.core.formats import v3_api_available as v3_api_available
from zarrox.storage.base import BaseStore
from zarrox.storage.paths import array_meta_key, attrs_key, data_root, group_meta_key, meta_root

__all__ = ["BaseStore", "Store", "StoreV3", "array_meta_key", "attrs_key", "data_root", "group_meta_key", "meta_root"]

Store = BaseStore

DEFAULT_ZARR_VERSION = 2
"""The default version of nodes."""


Keys = list[str]
"""Keys, or prefixes of keys."""


class StoreV3(BaseStore):
    """A store whose nodes have the experimental version 3 of zarr-python 2.13 to 2.18."""

    _store_version = 3
    _format = "v3-experimental"
    _attributes_member = "attributes"

    def list(self) -> Keys:
        """Returns all keys."""
        return list(self.keys())

    def list_prefix(self, prefix: str) -> Keys:
        """Returns the keys that begin with a prefix.

        Raises
        ------
        ValueError
            If the prefix begins with a slash.
        """
        if prefix.startswith("/"):
            raise ValueError("prefix must not begin with /")
        return [key for key in self.keys() if key.startswith(prefix)]

    def list_dir(self, prefix: str) -> tuple[Keys, Keys]:
        """Returns the keys directly below a prefix, and the prefixes directly below it."""
        keys = self.list_prefix(prefix)
        below = [(key, key[len(prefix) :].partition("/")) for key in keys]
        inner = {prefix + name + "/" for _, (name, slash, _) in below if slash}
        return [key for key, (_, slash, _) in below if not slash], sorted(inner)

    def erase(self, key: str) -> None:
        """Deletes a value."""
        del self[key]

    def erase_prefix(self, prefix: str) -> None:
        """Deletes the values whose keys begin with a prefix."""
        for key in self.list_prefix(prefix.removeprefix("/")):
            del self[key]
