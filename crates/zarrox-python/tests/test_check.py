"""Checks and repairs with the Python package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox as zarr


def created(store: Any) -> zarr.Array:
    array = zarr.create(shape=(4, 6), chunks=(2, 3), dtype="i4", store=store, path="g/a", zarr_format=2)
    array[:] = np.arange(1, 25).reshape(4, 6)
    return array


def test_nothing_is_found_where_all_is_well(tmp_path: Path) -> None:
    created(str(tmp_path / "a.zarr"))
    result = zarr.check(tmp_path / "a.zarr")
    assert result.ok and result == [] and str(result) == "nothing was found"
    with pytest.raises(zarr.errors.NodeNotFoundError):
        zarr.check(tmp_path / "nothing.zarr")
    with pytest.raises(ValueError, match="levels|level"):
        zarr.check(tmp_path / "a.zarr", level="deep")  # type: ignore[arg-type]


def test_findings_have_their_place(tmp_path: Path) -> None:
    created(str(tmp_path / "a.zarr"))
    chunk = tmp_path / "a.zarr/g/a/1.0"
    chunk.write_bytes(chunk.read_bytes()[:-3])
    (tmp_path / "a.zarr/g/a/0.1").unlink()
    for level, count in [("metadata", 0), ("quick", 0), ("full", 1)]:
        assert len(zarr.check(tmp_path / "a.zarr", level=level)) == count
    result = zarr.check(tmp_path / "a.zarr", "g", missing=True)
    assert not result.ok
    corrupt, missing = result
    assert (corrupt.severity, corrupt.kind, corrupt.path) == ("error", "corrupt-chunk", "g/a")
    assert (corrupt.chunk, corrupt.key) == ((1, 0), "g/a/1.0")
    assert corrupt.repairable and corrupt.outcome == "left"
    assert "/g/a, chunk [1, 0] (g/a/1.0)" in str(corrupt)
    assert (missing.severity, missing.kind, missing.chunk) == ("note", "missing-chunks", (0, 1))


def test_a_repair_keeps_what_can_be_read(tmp_path: Path) -> None:
    created(str(tmp_path / "a.zarr"))
    chunk = tmp_path / "a.zarr/g/a/1.0"
    chunk.write_bytes(b"nonsense")
    planned = zarr.check(tmp_path / "a.zarr", repair=True, dry_run=True)
    assert [found.outcome for found in planned] == ["planned"] and not planned.ok
    assert chunk.read_bytes() == b"nonsense"
    done = zarr.check(str(tmp_path / "a.zarr"), repair=True, refill=True)
    assert done.ok and [found.outcome for found in done] == ["repaired"]
    assert (tmp_path / "a.zarr.quarantine/g/a/1.0").read_bytes() == b"nonsense"
    assert zarr.check(tmp_path / "a.zarr", missing=True) == []
    expected = np.arange(1, 25).reshape(4, 6)
    expected[2:, :3] = 0
    np.testing.assert_array_equal(zarr.open(str(tmp_path / "a.zarr"), mode="r")["g/a"], expected)


def test_chunks_without_a_document_are_moved_only_if_asked(tmp_path: Path) -> None:
    created(str(tmp_path / "a.zarr"))
    (tmp_path / "a.zarr/g/a/.zarray").unlink()
    chunk = tmp_path / "a.zarr/g/a/1.0"
    assert not zarr.check(tmp_path / "a.zarr", repair=True).ok and chunk.exists()
    zarr.check(tmp_path / "a.zarr", repair=True, orphans=True)
    assert not chunk.exists() and (tmp_path / "a.zarr.quarantine/g/a/1.0").exists()


def test_mappings_are_checked_and_repaired() -> None:
    store: dict[str, Any] = {}
    created(store)
    store["g/a/0.0"] = b""
    assert [found.kind for found in zarr.check(store)] == ["empty-chunk"]
    assert zarr.check(store, repair=True).ok
    assert zarr.check(store) == []
    assert ".zarrox-quarantine/g/a/0.0.damaged" in store and "g/a/0.0" not in store
