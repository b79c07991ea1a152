"""Names that only one of the two interfaces has: the error of the other interface says where they are."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import zarrox
from zarrox import v2
from zarrox.elsewhere import OF_2, OF_3, Elsewhere


def owner(interface: Any, name: str) -> Any:
    """Returns a module, an array or a group."""
    if name == "Array":
        return interface.zeros(3)
    if name == "Group":
        return interface.group()
    return importlib.import_module(name.replace("zarr", interface.__name__, 1))


def rows() -> list[tuple[Any, Any, Elsewhere, str]]:
    """Returns each owner in the interface that lacks names, and in the interface that has them."""
    return [
        (lacks, has, table, name)
        for lacks, has, table in ((zarrox, v2, OF_2), (v2, zarrox, OF_3))
        for name in table.names
    ]


@pytest.mark.parametrize(("lacks", "has", "table", "name"), rows(), ids=lambda value: value if isinstance(value, str) else "")
def test_each_name_is_said_to_be_elsewhere(lacks: Any, has: Any, table: Elsewhere, name: str) -> None:
    missing, there = owner(lacks, name), owner(has, name)
    for each in table.names[name].split():
        with pytest.raises(AttributeError, match=rf"{name}\.{each} belongs to {table.release}: {table.line}"):
            getattr(missing, each)
        if not (has is zarrox and each in ("dask", "xarray", "zarr3")):
            assert hasattr(there, each), each


@pytest.mark.parametrize(("lacks", "has", "table", "name"), rows(), ids=lambda value: value if isinstance(value, str) else "")
def test_no_name_is_forgotten(lacks: Any, has: Any, table: Elsewhere, name: str) -> None:
    """Every name that only one interface has is in the table."""
    missing, there = owner(lacks, name), owner(has, name)
    public = {each for each in getattr(there, "__all__", dir(there)) if not each.startswith("_")}
    known = dir(missing) if name in ("Array", "Group") else {each for each in public if hasattr(missing, each)}
    forgotten = public - set(known) - set(table.names[name].split())
    assert forgotten <= PASSED_OVER.get(name, set())


#: Names that only this package has, and no release of zarr-python.
PASSED_OVER = {
    "zarr": {"Codec", "Server", "UnknownCodecError"},
    "zarr.storage": {"NativeStore", "StoredBytes", "native_store"},
    "zarr.codecs": {"UnknownCodecError", "blosc"},
}


def test_what_neither_has_is_an_ordinary_error() -> None:
    for interface in (zarrox, v2):
        for each in (interface, interface.zeros(3), interface.group(), interface.storage, interface.codecs):
            with pytest.raises(AttributeError) as raised:
                each.nothing  # noqa: B018
            assert "belongs to" not in str(raised.value)


def test_arrays_of_one_are_taken_by_functions_of_the_other() -> None:
    z = v2.array([1, 2, 3], chunks=2)
    assert zarrox.from_array({}, data=z)[:].tolist() == v2.array(zarrox.array(z))[:].tolist() == [1, 2, 3]
    assert zarrox.open(z.store).chunks == z.chunks
    assert zarrox.copy(z, zarrox.group(), name="a") == (1, 0, 24)


def test_defaults_are_those_of_each_release() -> None:
    assert (v2.zeros(3)._metadata.zarr_format, zarrox.zeros(3).metadata.zarr_format) == (2, 3)
    assert (v2.group()._zarr_format, zarrox.group().metadata.zarr_format) == (2, 3)
    assert isinstance(v2.zeros(3).nchunks_initialized, int)
    assert zarrox.zeros(3, zarr_format=2).filters == ()
    assert v2.zeros(3, zarr_format=3).filters is None


def test_selections_take_what_each_release_has() -> None:
    old, new = v2.zeros((2, 2)), zarrox.zeros((2, 2))
    for kind, selection in (("basic", 0), ("orthogonal", [0]), ("coordinate", ([0], [1])), ("mask", old[:] == 0), ("block", 0)):
        get, set_ = f"get_{kind}_selection", f"set_{kind}_selection"
        assert getattr(new, get)(selection, prototype=None).tolist() == getattr(old, get)(selection).tolist()
        for array, options in ((new, {"prototype": None}), (old, {})):
            getattr(array, set_)(selection, 1, **options)
        for method, arguments in ((get, (selection,)), (set_, (selection, 1))):
            with pytest.raises(TypeError, match="prototype"):
                getattr(old, method)(*arguments, prototype=None)
    assert (new[:] == 1).all()
    assert new.get_mask_selection(mask=new[:] == 1).tolist() == [1] * 4
