"""Reports of progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress_reporter(progress: Any, total: int, unit: str = "B") -> Iterator[Callable[[int], None]]:
    """Reports the progress of an operation.

    Parameters
    ----------
    progress : object
        ``None`` for no reports; a progress bar with ``update(n)`` and ``total``, like tqdm; a class of such bars, which is
        instantiated and closed; or a function that is called with the completed amount and the total.
    total : int
        The total amount.
    unit : str
        The unit of the amounts.

    Yields
    ------
    callable
        A function to call with the amount completed since its last call.

    Examples
    --------
    >>> from zarrox.v2.util import progress_reporter
    >>> with progress_reporter(lambda done, total: print(f"{done} of {total}"), 20) as report:
    ...     report(5)
    ...     report(15)
    5 of 20
    20 of 20
    """
    if progress is None:
        yield lambda _: None
    elif isinstance(progress, type):
        with progress(total=total, unit=unit, unit_scale=True) as bar:
            yield bar.update
    elif hasattr(progress, "update"):
        progress.total = total
        yield progress.update
    else:
        yield _counting(progress, total)


def _counting(function: Callable[[int, int], object], total: int) -> Callable[[int], None]:
    done = 0

    def report(amount: int) -> None:
        nonlocal done
        done += amount
        function(done, total)

    return report
