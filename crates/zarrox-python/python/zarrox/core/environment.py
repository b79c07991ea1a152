"""The configuration file that makes zarr-python use our codec pipeline in a whole environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["ForeignFileError", "disable", "enable", "file", "status"]

_PATH = "zarrox.zarr3.ZarroxCodecPipeline"

_TEXT = f"""\
# Written by "python -m zarrox enable", and removed by "python -m zarrox disable".
codec_pipeline:
  path: {_PATH}
"""


class ForeignFileError(Exception):
    """The error for a file that has our name but different contents."""


def file() -> Path:
    """Returns the path of the file that zarr-python's configuration reads in this environment."""
    return Path(sys.prefix, "etc", "zarr", "zarrox.yaml")


def enable() -> str:
    """Writes the file.

    Returns
    -------
    str
        A description of the action.

    Raises
    ------
    ForeignFileError
        If the file exists but was not written by this command.
    OSError
        If the file cannot be written.
    """
    path = file()
    if _is_ours(path):
        return f"{path} exists already: {_PATH} is enabled in this environment"
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(_TEXT, encoding="utf-8")
    fresh.replace(path)
    return f"wrote {path}: zarr-python uses {_PATH} in this environment"


def disable() -> str:
    """Removes the file, and the directories that it leaves empty.

    Returns
    -------
    str
        A description of the action.

    Raises
    ------
    ForeignFileError
        If the file exists but was not written by this command.
    OSError
        If the file cannot be removed.
    """
    path = file()
    if not _is_ours(path):
        return f"{path} does not exist: nothing was done"
    path.unlink()
    for directory in (path.parent, path.parent.parent):
        if any(directory.iterdir()):
            break
        directory.rmdir()
    return f"removed {path}: zarr-python uses its own pipeline again in this environment"


def status() -> str:
    """Describes the pipeline that zarr-python uses.

    Returns
    -------
    str
        The versions, the file, and the pipeline.
    """
    path = file()
    there = "our configuration" if _is_ours(path) else "not there"
    lines = [f"environment:  {sys.prefix}", f"file:         {path} ({there})"]
    try:
        import zarr
    except ImportError:
        return "\n".join([*lines, "zarr-python:  not installed"])
    lines.append(f"zarr-python:  {zarr.__version__}")
    config = getattr(zarr, "config", None)
    if config is None:
        return "\n".join([*lines, "pipeline:     none: zarr-python 2 has no codec pipelines"])
    used = config.get("codec_pipeline.path")
    lines.append(f"pipeline:     {used}")
    variable = os.environ.get("ZARR_CODEC_PIPELINE__PATH")
    if variable is not None:
        lines.append(f"              set by ZARR_CODEC_PIPELINE__PATH={variable}")
    if used == _PATH:
        from zarrox.zarr3 import versions

        if not versions.is_known():
            lines.append("              refused: this version of zarr-python is not supported")
    return "\n".join(lines)


def _is_ours(path: Path) -> bool:
    """Returns true if the file exists. A file with different contents is an error."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    if text != _TEXT:
        raise ForeignFileError(f"{path} was not written by this command, or was changed: it stays as it is")
    return True
