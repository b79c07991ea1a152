"""The exceptions of zarr-python 2."""

from zarrox.errors import (
    ArrayIndexError,
    ArrayNotFoundError,
    BadCompressorError,
    BoundsCheckError,
    ContainsArrayError,
    ContainsGroupError,
    CopyError,
    FSPathExistNotDir,
    GroupNotFoundError,
    MetadataError,
    NegativeStepError,
    PathNotFoundError,
    ReadOnlyError,
    VindexInvalidSelectionError,
)

__all__ = [
    "ArrayIndexError",
    "ArrayNotFoundError",
    "BadCompressorError",
    "BoundsCheckError",
    "ContainsArrayError",
    "ContainsGroupError",
    "CopyError",
    "FSPathExistNotDir",
    "GroupNotFoundError",
    "MetadataError",
    "NegativeStepError",
    "PathNotFoundError",
    "ReadOnlyError",
    "VindexInvalidSelectionError",
]
