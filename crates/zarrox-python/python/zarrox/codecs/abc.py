"""The base classes of codecs, and the native codecs."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zarrox import _native

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["BytesCodec", "Codec", "NativeCodec"]


class Codec(ABC):
    """An encoder and decoder: the base class of user-defined codecs.

    A subclass sets ``codec_id``, accepts its parameters in the constructor, stores them as JSON-compatible attributes, and is
    registered with :func:`register_codec`.

    Attributes
    ----------
    codec_id : str
        The ``id`` in the metadata of v2.

    Examples
    --------
    >>> from zarrox.v2.codecs import Codec, get_codec, register_codec
    >>> class Inverted(Codec):
    ...     codec_id = "inverted"
    ...
    ...     def encode(self, buf):
    ...         return bytes(255 - byte for byte in memoryview(buf).cast("B"))
    ...
    ...     def decode(self, buf, out=None):
    ...         return self.encode(buf)
    >>> register_codec(Inverted)
    >>> get_codec({"id": "inverted"}).encode(bytes([1, 2]))
    b'\\xfe\\xfd'
    """

    codec_id: ClassVar[str | None] = None

    @abstractmethod
    def encode(self, buf: Any) -> Any:
        """Encode a buffer.

        Parameters
        ----------
        buf : buffer-like
            An object with the buffer protocol; for object codecs an array of objects.

        Returns
        -------
        buffer-like
            The encoded data.
        """

    @abstractmethod
    def decode(self, buf: Any, out: Any = None) -> Any:
        """Decode a buffer.

        Parameters
        ----------
        buf : buffer-like
            The encoded data.
        out : buffer-like, optional
            Memory for the result, of exactly its size.

        Returns
        -------
        buffer-like
            The decoded data: ``out``, if it was given.
        """

    def get_config(self) -> dict[str, Any]:
        """Returns the ``id`` and all public attributes, as JSON values."""
        return {"id": self.codec_id, **{k: v for k, v in vars(self).items() if not k.startswith("_")}}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Creates the codec from the result of :meth:`get_config` without the ``id``."""
        return cls(**config)

    def __eq__(self, other: object) -> bool:
        try:
            return bool(self.get_config() == other.get_config())  # type: ignore[attr-defined]
        except AttributeError:
            return False

    def __hash__(self) -> int:
        return hash(config_json(sorted(self.get_config().items())))

    def __repr__(self) -> str:
        shown = sorted(item for item in vars(self).items() if not item[0].startswith("_"))
        return shown_as(self, shown)


class NativeCodec(Codec):
    """A native codec, whose parameters are attributes in Python."""

    def encode(self, buf: Any) -> Any:
        return self._native().encode(buf)

    def decode(self, buf: Any, out: Any = None) -> Any:
        return self._native().decode(flat(buf), out)

    def _native(self) -> _native.Codec:
        return _codec(config_json(self.get_config()))

    def to_dict(self) -> dict[str, Any]:
        """Returns the codec in the form of v3.

        Returns
        -------
        dict
            ``name`` and ``configuration``.
        """
        configuration = self.get_config()
        return {"name": f"numcodecs.{configuration.pop('id')}", "configuration": configuration}


class BytesCodec(NativeCodec):
    """A codec of bytes."""

    _gives_arrays: ClassVar[bool] = False
    """True if numcodecs returns arrays of bytes, which programs may rely on."""

    def encode(self, buf: Any) -> Any:
        return self._result(super().encode(flat(buf)))

    def decode(self, buf: Any, out: Any = None) -> Any:
        result = super().decode(buf, out)
        return self._result(result) if out is None else result

    def _result(self, encoded: Any) -> Any:
        return np.frombuffer(encoded, "u1") if self._gives_arrays else encoded


@lru_cache(maxsize=256)
def _codec(config: str) -> _native.Codec:
    return _native.Codec(config)


def as_array(buf: Any) -> np.ndarray[Any, Any]:
    """Returns a buffer as an array that shares its memory."""
    return buf if isinstance(buf, np.ndarray) else np.asarray(memoryview(buf))


def flat(buf: Any) -> np.ndarray[Any, Any]:
    """Returns a buffer as a one-dimensional array that shares its memory, in memory order.

    Raises
    ------
    TypeError
        If the argument is not a buffer, or is a buffer of objects, whose memory holds addresses.
    ValueError
        If the buffer is not contiguous.
    """
    array = as_array(buf)
    if array.dtype.hasobject:
        raise TypeError("object arrays are not supported")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ValueError("an array with contiguous memory is required")
    return array.reshape(-1, order="A")


def config_json(config: Any) -> str:
    """Encodes a configuration, which may contain NumPy numbers, arrays and data types, as JSON."""
    return json.dumps(config, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.dtype):
        return value.str
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (bytes, bytearray)):
        return list(value)
    raise TypeError(f"{value!r} cannot be in the configuration of a codec: JSON does not support {type(value).__name__}")


def shown_as(codec: object, parameters: Any) -> str:
    """``Class(name=value, …)``."""
    return f"{type(codec).__name__}({', '.join(f'{name}={value!r}' for name, value in parameters)})"
