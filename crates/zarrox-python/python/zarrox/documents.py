"""JSON as documents of version 2 have it."""

from __future__ import annotations

import json
from typing import Any

# Made once: for every other than its own defaults, `json.dumps` makes one for each value.
_ENCODER = json.JSONEncoder(indent=4, sort_keys=True, ensure_ascii=True, separators=(",", ": "))


def json_dumps(o: object) -> bytes:
    """JSON as zarr-python 2 writes it: keys sorted, four spaces, ASCII only."""
    return _ENCODER.encode(o).encode("ascii")


def json_loads(s: str | bytes | bytearray | memoryview) -> Any:
    """Parses a JSON text; anything with the buffer protocol will do."""
    return json.loads(bytes(s) if isinstance(s, memoryview) else s)
