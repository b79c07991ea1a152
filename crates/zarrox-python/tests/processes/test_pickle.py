"""Pickles of arrays, groups and stores: on a disk they contain the location, and in memory the values."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

import zarrox
import zarrox.v2 as zarr
from zarrox.v2.storage import DirectoryStore, MemoryStore, NestedDirectoryStore, SQLiteStore, TempStore

VALUES = np.arange(100_000)

PICKLERS = {f"pickle {protocol}": (lambda o, p=protocol: pickle.loads(pickle.dumps(o, p))) for protocol in range(2, 6)}
PICKLERS["cloudpickle"] = lambda o: cloudpickle.loads(cloudpickle.dumps(o))


@pytest.fixture(params=sorted(PICKLERS))
def copied(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """Returns a function that pickles and unpickles an object."""
    copy: Callable[[Any], Any] = PICKLERS[request.param]
    return copy


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_array_in_memory_takes_its_values_along(copied: Callable[[Any], Any], zarr_format: int) -> None:
    """The copy is independent of the original."""
    z = zarr.array(VALUES, zarr_format=zarr_format)
    z.attrs["unit"] = "m"
    assert len(pickle.dumps(z)) > 5000
    copy = copied(z)
    assert copy == z
    assert copy.attrs.asdict() == {"unit": "m"}
    np.testing.assert_array_equal(copy[:], VALUES)
    copy[0] = -1
    assert z[0] == 0


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_array_on_disk_is_its_place(copied: Callable[[Any], Any], tmp_path: Path, zarr_format: int) -> None:
    """The copy and the original are one array."""
    z = zarr.open(tmp_path / "z.zarr", mode="w", shape=VALUES.shape, dtype=VALUES.dtype, zarr_format=zarr_format)
    z[:] = VALUES
    assert len(pickle.dumps(z)) < 1000
    copy = copied(z)
    assert copy == z
    copy[0] = -1
    assert z[0] == -1


def test_read_only_stays(copied: Callable[[Any], Any], tmp_path: Path) -> None:
    """A copy of an array that is read-only is read-only."""
    zarr.save_array(tmp_path / "z.zarr", VALUES)
    copy = copied(zarr.open_array(tmp_path / "z.zarr", mode="r"))
    assert copy.read_only
    with pytest.raises(zarrox.errors.ReadOnlyError):
        copy[0] = 1


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_groups(copied: Callable[[Any], Any], tmp_path: Path, zarr_format: int) -> None:
    """A group of a hierarchy keeps its path."""
    root = zarr.open_group(tmp_path / "g.zarr", mode="w", zarr_format=zarr_format)
    group = root.create_group("a/b")
    group.create_dataset("z", data=VALUES)
    copy = copied(group)
    assert copy == group
    assert copy.name == "/a/b"
    np.testing.assert_array_equal(copy["z"][:], VALUES)


@pytest.mark.parametrize(
    "make",
    [
        lambda path: DirectoryStore(str(path / "d")),
        lambda path: NestedDirectoryStore(str(path / "n")),
        lambda path: SQLiteStore(str(path / "s.sqldb")),
        lambda path: TempStore(),
        lambda path: MemoryStore(),
    ],
    ids=["directory", "nested", "sqlite", "temp", "memory"],
)
def test_stores(copied: Callable[[Any], Any], make: Callable[[Path], Any], tmp_path: Path) -> None:
    """An unpickled store returns the same values."""
    store = make(tmp_path)
    root = zarr.group(store=store)
    root.create_dataset("z", data=VALUES, chunks=10_000)
    if hasattr(store, "flush"):
        store.flush()
    copy = copied(store)
    assert sorted(copy) == sorted(store)
    np.testing.assert_array_equal(zarr.open_group(copy, mode="r")["z"][:], VALUES)


def test_zip(copied: Callable[[Any], Any], tmp_path: Path) -> None:
    """An unpickled archive is opened for reading."""
    with zarr.ZipStore(str(tmp_path / "z.zip"), mode="w") as store:
        zarr.array(VALUES, store=store, path="z")
    store = zarr.ZipStore(str(tmp_path / "z.zip"), mode="r")
    copy = copied(zarr.open_group(store, mode="r"))
    np.testing.assert_array_equal(copy["z"][:], VALUES)


def test_synchronizer_goes_along(copied: Callable[[Any], Any], tmp_path: Path) -> None:
    """Locks between processes are files, so that a copy uses the same locks."""
    synchronizer = zarr.ProcessSynchronizer(str(tmp_path / "z.sync"))
    z = zarr.open_array(tmp_path / "z.zarr", mode="w", shape=10, dtype="i4", synchronizer=synchronizer)
    copy = copied(z)
    copy[:] = 1
    assert copy.synchronizer is not None
    assert z[:].tolist() == [1] * 10


def test_another_process(tmp_path: Path) -> None:
    """Another Python process, which shares only the disk, reads a pickle."""
    z = zarr.open(tmp_path / "z.zarr", mode="w", shape=VALUES.shape, dtype=VALUES.dtype)
    z[:] = VALUES
    (tmp_path / "z.pickle").write_bytes(pickle.dumps(z))
    program = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb'))[:].sum())"
    command = [sys.executable, "-c", program, str(tmp_path / "z.pickle")]
    assert int(subprocess.run(command, check=True, capture_output=True).stdout) == VALUES.sum()
