"""Buffers in the memory of this machine, as zarr-python 3 has them: stores and codecs that users write get and give them."""

from zarrox.buffer import cpu
from zarrox.buffer.cpu import default_buffer_prototype

__all__ = ["cpu", "default_buffer_prototype"]
