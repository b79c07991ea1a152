"""The command ``zarrox``, also as ``python -m zarrox``, with three more subcommands: ``enable``, ``disable`` and
``status``.

They set and show which codec pipeline zarr-python uses in a whole environment.
"""

from __future__ import annotations

import signal
import sys

from zarrox import _native
from zarrox.core import environment

_ENVIRONMENT = {
    "enable": (environment.enable, "write the environment's configuration file of zarr-python"),
    "disable": (environment.disable, "remove that file"),
    "status": (environment.status, "say which codec pipeline zarr-python uses here, and why"),
}


def main(arguments: list[str] | None = None) -> int:
    """Runs the command.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments; by default the arguments of the process.

    Returns
    -------
    int
        The exit status.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] in _ENVIRONMENT:
        return _of_environment(arguments)
    # Python's handler only sets a flag, which nothing reads while the command runs.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run_command(["zarrox", *arguments])


def _of_environment(arguments: list[str]) -> int:
    name, *rest = arguments
    run, purpose = _ENVIRONMENT[name]
    if rest:
        asked = rest in (["-h"], ["--help"])
        print(f"usage: python -m zarrox {name}: {purpose}", file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    try:
        print(run())
    except (OSError, environment.ForeignFileError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
