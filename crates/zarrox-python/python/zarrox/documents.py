"""Encodes and decodes version 2 documents as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written as JSON")


# Created once: with non-default options, `json.dumps` creates an encoder for each call.
_ENCODER = json.JSONEncoder(default=_number, indent=4, sort_keys=True, ensure_ascii=True, separators=(",", ": "))


def json_dumps(o: object) -> bytes:
    """Returns JSON in the form of zarr-python 2: keys sorted, four spaces, ASCII only."""
    return _ENCODER.encode(o).encode("ascii")


def json_loads(s: str | bytes | bytearray | memoryview) -> Any:
    """Parses a JSON text, given as any object with the buffer protocol."""
    return json.loads(bytes(s) if isinstance(s, memoryview) else s)
