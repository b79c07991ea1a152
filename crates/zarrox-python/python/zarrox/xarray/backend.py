"""The backend of xarray for ``engine="zarrox"``."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import xarray as xr
from xarray.backends.common import BackendEntrypoint
from xarray.backends.store import StoreBackendEntrypoint

from zarrox.xarray.lazy import ReadTogether
from zarrox.xarray.opening import is_store, open_for_reading, tree_of
from zarrox.xarray.store import ZarroxStore

#: The options of the store at a URL.
StorageOptions = dict[str, Any]


class ZarroxBackendEntrypoint(BackendEntrypoint):
    """The backend of xarray for ``engine="zarrox"``.

    Additional arguments are ``group``, the path of the group; ``storage_options``, for a URL; ``consolidated`` (``True`` requires
    consolidated metadata, ``None`` uses it if it exists); ``zarr_format``; and ``use_zarr_fill_value_as_mask`` (whether the fill value
    marks missing values; by default true in format 2).

    Examples
    --------
    >>> import xarray as xr
    >>> from zarrox.xarray import to_zarr
    >>> _ = to_zarr(xr.Dataset({"t": ("x", [1.5, 2.5])}, attrs={"title": "two"}), "two.zarr")
    >>> ds = xr.open_dataset("two.zarr", engine="zarrox")
    >>> ds.title, ds.t.values.tolist()
    ('two', [1.5, 2.5])
    """

    description = "Every Zarr format, by Zarrox"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Returns true if a path or URL has a suffix that hierarchies use."""
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        return os.fspath(filename_or_obj).rstrip("/").endswith((".zarr", ".zarr.zip", ".n5"))

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        storage_options: StorageOptions | None = None,
        consolidated: bool | None = None,
        zarr_format: int | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> xr.Dataset:
        """Opens a group as a dataset. See `ZarroxBackendEntrypoint` for the arguments."""
        opened = open_for_reading(filename_or_obj, group, storage_options, consolidated, zarr_format)
        return self._dataset(
            ZarroxStore(opened, mask=use_zarr_fill_value_as_mask, close=not is_store(filename_or_obj)),
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        storage_options: StorageOptions | None = None,
        consolidated: bool | None = None,
        zarr_format: int | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> dict[str, xr.Dataset]:
        """Returns a group and all groups below it, by their paths."""
        opened = open_for_reading(filename_or_obj, group, storage_options, consolidated, zarr_format)
        together = ReadTogether()
        stores = {
            path: ZarroxStore(each, mask=use_zarr_fill_value_as_mask, arrays=arrays, together=together)
            for path, (each, arrays) in tree_of(opened).items()
        }
        stores["/"]._close = not is_store(filename_or_obj)
        return {
            path: self._dataset(
                store,
                mask_and_scale=mask_and_scale,
                decode_times=decode_times,
                concat_characters=concat_characters,
                decode_coords=decode_coords,
                drop_variables=drop_variables,
                use_cftime=use_cftime,
                decode_timedelta=decode_timedelta,
            )
            for path, store in stores.items()
        }

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> xr.DataTree:
        """Returns a group and all groups below it, as a tree. See `open_groups_as_dict` for the arguments."""
        datasets = self.open_groups_as_dict(filename_or_obj, **options)
        tree = xr.DataTree.from_dict(datasets)
        for path, dataset in datasets.items():
            tree[path].set_close(dataset._close)
        return tree

    def _dataset(self, store: ZarroxStore, **decoding: Any) -> xr.Dataset:
        with ExitStack() as on_error:
            on_error.callback(store.close)
            dataset: xr.Dataset = StoreBackendEntrypoint().open_dataset(store, **decoding)
            on_error.pop_all()
        return dataset


# xarray inspects the signatures of engines that come from entry points, but not those of classes that are passed to it.
ZarroxBackendEntrypoint.open_dataset_parameters = tuple(
    name for name in inspect.signature(ZarroxBackendEntrypoint.open_dataset).parameters if name != "self"
)
