"""Registries that map names to classes of codecs, buffers, codec pipelines and chunk key encodings.

If several classes have the same name, the settings ``codecs``, ``buffer``, ``ndbuffer`` and ``codec_pipeline.path`` select one.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeVar

from zarrox.config import config
from zarrox.errors import BadConfigError, UnknownCodecError, ZarrUserWarning

if TYPE_CHECKING:
    from zarrox.abc.buffer import Buffer, NDBuffer

__all__ = [
    "Registry",
    "get_buffer_class",
    "get_chunk_key_encoding_class",
    "get_codec_class",
    "get_ndbuffer_class",
    "get_pipeline_class",
    "register_buffer",
    "register_chunk_key_encoding",
    "register_codec",
    "register_ndbuffer",
    "register_pipeline",
]

T = TypeVar("T")


class Registry(dict[str, type[T]]):
    """A mapping from names to classes. Classes from installed packages are imported on first use.

    Parameters
    ----------
    kind : str
        The kind of the classes, as in the entry point group ``zarr.kind``.
    """

    def __init__(self, kind: str = "") -> None:
        super().__init__()
        self.kind = kind
        self.lazy_load_list: list[Any] = []
        self.is_searched = not kind

    def lazy_load(self, use_entrypoint_name: bool = False) -> None:
        """Import the classes that installed packages provide.

        Parameters
        ----------
        use_entrypoint_name : bool, optional
            Whether classes are registered by the names of their entry points, and not their own.
        """
        if not self.is_searched:
            self.is_searched = True
            self.lazy_load_list += _offered(self.kind)
        while self.lazy_load_list:
            entry = self.lazy_load_list.pop(0)
            self.register(entry.load(), entry.name if use_entrypoint_name else None)

    def register(self, cls: type[T], qualname: str | None = None) -> None:
        """Register a class, by default under its own name."""
        self[qualname or fully_qualified_name(cls)] = cls

    def chosen(self, setting: str) -> type[T]:
        """Returns the class that is named by a setting."""
        name = config.get(setting)
        if name not in self:
            self.lazy_load()
        if name not in self:
            raise BadConfigError(f"the setting {setting!r} is {name!r}, which is not registered; expected one of {sorted(self)}")
        return self[name]


def _offered(kind: str) -> list[Any]:
    """Returns the entry points of installed packages: those in ``[zarr.kind]`` with any name, and ``kind`` in ``[zarr]``."""
    from importlib.metadata import entry_points

    found = entry_points()
    return [*found.select(group=f"zarr.{kind}"), *found.select(group="zarr", name=kind)]


def fully_qualified_name(cls: type) -> str:
    """Returns the name of a class, qualified with its module."""
    return f"{cls.__module__}.{cls.__qualname__}"


_codec_registries: dict[str, Registry[Any]] = {}
_pipelines: Registry[Any] = Registry("codec_pipeline")
_buffers: Registry[Buffer] = Registry("buffer")
_nd_buffers: Registry[NDBuffer] = Registry("ndbuffer")
_key_encodings: Registry[Any] = Registry("chunk_key_encoding")
_codecs_of_packages: list[Any] | None = None


def register_codec(key: str, codec_cls: type[Any], *, qualname: str | None = None) -> None:
    """Register a codec class.

    Parameters
    ----------
    key : str
        The name in metadata.
    codec_cls : type
        The class. `get_codec_class` finds it; arrays of version 3 use only codecs in Rust. Register a Python codec for arrays of
        version 2 with `zarrox.v2.codecs.register_codec`.
    qualname : str, optional
        The name that the setting ``codecs.key`` can have; by default the name of the class.
    """
    _codec_registries.setdefault(key, Registry()).register(codec_cls, qualname)


def get_codec_class(key: str, reload_config: bool = False) -> type[Any]:
    """Returns the codec class for a name in metadata.

    Raises
    ------
    UnknownCodecError
        If no class is registered.
    BadConfigError
        If the setting ``codecs`` names a class that is not registered.
    """
    if reload_config:
        config.refresh()
    classes = _codec_classes(key)
    if not classes:
        raise UnknownCodecError(
            key,
            f"An implementation for codec '{key}' is not available: register a class that has it with zarrox.registry.register_codec, "
            "or install the package that offers it",
        )
    name = config.get("codecs", {}).get(key)
    if name is None:
        if len(classes) > 1:
            message = f"Codec '{key}' not configured in config. Selecting any implementation."
            warnings.warn(message, ZarrUserWarning, stacklevel=2)
        return list(classes.values())[-1]
    if name not in classes:
        raise BadConfigError(
            f"the setting 'codecs.{key}' is {name!r}, which is not registered; expected one of {sorted(classes)}"
        )
    return classes[name]


def _codec_classes(key: str) -> Registry[Any]:
    global _codecs_of_packages
    if _codecs_of_packages is None:
        from importlib.metadata import entry_points

        _codecs_of_packages = [entry for entry in entry_points() if entry.group.startswith("zarr.codecs")]
        for entry in _codecs_of_packages:
            name = entry.group.removeprefix("zarr.codecs").removeprefix(".") or entry.name
            _codec_registries.setdefault(name, Registry()).lazy_load_list.append(entry)
    classes = _codec_registries.get(key, Registry())
    classes.lazy_load()
    return classes


def register_pipeline(pipe_cls: type[Any]) -> None:
    """Register a codec pipeline. This package always uses its own pipeline, which is written in Rust."""
    _pipelines.register(pipe_cls)


def get_pipeline_class(reload_config: bool = False) -> type[Any]:
    """Returns the class that the setting ``codec_pipeline.path`` names."""
    if reload_config:
        config.refresh()
    return _pipelines.chosen("codec_pipeline.path")


def register_buffer(cls: type[Buffer], qualname: str | None = None) -> None:
    """Register a buffer class, which the setting ``buffer`` can select."""
    _buffers.register(cls, qualname)


def get_buffer_class(reload_config: bool = False) -> type[Buffer]:
    """Returns the class that the setting ``buffer`` names."""
    if reload_config:
        config.refresh()
    return _buffers.chosen("buffer")


def register_ndbuffer(cls: type[NDBuffer], qualname: str | None = None) -> None:
    """Register a class of element buffers, which the setting ``ndbuffer`` can select."""
    _nd_buffers.register(cls, qualname)


def get_ndbuffer_class(reload_config: bool = False) -> type[NDBuffer]:
    """Returns the class that the setting ``ndbuffer`` names."""
    if reload_config:
        config.refresh()
    return _nd_buffers.chosen("ndbuffer")


def register_chunk_key_encoding(key: str, cls: type[Any]) -> None:
    """Register a chunk key encoding class. Keys are encoded in Rust, so the class is not used."""
    _key_encodings.register(cls, key)


def get_chunk_key_encoding_class(key: str) -> type[Any]:
    """Returns the chunk key encoding class for a name."""
    _key_encodings.lazy_load(use_entrypoint_name=True)
    if key not in _key_encodings:
        raise KeyError(f"unknown chunk key encoding {key!r}; expected one of {sorted(_key_encodings)}")
    return _key_encodings[key]
