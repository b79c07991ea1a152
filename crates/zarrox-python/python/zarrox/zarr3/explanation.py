"""Explains which parts of the work on an array run in Rust, which run in Python, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .pipeline import ZarroxCodecPipeline
from .settings import PIPELINE
from .access import direct_access

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True)
class Explanation:
    """The engine, Rust or Python, for each part of the work on an array.

    ``print`` shows it as text.
    """

    pipeline: str
    """The class of the array's codec pipeline."""
    chunks: str
    """``rust``, or ``python`` if zarr-python's own pipeline encodes and decodes."""
    store: str
    """``rust``, or ``python`` if the methods of the store are called."""
    reasons: tuple[str, ...] = field(default=())
    """The reasons why parts run in Python."""

    def __str__(self) -> str:
        lines = [f"pipeline: {self.pipeline}", f"chunks:   {self.chunks}", f"store:    {self.store}"]
        return "\n".join([*lines, *(f"  {reason}" for reason in self.reasons)])


def explain(array: Any) -> Explanation:
    """Explains which operations of an array run in Rust, which run in Python, and why.

    Parameters
    ----------
    array : zarr.Array or zarr.AsyncArray
        An array of zarr-python.

    Returns
    -------
    Explanation
        The explanation.

    Examples
    --------
    >>> import zarr, zarrox.zarr3
    >>> with zarrox.zarr3.enable():
    ...     z = zarr.create_array({}, shape=(4,), dtype="i4")
    >>> print(zarrox.zarr3.explain(z))
    pipeline: zarrox.zarr3.ZarroxCodecPipeline
    chunks:   rust
    store:    rust
    """
    array = getattr(array, "async_array", getattr(array, "_async_array", array))
    pipeline, store = array.codec_pipeline, array.store_path.store
    name = f"{type(pipeline).__module__}.{type(pipeline).__qualname__}"
    if not isinstance(pipeline, ZarroxCodecPipeline):
        other = f"the array was opened with another pipeline; zarrox.zarr3.enable() lets others be opened with {PIPELINE}"
        return Explanation(name, "python", "python", (other,))
    reason = pipeline.reason()
    if reason is not None:
        return Explanation(name, "python", "python", (reason,))
    if direct_access(store) is not None:
        return Explanation(name, "rust", "rust")
    return Explanation(name, "rust", "python", (f"Rust does not reach what is in {store!r}: its methods are called",))
