"""Comparison, statistics, sizes and stored chunks of nodes, like the corresponding commands."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrox import _native

__all__ = ["chunk_table", "diff", "du", "find", "stats"]

#: The statistics along axes, with the data types of their results; None means the data type of the array.
_MEASURES: dict[str, str | None] = {
    "count": "uint64",
    "nan": "uint64",
    "min": None,
    "max": None,
    "mean": "float64",
    "std": "float64",
}


def diff(
    left: Any,
    right: Any,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    equal_nan: bool = True,
    metadata_only: bool = False,
    max_values: int = 10,
    memory: int | None = None,
) -> list[dict[str, Any]]:
    """Compare two arrays or groups and all nodes below them: structure, metadata, attributes and values.

    Differences in format, store, chunks and codecs are ignored.

    Parameters
    ----------
    left, right : Array or Group
        The nodes to compare.
    rtol, atol : float, optional
        The tolerances, as in :func:`numpy.isclose`.
    equal_nan : bool, optional
        Whether NaN is equal to NaN.
    metadata_only : bool, optional
        Whether only metadata is compared.
    max_values : int, optional
        The number of differing pairs of values to return for each array.
    memory : int, optional
        The number of bytes that may be used at once; 1 GiB by default.

    Returns
    -------
    list of dict
        The differences; empty if both are equal. Each has a ``path``, a ``property`` (``node``, ``node_type``, ``shape``,
        ``data_type``, ``fill_value``, ``dimension_names``, ``attribute`` or ``values``), and its values on both sides: ``left`` and
        ``right``, or for values ``count``, ``largest``, ``largest_at`` and ``first``.

    Raises
    ------
    TypeError
        If an argument is not a node, or is a view with converted elements.

    Examples
    --------
    >>> import zarrox as zarr
    >>> old = zarr.array([1, 2, 3, 4], chunks=2, zarr_format=2)
    >>> new = zarr.array([1, 2, 5, 4], chunks=4, zarr_format=3)
    >>> [(found["property"], found["count"], found["largest"]) for found in zarr.diff(old, new)]
    [('values', 1, 2.0)]
    """
    settings = (rtol, atol, equal_nan, metadata_only, max_values, memory)
    return [json.loads(found) for found in _native.diff(_stored(left), _stored(right), *settings)]


def stats(
    array: Any,
    *,
    axis: int | Sequence[int] | None = None,
    measures: str | Sequence[str] = ("count", "nan", "min", "max", "mean", "std"),
    field: str | None = None,
    histogram: int = 0,
    range: tuple[float, float] | None = None,
    percentiles: Sequence[float] = (),
    unique: int = 0,
    missing: Sequence[float] = (),
    memory: int | None = None,
) -> dict[str, Any]:
    """Returns statistics of the elements of an array, which are computed in one parallel pass and in bounded memory. NaN is counted,
    but otherwise ignored.

    Parameters
    ----------
    array : Array
        The array.
    axis : int or sequence of int, optional
        The axes along which statistics are computed, so that each statistic is an array. By default, they are computed
        over all elements.
    measures : str or sequence of str, optional
        With ``axis``, a subset of ``count``, ``nan``, ``min``, ``max``, ``mean`` and ``std``.
    field : str, optional
        The field of a structured type.
    histogram : int, optional
        The number of bins in which elements are counted, as by :func:`numpy.histogram`.
    range : tuple of float, optional
        The start of the first bin and the end of the last one. By default the minimum and the maximum, which needs a second pass.
    percentiles : sequence of float, optional
        The percentiles to find, from 0 to 100, in a second pass.
    unique : int, optional
        The maximum number of unique values to list.
    missing : sequence of float, optional
        Missing-value markers, such as -9999: elements equal to one of them are ignored, like NaN.
    memory : int, optional
        The number of bytes that may be used at once, excluding the result; 1 GiB by default.

    Returns
    -------
    dict
        ``count`` (along axes, of elements that are not NaN), ``nan``, ``missing``, ``min``, ``max``, ``mean``, ``std``,
        and on request ``histogram``, ``percentiles``, ``percentile_error`` and ``unique``.

    Raises
    ------
    TypeError
        If ``array`` is not an array, or is a view with converted elements.
    ValueError
        If there is no such axis or measure, or the minimum of zero integers is requested.

    Examples
    --------
    >>> import zarrox as zarr
    >>> z = zarr.array([[1, 2, 3], [5, 2, 7]], dtype="i4")
    >>> found = zarr.stats(z)
    >>> found["min"], found["max"], found["count"]
    (1, 7, 6)
    >>> zarr.stats(z, axis=0, measures="max")["max"]
    array([5, 2, 7], dtype=int32)
    """
    native = _stored(array)
    if not isinstance(native, _native.Array):
        raise TypeError(f"{array!r} is a group, not an array")
    if axis is None:
        found: dict[str, Any] = json.loads(
            _native.stats(
                native,
                field,
                histogram,
                range,
                [float(p) for p in percentiles],
                unique,
                memory,
                [float(value) for value in missing],
            )
        )
        return found
    if field is not None or histogram or percentiles or unique or missing:
        raise ValueError("fields, histograms, percentiles, unique and missing are not supported along axes")
    wanted = [measures] if isinstance(measures, str) else list(measures)
    for measure in wanted:
        if measure not in _MEASURES:
            raise ValueError(f"{measure!r} is not one of {', '.join(_MEASURES)}")
    shape, values = _native.stats_along(native, _axes(axis, len(array.shape)), wanted, memory)
    dtype = np.dtype(array.dtype).newbyteorder("=")
    return {
        measure: np.frombuffer(found, dtype=_MEASURES[measure] or dtype).reshape(shape).copy()
        for measure, found in zip(wanted, values, strict=True)
    }


def du(node: Any, *, inner: bool = False) -> list[dict[str, Any]]:
    """Returns the stored size of a node and all nodes below it, using only listings.

    Parameters
    ----------
    node : Array or Group
        The node.
    inner : bool, optional
        Whether chunks inside shards are counted, which reads the indexes of the shards.

    Returns
    -------
    list of dict
        For each node its ``path``, ``node_type``, ``bytes_stored``, ``bytes`` (of all elements in memory), ``chunks_stored``,
        ``chunks``, ``inner_chunks``, ``orphans`` and ``orphan_bytes``. The numbers exclude the nodes below it.

    Examples
    --------
    >>> import zarrox as zarr
    >>> z = zarr.create((4,), chunks=2, dtype="i4", compressor=None, zarr_format=2)
    >>> z[:2] = 1
    >>> [(found["chunks_stored"], found["chunks"], found["bytes"]) for found in zarr.du(z)]
    [(1, 2, 16)]
    """
    return [json.loads(found) for found in _native.du(_stored(node), inner)]


def find(
    group: Any,
    *,
    name: str | None = None,
    kind: str | None = None,
    dtype: npt.DTypeLike | None = None,
    shape: Sequence[int | None] | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> list[str]:
    """Returns the paths of the nodes below a group that have all of the given properties.

    Parameters
    ----------
    group : Group
        The group.
    name : str, optional
        A pattern for the name, such as ``temp_*``; with a ``/``, for the path below the group.
    kind : {'array', 'group'}, optional
        The kind of node.
    dtype : data-type, optional
        The data type of arrays.
    shape : sequence of int or None, optional
        The shape of arrays; ``None`` matches any length.
    attrs : mapping, optional
        Attributes and their values; ``...`` matches any value.

    Returns
    -------
    list of str
        The paths, relative to the group, sorted.

    Examples
    --------
    >>> import zarrox as zarr
    >>> root = zarr.group()
    >>> _ = root.create_array("a/temp_min", shape=(2, 3), dtype="f4")
    >>> _ = root.create_array("a/wind", shape=(2, 3), dtype="i4")
    >>> zarr.find(root, name="temp_*"), zarr.find(root, dtype="i4", shape=(2, None))
    (['a/temp_min'], ['a/wind'])
    """
    if not isinstance(getattr(group, "_native", None), _native.Group):
        raise TypeError(f"{group!r} is not a group: open it first, for example with zarrox.open_group")
    if kind not in (None, "array", "group"):
        raise ValueError(f"unknown kind of node {kind!r}; expected 'array' or 'group'")
    wanted = None if dtype is None else np.dtype(dtype)

    def fits(path: str, node: Any) -> bool:
        is_array = hasattr(node, "dtype")
        if name is not None and not fnmatchcase(path if "/" in name else path.rpartition("/")[2], name):
            return False
        if kind is not None and is_array != (kind == "array"):
            return False
        if wanted is not None and not (is_array and node.dtype == wanted):
            return False
        if shape is not None and not (is_array and _has_shape(node.shape, shape)):
            return False
        return all(key in node.attrs and value in (..., node.attrs[key]) for key, value in (attrs or {}).items())

    return sorted(path for path, node in _below(group, "") if fits(path, node))


def chunk_table(array: Any) -> list[dict[str, Any]]:
    """Returns the stored chunks of an array, or its stored shards if it has shards.

    Parameters
    ----------
    array : Array
        The array.

    Returns
    -------
    list of dict
        For each chunk or shard its ``index``, ``key`` and ``bytes``, in the order of the indices. Only a listing is
        read.

    Examples
    --------
    >>> import zarrox as zarr
    >>> z = zarr.create((4,), chunks=2, dtype="i4", compressor=None, zarr_format=2)
    >>> z[2:] = 1
    >>> zarr.chunk_table(z)
    [{'index': (1,), 'key': '1', 'bytes': 8}]
    """
    native = _stored(array)
    if not isinstance(native, _native.Array):
        raise TypeError(f"{array!r} is a group, not an array")
    return [
        {"index": tuple(index), "key": key, "bytes": size} for index, key, size in _native.chunk_table(native)
    ]


def _stored(node: Any) -> _native.Array | _native.Group:
    native = getattr(node, "_native", None)
    if not isinstance(native, _native.Array | _native.Group):
        raise TypeError(f"expected an array or a group, not {node!r}")
    return native


def _axes(axis: int | Sequence[int], ndim: int) -> list[int]:
    axes = [axis] if isinstance(axis, int | np.integer) else list(axis)
    numbers = [operator.index(one) for one in axes]
    for number in numbers:
        if not -ndim <= number < ndim:
            raise ValueError(f"there is no axis {number}: the array has {ndim} dimensions")
    return [number % ndim for number in numbers]


def _has_shape(shape: Sequence[int], wanted: Sequence[int | None]) -> bool:
    return len(shape) == len(wanted) and all(
        length is None or own == length for own, length in zip(shape, wanted, strict=True)
    )


def _below(group: Any, above: str) -> Iterator[tuple[str, Any]]:
    for name in group:
        node = group[name]
        path = f"{above}{name}"
        yield path, node
        if not hasattr(node, "dtype"):
            yield from _below(node, f"{path}/")
