"""The exceptions of Zarrox.

Each is a subclass of the corresponding exception of zarr-python 2 or 3, or of Python itself, so that existing ``except`` clauses catch
it.
"""

from __future__ import annotations

__all__ = [
    "ArrayIndexError",
    "ArrayNotFoundError",
    "BadConfigError",
    "BadCompressorError",
    "BaseZarrError",
    "BoundsCheckError",
    "ChunkNotFoundError",
    "ConflictError",
    "ContainsArrayAndGroupError",
    "ContainsArrayError",
    "ContainsGroupError",
    "ContainsNodeError",
    "CopyError",
    "CorruptDataError",
    "DataTypeMismatchError",
    "DataTypeValidationError",
    "FSPathExistNotDir",
    "GroupNotFoundError",
    "MetadataError",
    "MetadataValidationError",
    "NameNotFoundError",
    "NegativeStepError",
    "NodeNotFoundError",
    "NodeTypeValidationError",
    "PathNotFoundError",
    "PickleCodecDisabledError",
    "ReadOnlyError",
    "SelectionError",
    "StoreUnreachableError",
    "UnknownCodecError",
    "UnstableSpecificationWarning",
    "UnsupportedError",
    "VindexInvalidSelectionError",
    "ZarrDeprecationWarning",
    "ZarrFutureWarning",
    "ZarrRuntimeWarning",
    "ZarrUserWarning",
]


class BaseZarrError(ValueError):
    """The base class of all errors about nodes.

    Parameters
    ----------
    *args
        The message, or the arguments of the message of the class.
    """

    _msg = "{}"

    def __init__(self, *args: object) -> None:
        super().__init__(*(args if len(args) < 2 else (self._msg.format(*args),)))


class NodeNotFoundError(BaseZarrError, FileNotFoundError, KeyError):
    """No node exists at the path."""

    __str__ = ValueError.__str__


class ArrayNotFoundError(NodeNotFoundError):
    """No array exists at the path."""

    _msg = "No array found in store {!r} at path {!r}"


class GroupNotFoundError(NodeNotFoundError):
    """No group exists at the path."""

    _msg = "No group found in store {!r} at path {!r}"


class PathNotFoundError(NodeNotFoundError):
    """No node exists at the path."""


class NameNotFoundError(BaseZarrError, KeyError):
    """A variable does not exist, or an array lacks dimension names that xarray needs."""

    __str__ = ValueError.__str__


class ContainsNodeError(BaseZarrError, FileExistsError):
    """A node already exists, and overwriting was not requested."""

    __str__ = ValueError.__str__


class ContainsArrayError(ContainsNodeError):
    """An array already exists."""

    _msg = "An array exists in store {!r} at path {!r}."


class ContainsGroupError(ContainsNodeError):
    """A group already exists."""

    _msg = "A group exists in store {!r} at path {!r}."


class ContainsArrayAndGroupError(ContainsNodeError):
    """Both an array and a group exist at the path."""

    _msg = (
        "Array and group metadata documents (.zarray and .zgroup) were both found in store {!r} at path {!r}. Only one of these files "
        "may be present in a given directory / prefix. Remove the .zarray file, or the .zgroup file, or both."
    )


class MetadataError(BaseZarrError):
    """The document violates the rules of its format."""


class MetadataValidationError(MetadataError):
    """The document violates the rules of its format (zarr-python 3's name)."""

    _msg = "Invalid value for '{}'. Expected '{}'. Got '{}'."


class NodeTypeValidationError(MetadataValidationError):
    """The document belongs to a different kind of node."""


class BadCompressorError(BaseZarrError, TypeError):
    """The argument for a compressor is not a codec."""


class FSPathExistNotDir(BaseZarrError, NotADirectoryError):
    """The path is a file, but a directory is required."""

    __str__ = ValueError.__str__


class CopyError(RuntimeError):
    """Something already exists at the destination of a copy."""


class ReadOnlyError(PermissionError, TypeError, ValueError):
    """The node or store was opened for reading only."""

    def __init__(self, message: str = "object is read-only") -> None:
        super().__init__(message)


class SelectionError(IndexError):
    """The selection does not fit the array."""


class ArrayIndexError(SelectionError):
    """The selection does not fit the array (zarr-python 3's name)."""


class BoundsCheckError(SelectionError):
    """The index is outside the array."""


class NegativeStepError(SelectionError):
    """The step must be positive."""


class VindexInvalidSelectionError(SelectionError):
    """The selection is neither coordinates nor a mask."""


class UnsupportedError(NotImplementedError, ValueError):
    """The library, or the target format, does not support the feature."""


class DataTypeMismatchError(TypeError, ValueError):
    """The data type of the values is incompatible with the array."""


class CorruptDataError(RuntimeError, ValueError):
    """Stored bytes are damaged: truncated, altered, or inconsistent with the metadata."""


class ConflictError(RuntimeError):
    """Another program or thread changed the same object at the same time."""


class StoreUnreachableError(ConnectionError, RuntimeError):
    """The storage could not be reached, or failed."""


class ZarrUserWarning(UserWarning):
    """A warning for users."""


class DataTypeValidationError(ValueError):
    """The JSON or native data type does not belong to the class."""


class BadConfigError(ValueError):
    """A setting names something that does not exist."""


class ChunkNotFoundError(BaseZarrError):
    """A chunk is missing, and the setting ``array.read_missing_chunks`` makes this an error."""


class PickleCodecDisabledError(BaseZarrError):
    """Pickled elements are read only if the setting ``array.allow_unsafe_pickle_decode`` allows it, since unpickling
    can run any code."""


class UnknownCodecError(BaseZarrError):
    """No codec has this id."""

    def __init__(self, codec_id: object, message: str | None = None) -> None:
        self.codec_id = codec_id
        super().__init__(
            message
            or f"codec not available: '{codec_id}'; register a class that has it with zarrox.v2.codecs.register_codec, or "
            "install the package that offers it to numcodecs, and numcodecs itself"
        )


class UnstableSpecificationWarning(FutureWarning):
    """The specification of written data may change. The package never issues this warning; programs filter by the class."""


class ZarrDeprecationWarning(DeprecationWarning):
    """A feature will be removed. The package never issues this warning; programs filter by the class."""


class ZarrFutureWarning(FutureWarning):
    """The behavior of a feature will change. The package never issues this warning; programs filter by the class."""


class ZarrRuntimeWarning(RuntimeWarning):
    """A feature does not behave as expected. The package never issues this warning; programs filter by the class."""
