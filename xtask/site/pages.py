"""The pages of the repository, in the Markdown of MkDocs.

The pages in `docs` are written for GitHub. MkDocs expects four spaces before a list inside a list, no backslash before a bar in
the code of a table, and no attributes of languages. Links must lead to pages of the site: a linked file of the repository that
is not in `docs` becomes a page too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path, PurePosixPath

#: The pages of the repository that have another name on the site.
NAMES = {
    "docs/README.md": "documentation.md",
    "docs/guide/README.md": "guide/index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "README.md": "index.md",
}
#: The languages of linked files, by suffix.
LANGUAGES = {".rs": "rust", ".py": "python", ".c": "c", ".h": "c", ".f90": "fortran", ".toml": "toml", ".yml": "yaml"}
#: The beginning of pages of files, which are as wide as possible and are not searched.
FILE = "---\nhide: [navigation, toc]\nsearch:\n  exclude: true\n---\n\n"
LINK = re.compile(r"(?<!\\)(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^(\s*)```(.*)$")


def write(to: Path, made: dict[str, str]) -> None:
    """Writes the pages of the repository, and these pages."""
    for name, text in made.items():
        put(to / name, text)
    waiting = [str(path) for path in sorted(Path("docs").rglob("*.md"))] + ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    known = set(waiting) | {"README.md"}
    while waiting:
        page = waiting.pop()
        text, linked = converted(page)
        put(to / site_name(page), text)
        waiting += linked - known
        known |= linked
    for image in Path("docs").rglob("*.png"):
        put(to / image.relative_to("docs"), None)
        shutil.copy(image, to / image.relative_to("docs"))


def put(path: Path, text: str | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if text is not None:
        path.write_text(text)


def site_name(path: str) -> str:
    """Returns the name of the page of a file of the repository."""
    if path in NAMES:
        return NAMES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"files/{path}" if path.endswith(".md") else f"files/{path}.md"


def converted(path: str) -> tuple[str, set[str]]:
    """Returns the page of a file, and the files of the repository that it links to."""
    if Path(path).is_dir():
        return folder(path), set()
    text = Path(path).read_text()
    if not path.endswith(".md"):
        return f"{FILE}# {path}\n\n```{LANGUAGES.get(Path(path).suffix, 'text')}\n{text}```\n", set()
    linked: set[str] = set()
    lines = []
    for line, is_code in code_lines(text):
        if is_code:
            lines.append(line)
        else:
            lines.append(LINK.sub(lambda match: match[1] + on_site(match[2], path, linked) + match[3], for_mkdocs(line)))
    beginning = FILE if site_name(path).startswith("files/") else ""
    return beginning + "\n".join(lines) + "\n", linked


def folder(path: str) -> str:
    """Returns a page that lists the files of a folder."""
    names = subprocess.run(["git", "ls-files", path], check=True, capture_output=True, text=True).stdout.split()
    listed = "".join(f"- `{name}`\n" for name in names)
    return f"{FILE}# {path}\n\nThe folder of the repository contains these files:\n\n{listed}"


def on_site(target: str, path: str, linked: set[str]) -> str:
    """Returns the target of a link on the site, and records a linked file."""
    if re.match(r"[a-z]+:|#", target):
        return target
    file, _, anchor = target.partition("#")
    file = os.path.normpath(PurePosixPath(path).parent / file)
    if file.endswith(".png"):
        name = file.removeprefix("docs/")
    else:
        linked.add(file)
        name = site_name(file)
    relative = os.path.relpath(name, PurePosixPath(site_name(path)).parent)
    return f"{relative}#{anchor}" if anchor else relative


def for_mkdocs(line: str) -> str:
    """Returns a line with the indentation of lists inside lists, and the bars in the code of tables, that MkDocs expects."""
    if line.startswith("|"):
        return re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), line)
    return re.sub(r"^  - ", "    - ", line)


def code_lines(text: str) -> list[tuple[str, bool]]:
    """Returns the lines of a page, and whether each belongs to a block of code. Lines that only tests need are left out."""
    lines: list[tuple[str, bool]] = []
    language = None
    all_lines = text.splitlines()
    for index, line in enumerate(all_lines):
        fence = FENCE.match(line)
        if fence and language is None:
            language = fence[2].split(",")[0] or "text"
            if language == "python" and all_lines[index + 1].lstrip().startswith(">>>"):
                language = "pycon"
            lines.append((f"{fence[1]}```{language}", True))
        elif fence:
            language = None
            while not lines[-1][0].strip():
                lines.pop()
            lines.append((line, True))
        elif not (language == "rust" and re.match(r"#( |$)", line)):
            lines.append((re.sub(r"\s*# doctest: .*", "", line) if language == "pycon" else line, language is not None))
    return lines
