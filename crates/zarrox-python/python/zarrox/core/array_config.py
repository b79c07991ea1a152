"""The settings of arrays, which are not stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, TypeAlias

from zarrox.config import config

__all__ = ["ArrayConfig", "ArrayConfigLike", "parse_array_config"]


@dataclass(frozen=True)
class ArrayConfig:
    """The settings of an array, which are not stored.

    Attributes
    ----------
    order : {'C', 'F'}
        The order of elements in chunks.
    write_empty_chunks : bool
        Whether chunks that hold only the fill value are stored.
    read_missing_chunks : bool
        Whether a missing chunk is read as the fill value or is an error.
    sharding_coalesce_max_gap_bytes, sharding_coalesce_max_bytes : int
        No effect: the kind of store determines how ranges are joined.
    """

    order: Literal["C", "F"]
    write_empty_chunks: bool
    read_missing_chunks: bool = True
    sharding_coalesce_max_gap_bytes: int = 1 << 20
    sharding_coalesce_max_bytes: int = 16 << 20

    def __post_init__(self) -> None:
        if self.order not in ("C", "F"):
            raise ValueError(f"Expected one of ('C', 'F'), got {self.order} instead.")
        for name in ("write_empty_chunks", "read_missing_chunks"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"Expected instance of bool for {name}, got {getattr(self, name)!r}.")
        for name in ("sharding_coalesce_max_gap_bytes", "sharding_coalesce_max_bytes"):
            if not isinstance(getattr(self, name), int):
                raise TypeError(f"Expected int, got {type(getattr(self, name))} instead.")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ArrayConfig:
        """Returns the settings in a mapping. Missing settings are taken from `zarrox.config`."""
        names = [each.name for each in fields(cls)]
        unknown = sorted(data.keys() - set(names))
        if unknown:
            raise TypeError(f"Unknown array config keys: {unknown}. Valid keys are {names}.")
        return cls(**{name: data[name] if name in data else config[f"array.{name}"] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Returns the settings as a mapping."""
        return asdict(self)


ArrayConfigLike: TypeAlias = ArrayConfig | Mapping[str, Any]


def parse_array_config(data: ArrayConfigLike | None) -> ArrayConfig:
    """Returns the settings for an argument."""
    if isinstance(data, Mapping) or data is None:
        return ArrayConfig.from_dict(data or {})
    # zarr-python's objects are equivalent.
    return data if isinstance(data, ArrayConfig) else ArrayConfig.from_dict(vars(data))
