"""Digests and manifests."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox as zarr
from zarrox import v2
from zarrox.errors import NodeNotFoundError


def group(store: Any, zarr_format: int, **how: Any) -> zarr.Group:
    root = zarr.group(store, zarr_format=zarr_format)
    root.attrs["title"] = "x"
    root.create_array("g/a", data=np.arange(12, dtype="i4").reshape(3, 4), **how)
    return root


def test_digests_do_not_depend_on_how_things_are_stored() -> None:
    digests = {
        zarr.digest(group({}, 2, chunks=(2, 2), compressor=None)),
        zarr.digest(group({}, 2, chunks=(3, 1))),
        zarr.digest(group({}, 3, chunks=(1, 4))),
        zarr.digest(group({}, 3, chunks=(1, 4)), memory=1),
    }
    assert len(digests) == 1
    other = group({}, 3, chunks=(1, 4))
    other["g/a"][0, 0] = 5
    assert zarr.digest(other) not in digests
    assert zarr.digest(other).startswith("content:")


def test_digests_of_stored_bytes_are_the_same_in_every_store(tmp_path: Path) -> None:
    stores = [{}, v2.DirectoryStore(tmp_path / "a.zarr"), v2.SQLiteStore(tmp_path / "a.db")]
    digests = {zarr.digest(group(store, 2, chunks=(2, 2)), stored=True) for store in stores}
    assert len(digests) == 1
    assert digests.pop().startswith("stored:")


def test_only_nodes_have_digests() -> None:
    for wrong in (None, "a.zarr", np.zeros(3)):
        with pytest.raises(TypeError):
            zarr.digest(wrong)


def test_manifests_find_what_was_damaged(tmp_path: Path) -> None:
    store: dict[str, Any] = {}
    root = group(store, 2, chunks=(1, 4))
    lines = tmp_path / "manifest"
    assert zarr.manifest(store, lines) == zarr.digest(root, stored=True)
    assert zarr.verify_manifest(store, lines) == []
    entries = [json.loads(line) for line in lines.read_bytes().splitlines()]
    assert entries[-1]["keys"] == len(entries) - 2 == len(store)
    copy = v2.DirectoryStore(tmp_path / "copy.zarr")
    copy.update(store)
    assert zarr.verify_manifest(str(tmp_path / "copy.zarr"), lines) == []
    copy["g/a/0.0"], copy["g/a/1.0"] = store["g/a/1.0"], store["g/a/0.0"]
    del copy["g/a/2.0"]
    copy["new"] = b"123"
    found = zarr.verify_manifest(copy, lines)
    assert sorted(finding["kind"] for finding in found) == ["added", "missing", "swapped"]
    assert {"kind": "added", "key": "new", "size": 3} in found
    below = io.BytesIO()
    zarr.manifest(store, below, path="g/a")
    assert b'"key":"0.0"' in below.getvalue()


def test_manifests_that_are_not_whole_are_errors() -> None:
    store: dict[str, Any] = {}
    group(store, 2, chunks=(1, 4))
    lines = io.BytesIO()
    zarr.manifest(store, lines)
    with pytest.raises(ValueError, match="truncated"):
        zarr.verify_manifest(store, io.BytesIO(b"".join(lines.getvalue().splitlines(keepends=True)[:-1])))
    with pytest.raises(NodeNotFoundError):
        zarr.manifest({}, io.BytesIO())
    with pytest.raises(NodeNotFoundError):
        zarr.verify_manifest({}, io.BytesIO(lines.getvalue()))
