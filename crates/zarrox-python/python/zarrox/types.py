"""Types for annotations, with the names of zarr-python 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from zarrox.core.array import Array
from zarrox.core.async_array import AsyncArray
from zarrox.core.dtype.common import DTypeConfig_V2, DTypeJSON

__all__ = [
    "JSON",
    "AnyArray",
    "AnyAsyncArray",
    "ArrayV2",
    "ArrayV3",
    "AsyncArrayV2",
    "AsyncArrayV3",
    "DTypeConfig_V2",
    "DTypeJSON",
    "ZarrFormat",
]

JSON: TypeAlias = str | int | float | Mapping[str, "JSON"] | Sequence["JSON"] | None
ZarrFormat: TypeAlias = Literal[2, 3]

AnyArray: TypeAlias = Array
ArrayV2: TypeAlias = Array
ArrayV3: TypeAlias = Array
AnyAsyncArray: TypeAlias = AsyncArray
AsyncArrayV2: TypeAlias = AsyncArray
AsyncArrayV3: TypeAlias = AsyncArray
