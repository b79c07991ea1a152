"""The classes of numcodecs, under the module name of zarr-python 2."""

from __future__ import annotations

from typing import Any

from zarrox.codecs.of_numcodecs import *  # noqa: F403
from zarrox.codecs.of_numcodecs import __all__ as __all__
from zarrox.elsewhere import OF_3


def __getattr__(name: str) -> Any:
    OF_3.refuse("zarr.codecs", name)
