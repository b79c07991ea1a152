"""Attributes of arrays and groups, as zarr-python 2 has them."""

from zarrox.attrs import Attributes

__all__ = ["Attributes"]
