"""The common part of the programs that run one check on many files."""

import os
import shutil
import subprocess
import sys


def zarrox(*arguments):
    """Runs the command, which must succeed. Returns its output."""
    done = subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"{arguments}: {done.stderr}"
    return done.stderr


def prepare(directory):
    """Empties the directory of a run, and creates the directory for results in it."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(os.path.join(directory, "made"))


def try_all(paths, check):
    """Checks all files, prints those that fail and the counts, and ends the program."""
    failed = []
    for path in paths:
        try:
            check(path)
        except Exception as error:  # noqa: BLE001, all files are tried
            failed.append(path)
            print(f"{os.path.basename(path)}: {type(error).__name__}: {error}"[:1500])
    print(f"{len(paths) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)
