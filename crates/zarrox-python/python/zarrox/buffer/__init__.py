"""Buffers in main memory, with the names of zarr-python 3. User-defined stores and codecs receive and return such buffers."""

from zarrox.buffer import cpu
from zarrox.buffer.cpu import default_buffer_prototype

__all__ = ["cpu", "default_buffer_prototype"]
