"""Settings with the names of zarr-python 3.

These settings have an effect: ``default_zarr_format``; ``array.order``, ``array.write_empty_chunks``, ``array.read_missing_chunks`` and
``array.allow_unsafe_pickle_decode``; ``async.concurrency`` and ``async.timeout``, for stores that are written in Python;
``threading.max_workers``; ``codecs``, ``buffer`` and ``ndbuffer``, which choose among classes that programs register. All other
settings concern zarr-python's own engine: they are stored, but have no effect. Environment variables that begin with ``ZARR_`` change
settings: ``ZARR_ARRAY__ORDER=F`` sets ``array.order``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from zarrox import _native
from zarrox.errors import BadConfigError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["BadConfigError", "Config", "config"]

_NUMCODECS = (
    "BZ2 CRC32 CRC32C LZ4 LZMA ZFPY Adler32 AsType BitRound Blosc Delta FixedScaleOffset Fletcher32 GZip JenkinsLookup3 PCodec "
    "PackBits Shuffle Quantize Zlib Zstd"
).split()

_DEFAULTS: dict[str, Any] = {
    "default_zarr_format": 3,
    "array": {
        "order": "C",
        "write_empty_chunks": False,
        "read_missing_chunks": True,
        "target_shard_size_bytes": None,
        "rectilinear_chunks": False,
        "sharding_coalesce_max_gap_bytes": 1 << 20,
        "sharding_coalesce_max_bytes": 16 << 20,
        # Reading a pickle can run any program.
        "allow_unsafe_pickle_decode": False,
    },
    "async": {"concurrency": 10, "timeout": None},
    "threading": {"max_workers": None},
    "json_indent": 2,
    "codec_pipeline": {"path": "zarr.core.codec_pipeline.BatchedCodecPipeline", "batch_size": 1, "max_workers": None},
    "codecs": {
        "blosc": "zarr.codecs.blosc.BloscCodec",
        "gzip": "zarr.codecs.gzip.GzipCodec",
        "zstd": "zarr.codecs.zstd.ZstdCodec",
        "bytes": "zarr.codecs.bytes.BytesCodec",
        "endian": "zarr.codecs.bytes.BytesCodec",
        "crc32c": "zarr.codecs.crc32c_.Crc32cCodec",
        "sharding_indexed": "zarr.codecs.sharding.ShardingCodec",
        "transpose": "zarr.codecs.transpose.TransposeCodec",
        "vlen-utf8": "zarr.codecs.vlen_utf8.VLenUTF8Codec",
        "vlen-bytes": "zarr.codecs.vlen_utf8.VLenBytesCodec",
        **{f"numcodecs.{name.lower()}": f"zarr.codecs.numcodecs.{name}" for name in _NUMCODECS if name != "JenkinsLookup3"},
        "numcodecs.jenkins_lookup3": "zarr.codecs.numcodecs.JenkinsLookup3",
    },
    "buffer": "zarr.buffer.cpu.Buffer",
    "ndbuffer": "zarr.buffer.cpu.NDBuffer",
}

#: Settings of zarr-python's own engine.
WITHOUT_EFFECT = (
    "array.rectilinear_chunks array.target_shard_size_bytes array.sharding_coalesce_max_bytes "
    "array.sharding_coalesce_max_gap_bytes codec_pipeline.path codec_pipeline.batch_size codec_pipeline.max_workers json_indent"
).split()

#: Settings of zarr-python 3.0.
_REMOVED = ("array.v2_default_", "array.v3_default_")

_MISSING = object()


class Config:
    """Settings whose names contain dots.

    Examples
    --------
    >>> import zarrox as zarr
    >>> with zarr.config.set({"default_zarr_format": 2}):
    ...     zarr.zeros(3).metadata.zarr_format
    2
    >>> zarr.zeros(3).metadata.zarr_format
    3
    """

    def __init__(self, name: str, defaults: list[dict[str, Any]]) -> None:
        self.name = name
        self.defaults = defaults
        self.config: dict[str, Any] = {}
        self.refresh()

    def get(self, key: str, default: Any = _MISSING, override_with: Any = None) -> Any:
        """Returns the value of a setting. For a prefix that several names share, it returns a dict of these settings.

        Parameters
        ----------
        key : str
            The name.
        default : object, optional
            The value for an unknown setting; if it is not given, an unknown setting raises ``KeyError``.
        override_with : object, optional
            The value to return instead of the setting, if it is given.
        """
        if override_with is not None:
            return override_with
        found: Any = self.config
        for part in key.split("."):
            if not isinstance(found, Mapping) or part not in found:
                if default is _MISSING:
                    raise KeyError(key)
                return default
            found = found[part]
        return found

    def set(self, arg: Mapping[str, Any] | None = None, **kwargs: Any) -> ConfigSet:
        """Change settings. In a ``with`` statement, they change only until its end.

        Parameters
        ----------
        arg : mapping, optional
            Names and values. A mapping as a value contains names without their first part.
        **kwargs
            Names and values, with two underscores for a dot.
        """
        before = deepcopy(self.config)
        given = {**(arg or {}), **{name.replace("__", "."): value for name, value in kwargs.items()}}
        for name in _flat(given):
            if name.startswith(_REMOVED):
                raise ValueError(f"there is no setting {name!r}: give filters, serializer and compressors where arrays are created")
        self.update(given)
        return ConfigSet(self, before)

    def update(self, new: Mapping[str, Any]) -> None:
        """Change settings."""
        for name, value in _flat(new).items():
            *above, last = name.split(".")
            level = self.config
            for part in above:
                level = level.setdefault(part, {})
            level[last] = value
        self._apply()

    def clear(self) -> None:
        """Forget all settings."""
        self.config.clear()

    def refresh(self) -> None:
        """Read the defaults and the environment again."""
        self.clear()
        for values in self.defaults:
            self.config |= deepcopy(values)
        self.update(of_environment(os.environ, self.name))

    def reset(self) -> None:
        """Undo all changes."""
        self.refresh()

    def pprint(self, **kwargs: Any) -> None:
        """Print all settings, with the arguments of :func:`pprint.pprint`."""
        from pprint import pprint

        pprint(self.config, **kwargs)

    def enable_gpu(self) -> NoReturn:
        """Exists only in zarr-python: elements are always in main memory."""
        raise NotImplementedError("arrays are read into main memory: copy them to the GPU from there")

    def __getitem__(self, key: str) -> Any:
        return self.get(key)

    def __contains__(self, key: str) -> bool:
        return self.get(key, _MISSING) is not _MISSING

    def __repr__(self) -> str:
        return f"Config({self.config})"

    def _apply(self) -> None:
        """Passes native settings to Rust."""
        _native.set_threads(self.get("threading.max_workers", None) or 0)
        _native.allow_pickle(bool(self.get("array.allow_unsafe_pickle_decode", False)))


class ConfigSet:
    """A change of settings, which a ``with`` statement undoes at its end."""

    def __init__(self, config: Config, before: dict[str, Any]) -> None:
        self._config, self._before = config, before

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._config.config.clear()
        self._config.config |= self._before
        self._config._apply()


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flattens nested mappings to dotted names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


def of_environment(variables: Mapping[str, str], name: str = "zarr") -> dict[str, Any]:
    """Returns the settings in environment variables: two underscores stand for a dot, and values are Python literals or strings.

    Parameters
    ----------
    variables : mapping
        The variables.
    name : str, optional
        The prefix of their names.

    Examples
    --------
    >>> of_environment({"ZARR_DEFAULT_ZARR_FORMAT": "2", "ZARR_ARRAY__ORDER": "F", "HOME": "/root"})
    {'default_zarr_format': 2, 'array.order': 'F'}
    """
    prefix = f"{name.upper()}_"
    named = ((name.removeprefix(prefix), value) for name, value in variables.items() if name.startswith(prefix))
    return {name.lower().replace("__", "."): _literal(value) for name, value in named}


def _literal(text: str) -> Any:
    from ast import literal_eval

    try:
        return literal_eval(text)
    except (SyntaxError, ValueError):
        return text


#: The settings of this process.
config = Config("zarr", [_DEFAULTS])
