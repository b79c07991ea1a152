"""Printed trees."""

from __future__ import annotations

from textwrap import dedent

import pytest

import zarrox.v2 as zarr
from zarrox.v2.hierarchy import Group

UNICODE = """\
/
 ├── bar
 │   ├── baz
 │   └── quux
 │       └── baz (100,) float64
 └── foo"""
ASCII = """\
/
 +-- bar
 |   +-- baz
 |   +-- quux
 |       +-- baz (100,) float64
 +-- foo"""


@pytest.fixture(params=[2, 3])
def root(request: pytest.FixtureRequest) -> Group:
    root = zarr.group(zarr_format=request.param)
    root.create_groups("foo", "bar/baz")
    root.create_dataset("bar/quux/baz", shape=100, chunks=10)
    return root


def test_whole_tree(root: Group) -> None:
    for tree in (root.tree(), zarr.tree(root)):
        assert repr(tree) == str(tree) == UNICODE
        assert bytes(tree) == ASCII.encode()


def test_part_of_a_tree(root: Group) -> None:
    assert str(root["foo"].tree()) == "foo"
    expected = """\
        bar
         ├── baz
         └── quux
             └── baz (100,) float64"""
    assert str(root["bar"].tree()) == dedent(expected)
    assert str(zarr.tree(root["bar/quux/baz"])) == "baz (100,) float64"


@pytest.mark.parametrize("level, lines", [(0, 1), (1, 3), (2, 5), (3, 6), (9, 6)])
def test_levels(root: Group, level: int, lines: int) -> None:
    shown = str(root.tree(level=level)).splitlines()
    assert len(shown) == lines
    assert set(shown) <= set(UNICODE.splitlines())


def test_is_drawn_when_it_is_printed(root: Group) -> None:
    tree = root.tree()
    root.create_group("zzz")
    assert str(tree).endswith(" └── zzz")


def test_html(root: Group) -> None:
    root.create_group("<b>")
    html = root.tree()._repr_html_()
    assert "quux" in html and "&lt;b&gt;" in html and "<b>" not in html
    bundle = root.tree(level=1)._repr_mimebundle_()
    assert bundle["text/plain"] == str(root.tree(level=1))
    assert "quux" not in bundle["text/html"] and "bar" in bundle["text/html"]


def test_notebooks_show_a_group_without_reading_its_store() -> None:
    reads: list[str] = []

    class Counting(dict[str, bytes]):
        def __getitem__(self, key: str) -> bytes:
            reads.append(key)
            return super().__getitem__(key)

        def __contains__(self, key: object) -> bool:
            reads.append(str(key))
            return super().__contains__(key)

    root = zarr.group(zarr.storage.KVStore(Counting()))
    root.create_group("foo")
    reads.clear()
    for name in ("html", "json", "javascript", "markdown", "svg", "png", "jpeg", "latex", "pdf"):
        assert getattr(root, f"_repr_{name}_")() is None
    assert root._repr_mimebundle_(include=None, exclude=None) is None
    assert repr(root) == "<zarrox.v2.hierarchy.Group '/'>" and not reads
