"""Checks the finished pages: every link leads to a file and an anchor, and nothing is loaded from another host."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes by which a page loads a file, and tags whose `href` a reader follows.
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
#: Links in the head that say where a page is published, and load nothing.
NOT_LOADED = {"canonical", "alternate"}


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {found[name] or "" for name in ("id", "name") if name in found}
        for name, value in attrs:
            if (tag, name) == ("a", "href"):
                self.links.append(value or "")
            elif (tag, name) in LOADED and found.get("rel") not in NOT_LOADED:
                self.loaded.append(value or "")


def check(site: Path) -> None:
    """Ends the program if a page has a broken link, or loads a file from another host."""
    # rustdoc checks the links of its own pages.
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if "api" not in path.relative_to(site).parts[:1]}
    problems = []
    count = 0
    for path, page in pages.items():
        problems += [f"{path}: loads {target}" for target in page.loaded if urlsplit(target).netloc]
        for target in page.links + page.loaded:
            if not urlsplit(target).scheme and not urlsplit(target).netloc:
                count += 1
                problems += broken(site, path, target, pages)
    if problems:
        sys.exit("error: broken links:\n" + "\n".join(sorted(set(problems))))
    print(f"{site}: {len(pages)} pages, {count} internal links")


def broken(site: Path, path: Path, target: str, pages: dict[Path, Page]) -> list[str]:
    """Returns the problem of an internal link; an empty list if there is none."""
    parts = urlsplit(target)
    # The page for missing addresses is served from any address, so its links begin at the root.
    base = site if parts.path.startswith("/") else path.parent
    file = (base / unquote(parts.path).lstrip("/")).resolve().relative_to(Path.cwd()) if parts.path else path
    if file.is_dir():
        file /= "index.html"
    if not file.exists():
        return [f"{path}: '{target}' does not exist"]
    anchor = unquote(parts.fragment)
    if anchor and not anchor.startswith("__") and file in pages and anchor not in pages[file].anchors:
        return [f"{path}: '{target}' has no such anchor"]
    return []
