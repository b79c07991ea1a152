"""The versions of zarr-python that the pipeline supports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import zarr

if TYPE_CHECKING:
    from zarr.abc.codec import CodecPipeline

__all__ = ["KNOWN", "is_known", "refuse", "refusing_pipeline", "register"]

KNOWN = ((3, 1), (3, 2), (3, 3), (3, 4))
"""The versions, without their last numbers."""


def _version() -> tuple[int, ...]:
    return tuple(int(part) for part in zarr.__version__.split(".")[:2] if part.isdigit())


def is_known() -> bool:
    """Returns true if the installed zarr-python is one of :data:`KNOWN`."""
    return _version() in KNOWN


def refuse(*_: Any, **__: Any) -> NoReturn:
    """Raises the error for an unsupported version of zarr-python.

    Raises
    ------
    ImportError
        Always.
    """
    known = ", ".join(".".join(map(str, version)) for version in KNOWN)
    raise ImportError(
        f"zarrox.zarr3 works with zarr-python {known}, but {zarr.__version__} is installed: update zarrox, or switch "
        "the pipeline off with 'python -m zarrox disable'"
    )


def refusing_pipeline() -> type[CodecPipeline]:
    """Returns a class that replaces the pipeline and raises an error when it is used.

    zarr-python imports every installed pipeline, even if it uses another one, so the import must not fail.

    Raises
    ------
    ImportError
        If zarr-python has no pipelines.
    """
    if _version() < (3,):
        refuse()
    from zarr.abc.codec import CodecPipeline

    refused = classmethod(refuse)
    members = {
        "__module__": __package__,
        "__new__": refuse,
        "from_codecs": refused,
        "from_array_metadata_and_store": refused,
    }
    return type("ZarroxCodecPipeline", (CodecPipeline,), members)


def register(pipeline: type[CodecPipeline], path: str) -> None:
    """Registers the pipeline with zarr-python, even if the package is only on the path and not installed.

    Parameters
    ----------
    pipeline : type
        The class.
    path : str
        The name of the pipeline in configurations.
    """
    from zarr.registry import register_pipeline

    module, _, name = path.rpartition(".")
    pipeline.__module__, pipeline.__qualname__ = module, name
    register_pipeline(pipeline)
