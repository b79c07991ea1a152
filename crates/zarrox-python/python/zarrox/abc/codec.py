"""The base classes of codecs of version 3, and of codec pipelines.

Version 3 arrays use only codecs that are written in Rust. For codecs in Python, see `zarrox.v2.codecs.Codec`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, runtime_checkable

from zarrox.abc.buffer import Buffer, NDBuffer
from zarrox.codecs.v3 import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, V3Codec

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "ArrayArrayCodec",
    "ArrayBytesCodec",
    "ArrayBytesCodecPartialDecodeMixin",
    "ArrayBytesCodecPartialEncodeMixin",
    "BaseCodec",
    "BytesBytesCodec",
    "Codec",
    "CodecInput",
    "CodecOutput",
    "CodecPipeline",
    "GetResult",
    "SupportsSyncCodec",
]

BaseCodec = V3Codec
Codec = ArrayArrayCodec | ArrayBytesCodec | BytesBytesCodec
CodecInput = CodecOutput = NDBuffer | Buffer


class GetResult(TypedDict):
    """The result of reading a chunk."""

    status: Literal["present", "missing"]


@runtime_checkable
class SupportsSyncCodec(Protocol):
    """A codec that needs no event loop."""

    def _decode_sync(self, chunk_data: Any, chunk_spec: Any) -> Any: ...
    def _encode_sync(self, chunk_data: Any, chunk_spec: Any) -> Any: ...


class ArrayBytesCodecPartialDecodeMixin:
    """A codec that can decode parts of chunks."""


class ArrayBytesCodecPartialEncodeMixin:
    """A codec that can encode parts of chunks."""


class CodecPipeline(ABC):
    """The class that reads and writes chunks in zarr-python. This package has a pipeline that is written in Rust; `zarrox.zarr3`
    provides it to zarr-python."""

    @abstractmethod
    def evolve_from_array_spec(self, array_spec: Any) -> Self:
        """Returns the pipeline for the chunks of an array."""

    @classmethod
    @abstractmethod
    def from_codecs(cls, codecs: Iterable[Any]) -> Self:
        """Returns the pipeline that consists of the given codecs."""

    @classmethod
    def from_array_metadata_and_store(cls, array_metadata: Any, store: Any) -> Self:
        """Returns the pipeline of an array, for classes that need its metadata and its store."""
        raise NotImplementedError(f"'{cls.__name__}' does not implement a method to create itself from metadata and a store")

    @property
    @abstractmethod
    def supports_partial_decode(self) -> bool:
        """True if parts of chunks can be decoded."""

    @property
    @abstractmethod
    def supports_partial_encode(self) -> bool:
        """True if parts of chunks can be encoded."""

    @abstractmethod
    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        """Rejects arrays that the codecs cannot store."""

    @abstractmethod
    def compute_encoded_size(self, byte_length: int, array_spec: Any) -> int:
        """Returns the size of an encoded chunk."""

    @abstractmethod
    async def decode(self, chunk_bytes_and_specs: Iterable[tuple[Any, Any]]) -> Iterable[Any]:
        """Decodes chunks."""

    @abstractmethod
    async def encode(self, chunk_arrays_and_specs: Iterable[tuple[Any, Any]]) -> Iterable[Any]:
        """Encodes chunks."""

    @abstractmethod
    async def read(self, batch_info: Iterable[Any], out: Any, drop_axes: tuple[int, ...] = ()) -> Any:
        """Reads chunks into a block of elements."""

    @abstractmethod
    async def write(self, batch_info: Iterable[Any], value: Any, drop_axes: tuple[int, ...] = ()) -> None:
        """Writes chunks from a block of elements."""
