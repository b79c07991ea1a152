"""A codec pipeline and a store for zarr-python 3: chunks are read, decoded, encoded and written in Rust.

Enable the pipeline with :func:`enable`, with ``zarr.config.set({"codec_pipeline.path": "zarrox.zarr3.ZarroxCodecPipeline"})``, with the
environment variable ``ZARR_CODEC_PIPELINE__PATH``, or for a whole environment with ``python -m zarrox enable``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import versions
from .settings import PIPELINE, disable, enable

if TYPE_CHECKING or versions.is_known():
    from .explanation import Explanation, explain
    from .nodes import as_zarr
    from .pipeline import ZarroxCodecPipeline
    from .store import Store
else:
    ZarroxCodecPipeline = versions.refusing_pipeline()
    Store = versions.refuse
    Explanation = None
    explain = versions.refuse
    as_zarr = versions.refuse

__all__ = ["PIPELINE", "Explanation", "Store", "ZarroxCodecPipeline", "as_zarr", "disable", "enable", "explain"]

versions.register(ZarroxCodecPipeline, PIPELINE)
