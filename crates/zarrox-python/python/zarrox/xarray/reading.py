"""Opens datasets like xarray's ``open_zarr``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import xarray as xr

from zarrox.argument_types import StoreArgument
from zarrox.xarray.backend import ZarroxBackendEntrypoint

#: The default of ``chunks``: the chunks of the store if Dask is installed, and no chunks otherwise.
_DEFAULT: Any = object()


def open_zarr(
    store: StoreArgument,
    group: str | None = None,
    chunks: int | Mapping[Any, Any] | Literal["auto"] | None = _DEFAULT,
    decode_cf: bool = True,
    mask_and_scale: Any = True,
    decode_times: Any = True,
    concat_characters: Any = True,
    decode_coords: Literal["coordinates", "all"] | bool = True,
    drop_variables: str | Iterable[str] | None = None,
    consolidated: bool | None = None,
    overwrite_encoded_chunks: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    decode_timedelta: Any = None,
    use_cftime: Any = None,
    zarr_format: int | None = None,
    use_zarr_fill_value_as_mask: bool | None = None,
    chunked_array_type: str | None = None,
    from_array_kwargs: dict[str, Any] | None = None,
    create_default_indexes: bool = True,
) -> xr.Dataset:
    """Opens a group as a dataset, with the arguments of ``xarray.open_zarr``.

    Parameters
    ----------
    store : str, path, mapping or store
        The store, or any other argument of `zarrox.open`.
    group : str, optional
        The path of the group.
    chunks : int, mapping, "auto" or None, optional
        The chunks of Dask. By default the chunks of the store if Dask is installed; ``None`` for lazy arrays without
        Dask.
    decode_cf : bool
        ``False`` disables all decoding of the CF conventions.
    mask_and_scale, decode_times, concat_characters, decode_coords, decode_timedelta, use_cftime : object
        Options of the decoding, as in ``xarray.open_dataset``.
    drop_variables : str or iterable, optional
        Variables to exclude.
    consolidated : bool, optional
        ``True`` requires consolidated metadata, ``False`` ignores it, and ``None`` uses it if it exists.
    overwrite_encoded_chunks : bool
        ``True`` replaces the chunks in the encoding by the chunks of Dask.
    storage_options : mapping, optional
        Options of a URL, or of a directory.
    zarr_format : int, optional
        The format to open, if nodes of several formats exist.
    use_zarr_fill_value_as_mask : bool, optional
        Whether fill values are missing values. By default true in format 2.
    chunked_array_type, from_array_kwargs : object, optional
        The kind of chunked arrays, and the arguments for creating them.
    create_default_indexes : bool
        ``False`` does not read coordinates to create indexes.

    Returns
    -------
    xarray.Dataset
        The dataset.

    Examples
    --------
    >>> import xarray as xr
    >>> import zarrox.xarray
    >>> _ = zarrox.xarray.to_zarr(xr.Dataset({"t": ("x", [1, 2, 3])}), "chunked.zarr", encoding={"t": {"chunks": 2}})
    >>> zarrox.xarray.open_zarr("chunked.zarr").t.chunks
    ((2, 1),)
    """
    if chunks is _DEFAULT:
        chunks = {} if _has_chunked_arrays(chunked_array_type) else None
    # Older versions of xarray always create indexes, and do not have this argument.
    indexes = {} if create_default_indexes else {"create_default_indexes": False}
    return xr.open_dataset(
        store,  # type: ignore[arg-type]
        engine=ZarroxBackendEntrypoint,
        chunks=chunks,
        decode_cf=decode_cf,
        mask_and_scale=mask_and_scale,
        decode_times=decode_times,
        decode_timedelta=decode_timedelta,
        use_cftime=use_cftime,
        concat_characters=concat_characters,
        decode_coords=decode_coords,
        drop_variables=drop_variables,
        chunked_array_type=chunked_array_type,
        from_array_kwargs=from_array_kwargs,
        backend_kwargs={
            "group": group,
            "consolidated": consolidated,
            "overwrite_encoded_chunks": overwrite_encoded_chunks,
            "storage_options": storage_options,
            "zarr_format": zarr_format,
            "use_zarr_fill_value_as_mask": use_zarr_fill_value_as_mask,
        },
        **indexes,
    )


def _has_chunked_arrays(kind: str | None) -> bool:
    from xarray.namedarray.parallelcompat import guess_chunkmanager

    try:
        guess_chunkmanager(kind)
    except (ValueError, ImportError):
        return False
    return True
