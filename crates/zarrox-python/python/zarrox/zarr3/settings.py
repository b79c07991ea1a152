"""Enables and disables the pipeline in this process."""

from __future__ import annotations

from typing import Any

import zarr

from . import versions

__all__ = ["PIPELINE", "disable", "enable"]

PIPELINE = "zarrox.zarr3.ZarroxCodecPipeline"
"""The name by which zarr-python's configuration refers to the pipeline."""

DEFAULT = "zarr.core.codec_pipeline.BatchedCodecPipeline"
"""zarr-python's own pipeline."""


def enable() -> Any:
    """Selects Zarrox's pipeline for arrays that zarr-python opens or creates from now on.

    Returns
    -------
    donfig.config_obj.ConfigSet
        A context manager, which restores the configuration. Its use is optional.

    Raises
    ------
    ImportError
        If the version of zarr-python is not supported.

    Examples
    --------
    >>> import zarr, zarrox.zarr3
    >>> with zarrox.zarr3.enable():
    ...     z = zarr.create_array({}, shape=(4,), dtype="i4")
    >>> z[:]
    array([0, 0, 0, 0], dtype=int32)
    """
    if not versions.is_known():
        versions.refuse()
    return zarr.config.set({"codec_pipeline.path": PIPELINE})


def disable() -> Any:
    """Selects zarr-python's own pipeline for arrays that it opens or creates from now on.

    Returns
    -------
    donfig.config_obj.ConfigSet
        A context manager, as for :func:`enable`.
    """
    return zarr.config.set({"codec_pipeline.path": DEFAULT})
