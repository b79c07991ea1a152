"""All that is wrong with a dataset, which is told at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Faults:
    """What is found wrong while a write is planned. Nothing has been changed then."""

    def __init__(self) -> None:
        self._found: list[Exception] = []

    def add(self, message: str) -> None:
        """Notes a fault.

        Parameters
        ----------
        message : str
            What is wrong, where, and what to do.
        """
        self._found.append(ValueError(message))

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Notes the error that ends what is done within, so that the rest is looked at as well."""
        try:
            yield
        except Exception as error:
            self._found.append(error)

    def __bool__(self) -> bool:
        return bool(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def raise_all(self) -> None:
        """Raises the fault, or one error that lists all faults.

        Raises
        ------
        Exception
            The error that was found if there is only one, and `ValueError` if there are more.
        """
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            raise ValueError("nothing was written:\n" + "\n".join(f"- {error}" for error in self._found)) from self._found[0]
