"""Finds the codec for a configuration."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from ..errors import UnknownCodecError
from .abc import NativeCodec

__all__ = ["UnknownCodecError", "codec_registry", "get_codec", "python_codec", "register_codec"]

codec_registry: dict[str, Any] = {}
"""The classes of codecs by their ids."""

_NATIVE_PREFIX = "numcodecs."


def register_codec(cls: Any, codec_id: str | None = None) -> None:
    """Register a codec class, which replaces any other class with the same id.

    Parameters
    ----------
    cls : type
        A subclass of :class:`Codec`, or any class with the same methods.
    codec_id : str, optional
        The id, if it is not ``cls.codec_id``.

    Examples
    --------
    >>> register_codec(codec_registry["zlib"], codec_id="my-zlib")
    >>> get_codec({"id": "my-zlib", "level": 3})
    Zlib(level=3)
    """
    codec_id = codec_id or cls.codec_id
    if not isinstance(codec_id, str):
        raise ValueError(f"{cls} has no codec_id; give one")
    codec_registry[codec_id] = cls


def get_codec(config: Mapping[str, Any]) -> Any:
    """Returns the codec for a configuration.

    Parameters
    ----------
    config : dict
        ``id`` and parameters.

    Returns
    -------
    Codec
        The codec: a native one, a registered one, or, if numcodecs is installed, one that is registered there.

    Raises
    ------
    UnknownCodecError
        If there is no codec with this id.

    Examples
    --------
    >>> get_codec({"id": "zlib", "level": 1})
    Zlib(level=1)
    """
    config = dict(config)
    codec_id = config.pop("id", None)
    cls = codec_registry.get(codec_id) if isinstance(codec_id, str) else None
    if cls is not None:
        return cls.from_config(config)
    if not isinstance(codec_id, str):
        raise UnknownCodecError(codec_id)
    return _of_numcodecs(codec_id, config)


def _of_numcodecs(codec_id: str, config: dict[str, Any]) -> Any:
    """Returns a codec that another package has registered with numcodecs. numcodecs imports the package on demand."""
    try:
        from numcodecs.registry import get_codec as get  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise UnknownCodecError(codec_id) from None
    try:
        return get({"id": codec_id, **config})
    except ValueError as error:
        if type(error).__name__ == "UnknownCodecError" or str(error).startswith("codec not available"):
            raise UnknownCodecError(codec_id) from None
        raise


def introduce_to_numcodecs() -> None:
    """Makes ``isinstance(codec, numcodecs.Zlib)`` true for our codecs, in programs that have imported numcodecs."""
    theirs = sys.modules.get("numcodecs")
    if theirs is None or theirs in _introduced:
        return
    _introduced.append(theirs)
    for cls in {*codec_registry.values()}:
        same: Any = getattr(theirs, cls.__name__, None)
        if cls.__module__.startswith("zarrox.") and hasattr(same, "register"):
            same.register(cls)


#: The numcodecs module with which our classes have been registered.
_introduced: list[Any] = []


def python_codec(config: str) -> Any:
    """Returns the codec for a configuration that is not native.

    Raises
    ------
    ValueError
        If there is no such codec.
    """
    members = json.loads(config)
    if "id" not in members:
        name = str(members.get("name")).removeprefix(_NATIVE_PREFIX)
        members = {**members.get("configuration", {}), "id": name}
    codec = get_codec(members)
    # Native codecs are excluded: they would look up the codec in Rust, which calls this function for codecs that it does not know.
    if isinstance(codec, NativeCodec) and codec.codec_id == members["id"]:
        raise UnknownCodecError(members["id"])
    return codec
