"""``python -m zarrox enable|disable|status``: the codec pipeline for zarr-python in a whole environment."""

from __future__ import annotations

import argparse
import sys

from zarrox.core import environment


def main(arguments: list[str] | None = None) -> int:
    """Runs the command.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments; those of the process when not given.

    Returns
    -------
    int
        The exit status.
    """
    parser = argparse.ArgumentParser(
        prog="python -m zarrox",
        description="Makes zarr-python read and write chunks with zarrox, in every program of this environment.",
    )
    commands = {
        "enable": (environment.enable, "write the environment's configuration file of zarr-python"),
        "disable": (environment.disable, "remove that file"),
        "status": (environment.status, "show the codec pipeline that zarr-python uses here, and why"),
    }
    chosen = parser.add_subparsers(dest="command", required=True)
    for name, (_, purpose) in commands.items():
        chosen.add_parser(name, help=purpose)
    command = commands[parser.parse_args(arguments).command][0]
    try:
        print(command())
    except (OSError, environment.ForeignFileError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
