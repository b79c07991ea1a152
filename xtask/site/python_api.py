"""The pages of the Python API, which mkdocstrings fills from the docstrings and signatures in the sources."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCES = Path("crates/zarrox-python/python")

#: The pages: the module, and its introduction. A page has the names of `__all__`, or all documented names.
MODULES = {
    "zarrox": "The interface of zarr-python 3, and functions that only Zarrox has. `zarrox.api.asynchronous` has asynchronous versions.",
    "zarrox.codecs": "Codecs of both formats.",
    "zarrox.dtype": "Data types.",
    "zarrox.storage": "Stores.",
    "zarrox.abc.store": "The base class of stores of your own.",
    "zarrox.errors": "Exceptions.",
    "zarrox.config": "Settings.",
    "zarrox.registry": "Registration of codecs, data types and buffers of your own.",
    "zarrox.xarray": "Reading and writing datasets of xarray.",
    "zarrox.dask": "Reading and writing arrays of Dask.",
    "zarrox.zarr3": "The codec pipeline and the store for zarr-python 3.",
    "zarrox.v2": "The interface of zarr-python 2: arrays. The names of the following modules are also in `zarrox.v2`.",
    "zarrox.v2.creation": "Functions that create and open arrays.",
    "zarrox.v2.convenience": "Functions that open, save, load and copy nodes.",
    "zarrox.v2.hierarchy": "Groups.",
    "zarrox.v2.storage": "Stores.",
    "zarrox.v2.sync": "Locks.",
    "zarrox.v2.n5": "N5.",
}
#: The pages of classes whose methods are mostly inherited.
INHERITED = ("zarrox", "zarrox.v2", "zarrox.v2.hierarchy")


def pages() -> dict[str, str]:
    """Returns the pages, with an instruction for mkdocstrings on each."""
    listed = "".join(f"| [`{name}`]({name}.md) | {about} |\n" for name, about in MODULES.items())
    made = {"python-api/index.md": f"# Python API\n\n[Zarrox in Python](../python.md) introduces the package.\n\n| module | |\n|---|---|\n{listed}"}
    for name, about in MODULES.items():
        made[f"python-api/{name}.md"] = f"# {name}\n\n{about}\n\n::: {name}\n{options(name)}"
    return made


def options(module: str) -> str:
    """Returns the options of a page: the names of `__all__`, without modules, which have pages of their own."""
    names = public(module)
    chosen = f"      members: [{', '.join(names)}]\n" if names else ""
    inherited = "      inherited_members: true\n" if module in INHERITED else ""
    return f"    options:\n{chosen}{inherited}" if chosen or inherited else ""


def public(module: str) -> list[str]:
    """Returns the names in the `__all__` of a module that are not modules."""
    path = SOURCES / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    imported: dict[str, str] = {}
    names: list[str] = []
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            imported |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__" and isinstance(node.value, ast.List):
            names += [ast.literal_eval(name) for name in node.value.elts if isinstance(name, ast.Constant)]
        elif isinstance(node, ast.AugAssign) and ast.unparse(node.target) == "__all__" and isinstance(node.value, ast.Attribute):
            # The names of an imported module, unless it has a page of its own.
            origin = imported[ast.unparse(node.value.value)]
            names += [] if origin in MODULES else public(origin)
    return [name for name in names if name != "__version__" and not (path / name).exists() and not (path / f"{name}.py").exists()]
