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
    """Removes a directory, if it exists. This function is meant for :func:`atexit.register`.

    Parameters
    ----------
    path : str
        The directory.
    isdir, rmtree : callable, optional
        The functions to use: when the interpreter ends, their modules may be gone.
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
    """Removes the files and directories that match a pattern. This function is meant for :func:`atexit.register`.

    Parameters
    ----------
    path : str
        The pattern.
    glob, isdir, isfile, remove, rmtree : callable, optional
        The functions to use: when the interpreter ends, their modules may be gone.
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
        The suffix and the prefix of the name of the directory.
    dir : str, optional
        The directory in which it is created.
    normalize_keys : bool, optional
        Whether all keys are converted to lower case.
    dimension_separator : {'.', '/'}, optional
        The separator in the chunk keys of new arrays.
    sync : bool, optional
        Whether every value is flushed to the disk before it counts as written, so that it survives a power failure.
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
