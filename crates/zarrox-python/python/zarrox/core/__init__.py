"""Arrays."""

from __future__ import annotations

from zarrox.core.array import Array

__all__ = ["Array"]
