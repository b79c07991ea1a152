"""Finds the tests of zarr-python that use only public names: names of the modules that its documentation lists.

The source of a test is examined, with the functions, fixtures and methods of its module and of `conftest.py` that it uses.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

__all__ = ["Names", "Usage"]

#: The modules that the documentation of zarr-python 3 lists.
DOCUMENTED = (
    "zarr zarr.abc.buffer zarr.abc.codec zarr.abc.metadata zarr.abc.numcodec zarr.abc.store zarr.api.asynchronous zarr.api.synchronous "
    "zarr.buffer zarr.buffer.cpu zarr.codecs zarr.codecs.numcodecs zarr.dtype zarr.errors zarr.registry zarr.storage zarr.types"
).split()


@dataclass(frozen=True)
class Names:
    """The public names of a release of zarr-python, from its source."""

    source: Path

    @cache  # noqa: B019 (one object for a run)
    def of(self, module: str) -> frozenset[str]:
        """Returns the public names of a module; no names for a module that is not public."""
        if module not in DOCUMENTED:
            return frozenset()
        place = self.source.joinpath(*module.split("."))
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        tree = ast.parse(file.read_text(encoding="utf-8"))
        defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                defined |= {alias.asname or alias.name for alias in node.names}
        listed = [node.value for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign)) and "__all__" in ast.unparse(node)]
        texts = {item.value for value in listed for item in ast.walk(value) if isinstance(item, ast.Constant)} if listed else defined
        return frozenset(str(name) for name in texts | (defined & {"Any"}) if not str(name).startswith("_"))

    def has(self, module: str, name: str) -> bool:
        """Returns true if a name is public in any module."""
        return name == "*" or any(name in self.of(each) for each in DOCUMENTED)


@dataclass
class Usage:
    """The names that the functions of a test module use."""

    names: Names
    tree: ast.Module
    #: The fixtures and functions of `conftest.py`.
    above: Usage | None = None
    #: For each imported name, the reason why it is internal.
    internal: dict[str, str] = field(default_factory=dict)
    functions: dict[str, ast.AST] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "zarr" and not node.level:
                self._imported(node)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.functions.setdefault(node.name, node)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.functions.setdefault(target.id, node)

    def _imported(self, node: ast.ImportFrom) -> None:
        module = str(node.module)
        for alias in node.names:
            if not module.startswith("zarr.testing") and not self.names.has(module, alias.name):
                self.internal[alias.asname or alias.name] = f"{module}.{alias.name}"

    def reasons(self, function: str, cls: str | None = None) -> set[str]:
        """Returns the internal names that a test uses."""
        seen: set[int] = set()
        found: set[str] = set()
        pending = [(self, name) for name in (function, cls) if name]
        if cls is not None:
            # Only the called method of a class is examined, with its fixtures.
            pending = [(self, function)]
        while pending:
            usage, name = pending.pop()
            node = usage.functions.get(name)
            if node is None:
                if usage.above is not None:
                    pending.append((usage.above, name))
                if name == function and cls is not None:
                    # The test is inherited from `zarr.testing`, and calls these methods.
                    pending += [(usage, helper) for helper in ("set", "get", "store", "store_kwargs")]
                continue
            if id(node) in seen:
                continue
            seen.add(id(node))
            for used, reason in usage._uses(node):
                if reason:
                    found.add(reason)
                else:
                    pending.append((usage, used))
        return found

    def _uses(self, node: ast.AST) -> Iterator[tuple[str, str]]:
        annotations = {id(part) for each in ast.walk(node) for part in _annotations(each)}
        for each in ast.walk(node):
            if id(each) in annotations:
                continue
            if isinstance(each, ast.Name):
                yield each.id, self.internal.get(each.id, "")
            elif isinstance(each, ast.arg):
                yield each.arg, ""
            elif isinstance(each, ast.Attribute):
                yield each.attr, self._internal_attribute(each)
            elif isinstance(each, ast.Call) and ast.unparse(each.func) == "pytest.mark.usefixtures":
                for fixture in each.args:
                    yield str(ast.literal_eval(fixture)), ""
            elif isinstance(each, ast.ImportFrom) and (each.module or "").startswith("zarr"):
                for alias in each.names:
                    yield alias.name, self.internal.get(alias.asname or alias.name, "")
            elif isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.startswith("zarr.core."):
                yield "", each.value

    @staticmethod
    def _internal_attribute(node: ast.Attribute) -> str:
        text = ast.unparse(node)
        if text.startswith("zarr.core.") or text.startswith("zarr.storage._"):
            return text
        name, owner = node.attr, ast.unparse(node.value)
        private = name.startswith("_") and not name.startswith("__") and owner not in ("self", "cls", "super()")
        return f"the attribute {name}" if private else ""


def _annotations(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the annotations, which only name types."""
    found: list[ast.AST | None] = []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        found = [node.returns, *(arg.annotation for arg in [*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs])]
    elif isinstance(node, ast.AnnAssign):
        found = [node.annotation]
    for each in found:
        if each is not None:
            yield from ast.walk(each)
