"""The types of arguments that many functions take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy.typing as npt

if TYPE_CHECKING:
    import numpy as np
    from zarr.abc.store import Store as ZarrPythonStore

    from zarrox.abc.store import Store

__all__ = ["ChunksLike", "DTypeLike", "PathArgument", "ShapeLike", "StoreArgument"]


class DataType(Protocol):
    """A data type object, such as a `zarrox.core.dtype.ZDType`."""

    def to_native_dtype(self) -> Any:
        """Returns the NumPy dtype."""
        ...


StoreArgument: TypeAlias = "Store | ZarrPythonStore | MutableMapping[str, Any] | str | PathLike[str] | None"
"""A store of this package or of zarr-python, a mapping from keys to bytes, a path or a URL; ``None`` is a new store in
memory."""

PathArgument: TypeAlias = str | bytes | PathLike[str] | None
"""The path of a node in a store; ``None`` is the root."""

ShapeLike: TypeAlias = "int | np.integer[Any] | Iterable[int | np.integer[Any]]"
"""The length of the only dimension, or the length of each dimension."""

ChunksLike: TypeAlias = (
    "bool | int | np.integer[Any] | str | Sequence[int | np.integer[Any] | Iterable[int] | None] | Mapping[str, Any] | None"
)
"""The chunk shape (``None`` and -1 are whole dimensions, lists are rectilinear chunks), a ``chunk_grid`` of v3, or a
rule for guessing."""

DTypeLike: TypeAlias = "npt.DTypeLike | DataType | Mapping[str, Any] | None"
"""A data type of NumPy, of zarr-python or of the metadata."""
