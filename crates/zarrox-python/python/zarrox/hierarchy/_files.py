"""Files of other formats: imports, and exports."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal

from zarrox import _native

__all__ = ["export_file", "import_file"]


def import_file(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    *,
    node: str | None = None,
    columns: Mapping[str, str] | None = None,
    level: int = 0,
    chunks: Sequence[int] | None = None,
    shards: Sequence[int] | None = None,
    zarr_format: Literal[2, 3] | None = None,
    overwrite: bool = False,
    skip_unsupported: bool = False,
    memory: int | None = None,
) -> list[tuple[str, str]]:
    """Import a file of HDF5, NetCDF, TIFF, NIfTI, PNG, JPEG, CSV or Parquet, or a directory of images.

    Chunks are stored first and documents last: after an interruption, the same call continues.

    Parameters
    ----------
    source : str or PathLike
        The file, or a directory of images of one size and type.
    destination : str or PathLike
        The path or URL of the new array or group.
    node : str, optional
        Only this node of the file, with all nodes below it.
    columns : mapping of str to str, optional
        The types of columns of CSV, such as ``{"id": "uint8"}``. By default each has the type of all its values.
    level : int, optional
        A smaller copy of the image that a file of TIFF has: 1 is the largest.
    chunks, shards : sequence of int, optional
        The shape of chunks and of shards; by default that of the file.
    zarr_format : {2, 3}, optional
        The format; by default 3.
    overwrite : bool, optional
        If true, nodes that are there are replaced.
    skip_unsupported : bool, optional
        If true, what has no form in Zarr is left out. By default it is an error.
    memory : int, optional
        The most memory for chunks at a time, in bytes.

    Returns
    -------
    left_out : list of tuple of str
        The path and the reason of what was left out.

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
    options = {
        "node": node,
        "columns": list((columns or {}).items()),
        "level": level,
        "chunks": None if chunks is None else list(chunks),
        "shards": None if shards is None else list(shards),
        "zarr_format": zarr_format,
        "overwrite": overwrite,
        "skip_unsupported": skip_unsupported,
        "memory": memory,
    }
    return _native.import_file(os.fspath(source), os.fspath(destination), options)


def export_file(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    *,
    format: Literal["h5", "nc", "png", "csv", "parquet"] | None = None,
    selection: str | None = None,
    columns: Sequence[str] = (),
    cmap: str | None = None,
    value_range: tuple[float, float] | None = None,
    percentiles: tuple[float, float] | None = None,
    log: bool = False,
    overwrite: bool = False,
    memory: int | None = None,
) -> None:
    """Export an array or a group to a file of HDF5, NetCDF-4, PNG, CSV or Parquet. The file gets its name when it is complete.

    Parameters
    ----------
    source : str or PathLike
        The path or URL of an array, or for HDF5, NetCDF and tables of a group.
    destination : str or PathLike
        The file.
    format : {'h5', 'nc', 'png', 'csv', 'parquet'}, optional
        The kind of file; by default that of its suffix.
    selection : str, optional
        The part of an array that becomes a picture, or the rows of a table, such as ``"0, ::2"``.
    columns : sequence of str, optional
        The arrays of a group that are the columns of a table; by default all.
    cmap : str, optional
        The colours of a picture; by default viridis.
    value_range, percentiles : tuple of float, optional
        The values, or their percentiles, of the first and the last colour; by default the extremes.
    log : bool, optional
        If true, the colours follow the logarithm.
    overwrite : bool, optional
        If true, an existing file is replaced.
    memory : int, optional
        The most memory for chunks at a time, in bytes.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> _ = zarr.save_array("slopes.zarr", np.add.outer(np.arange(20), np.arange(30)))
    >>> zarr.export_file("slopes.zarr", "slopes.png", selection="::2", cmap="magma")
    """
    options = {
        "format": format,
        "selection": selection,
        "columns": list(columns),
        "cmap": cmap,
        "value_range": value_range,
        "percentiles": percentiles,
        "log": log,
        "overwrite": overwrite,
        "memory": memory,
    }
    _native.export_file(os.fspath(source), os.fspath(destination), options)
