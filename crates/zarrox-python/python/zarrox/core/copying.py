"""Copies from anything that can be sliced to an array, in parts that fit into memory."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from zarrox.core.base import ArrayBase
from zarrox.core.progress import progress_reporter
from zarrox.core.shapes import ceildiv

__all__ = ["copy_values"]

#: The target size of parts, which consist of whole stored objects.
_PART = 1 << 26


def copy_values(source: Any, target: Any, progress: Any = None) -> None:
    """Write all elements of a source to an array of the same shape.

    Parameters
    ----------
    source : array_like
        An array, or any object with a shape that returns parts when it is sliced.
    target : Array
        The destination.
    progress : object, optional
        Called with the progress: see `zarrox.core.progress.progress_reporter`. The progress is counted in bytes of
        elements.
    """
    shape = target.shape
    if progress is None and (isinstance(source, np.ndarray) or not shape):
        target[...] = source[...] if hasattr(source, "shape") else source
        return
    steps = _steps(target)
    with progress_reporter(progress, target.nbytes) as report:
        for block in itertools.product(*map(range, ceildiv(shape, steps))):
            region = tuple(slice(b * step, min((b + 1) * step, n)) for b, step, n in zip(block, steps, shape, strict=True))
            target[region] = source[region]
            report(math.prod(part.stop - part.start for part in region) * target.dtype.itemsize)


def _steps(target: Any) -> tuple[int, ...]:
    """Returns the shape of the parts."""
    shards = target._native.shards if isinstance(target, ArrayBase) else None
    steps = list(shards or target.chunks)
    for axis in reversed(range(len(steps))):
        room = _PART // (math.prod(steps) * target.dtype.itemsize or 1)
        steps[axis] = max(steps[axis], min(steps[axis] * room, target.shape[axis]))
    return tuple(steps)
