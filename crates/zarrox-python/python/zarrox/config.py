"""Settings with the names of zarr-python 3.

Those that have an effect here are ``array.order``, ``array.write_empty_chunks``, ``codecs.allow_pickle``, ``default_zarr_format``
and ``threading.max_workers``. All others are kept and given back, so that programs which set them run. Variables of the environment
that begin with ``ZARR_`` set them when the package is imported: ``ZARR_ARRAY__ORDER=F`` is ``array.order``.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from zarrox import _native

__all__ = ["Config", "config"]

_DEFAULTS: dict[str, Any] = {
    "array.order": "C",
    "array.write_empty_chunks": False,
    # Reading a pickle can run any program.
    "codecs.allow_pickle": False,
    "default_zarr_format": 3,
    "threading.max_workers": None,
}


class Config:
    """Settings with dots in their names.

    Examples
    --------
    >>> import zarrox as zarr
    >>> with zarr.config.set({"default_zarr_format": 2}):
    ...     zarr.zeros(3).metadata.zarr_format
    2
    >>> zarr.zeros(3).metadata.zarr_format
    3
    """

    def __init__(self, defaults: Mapping[str, Any]) -> None:
        self._defaults = dict(defaults)
        self._values = dict(defaults)

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a setting; for the first part of several names, a dict of all of them."""
        if name in self._values:
            return self._values[name]
        below = {key.removeprefix(f"{name}."): value for key, value in self._values.items() if key.startswith(f"{name}.")}
        return below or default

    def set(self, values: Mapping[str, Any] | None = None, **further: Any) -> AbstractContextManager[Config]:
        """Change settings; in a ``with`` statement until its end.

        Parameters
        ----------
        values : mapping
            Names and their values; a value that is a mapping holds names with the first part left out.
        **further
            The same names and values, with two underscores for a dot.
        """
        before = dict(self._values)
        self._use(_flat({**(values or {}), **{name.replace("__", "."): value for name, value in further.items()}}))
        return self._until_end(before)

    def update(self, values: Mapping[str, Any]) -> None:
        """Change settings."""
        self._use(_flat(values))

    def reset(self) -> None:
        """Undo all changes."""
        self._values = {}
        self._use(self._defaults)

    def __getitem__(self, name: str) -> Any:
        found = self.get(name, self)
        if found is self:
            raise KeyError(name)
        return found

    def __repr__(self) -> str:
        return f"Config({self._values})"

    def _use(self, values: Mapping[str, Any]) -> None:
        self._values = {**self._values, **values}
        if "threading.max_workers" in values:
            _native.set_threads(values["threading.max_workers"] or 0)
        if "codecs.allow_pickle" in values:
            _native.allow_pickle(bool(values["codecs.allow_pickle"]))

    @contextmanager
    def _until_end(self, before: dict[str, Any]) -> Iterator[Config]:
        try:
            yield self
        finally:
            self._values = {}
            self._use(before)


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Names with dots for mappings in mappings."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


def of_environment(variables: Mapping[str, str]) -> dict[str, Any]:
    """The settings in variables of the environment: two underscores stand for a dot, and values are Python's literals or text.

    Parameters
    ----------
    variables : mapping
        The variables.

    Examples
    --------
    >>> of_environment({"ZARR_DEFAULT_ZARR_FORMAT": "2", "ZARR_ARRAY__ORDER": "F", "HOME": "/root"})
    {'default_zarr_format': 2, 'array.order': 'F'}
    """
    named = ((name.removeprefix("ZARR_"), value) for name, value in variables.items() if name.startswith("ZARR_"))
    return {name.lower().replace("__", "."): _literal(value) for name, value in named}


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


#: The settings of this process.
config = Config(_DEFAULTS)
config.update(of_environment(os.environ))
