"""v3 codecs: a name and a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from .abc import config_json, shown_as
from .parameters import split

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CODECS", "ArrayArrayCodec", "ArrayBytesCodec", "BytesBytesCodec", "NamedCodec", "V3Codec", "parse_codec", "spec"]

CODECS: dict[str, type[V3Codec]] = {}
"""The classes by the names of their codecs."""


class V3Codec:
    """A v3 codec: a name and a configuration.

    Examples
    --------
    >>> from zarrox.codecs import GzipCodec
    >>> GzipCodec(level=1).to_dict()
    {'name': 'gzip', 'configuration': {'level': 1}}
    >>> V3Codec.from_dict({"name": "gzip", "configuration": {"level": 1}})
    GzipCodec(level=1)
    """

    name: ClassVar[str] = ""
    is_fixed_size: ClassVar[bool] = True
    """True if the size of the output depends only on the number of elements."""

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):
            CODECS[cls.name] = cls

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | str) -> Self:
        """Returns the codec for an object in metadata.

        Raises
        ------
        ValueError
            If the object is invalid, or names another codec.
        """
        name, configuration = split(data)
        if not cls.name:
            codec = parse_codec(data)
            if not isinstance(codec, cls):
                raise ValueError(f"Expected {cls.__name__}. Got {name} instead.")
            return codec
        if name != cls.name:
            raise ValueError(f"Expected '{cls.name}'. Got {name} instead.")
        return cls._from_configuration(configuration)

    @classmethod
    def _from_configuration(cls, configuration: dict[str, Any]) -> Self:
        return cls(**configuration)

    def to_dict(self) -> dict[str, Any]:
        """Returns the codec as an object in metadata."""
        configuration = self._configuration()
        return {"name": self.name} if configuration is None else {"name": self.name, "configuration": configuration}

    def _configuration(self) -> dict[str, Any] | None:
        return dict(vars(self))

    def _spec(self) -> dict[str, Any]:
        """Returns the codec for a new array: :meth:`to_dict` without members that depend on the array."""
        return self.to_dict()

    def _set(self, **members: Any) -> None:
        vars(self).update(members)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"codecs are immutable: create another {type(self).__name__} for another {name}")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, V3Codec):
            return type(other) is type(self) and vars(other) == vars(self)
        # zarr-python's codecs are equivalent.
        to_dict = getattr(other, "to_dict", None)
        return callable(to_dict) and bool(to_dict() == self.to_dict())

    def __hash__(self) -> int:
        return hash((type(self), config_json(self.to_dict())))

    def __repr__(self) -> str:
        return shown_as(self, vars(self).items())


class ArrayArrayCodec(V3Codec):
    """A codec that encodes arrays as arrays."""


class ArrayBytesCodec(V3Codec):
    """A codec that encodes an array as bytes."""


class BytesBytesCodec(V3Codec):
    """A codec that encodes bytes as bytes."""


class NamedCodec(V3Codec):
    """A codec that does not have its own class.

    Parameters
    ----------
    codec_name : str
        The name in metadata.
    configuration : dict
        The configuration in metadata.

    Examples
    --------
    >>> V3Codec.from_dict({"name": "reshape", "configuration": {"shape": [-1]}})
    NamedCodec(codec_name='reshape', configuration={'shape': [-1]})
    """

    codec_name: str
    configuration: dict[str, Any]

    def __init__(self, codec_name: str, configuration: Mapping[str, Any]) -> None:
        self._set(codec_name=codec_name, configuration=dict(configuration))

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.codec_name, "configuration": self.configuration}


def parse_codec(codec: Any) -> Any:
    """Returns the codec for an object in metadata. A codec is returned unchanged.

    Raises
    ------
    TypeError, ValueError
        If the argument is not a codec.

    Examples
    --------
    >>> import zarrox.codecs
    >>> parse_codec({"name": "zstd", "configuration": {"level": 1}})
    ZstdCodec(level=1, checksum=False)
    """
    if not isinstance(codec, (Mapping, str)):
        if not hasattr(codec, "to_dict"):
            raise TypeError(f"Expected a codec of Zarr v3, or the object that it has in metadata. Got {codec!r}.")
        return codec
    name, configuration = split(codec)
    if name in CODECS:
        return CODECS[name].from_dict(codec)
    return NamedCodec(name, configuration)


def spec(codec: Any) -> dict[str, Any]:
    """Returns the object that describes a codec of a new array, without the members that the array determines."""
    if isinstance(codec, V3Codec):
        return codec._spec()
    described = dict(codec.to_dict())
    if chosen := getattr(codec, "_tunable_attrs", None):
        # These are members of zarr-python's Blosc, whose own defaults for them are those for single bytes.
        configuration = described["configuration"]
        described["configuration"] = {key: value for key, value in configuration.items() if key not in chosen}
    return described
