"""The protocol of codecs of version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Numcodec"]


@runtime_checkable
class Numcodec(Protocol):
    """A numcodecs codec, or any other class with the same methods."""

    codec_id: ClassVar[str]

    def encode(self, buf: Any) -> Any:
        """Encode a buffer."""
        ...

    def decode(self, buf: Any, out: Any | None = None) -> Any:
        """Decode a buffer."""
        ...

    def get_config(self) -> Any:
        """Returns the parameters and the ``id``, as JSON values."""
        ...

    @classmethod
    def from_config(cls, config: Any) -> Self:
        """Creates a codec with the given parameters."""
        ...
