"""Stores in temporary directories."""

from __future__ import annotations

import atexit
import glob
import os
import shutil
import tempfile
from typing import Any

from .directory import DirectoryStore

__all__ = ["TempStore", "atexit_rmglob", "atexit_rmtree"]


def atexit_rmtree(path: str, isdir: Any = os.path.isdir, rmtree: Any = shutil.rmtree) -> None:
    """Removes a directory, if it is there; for :func:`atexit.register`.

    Parameters
    ----------
    path : str
        The directory.
    isdir, rmtree : callable, optional
        What does it: at the end of the interpreter their modules may be gone.
    """
    if isdir(path):
        rmtree(path)


def atexit_rmglob(
    path: str,
    glob: Any = glob.glob,
    isdir: Any = os.path.isdir,
    isfile: Any = os.path.isfile,
    remove: Any = os.remove,
    rmtree: Any = shutil.rmtree,
) -> None:
    """Removes the files and directories that a pattern names; for :func:`atexit.register`.

    Parameters
    ----------
    path : str
        The pattern.
    glob, isdir, isfile, remove, rmtree : callable, optional
        What does it: at the end of the interpreter their modules may be gone.
    """
    for found in glob(path):
        if isfile(found):
            remove(found)
        elif isdir(found):
            rmtree(found)


class TempStore(DirectoryStore):
    """A store in a new directory, which is removed when the program ends.

    Parameters
    ----------
    suffix, prefix : str, optional
        How the directory's name ends and begins.
    dir : str, optional
        Where it is made.
    normalize_keys : bool, optional
        Whether all keys are made lower case.
    dimension_separator : {'.', '/'}, optional
        What stands between the coordinates of chunks in the keys of new arrays.
    sync : bool, optional
        Whether every value is flushed to the disk before it counts as written, so that it outlives a power failure.
    follow_links : bool, optional
        Whether symbolic links that lead out of the directory are followed.
    """

    def __init__(
        self,
        suffix: str = "",
        prefix: str = "zarr",
        dir: str | None = None,
        normalize_keys: bool = False,
        dimension_separator: str | None = None,
        *,
        sync: bool = False,
        follow_links: bool = False,
    ) -> None:
        path = tempfile.mkdtemp(suffix=suffix, prefix=prefix, dir=dir)
        atexit.register(atexit_rmtree, path)
        super().__init__(
            path,
            normalize_keys=normalize_keys,
            dimension_separator=dimension_separator,
            sync=sync,
            follow_links=follow_links,
        )
