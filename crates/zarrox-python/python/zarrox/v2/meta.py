"""Documents of version 2 of the format, as zarr-python 2 has them."""

from zarrox.meta import (
    ZARR_FORMAT,
    Metadata2,
    decode_array_metadata,
    decode_dtype,
    decode_fill_value,
    decode_group_metadata,
    encode_array_metadata,
    encode_dtype,
    encode_fill_value,
    encode_group_metadata,
    parse_metadata,
)
from zarrox.storage.documents import json_dumps, json_loads

__all__ = [
    "ZARR_FORMAT",
    "Metadata2",
    "decode_array_metadata",
    "decode_dtype",
    "decode_fill_value",
    "decode_group_metadata",
    "encode_array_metadata",
    "encode_dtype",
    "encode_fill_value",
    "encode_group_metadata",
    "json_dumps",
    "json_loads",
    "parse_metadata",
]
