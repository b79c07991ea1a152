"""The measured times, from the tables of the guide: charts, and a page that collects all tables."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

PIPELINES = Path("docs/pipeline.md")
COMMAND = Path("docs/guide/command.md")
FILES = Path("docs/guide/files.md")

#: Rows of the table of pipelines, and their titles in the chart of the front page.
ROWS = {
    "directory, sharded: read all": "Read an array in shards",
    "directory, small chunks: write": "Write small chunks",
    "directory, strings: read all": "Read strings",
    "directory, zstd: read all": "Read chunks of zstd",
    "directory, raw: replace": "Replace uncompressed chunks",
}


def pages() -> dict[str, str]:
    """Returns the page of all measured times."""
    parts = [
        "# Performance",
        "This page collects the measurements of the guide. Each section says what was measured, and links to the page that explains it.",
        "## The command",
        section(COMMAND, "## Speed compared with other tools") + source(COMMAND, "speed-compared-with-other-tools"),
        "## Conversion of files",
        section(FILES, "## Speed") + source(FILES, "speed"),
        "## Inside zarr-python",
        f'<div class="charts" markdown="0">{chart()}</div>\n\n' + section(PIPELINES, "## Speed") + source(PIPELINES, "speed"),
        "## Measure it yourself",
        "`zarrox bench` measures the read speed of your own arrays: see [Inspecting](guide/inspecting.md#speed). "
        "[The benchmarks](files/quality/bench/README.md) compare Zarrox with other libraries on your machine.",
    ]
    return {"performance.md": "\n\n".join(parts) + "\n"}


def fill(page: str) -> str:
    """Returns the front page with its chart and the ratios that it mentions."""
    page = page.replace("{chart}", chart())
    return re.sub(r"\{ratio ([^}]+)\}", lambda match: ratio(match[1]), page)


def source(path: Path, anchor: str) -> str:
    name = str(path).removeprefix("docs/")
    return f"\n\nFrom [{title(path)}]({name}#{anchor})."


def title(path: Path) -> str:
    return path.read_text().splitlines()[0].removeprefix("# ")


def section(path: Path, heading: str) -> str:
    """Returns the text below a heading."""
    return path.read_text().split(f"\n{heading}\n", 1)[1].split("\n## ", 1)[0].strip()


def rows(text: str) -> list[list[str]]:
    """Returns the cells of the tables in a text, without lines between titles and rows."""
    lines = [line for line in text.splitlines() if line.startswith("|") and not re.match(r"\|[-:|]+$", line)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def row(path: Path, heading: str, key: str) -> list[str]:
    """Returns the row of a table whose first cell is a key."""
    for cells in rows(section(path, heading)):
        if cells[0].replace("`", "") == key:
            return cells
    sys.exit(f"error: {path} has no row '{key}' below '{heading}': change the key in {__file__}, or in index.md")


def ratio(work: str) -> str:
    """Returns the ratio of times in the row of a work in the table of the command."""
    return row(COMMAND, "## Speed compared with other tools", work)[2]


def chart() -> str:
    """Returns bars for some rows of the table of pipelines."""
    names = rows(section(PIPELINES, "## Speed"))[0][1:5]
    return "".join(bars(heading, names, row(PIPELINES, "## Speed", key)[1:5]) for key, heading in ROWS.items())


def bars(heading: str, names: list[str], times: list[str]) -> str:
    longest = max(map(float, times))
    lines = ""
    for name, time in zip(names, times, strict=True):
        own = " own" if name == "zarrox" else ""
        lines += (
            f'<div class="bar{own}"><span>{html.escape(name)}</span>'
            f'<i style="--part:{float(time) / longest:.3f}"></i><b>{time} ms</b></div>'
        )
    return f'<figure class="chart"><figcaption>{html.escape(heading)}</figcaption>{lines}</figure>'
