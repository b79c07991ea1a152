"""Copies between Zarr and HDF5 files, and trees of HDF5 files."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox.v2 as zarr
from zarrox.errors import CopyError, ZarrUserWarning
from zarrox.v2.hierarchy import Group

h5py = pytest.importorskip("h5py")


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Any]:
    with h5py.File(tmp_path / "source.h5", mode="w") as file:
        yield file


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Any]:
    with h5py.File(tmp_path / "target.h5", mode="w") as target:
        yield target


@pytest.fixture(params=[2, 3], ids=["v2", "v3"])
def dest(request: pytest.FixtureRequest) -> Group:
    return zarr.group(zarr_format=request.param)


def fill(file: Any) -> None:
    foo = file.create_group("foo")
    foo.attrs["experiment"] = "weird science"
    baz = foo.create_dataset("bar/baz", data=np.arange(100), chunks=(50,))
    baz.attrs["units"] = "metres"
    file.create_dataset(
        "spam", data=np.arange(100, 200).reshape(20, 5), chunks=(10, 2), dtype="i2",
        compression="gzip", compression_opts=3, fillvalue=84, shuffle=True, fletcher32=True,
    )  # fmt: skip


class TestFromHdf5:
    def test_the_tutorial(self, file: Any, dest: Group) -> None:
        fill(file)
        log = io.StringIO()
        assert zarr.copy(file["foo"], dest, log=log) == (3, 0, 800)
        assert log.getvalue().splitlines() == [
            "copy /foo",
            "copy /foo/bar",
            "copy /foo/bar/baz (100,) int64",
            "all done: 3 copied, 0 skipped, 800 bytes copied",
        ]
        assert list(dest) == ["foo"]
        assert dest["foo"].attrs["experiment"] == "weird science"
        assert dest["foo/bar/baz"].attrs["units"] == "metres"
        assert dest["foo/bar/baz"].chunks == (50,)
        np.testing.assert_array_equal(dest["foo/bar/baz"][:], np.arange(100))

    def test_whole_files(self, file: Any, dest: Group) -> None:
        fill(file)
        file.attrs["title"] = "all"
        assert zarr.copy_all(file, dest) == (4, 0, 1000)
        assert dest.attrs["title"] == "all"
        spam = dest["spam"]
        assert (spam.chunks, spam.dtype, spam.fill_value) == ((10, 2), np.dtype("i2"), 84)
        np.testing.assert_array_equal(spam[:], file["spam"][:])
        assert str(dest.tree()) == str(zarr.tree(file))

    def test_existing_arrays(self, file: Any, dest: Group) -> None:
        fill(file)
        dest["spam"] = 1
        with pytest.raises(CopyError):
            zarr.copy(file["spam"], dest)
        assert zarr.copy(file["spam"], dest, if_exists="skip") == (0, 1, 0)
        assert zarr.copy(file["spam"], dest, if_exists="replace", chunks=(5, 5)) == (1, 0, 200)
        assert dest["spam"].chunks == (5, 5)

    @pytest.mark.parametrize("data", [3.5, np.zeros((0, 3)), np.arange(7), np.array([True, False]), np.array([1 + 2j])])
    def test_shapes_and_types(self, file: Any, dest: Group, data: Any) -> None:
        file["a"] = data
        zarr.copy_all(file, dest)
        assert dest["a"].dtype == file["a"].dtype
        np.testing.assert_array_equal(dest["a"][...], data)

    def test_records(self, file: Any, dest: Group) -> None:
        data = np.array([(1, 2.5), (3, 4.5)], dtype=[("n", "<i4"), ("x", "<f8")])
        file["a"] = data
        zarr.copy_all(file, dest)
        np.testing.assert_array_equal(dest["a"][:], data)

    def test_fixed_text(self, file: Any, dest: Group) -> None:
        file["a"] = np.array([b"abc", b"de"], dtype="S3")
        zarr.copy_all(file, dest)
        assert list(dest["a"][:]) == [b"abc", b"de"]

    def test_text(self, file: Any, dest: Group) -> None:
        file.create_dataset("a", data=["one", "Zürich", ""], dtype=h5py.string_dtype(), chunks=(2,))
        file.create_dataset("b", data=[b"ascii"], dtype=h5py.string_dtype("ascii"))
        file["scalar"] = "text"
        zarr.copy_all(file, dest)
        assert list(dest["a"][:]) == ["one", "Zürich", ""]
        assert list(dest["b"][:]) == ["ascii"]
        assert dest["scalar"][()] == "text"

    def test_arrays_of_different_lengths(self, file: Any, dest: Group) -> None:
        dataset = file.create_dataset("a", shape=(2,), dtype=h5py.vlen_dtype("i4"))
        dataset[0], dataset[1] = [1, 2, 3], [4]
        if dest._zarr_format == 3:
            with pytest.raises(TypeError, match="different lengths"):
                zarr.copy_all(file, dest)
        else:
            zarr.copy_all(file, dest)
            assert [list(values) for values in dest["a"][:]] == [[1, 2, 3], [4]]

    def test_notes_on_the_types_of_fields_are_passed_over(self, file: Any, target: Any, dest: Group) -> None:
        dtype = np.dtype([("a", "<i4"), ("b", h5py.string_dtype("ascii", 2)), ("c", h5py.enum_dtype({"x": 1}, "i1"))])
        file["a"] = np.array([(1, b"xy", 1), (2, b"z", 0)], dtype=dtype)
        assert file["a"].dtype["b"].metadata
        zarr.copy_all(file, dest)
        zarr.copy(file["a"], dest, name="b", chunks=1)
        zarr.copy_all(dest, target)
        for copy in (dest["a"], dest["b"], target["a"]):
            assert copy.dtype == dtype
            np.testing.assert_array_equal(copy[:], file["a"][:])
        # The same holds if such a type is requested.
        for zarr_format in (2, 3):
            assert zarr.zeros(2, dtype=file["a"].dtype, zarr_format=zarr_format).dtype == dtype

    def test_attributes(self, file: Any, dest: Group) -> None:
        values = {
            "text": "Zürich",
            "bytes": np.bytes_(b"abc"),
            "int": np.int32(5),
            "float": 1.5,
            "bool": True,
            "vector": np.arange(3),
            "matrix": np.eye(2),
            "strings": ["a", "b"],
            "complex": 1 + 2j,
            "nothing": h5py.Empty("f4"),
        }
        for name, value in values.items():
            file.attrs[name] = value
        zarr.copy_all(file, dest)
        assert dest.attrs.asdict() == {
            "text": "Zürich",
            "bytes": "abc",
            "int": 5,
            "float": 1.5,
            "bool": True,
            "vector": [0, 1, 2],
            "matrix": [[1.0, 0.0], [0.0, 1.0]],
            "strings": ["a", "b"],
            "complex": [1.0, 2.0],
            "nothing": None,
        }

    def test_references(self, file: Any, dest: Group) -> None:
        file["x"] = np.arange(3)
        file["x"].make_scale("x")
        file["y"] = np.arange(3)
        file["y"].dims[0].attach_scale(file["x"])
        file["y"].attrs["units"] = "m"
        file.create_dataset("refs", data=[file["x"].ref], dtype=h5py.ref_dtype)
        with pytest.warns(ZarrUserWarning) as warned:
            assert zarr.copy_all(file, dest) == (2, 1, 48)
        messages = " ".join(str(warning.message) for warning in warned)
        assert "DIMENSION_LIST" in messages and "REFERENCE_LIST" in messages and "'/refs' is skipped" in messages
        assert dest["y"].attrs.asdict() == {"units": "m"}
        assert list(dest) == ["x", "y"]

    def test_links_and_other_objects(self, file: Any, dest: Group) -> None:
        file["a"] = np.arange(3)
        file["soft"] = h5py.SoftLink("/a")
        file["dangling"] = h5py.SoftLink("/nothing")
        file["named"] = np.dtype("f8")
        file.create_dataset("empty", data=h5py.Empty("f4"))
        with pytest.warns(ZarrUserWarning):
            assert zarr.copy_all(file, dest) == (2, 3, 48)
        assert list(dest) == ["a", "soft"]

    def test_progress(self, file: Any, dest: Group) -> None:
        fill(file)
        calls: list[tuple[int, int]] = []
        zarr.copy_all(file, dest, progress=lambda done, total: calls.append((done, total)))
        assert calls[-1] == (1000, 1000)


class TestToHdf5:
    def test_arrays_of_different_lengths_go_there_and_back(self, file: Any, target: Any) -> None:
        dataset = file.create_dataset("a", shape=(4,), chunks=(2,), dtype=h5py.vlen_dtype("i4"))
        dataset[0], dataset[1], dataset[3] = [1, 2, 3], [4], [5, 6]
        between = zarr.group()
        same = between.create("same", shape=2, chunks=2, dtype="array:f8")
        same[0] = same[1] = np.ones(3)
        zarr.copy_all(file, between)
        zarr.copy_all(between, target)
        assert h5py.check_vlen_dtype(target["a"].dtype) == np.dtype("i4")
        assert [list(values) for values in target["a"][:]] == [[1, 2, 3], [4], [], [5, 6]]
        assert [list(values) for values in target["same"][:]] == [[1, 1, 1]] * 2

    def test_whole_groups(self, dest: Group, target: Any) -> None:
        source = dest
        fill_zarr(source)
        assert zarr.copy_all(source, target) == (4, 0, 1000)
        spam = target["spam"]
        assert (spam.chunks, spam.dtype, spam.fillvalue, spam.compression) == ((10, 2), np.dtype("i2"), 42, "gzip")
        np.testing.assert_array_equal(spam[:], source["spam"][:])
        assert target.attrs["title"] == "all" and target["foo"].attrs["experiment"] == "weird science"
        assert target["foo/bar/baz"].attrs["units"] == "metres"

    def test_options(self, dest: Group, target: Any) -> None:
        fill_zarr(dest)
        zarr.copy(dest["spam"], target, compression="lzf", compression_opts=None, chunks=(20, 5))
        assert (target["spam"].compression, target["spam"].chunks) == ("lzf", (20, 5))
        with pytest.raises(CopyError):
            zarr.copy(dest["spam"], target)
        assert zarr.copy(dest["spam"], target, if_exists="skip") == (0, 1, 0)
        zarr.copy(dest["spam"], target, if_exists="replace")
        assert target["spam"].compression == "gzip"
        with pytest.raises(ValueError, match="skip_initialized"):
            zarr.copy(dest["spam"], target, if_exists="skip_initialized")

    @pytest.mark.parametrize("data", [3.5, np.zeros((0, 3)), np.arange(7), np.array([True, False])])
    def test_shapes(self, dest: Group, target: Any, data: Any) -> None:
        dest.create_dataset("a", data=data, chunks=100 if np.ndim(data) else None)
        zarr.copy_all(dest, target)
        np.testing.assert_array_equal(target["a"][...], data)

    def test_text(self, dest: Group, target: Any) -> None:
        dest.create_dataset("a", data=np.array(["one", "Zürich", ""], dtype=object), dtype=str)
        dest.create_dataset("u", data=np.array(["abc", "ü"]))
        zarr.copy_all(dest, target)
        assert list(target["a"].asstr()[:]) == ["one", "Zürich", ""]
        assert list(target["u"].asstr()[:]) == ["abc", "ü"]

    def test_times(self, target: Any) -> None:
        source = zarr.group()
        times = np.array(["2020-01-01", "2021-02-03"], dtype="M8[s]")
        source.create_dataset("t", data=times)
        zarr.copy_all(source, target)
        np.testing.assert_array_equal(target["t"][:], times)

    def test_attributes_come_back(self, dest: Group, target: Any) -> None:
        values = {"n": 1, "x": 1.5, "s": "text", "l": [1, 2], "none": None, "yes": True, "names": ["a", "b"]}
        dest.attrs.update(values)
        dest.attrs["nested"] = {"a": [1, {"b": 2}]}
        zarr.copy_all(dest, target)
        back = zarr.group(zarr_format=dest._zarr_format)
        zarr.copy_all(target, back)
        assert back.attrs.asdict() == values | {"nested": '{"a": [1, {"b": 2}]}'}


def fill_zarr(group: Group) -> None:
    group.attrs["title"] = "all"
    group.create_group("foo").attrs["experiment"] = "weird science"
    group.create_dataset("foo/bar/baz", data=np.arange(100), chunks=(50,)).attrs["units"] = "metres"
    group.create_dataset("spam", data=np.arange(100, 200).reshape(20, 5), chunks=(10, 2), dtype="i2", fill_value=42)


def test_between_files(file: Any, target: Any) -> None:
    fill(file)
    file["text"] = "abc"
    assert zarr.copy_all(file, target)[:2] == (5, 0)
    for name in ("dtype", "chunks", "compression", "compression_opts", "shuffle", "fletcher32", "fillvalue"):
        assert getattr(target["spam"], name) == getattr(file["spam"], name)
    np.testing.assert_array_equal(target["spam"][:], file["spam"][:])
    assert target["text"].asstr()[()] == "abc"


def test_trees(file: Any) -> None:
    fill(file)
    file["dangling"] = h5py.SoftLink("/nothing")
    assert str(zarr.tree(file)) == (
        "/\n ├── dangling\n ├── foo\n │   └── bar\n │       └── baz (100,) int64\n └── spam (20, 5) int16"
    )
    assert str(zarr.tree(file["foo"], level=1)) == "foo\n └── bar"
    assert "spam" in zarr.tree(file)._repr_html_()


def test_saves_datasets(file: Any) -> None:
    fill(file)
    store: dict[str, Any] = {}
    zarr.save(store, file["spam"])
    np.testing.assert_array_equal(zarr.load(store), file["spam"][:])
