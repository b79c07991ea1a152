"""Attributes of arrays and groups, with the interface of zarr-python 2."""

from zarrox.attrs import Attributes

__all__ = ["Attributes"]
