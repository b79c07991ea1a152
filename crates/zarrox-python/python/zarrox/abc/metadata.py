"""The base class of the objects of which metadata consists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Metadata"]


@dataclass(frozen=True)
class Metadata:
    """A data class whose fields are written as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as a mapping. Nested objects of this class become mappings as well."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Creates an object from a mapping of its fields."""
        return cls(**data)


def _plain(value: Any) -> Any:
    if isinstance(value, Metadata):
        return value.to_dict()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(each.to_dict() if isinstance(each, Metadata) else each for each in value)
    return value
