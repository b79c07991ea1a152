"""The base class of all data types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, Union

import numpy as np

if TYPE_CHECKING:
    from typing_extensions import Self, TypeGuard

    from .common import DTypeJSON

__all__ = ["TBaseDType", "TBaseScalar", "ZDType"]

TBaseScalar = Union[np.generic, str, bytes]
TBaseDType = np.dtype[Any]

DType = TypeVar("DType", bound=Any)
Scalar = TypeVar("Scalar", bound=Any)


@dataclass(frozen=True, kw_only=True)
class ZDType(ABC, Generic[DType, Scalar]):
    """A data type: its name in the metadata of each format, its elements in memory, and its values as JSON.

    Subclasses that are registered with ``data_type_registry`` can be selected by a user's ``dtype`` and by metadata.

    Attributes
    ----------
    dtype_cls : type
        The class of the native data types that are wrapped.
    _zarr_v3_name : str
        The name in v3.

    Examples
    --------
    >>> import numpy as np
    >>> from zarrox.core.dtype import Int16
    >>> data_type = Int16.from_native_dtype(np.dtype(">i2"))
    >>> data_type
    Int16(endianness='big')
    >>> data_type.to_json(zarr_format=2), data_type.to_json(zarr_format=3)
    ({'name': '>i2', 'object_codec_id': None}, 'int16')
    """

    dtype_cls: ClassVar[Any]
    _zarr_v3_name: ClassVar[str]

    @classmethod
    def _check_native_dtype(cls, dtype: np.dtype[Any]) -> TypeGuard[Any]:
        """Returns true if this class wraps a native data type."""
        return type(dtype) is cls.dtype_cls

    @classmethod
    @abstractmethod
    def from_native_dtype(cls, dtype: np.dtype[Any]) -> Self:
        """Wrap a native data type.

        Parameters
        ----------
        dtype : numpy.dtype
            The native data type.

        Returns
        -------
        ZDType
            An instance of this class.

        Raises
        ------
        DataTypeValidationError
            If the data type does not belong to this class.
        """

    @abstractmethod
    def to_native_dtype(self) -> DType:
        """Returns the native data type.

        Returns
        -------
        numpy.dtype
            The data type of the elements in memory.
        """

    @classmethod
    @abstractmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        """Reads ``{"name": …, "object_codec_id": …}``; raises ``DataTypeValidationError`` if this is a different data type."""

    @classmethod
    @abstractmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        """Reads the ``data_type`` in v3 metadata; raises ``DataTypeValidationError`` if this is a different data type."""

    @classmethod
    def from_json(cls, data: DTypeJSON, *, zarr_format: int) -> Self:
        """Read the data type from JSON.

        Parameters
        ----------
        data : JSON
            The result of :meth:`to_json`.
        zarr_format : {2, 3}
            The format of the JSON.

        Returns
        -------
        ZDType
            An instance of this class.

        Raises
        ------
        DataTypeValidationError
            If the JSON does not belong to this class.
        """
        check_format(zarr_format)
        return cls._from_json_v2(data) if zarr_format == 2 else cls._from_json_v3(data)

    @abstractmethod
    def to_json(self, zarr_format: int) -> Any:
        """Write the data type as JSON.

        Parameters
        ----------
        zarr_format : {2, 3}
            The format of Zarr.

        Returns
        -------
        dict or str
            In v3 the form of metadata. In v2 a dict with the form of metadata as ``name``, and with
            ``object_codec_id``.
        """

    @abstractmethod
    def _check_scalar(self, data: object) -> bool:
        """Returns true if :meth:`cast_scalar` accepts a value."""

    @abstractmethod
    def cast_scalar(self, data: object) -> Scalar:
        """Converts a value to this data type.

        Parameters
        ----------
        data : object
            The value.

        Returns
        -------
        numpy.generic, str or bytes
            The value as an element.

        Raises
        ------
        TypeError
            If the value cannot be converted.
        """

    @abstractmethod
    def default_scalar(self) -> Scalar:
        """Returns the default fill value.

        Returns
        -------
        numpy.generic, str or bytes
            Zero, empty, or not a time.
        """

    @abstractmethod
    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Scalar:
        """Reads a value in the form of metadata.

        Parameters
        ----------
        data : JSON
            The value.
        zarr_format : {2, 3}
            The format of the JSON.

        Returns
        -------
        numpy.generic, str or bytes
            The value as an element.

        Raises
        ------
        TypeError
            If the JSON is not a value of this data type.
        """

    @abstractmethod
    def to_json_scalar(self, data: object, *, zarr_format: int) -> Any:
        """Converts a value to the form of metadata.

        Parameters
        ----------
        data : object
            The value, which is cast first.
        zarr_format : {2, 3}
            The format of Zarr.

        Returns
        -------
        JSON
            The value.
        """

    def _cannot_cast(self, data: object) -> TypeError:
        return TypeError(
            f"Cannot convert object {data!r} with type {type(data)} to a scalar compatible with the data type {self}."
        )


def check_format(zarr_format: int) -> None:
    """Raises ``ValueError`` unless the format is 2 or 3."""
    if zarr_format not in (2, 3):
        raise ValueError(f"zarr_format must be 2 or 3, got {zarr_format}")
