"""Tries the installed package: its quickstart, the command and the server. The argument is the page with the quickstart."""

import doctest
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.request


def quickstart(page: str) -> None:
    """Runs the first example of the page."""
    text = pathlib.Path(page).read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    test = doctest.DocTestParser().get_doctest(example, {}, "quickstart", page, 0)
    failed, attempted = doctest.DocTestRunner().run(test)
    assert attempted > 3 and failed == 0, (failed, attempted)
    print(f"quickstart: {attempted} statements")


def command() -> None:
    """Runs the command in both ways."""
    program = os.path.join(os.path.dirname(sys.executable), "zarrox")
    for line in ([program], [sys.executable, "-m", "zarrox"]):
        assert "Exit codes:" in done(*line, "--help")
        version = done(*line, "--version")
        assert "commit: " in version and "Blosc " in version, version
    print(version)
    assert "1000" in done(program, "info", "example.zarr")
    missing = subprocess.run([program, "info", "missing.zarr"], capture_output=True, text=True)
    assert missing.returncode == 3 and "missing.zarr" in missing.stderr, missing
    assert "zarr-python:  not installed" in done(sys.executable, "-m", "zarrox", "status")


def server() -> None:
    """Serves the array of the quickstart."""
    program = os.path.join(os.path.dirname(sys.executable), "zarrox")
    line = [program, "serve", "--no-token", "example.zarr"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as serving:
        try:
            first = serving.stdout.readline().strip()
            printed = first + serving.stdout.readline()
            url = re.findall(r"http://\S+", printed)[-1].rstrip("/")
            with urllib.request.urlopen(f"{url}/zarr.json", timeout=30) as answer:
                assert json.load(answer)["shape"] == [1000, 1000]
        finally:
            # Ctrl-C ends the server, although Python has its own handler.
            serving.send_signal(2)
            serving.wait(30)
    print(f"served: {url}")


def startup() -> None:
    """Measures the import, in processor time, which other programs disturb less."""
    program = "import resource, {}; use = resource.getrusage(0); print(1000 * (use.ru_utime + use.ru_stime))"
    times = {
        name: min(float(done(sys.executable, "-c", program.format(name))) for _ in range(7)) for name in ("numpy", "zarrox")
    }
    print(f"import: {times['zarrox'] - times['numpy']:.0f} ms beyond the {times['numpy']:.0f} ms of NumPy")


def done(*line: str) -> str:
    """Runs a command line, and returns its output."""
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    quickstart(sys.argv[1])
    command()
    server()
    startup()
