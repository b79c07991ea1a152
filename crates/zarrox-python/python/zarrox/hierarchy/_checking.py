"""Checks and repairs arrays, groups and hierarchies."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

from zarrox import _native
from zarrox.storage import native_store, normalize_storage_path, normalize_store_arg

__all__ = ["CheckResult", "Finding", "check"]


@dataclass(frozen=True)
class Finding:
    """A finding of a check."""

    #: ``'note'``, ``'warning'`` or ``'error'``.
    severity: Literal["note", "warning", "error"]
    #: The kind, such as ``'corrupt-chunk'``.
    kind: str
    #: The path of the node in its hierarchy; empty for the root.
    path: str
    #: The indices of the chunk, or of the first chunk of a range.
    chunk: tuple[int, ...] | None
    #: The indices of the last chunk in row-major order, for a range of chunks.
    last_chunk: tuple[int, ...] | None
    #: The indices of a chunk inside a shard.
    inner_chunk: tuple[int, ...] | None
    #: The key of the stored object.
    key: str | None
    #: The message.
    message: str
    #: The suggested repair.
    repair: str
    #: True if the repair is possible.
    repairable: bool
    #: The outcome: ``'left'``, ``'planned'`` (by a dry run), ``'repaired'`` or ``'failed'``.
    outcome: Literal["left", "planned", "repaired", "failed"]
    #: The reason why the repair failed.
    failure: str | None

    def __str__(self) -> str:
        place = [f"/{self.path}"]
        if self.chunk is not None:
            chunks = f"chunk {list(self.chunk)}"
            place.append(chunks if self.last_chunk is None else f"chunks {list(self.chunk)} to {list(self.last_chunk)}")
        if self.inner_chunk is not None:
            place.append(f"inner chunk {list(self.inner_chunk)}")
        key = "" if self.key is None else f" ({self.key})"
        return f"{self.severity} {self.kind}: {', '.join(place)}{key}: {self.message}"


class CheckResult(list[Finding]):
    """All findings of a check, in the order in which they were found."""

    @property
    def ok(self) -> bool:
        """True if all warnings and errors were repaired."""
        return all(finding.severity == "note" or finding.outcome == "repaired" for finding in self)

    def __str__(self) -> str:
        return "\n".join(map(str, self)) if self else "nothing was found"


def check(
    store: Any,
    path: str | None = None,
    *,
    level: Literal["metadata", "quick", "full"] = "full",
    missing: bool = False,
    repair: bool = False,
    dry_run: bool = False,
    refill: bool = False,
    orphans: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> CheckResult:
    """Check an array, a group or a hierarchy for damage, and optionally repair it.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The location. Nothing is written without ``repair``.
    path : str, optional
        The node to check with all nodes below it; the root if not given.
    level : {'full', 'quick', 'metadata'}, optional
        'metadata' checks documents, 'quick' also keys, sizes and shard indexes, and 'full' decodes every chunk.
    missing : bool, optional
        If true, missing chunks are reported as notes, each for a range.
    repair : bool, optional
        If true, damage is repaired where this is possible. Damaged objects are moved to a quarantine: beside a
        directory, or within other stores.
    dry_run : bool, optional
        If true, a repair changes nothing, and the findings describe the planned changes.
    refill : bool, optional
        If true, a repair replaces lost chunks by chunks of fill values; otherwise they become missing.
    orphans : bool, optional
        If true, a repair moves chunks without a document of an array to the quarantine, so that the path can be used
        again; otherwise they stay, since the document can be written by hand.
    storage_options : dict, optional
        Options of the store of a URL, or of a directory.

    Returns
    -------
    CheckResult
        A list of findings; its ``ok`` is true without unrepaired warnings and errors.

    Raises
    ------
    NodeNotFoundError
        If the node does not exist.

    Examples
    --------
    >>> import zarrox as zarr
    >>> store = {}
    >>> z = zarr.create(4, chunks=2, dtype='i4', compressor=None, store=store, zarr_format=2)
    >>> z[:] = 7
    >>> zarr.check(store).ok
    True
    >>> store['1'] = b'short'
    >>> [(found.kind, found.chunk) for found in zarr.check(store)]
    [('wrong-size', (1,))]
    """
    node = normalize_storage_path(path)
    settings = (level, missing, repair, dry_run, refill, orphans)
    if isinstance(store, (str, os.PathLike)) and "://" not in os.fspath(store) and not storage_options:
        return _result(_native.check(None, os.path.join(os.fspath(store), node).rstrip("/"), *settings))
    mode = "r+" if repair and not dry_run else "r"
    store = normalize_store_arg(store, storage_options=storage_options, mode=mode)
    return _result(_native.check(native_store(store), node, *settings))


def _result(findings: list[dict[str, Any]]) -> CheckResult:
    return CheckResult(Finding(**finding) for finding in findings)
