"""Finds the data type for a user's ``dtype`` or for metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .common import DataTypeValidationError, check_dtype_spec_v2, split_v3
from .npy.common import NumPyType

if TYPE_CHECKING:
    from .wrapper import ZDType

__all__ = ["DataTypeRegistry", "data_type_registry"]


def offered_by_packages() -> list[type[ZDType[Any, Any]]]:
    """Returns the data types that installed packages offer to zarr-python."""
    from importlib.metadata import entry_points

    offered = entry_points()
    chosen = [*offered.select(group="zarr.data_type"), *offered.select(group="zarr", name="data_type")]
    return [entry_point.load() for entry_point in chosen]


@dataclass(frozen=True, kw_only=True)
class DataTypeRegistry:
    """The known data types, by v3 name.

    Attributes
    ----------
    contents : dict
        The classes of the data types.

    Examples
    --------
    >>> import numpy as np
    >>> from zarrox.core.dtype import data_type_registry
    >>> data_type_registry.match_dtype(np.dtype("float32"))
    Float32(endianness='little')
    >>> data_type_registry.match_json({"name": "raw_bytes", "configuration": {"length_bytes": 3}}, zarr_format=3)
    RawBytes(length=3)
    """

    contents: dict[str, type[ZDType[Any, Any]]] = field(default_factory=dict, init=False)
    _sources: list[Callable[[], Iterable[type[ZDType[Any, Any]]]]] = field(default_factory=list, init=False, repr=False)

    def _lazy_load(self) -> None:
        while self._sources:
            for cls in self._sources.pop(0)():
                self.register(cls._zarr_v3_name, cls)

    def register(self, key: str, cls: type[ZDType[Any, Any]]) -> None:
        """Register a data type, which replaces any other one with the same name.

        Parameters
        ----------
        key : str
            The name in v3.
        cls : type
            A subclass of :class:`ZDType`.
        """
        self.contents[key] = cls
        if not cls.__module__.startswith(__package__):
            from ... import _native

            _native.register_data_type(key)

    def unregister(self, key: str) -> None:
        """Remove a data type.

        Parameters
        ----------
        key : str
            The name in v3.

        Raises
        ------
        KeyError
            If the name is unknown.
        """
        if key not in self.contents:
            raise KeyError(f"Data type '{key}' not found in registry.")
        del self.contents[key]

    def get(self, key: str) -> type[ZDType[Any, Any]]:
        """Returns the class for a name.

        Parameters
        ----------
        key : str
            The name in v3.

        Returns
        -------
        type
            A subclass of :class:`ZDType`.

        Raises
        ------
        KeyError
            If the name is unknown.
        """
        self._lazy_load()
        return self.contents[key]

    def match_dtype(self, dtype: np.dtype[Any]) -> ZDType[Any, Any]:
        """Returns the data type for a native data type, which exactly one class must accept.

        Parameters
        ----------
        dtype : numpy.dtype
            The native data type.

        Returns
        -------
        ZDType
            The only match.

        Raises
        ------
        ValueError
            If no class or more than one class accepts the data type, or if it is NumPy's ``object``, which is
            ambiguous.
        """
        self._lazy_load()
        if dtype == np.dtype(object):
            raise ValueError(
                f"Zarr data type resolution from {dtype} failed: a NumPy object array can hold anything. Specify the "
                "elements: dtype=str (or 'string'), dtype=bytes, an object_codec, or an instance of a Zarr data type."
            )
        matches = []
        for cls in list(self.contents.values()):
            if _refuses(cls, "_check_native_dtype", dtype):
                continue
            try:
                matches.append(cls.from_native_dtype(dtype))
            except DataTypeValidationError:
                continue
        if len(matches) == 1:
            return matches[0]
        if not matches:
            raise ValueError(f"No Zarr data type found that matches dtype '{dtype!r}'")
        raise ValueError(
            f"Zarr data type resolution from {dtype} failed. Multiple data type wrappers found that match dtype "
            f"'{dtype}': {matches}. Unregister all but one of them, or give an instance of one as dtype."
        )

    def match_json(self, data: Any, *, zarr_format: int) -> ZDType[Any, Any]:
        """Returns the data type that JSON describes.

        Parameters
        ----------
        data : JSON
            The result of :meth:`ZDType.to_json`.
        zarr_format : {2, 3}
            The format of the JSON.

        Returns
        -------
        ZDType
            The first match, classes of the same name first.

        Raises
        ------
        ValueError
            If no class accepts it.
        """
        self._lazy_load()
        named = None if check_dtype_spec_v2(data) else split_v3(data)
        first = self.contents.get(named[0]) if named else None
        why = ""
        if first is not None:
            try:
                return first.from_json(data, zarr_format=zarr_format)
            except DataTypeValidationError as error:
                why = f": {error}"
        check = "_check_json_v2" if zarr_format == 2 else "_check_json_v3"
        for cls in list(self.contents.values()):
            if cls is first or _refuses(cls, check, data):
                continue
            try:
                return cls.from_json(data, zarr_format=zarr_format)
            except DataTypeValidationError:
                continue
        raise ValueError(f"No Zarr data type found that matches {data!r}{why}")


def _refuses(cls: type[ZDType[Any, Any]], check: str, data: Any) -> bool:
    """Returns true if a class of this package rejects the data in a quick check, which takes less time than an exception."""
    # `issubclass` would call the abstract base class for each data type of every new array.
    return NumPyType in cls.__mro__ and not getattr(cls, check)(data)


#: The data types of this process.
data_type_registry = DataTypeRegistry()
