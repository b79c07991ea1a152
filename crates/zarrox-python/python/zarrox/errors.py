"""The exceptions of Zarrox.

Each is a subclass of what zarr-python 2 or 3 raises, or of Python's own exception, so that programs which catch those go on working.
"""

from __future__ import annotations

__all__ = [
    "ArrayIndexError",
    "ArrayNotFoundError",
    "BadCompressorError",
    "BaseZarrError",
    "BoundsCheckError",
    "ConflictError",
    "ContainsArrayAndGroupError",
    "ContainsArrayError",
    "ContainsGroupError",
    "ContainsNodeError",
    "CopyError",
    "CorruptDataError",
    "DataTypeMismatchError",
    "FSPathExistNotDir",
    "GroupNotFoundError",
    "MetadataError",
    "MetadataValidationError",
    "NegativeStepError",
    "NodeNotFoundError",
    "NodeTypeValidationError",
    "PathNotFoundError",
    "ReadOnlyError",
    "SelectionError",
    "StoreUnreachableError",
    "UnsupportedError",
    "VindexInvalidSelectionError",
    "ZarrUserWarning",
]


class BaseZarrError(ValueError):
    """The base class of all errors about nodes."""


class NodeNotFoundError(BaseZarrError, FileNotFoundError, KeyError):
    """There is no array and no group at a path."""

    __str__ = ValueError.__str__


class ArrayNotFoundError(NodeNotFoundError):
    """There is no array at a path."""


class GroupNotFoundError(NodeNotFoundError):
    """There is no group at a path."""


class PathNotFoundError(NodeNotFoundError):
    """There is nothing at a path."""


class ContainsNodeError(BaseZarrError, FileExistsError):
    """There is a node already, and overwriting was not asked for."""

    __str__ = ValueError.__str__


class ContainsArrayError(ContainsNodeError):
    """There is an array already."""


class ContainsGroupError(ContainsNodeError):
    """There is a group already."""


class ContainsArrayAndGroupError(ContainsNodeError):
    """A path holds an array and a group."""


class MetadataError(BaseZarrError):
    """A document breaks the rules of its format."""


class MetadataValidationError(MetadataError):
    """A document breaks the rules of its format (zarr-python 3's name)."""


class NodeTypeValidationError(MetadataValidationError):
    """A document is one of another kind of node."""


class BadCompressorError(BaseZarrError, TypeError):
    """The object that was given as a compressor is none."""


class FSPathExistNotDir(BaseZarrError, NotADirectoryError):
    """A path is a file where a directory is needed."""

    __str__ = ValueError.__str__


class CopyError(RuntimeError):
    """Something is there already where a copy should be."""


class ReadOnlyError(PermissionError, TypeError, ValueError):
    """The object was opened for reading only."""

    def __init__(self, message: str = "object is read-only") -> None:
        super().__init__(message)


class SelectionError(IndexError):
    """A selection does not fit the array."""


class ArrayIndexError(SelectionError):
    """A selection does not fit the array (zarr-python 3's name)."""


class BoundsCheckError(SelectionError):
    """An index lies outside of the array."""


class NegativeStepError(SelectionError):
    """A step that is not positive, where only positive ones are possible."""


class VindexInvalidSelectionError(SelectionError):
    """A selection that is neither coordinates nor a mask."""


class UnsupportedError(NotImplementedError, ValueError):
    """A feature that this library, or the format that is written, does not have."""


class DataTypeMismatchError(TypeError, ValueError):
    """Values are of a type that the array cannot hold."""


class CorruptDataError(RuntimeError, ValueError):
    """Stored bytes are damaged: truncated, altered, or not what the metadata says."""


class ConflictError(RuntimeError):
    """Somebody else changed the same thing at the same time."""


class StoreUnreachableError(ConnectionError, RuntimeError):
    """The storage could not be reached, or failed."""


class ZarrUserWarning(UserWarning):
    """A warning that users should read."""
