"""Modes for opening nodes, like the modes of files."""

__all__ = ["MODES", "check_mode"]

MODES = ("r", "r+", "a", "w", "w-", "x")


def check_mode(mode: str) -> None:
    """Rejects an invalid mode.

    Raises
    ------
    ValueError
        If the mode is invalid.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}; found {mode!r}")
