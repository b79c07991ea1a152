"""Conversion of codec arguments to metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from .. import _native
from ..errors import BadCompressorError, UnsupportedError
from .abc import Codec, config_json
from .named import V3Codec, spec
from .parameters import split
from .registry import UnknownCodecError, get_codec
from .v3 import BloscShuffle

__all__ = ["UnknownConfig", "codec_config", "from_v2", "in_v2"]


def codec_config(obj: Any, zarr_format: int | str) -> dict[str, Any] | None:
    """Returns the configuration for a codec argument in any form.

    Raises
    ------
    BadCompressorError
        If the argument is not a codec.
    UnsupportedError
        If v2 has no equivalent of a v3 codec.

    Examples
    --------
    >>> from zarrox.codecs import GzipCodec
    >>> from zarrox.v2.codecs import Zlib
    >>> codec_config(Zlib(level=1), 2), codec_config(GzipCodec(level=1), 2)
    ({'id': 'zlib', 'level': 1}, {'id': 'gzip', 'level': 1})
    >>> codec_config(GzipCodec(level=1), 3)
    {'name': 'gzip', 'configuration': {'level': 1}}
    """
    if obj is None:
        return None
    config = _config(obj)
    if isinstance(config, str) and config:
        config = {"name": config} if str(zarr_format).startswith("3") else {"id": config}
    if not isinstance(config, Mapping) or not isinstance(config.get("id", config.get("name")), str):
        raise BadCompressorError(
            f"bad compressor; expected a codec, its configuration as a dict with 'id' (or in v3 'name'), or None; found {obj!r}"
        )
    config = dict(json.loads(config_json(config)))
    if config.get("configuration", config).get("cname") == "snappy":
        raise ValueError("numcodecs and zarr-python cannot read Blosc's snappy; use lz4, which is as fast")
    return in_v2(config) if "id" not in config and str(zarr_format) in ("1", "2") else config


def in_v2(config: dict[str, Any]) -> dict[str, Any]:
    """Returns the v2 configuration of a v3 codec."""
    name, configuration = split(config)
    codec_id = name.removeprefix("numcodecs.") if name.startswith("numcodecs.") else _ids().get(name)
    if codec_id is None:
        raise UnsupportedError(f"Zarr v2 has no codec '{name}'; create the array with zarr_format=3, or use another codec")
    if codec_id == "blosc":
        configuration.pop("typesize", None)
        configuration["shuffle"] = BloscShuffle.names.index(configuration.get("shuffle", "shuffle"))
    return {"id": codec_id, **configuration}


@cache
def _ids() -> dict[str, str]:
    return {name: codec_id for name, codec_id in _native.codec_names() if codec_id is not None}


def _config(obj: Any) -> Any:
    if isinstance(obj, type):
        return obj
    if not isinstance(obj, V3Codec) and callable(getattr(obj, "get_config", None)):
        return obj.get_config()
    return spec(obj) if callable(getattr(obj, "to_dict", None)) else obj


class UnknownConfig(Codec):
    """An unknown codec, represented by its metadata.

    Parameters
    ----------
    config : dict
        The configuration.
    """

    def __init__(self, **config: Any) -> None:
        self._config = config

    def get_config(self) -> dict[str, Any]:
        return dict(self._config)

    def encode(self, buf: Any) -> Any:
        raise UnknownCodecError(self._config.get("id"))

    def decode(self, buf: Any, out: Any = None) -> Any:
        raise UnknownCodecError(self._config.get("id"))

    def __repr__(self) -> str:
        return f"UnknownConfig({self._config!r})"


def from_v2(config: Mapping[str, Any]) -> Any:
    """Returns the codec for an object in v2 metadata, for display.

    Examples
    --------
    >>> from_v2({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0})
    Blosc(cname='lz4', clevel=5, shuffle=SHUFFLE, blocksize=0)
    """
    try:
        return get_codec(config)
    except (TypeError, ValueError):
        # Metadata may have members that no constructor accepts; the codec is still displayed.
        return UnknownConfig(**config)
