"""Collects the errors of a dataset, to raise them together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Faults:
    """The errors found while a write is planned. Nothing is changed before they are raised."""

    def __init__(self) -> None:
        self._found: list[Exception] = []

    def add(self, message: str) -> None:
        """Records an error.

        Parameters
        ----------
        message : str
            The message: the error, its location and the remedy.
        """
        self._found.append(ValueError(message))

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Records an error that ends the ``with`` block, so that the remaining checks can still be made."""
        try:
            yield
        except Exception as error:
            self._found.append(error)

    def __bool__(self) -> bool:
        return bool(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def raise_all(self) -> None:
        """Raises the recorded error, or a single error that lists all of them.

        Raises
        ------
        Exception
            The recorded error if there is only one, and `ValueError` if there are several.
        """
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            raise ValueError("nothing was written:\n" + "\n".join(f"- {error}" for error in self._found)) from self._found[0]
