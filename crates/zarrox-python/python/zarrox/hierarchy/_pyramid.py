"""Creates image pyramids with OME-Zarr metadata, and validates such metadata."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from zarrox import _native

__all__ = ["OmeFinding", "PyramidLevel", "downsample", "validate_ome"]


@dataclass(frozen=True)
class PyramidLevel:
    """A pyramid level of an image."""

    #: The path of the array, relative to the group of the image.
    path: str
    #: The shape, in elements.
    shape: tuple[int, ...]
    #: The chunk shape, or the shard shape if there are shards.
    chunks: tuple[int, ...]
    #: The scale factor relative to the previous level along each dimension.
    factors: tuple[int, ...]
    #: The spacing of the elements along each axis, in the unit of the axis.
    scale: tuple[float, ...]
    #: The coordinate of the centre of the first element along each axis, in the unit of the axis.
    translation: tuple[float, ...]


@dataclass(frozen=True)
class OmeFinding:
    """A violation of the OME-Zarr specification."""

    #: ``'warning'`` or ``'error'``.
    severity: Literal["warning", "error"]
    #: The path of the node, relative to the group that was validated.
    path: str
    #: The defect.
    message: str

    def __str__(self) -> str:
        return f"{self.severity} /{self.path}: {self.message}"


def downsample(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str] | None = None,
    *,
    method: Literal["mean", "mode", "nearest", "min", "max", "median"] | None = None,
    factors: int | Sequence[int] | None = None,
    levels: int | None = None,
    skip_nan: bool = False,
    ome: Literal["0.4", "0.5"] | None = None,
    multiscales: bool = False,
    name: str | None = None,
    axes: Sequence[str] = (),
    scale: Sequence[float] = (),
    translation: Sequence[float] = (),
    unit: str | Sequence[str] = (),
    channels: Sequence[str] = (),
    labels: bool = False,
    chunks: Sequence[int] | None = None,
    shards: Sequence[int] | None = None,
    overwrite: bool = False,
    memory: int | None = None,
    jobs: int | None = None,
) -> list[PyramidLevel]:
    """Downsample an image to a pyramid in one pass over the data, with OME-Zarr metadata.

    After an interruption, the same call continues the work.

    Parameters
    ----------
    source : str or PathLike
        The path or URL of an array; or of a group with one array or with an image, whose highest resolution is used.
    destination : str or PathLike, optional
        A new group for a copy of the array and its levels. By default the levels are created in the group of the array.
    method : {'mean', 'mode', 'nearest', 'min', 'max', 'median'}, optional
        The reduction of each block of elements. By default the mean; the mode for labels.
    factors : int or sequence of int, optional
        The scale factor for all spatial axes, or for each axis; by default 2.
    levels : int, optional
        The number of levels below the first. By default the last level is not larger than a chunk.
    skip_nan : bool, optional
        If true, NaN is ignored: a block becomes NaN only if all of its elements are NaN.
    ome : {'0.4', '0.5'}, optional
        The version of OME-Zarr; by default 0.4 in groups of Zarr v2, and 0.5 in groups of Zarr v3.
    multiscales : bool, optional
        If true, the levels are described by the convention ``multiscales`` of zarr-conventions.
    name : str, optional
        The name of the image; by default the name of its group.
    axes : sequence of str, optional
        The axes, such as ``"tczyx"``; by default the names of the dimensions, or the last letters of ``"tczyx"``.
    scale, translation : sequence of float, optional
        The spacing of elements, and the coordinate of the first one, along each axis.
    unit : str or sequence of str, optional
        The unit of all spatial axes, or of each axis; ``''`` means no unit.
    channels : sequence of str, optional
        The channels, such as ``"DAPI:0000FF"``.
    labels : bool, optional
        If true, the elements are labels.
    chunks, shards : sequence of int, optional
        The shapes of chunks and shards of the new levels; by default the shapes of the source.
    overwrite : bool, optional
        If true, existing levels, or the node at the destination, are replaced.
    memory : int, optional
        The memory limit in bytes; by default 256 MiB.
    jobs : int, optional
        The number of concurrent parts; by default it depends on the stores.

    Returns
    -------
    levels : list of PyramidLevel
        All levels, the highest resolution first.
    """
    numbers = None if factors is None else [factors] if isinstance(factors, int) else list(factors)
    options = {
        "method": method,
        "factors": numbers,
        "levels": levels,
        "skip_nan": skip_nan,
        "form": "multiscales" if multiscales else ome,
        "name": name,
        "axes": list(axes),
        "scale": [float(along) for along in scale],
        "translation": [float(along) for along in translation],
        "units": [unit] if isinstance(unit, str) else list(unit),
        "channels": list(channels),
        "labels": labels,
        "chunks": None if chunks is None else list(chunks),
        "shards": None if shards is None else list(shards),
        "overwrite": overwrite,
        "memory": memory,
        "jobs": jobs,
    }
    place = None if destination is None else os.fspath(destination)
    return [_level(members) for members in _native.downsample(os.fspath(source), place, options)]


def _level(members: dict[str, Any]) -> PyramidLevel:
    lists = {key: tuple(members[key]) for key in ("shape", "chunks", "factors", "scale", "translation")}
    return PyramidLevel(path=members["path"], **lists)


def validate_ome(path: str | os.PathLike[str]) -> list[OmeFinding]:
    """Validate the OME-Zarr 0.4 or 0.5 metadata of a group, and of all nodes that it refers to. No chunk is read.

    Parameters
    ----------
    path : str or PathLike
        The path or URL of the group: of an image, of labels, of a plate, a well or a collection.

    Returns
    -------
    findings : list of OmeFinding
        All violations; empty for valid metadata.
    """
    return [OmeFinding(*finding) for finding in _native.validate_ome(os.fspath(path))]  # type: ignore[arg-type]
