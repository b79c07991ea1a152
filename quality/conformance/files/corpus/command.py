"""Runs `zarrox` within limits, and parses its output."""

import os
import re
import resource
import signal
import subprocess

# The limits of one command: CPU time in seconds; wall time in seconds, which is longer since the machine may be busy; and
# memory.
SECONDS, PATIENCE = 60, 200
MEMORY = 6 << 30

UNSUPPORTED, DAMAGED, MISSING, FORBIDDEN = 6, 5, 3, 7

# The codes of parts that --skip-unsupported skips: features that Zarr does not have, and parts of files that are missing or not
# allowed.
SKIPPED = (UNSUPPORTED, MISSING, FORBIDDEN)


class Failed(Exception):
    """The command violated a guarantee."""


class Command:
    def __init__(self, path):
        self.path = os.path.abspath(path)

    def __call__(self, *arguments):
        """Returns the exit code of the command, and its output."""
        try:
            done = subprocess.run([self.path, *arguments], capture_output=True, timeout=PATIENCE, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            raise Failed(f"{arguments[0]}: not done after {PATIENCE} seconds") from None
        output = done.stderr.decode(errors="replace")
        if done.returncode < 0:
            raise Failed(f"{arguments[0]}: ended by {signal.Signals(-done.returncode).name}: {output[-300:]}")
        if "panicked at" in output or done.returncode == 101:
            raise Failed(f"{arguments[0]}: a panic: {output[-600:]}")
        return done.returncode, output

    def do(self, *arguments):
        """Returns the output of the command; anything but success is an error."""
        code, output = self(*arguments)
        if code != 0:
            raise Failed(f"{arguments[0]}: exit code {code}: {output.strip()[:600]}")
        return output


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def other(*command):
    """Runs another program. Returns its exit code, and its output."""
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE)
    return done.returncode, done.stderr.decode(errors="replace")


class Notes:
    """Returns the parts that an import has reported as skipped."""

    def __init__(self, output):
        self.lines = re.findall(r"left out: (.*)", output)
        # Whether dangling links may be skipped silently.
        self.forgives = False

    def __bool__(self):
        return bool(self.lines)

    def name(self, path):
        """Returns true if the node, or a node above it, is skipped."""
        path = "/" + path.strip("/")
        for line in self.lines:
            at, reason = split(line, path)
            if at is not None and not re.match(r"(the )?attribute\b", reason):
                return True
        return False

    def name_attribute(self, path, attribute):
        path = "/" + path.strip("/")
        return any(attribute in line and path in line for line in self.lines)


def split(line, path):
    """Returns the path and the reason of a line, if its path is this path or a path above it."""
    parts = path.strip("/").split("/")
    for end in range(len(parts), 0, -1):
        for above in ("/" + "/".join(parts[:end]), "/".join(parts[:end]), ascii("/" + "/".join(parts[:end]))[1:-1]):
            if line == above or line.startswith(above + ": "):
                return above, line[len(above) + 2 :]
    return None, ""
