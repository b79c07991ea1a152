"""Names in stores: the keys of version 2 documents, and the paths of nodes."""

from __future__ import annotations

import re

from zarrox.argument_types import PathArgument

__all__ = ["array_meta_key", "attrs_key", "group_meta_key", "normalize_storage_path"]

array_meta_key = ".zarray"
"""The last part of the key of an array's metadata in version 2."""
group_meta_key = ".zgroup"
"""The last part of the key of a group's metadata in version 2."""
attrs_key = ".zattrs"
"""The last part of the key of a node's attributes in version 2."""

meta_root = "meta/root/"
"""The beginning of the keys of documents in the experimental version 3 of zarr-python 2."""
data_root = "data/root/"
"""The beginning of the keys of chunks in that version."""

DOCUMENTS = frozenset({array_meta_key, group_meta_key, attrs_key})

NUMBER = re.compile(r"^\d+$")
"""A part of a chunk key with the separator ``/``."""


def experimental_key(path: str, kind: str) -> str:
    """Returns the key of the document of a node in the experimental version 3; ``kind`` is ``array`` or ``group``."""
    return f"{meta_root}{path}.{kind}.json" if path else f"{meta_root.rstrip('/')}.{kind}.json"


def normalize_storage_path(path: PathArgument) -> str:
    r"""Returns the normalized path of a node.

    Parameters
    ----------
    path : str, bytes or None
        The path. Backslashes count as slashes; leading, trailing and repeated slashes are dropped.

    Returns
    -------
    str
        Names separated by single slashes; empty for the root.

    Raises
    ------
    ValueError
        If a name is ``.`` or ``..``.

    Examples
    --------
    >>> from zarrox.storage import normalize_storage_path
    >>> normalize_storage_path("/foo//bar\\baz/")
    'foo/bar/baz'
    """
    if path is None:
        return ""
    text = path.decode("ascii") if isinstance(path, bytes) else str(path)
    names = [name for name in text.replace("\\", "/").split("/") if name]
    if "." in names or ".." in names:
        raise ValueError(f"the path '{text}' has a part '.' or '..': write the path from the root of the store")
    return "/".join(names)


def prefix_of(path: str) -> str:
    """Returns the prefix of the keys below a node."""
    return f"{path}/" if path else ""


def is_key(text: str) -> bool:
    """Returns true if a string is a valid key."""
    names = text.split("/")
    return not ("\\" in text or "\0" in text or "" in names or "." in names or ".." in names)
