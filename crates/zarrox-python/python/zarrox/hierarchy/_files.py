"""Imports and exports files in other formats."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from zarrox import _native

__all__ = ["export_file", "import_file"]


def import_file(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    destination: str | os.PathLike[str],
    *,
    node: str | Sequence[str] = (),
    exclude: Sequence[str] = (),
    select: Mapping[str, str | int | slice] | None = None,
    concat: str | None = None,
    append: bool = False,
    conflicts: Literal["refuse", "first"] = "refuse",
    fill_missing: bool | int | float | str = False,
    external: Sequence[str | os.PathLike[str]] = (),
    columns: Mapping[str, str] | None = None,
    level: int = 0,
    ome: bool = False,
    chunks: Sequence[int] | Mapping[str, int] | None = None,
    shards: Sequence[int] | Mapping[str, int] | None = None,
    dtype: str | None = None,
    lossy: bool = False,
    codecs: Sequence[Mapping[str, Any]] | None = None,
    zarr_format: Literal[2, 3] | None = None,
    allow: Sequence[str] = (),
    overwrite: bool = False,
    skip_unsupported: bool = False,
    skip_damaged: bool = False,
    memory: int | None = None,
) -> list[tuple[str, str]]:
    """Import an HDF5, NetCDF, NumPy, TIFF, NIfTI, PNG, JPEG, CSV or Parquet file, a directory of images, or several files as one.

    Chunks are stored first and documents last. After an interruption, the same call continues the import.

    Parameters
    ----------
    source : str or PathLike, or sequence of these
        The file, or a directory of images of one size and type; with `concat` several files.
    destination : str or PathLike
        The path or URL of the new array or group.
    node : str or sequence of str, optional
        The node or nodes of the file to import, with all nodes below them.
    exclude : sequence of str, optional
        Patterns of nodes to exclude, such as ``"*_bnds"``.
    select : mapping of str, optional
        Ranges of dimensions: slices of indices, or the values of both ends as text, such as ``{"lat": "10..50", "time": slice(0, 12)}``.
    concat : str, optional
        The dimension along which several files are joined.
    append : bool, optional
        If true, the files are appended to the destination along `concat`.
    conflicts : {'refuse', 'first'}, optional
        The treatment of elements that should be equal in all files but differ: an error, or the first file is used.
    fill_missing : bool, number or str, optional
        If true, arrays that some files lack are filled with their missing value. A value is used for arrays without a
        missing value.
    external : sequence of str or PathLike, optional
        Directories in which files that the file refers to may be opened, in addition to its own directory.
    columns : mapping of str to str, optional
        The data types of CSV columns, such as ``{"id": "uint8"}``. By default they are inferred from all values.
    level : int, optional
        The overview of a TIFF image to import: 1 is the largest.
    ome : bool, optional
        If true, TIFF images become OME-Zarr.
    chunks, shards : sequence of int, or mapping of str to int, optional
        The shape of chunks and of shards, or lengths by the names of dimensions, where -1 is a whole dimension; by
        default the shape in the file.
    dtype : str, optional
        The data type to which elements are cast; for NumPy files also another form of the same elements, such as ``"string"`` for
        text of a fixed length.
    lossy : bool, optional
        If true, elements that `dtype` cannot represent become the nearest values. By default they are an error.
    codecs : sequence of mapping, optional
        All codecs of a chunk, as dicts with ``name`` and ``configuration``.
    zarr_format : {2, 3}, optional
        The format; by default 3.
    allow : sequence of str, optional
        Properties that may be lost if the format does not support them: ``"data-types"``, ``"fill-values"``, ``"dimension-names"``,
        ``"attributes"``, ``"members"``, ``"nodes"``.
    overwrite : bool, optional
        If true, existing nodes are replaced.
    skip_unsupported : bool, optional
        If true, skip parts that have no equivalent in Zarr, or are in files that are missing or not allowed. By default they are an
        error.
    skip_damaged : bool, optional
        If true, skip damaged parts. By default they are an error.
    memory : int, optional
        The memory limit for chunks, in bytes.

    Returns
    -------
    left_out : list of tuple of str
        The path of each skipped part, and the reason.

    Examples
    --------
    >>> import zarrox as zarr
    >>> with open("stations.csv", "w") as file:
    ...     _ = file.write("id,depth\\n1,4.5\\n2,\\n")
    >>> zarr.import_file("stations.csv", "stations.zarr", columns={"id": "uint8"})
    []
    >>> zarr.open_group("stations.zarr")["id"][:]
    array([1, 2], dtype=uint8)
    """
    sources: list[Any] = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    is_filled = isinstance(fill_missing, bool)
    options = {
        "nodes": [node] if isinstance(node, str) else list(node),
        "exclude": list(exclude),
        "concat": concat,
        "append": append,
        "first_wins": _one_of("conflicts", conflicts, ("refuse", "first")) == "first",
        "fill_missing": fill_missing if is_filled else True,
        "fill_value": None if is_filled else json.dumps(fill_missing),
        "select": [f"{name}={_range(of)}" for name, of in (select or {}).items()],
        "external": [os.fspath(directory) for directory in external],
        "columns": list((columns or {}).items()),
        "level": level,
        "ome": ome,
        "chunks": _lengths(chunks),
        "shards": _lengths(shards),
        "named_chunks": _named(chunks),
        "named_shards": _named(shards),
        "dtype": dtype,
        "lossy": lossy,
        "codecs": None if codecs is None else json.dumps([dict(codec) for codec in codecs]),
        "allow": list(allow),
        "zarr_format": zarr_format,
        "overwrite": overwrite,
        "skip_unsupported": skip_unsupported,
        "skip_damaged": skip_damaged,
        "memory": memory,
    }
    return _native.import_file([os.fspath(path) for path in sources], os.fspath(destination), options)


def _one_of(name: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise ValueError(f"{name} must be {' or '.join(map(repr, known))}, not {value!r}")
    return value


def _range(of: str | int | slice) -> str:
    """Formats a range of a dimension as a string."""
    if not isinstance(of, slice):
        return str(of)
    start, stop, step = ("" if part is None else str(part) for part in (of.start, of.stop, of.step))
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


def _lengths(lengths: Sequence[int] | Mapping[str, int] | None) -> list[int] | None:
    return None if lengths is None or isinstance(lengths, Mapping) else list(lengths)


def _named(lengths: Sequence[int] | Mapping[str, int] | None) -> list[tuple[str, int | None]]:
    """Returns lengths by dimension name, in which None stands for the whole dimension."""
    if not isinstance(lengths, Mapping):
        return []
    return [(name, None if length == -1 else length) for name, length in lengths.items()]


def export_file(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    *,
    format: Literal["h5", "nc", "png", "csv", "parquet", "tif", "ome.tif", "nii", "nii.gz"] | None = None,
    selection: str | None = None,
    columns: Sequence[str] = (),
    cmap: str | None = None,
    value_range: tuple[float, float] | None = None,
    percentiles: tuple[float, float] | None = None,
    log: bool = False,
    compression: Literal["deflate", "zstd", "none"] | None = None,
    stack: Literal["png", "jpeg", "tiff"] | None = None,
    unlimited: Sequence[str] = (),
    skip_unsupported: bool = False,
    overwrite: bool = False,
    memory: int | None = None,
) -> list[tuple[str, str]]:
    """Export an array or a group to an HDF5, NetCDF-4, TIFF, NIfTI, PNG, CSV or Parquet file, or to an image stack.

    The file gets its final name only when it is complete.

    Parameters
    ----------
    source : str or PathLike
        The path or URL of an array, or for HDF5, NetCDF and tables of a group.
    destination : str or PathLike
        The file; for a stack of images the names with a placeholder for the number, such as ``"slices/%03d.png"``, or the directory.
    format : {'h5', 'nc', 'png', 'csv', 'parquet', 'tif', 'ome.tif', 'nii', 'nii.gz'}, optional
        The kind of file; by default the kind that its suffix names.
    selection : str, optional
        The selection of an array for a picture, TIFF or NIfTI, or the rows of a table, such as ``"0, ::2"``.
    columns : sequence of str, optional
        The arrays of a group to export as columns of a table; by default all.
    cmap : str, optional
        The colormap of a picture; by default viridis.
    value_range, percentiles : tuple of float, optional
        The contrast limits, as values or percentiles; by default the minimum and the maximum.
    log : bool, optional
        If true, use a logarithmic norm.
    compression : {'deflate', 'zstd', 'none'}, optional
        The compression of TIFF; by default deflate.
    stack : {'png', 'jpeg', 'tiff'}, optional
        The kind of images in a directory, with one image for each position along the first dimension.
    unlimited : sequence of str, optional
        Dimensions that become unlimited in HDF5 and NetCDF.
    skip_unsupported : bool, optional
        If true, skip nodes and attributes that HDF5 or NetCDF cannot express. By default they are an error.
    overwrite : bool, optional
        If true, an existing file is replaced.
    memory : int, optional
        The memory limit for chunks, in bytes.

    Returns
    -------
    left_out : list of tuple of str
        The path of each skipped part, and the reason.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> _ = zarr.save_array("slopes.zarr", np.add.outer(np.arange(20), np.arange(30)))
    >>> zarr.export_file("slopes.zarr", "slopes.png", selection="::2", cmap="magma")
    []
    """
    options = {
        "format": format,
        "selection": selection,
        "columns": list(columns),
        "cmap": cmap,
        "value_range": value_range,
        "percentiles": percentiles,
        "log": log,
        "compression": compression,
        "stack": stack,
        "unlimited": list(unlimited),
        "skip_unsupported": skip_unsupported,
        "overwrite": overwrite,
        "memory": memory,
    }
    return _native.export_file(os.fspath(source), os.fspath(destination), options)
