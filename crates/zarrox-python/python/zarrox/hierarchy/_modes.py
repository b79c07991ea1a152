"""Modes in which nodes are opened, like those of files."""

__all__ = ["MODES", "check_mode"]

MODES = ("r", "r+", "a", "w", "w-", "x")


def check_mode(mode: str) -> None:
    """Rejects what is no mode.

    Raises
    ------
    ValueError
        For a mode that there is not.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}; found {mode!r}")
