"""Builds the site: prepares the pages, runs MkDocs, and checks the links. `cargo xtask site` calls this program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import charts
import command
import links
import pages
import python_api

HERE = Path(__file__).parent
SOURCE = Path("target/site-source")
SITE = Path("target/site")
CONFIGURATION = Path("target/site.yml")
#: The script that MkDocs-material loads from another host, and its copy.
SHIM = "https://unpkg.com/iframe-worker/shim"
COPY = "assets/iframe-worker.js"
RUSTDOC = Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "doc"


def main(zarrox: str) -> None:
    """Builds the site with the help of a command `zarrox`."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    has_rustdoc = (RUSTDOC / "zarrox/index.html").exists()
    made = command.pages(zarrox) | python_api.pages() | {"rust.md": rust(has_rustdoc)} | charts.pages()
    made["index.md"] = charts.fill((HERE / "index.md").read_text())
    made["style.css"] = (HERE / "style.css").read_text()
    pages.write(SOURCE, made)
    configure(made)
    mkdocs = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", str(CONFIGURATION)]
    if subprocess.run(mkdocs, check=False, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}).returncode:
        sys.exit("error: mkdocs failed")
    localize()
    if has_rustdoc:
        copy_rustdoc()
    links.check(SITE)


def configure(made: dict[str, str]) -> None:
    """Writes the configuration of MkDocs, with the generated pages in the navigation."""
    text = (HERE / "mkdocs.yml").read_text()
    for placeholder, folder in (("# commands", "command/"), ("# python", "python-api/")):
        names = [name for name in made if name.startswith(folder)]
        text = text.replace(placeholder, "\n          ".join(f"- {name}" for name in names))
    CONFIGURATION.write_text(text)


def rust(has_rustdoc: bool) -> str:
    """Returns the page about Rust, with the example of README.md; it links to the reference if the site contains it."""
    reference = "[API reference](api/zarrox/index.html)" if has_rustdoc else "API reference: `cargo doc --open --package zarrox`"
    example = Path("README.md").read_text().split("```rust,no_run\n", 1)[1].split("```", 1)[0]
    return (HERE / "rust.md").read_text().replace("{reference}", reference).replace("{example}", example)


def localize() -> None:
    """Replaces the script of another host by its copy."""
    shutil.copy(HERE / "iframe-worker.js", SITE / COPY)
    for page in SITE.rglob("*.html"):
        up = "/" if page.name == "404.html" else "../" * (len(page.relative_to(SITE).parts) - 1)
        page.write_text(page.read_text().replace(SHIM, up + COPY))


def copy_rustdoc() -> None:
    """Copies the reference of the Rust crates."""
    shutil.copytree(RUSTDOC, SITE / "api", ignore=shutil.ignore_patterns("*.json", "src", "src-files.js", ".lock"))


if __name__ == "__main__":
    main(sys.argv[1])
