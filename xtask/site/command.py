"""The pages of the command, from the texts that `zarrox help` prints."""

from __future__ import annotations

import html
import os
import re
import subprocess

SECTION = re.compile(r"^([A-Z][^:]*):$")
COMMON = "Options of every command"
#: The placeholder of text that is not in a section.
TEXT = ""


def pages(zarrox: str) -> dict[str, str]:
    """Returns the pages of all commands, and the page that lists them."""
    main = sections(help_of(zarrox))
    groups = {title: entries(lines) for title, lines in main.items() if title not in (TEXT, "Usage", COMMON, "Examples", "Exit codes")}
    made = {"command/index.md": index(main, groups)}
    for commands in groups.values():
        for name, _ in commands:
            if name == "help":
                continue
            made[f"command/{name}.md"] = page(zarrox, [name])
    options = subprocess.run([zarrox, "storage"], check=True, capture_output=True, text=True).stdout
    made["command/storage.md"] += f"\n**Output**\n\n```text\n{options}```\n"
    return made


def help_of(zarrox: str, *names: str) -> str:
    """Returns the help of a command, wrapped at the width of a page."""
    environment = os.environ | {"COLUMNS": "100"}
    return subprocess.run([zarrox, *names, "--help"], check=True, capture_output=True, text=True, env=environment).stdout


def index(main: dict[str, list[str]], groups: dict[str, list[tuple[str, str]]]) -> str:
    """Returns the page that lists all commands."""
    page = "# Commands\n\n" + paragraph(main[TEXT]) + "\n"
    page += "These pages have the texts of `zarrox help COMMAND`. [The command](../guide/command.md) introduces the commands with examples.\n"
    for title, commands in groups.items():
        page += f"\n## {title}\n\n| command | |\n|---|---|\n"
        page += "".join(f"| {link(name)} | {text(about)} |\n" for name, about in commands)
    page += f"\n## {COMMON}\n\n{definitions(main[COMMON])}"
    page += "\n## Exit codes\n\n| code | |\n|---|---|\n"
    return page + "".join(f"| {code} | {text(about)} |\n" for code, about in entries(main["Exit codes"]))


def link(name: str) -> str:
    """Returns a link to the page of a command. These pages are the help."""
    return "`help`" if name == "help" else f"[`{name}`]({name}.md)"


def page(zarrox: str, names: list[str], level: int = 1) -> str:
    """Returns the page of a command, with its own commands below it."""
    parts = sections(help_of(zarrox, *names))
    made = f"{'#' * level} zarrox {' '.join(names)}\n\n{paragraph(parts.pop(TEXT, []))}\n"
    made += block("text", [line.strip() for line in parts.pop("Usage", [])])
    parts.pop(COMMON, None)
    examples = parts.pop("Examples", [])
    inner = [name for name, _ in entries(parts.pop("Commands", [])) if name != "help"]
    for title, lines in parts.items():
        defined = definitions(lines)
        made += f"\n**{title}**\n\n{defined}" if defined else ""
    if examples:
        made += "\n**Examples**\n\n" + block("console", [shell(line.strip()) for line in examples if line.strip()])
    made += "".join("\n" + page(zarrox, [*names, name], level + 1) for name in inner)
    if level == 1:
        made += f"\nEvery command also has these [common options](index.md#{COMMON.lower().replace(' ', '-')}).\n"
    return made


def sections(printed: str) -> dict[str, list[str]]:
    """Returns the lines of a help by their titles; text before the first title has the title `TEXT`."""
    found: dict[str, list[str]] = {TEXT: []}
    title = TEXT
    for line in printed.splitlines():
        if line.startswith("Usage: "):
            found["Usage"] = [line.removeprefix("Usage: ")]
            title = "Usage"
        elif match := SECTION.match(line):
            title = match[1]
            found[title] = []
        else:
            found[title].append(line)
    return found


def entries(lines: list[str]) -> list[tuple[str, str]]:
    """Returns the names and the descriptions of a list of commands, options or exit codes."""
    found: list[tuple[str, list[str]]] = []
    # The indentation of names is smaller than that of descriptions, and an option without a short form is indented further.
    for line in lines:
        indentation = len(line) - len(line.lstrip())
        is_option = re.match(r"( {2}| {6})(-|<|\[[A-Z])", line)
        if line.strip() and (indentation == 2 or is_option) and not (found and indentation == 6 and not is_option):
            name, _, about = line.strip().partition("  ")
            found.append((name, [about.strip()]))
        elif found:
            found[-1][1].append(line.strip())
    return [(name, "\n".join(about).strip()) for name, about in found]


def definitions(lines: list[str]) -> str:
    """Returns a list of definitions of arguments or options."""
    made = ""
    for name, about in entries(lines):
        if name not in ("-h, --help", "-V, --version"):
            body = "\n\n    ".join(text(part.replace("\n", " ")) for part in re.split(r"\n\n+", about))
            made += f"`{name}`\n:   {body}\n\n"
    return made


def paragraph(lines: list[str]) -> str:
    return text("\n".join(lines).strip()) + "\n"


def text(plain: str) -> str:
    """Returns text in which no character has a meaning in Markdown, except for code between backticks."""
    parts = plain.split("`")
    for index in range(0, len(parts), 2):
        escaped = re.sub(r"([\\*_\[\]|#])", r"\\\1", html.escape(parts[index], quote=False))
        # Options and patterns are code.
        parts[index] = re.sub(r"(?<![\w`-])(--?[a-z][a-z-]*)", r"`\1`", escaped)
    return "`".join(parts)


def block(language: str, lines: list[str]) -> str:
    return f"```{language}\n" + "\n".join(line for line in lines if line) + "\n```\n"


def shell(line: str) -> str:
    """Returns a line of an example with a prompt, unless it is a comment."""
    return line if line.startswith("#") else f"$ {line}"
