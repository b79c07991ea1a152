"""Attributes that zarr-python writes although they are not standard JSON: bare NaN and infinities, and integers of any
size."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr as peer

import zarrox as zarr

HARD: dict[str, Any] = {
    "missing_value": math.nan,
    "range": [1.0, math.inf, {"deep": -math.inf}],
    "text": "NaN",
    "large": 12345678901234567890123,
    "negative": -(2**70),
    "precise": 0.1 + 0.2,
    "zero": -0.0,
}

FORMATS = [2] if peer.__version__.startswith("2.") else [2, 3]


def same(found: dict[str, Any], wanted: dict[str, Any] = HARD) -> bool:
    """Returns true if all types and values are equal, including the signs of zeros; NaN equals NaN."""
    return repr(sorted(found.items())) == repr(sorted(wanted.items()))


def written_by_peer(path: Path, zarr_format: int) -> None:
    options: dict[str, Any] = {} if FORMATS == [2] else {"zarr_format": zarr_format}
    group = peer.open_group(str(path), mode="w", **options)
    group.attrs.update(HARD)
    array = group.zeros(name="a", shape=(3,), chunks=(2,), dtype="f8")
    array.attrs.update(HARD)


def documents(path: Path) -> list[str]:
    return [file.read_text() for file in path.rglob("*") if file.name in (".zattrs", "zarr.json")]


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_tokens_and_large_integers_are_read_as_floats_and_integers(tmp_path: Path, zarr_format: int) -> None:
    written_by_peer(tmp_path, zarr_format)
    for node in (zarr.open_group(tmp_path), zarr.open_group(tmp_path)["a"]):
        assert same(node.attrs.asdict())
        assert type(node.attrs["large"]) is int
        assert math.isnan(node.attrs["missing_value"])


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_the_peer_finds_its_attributes_as_they_were_after_others_changed(tmp_path: Path, zarr_format: int) -> None:
    written_by_peer(tmp_path, zarr_format)
    group = zarr.open_group(tmp_path, mode="r+")
    for node in (group, group["a"]):
        node.attrs["another"] = 1
    group["a"].resize(5)
    group["a"].attrs.update(nan=np.float32(np.nan), many=[np.inf, 2**64])
    theirs = peer.open_group(str(tmp_path), mode="r")
    assert same(theirs.attrs.asdict(), HARD | {"another": 1})
    found = theirs["a"].attrs.asdict()
    assert same(found, HARD | {"another": 1, "nan": math.nan, "many": [math.inf, 2**64]})
    assert all('"NaN"' in text and "NaN," in text for text in documents(tmp_path))


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_consolidated_metadata_and_copies_have_the_same_attributes(tmp_path: Path, zarr_format: int) -> None:
    written_by_peer(tmp_path / "g", zarr_format)
    zarr.consolidate_metadata(str(tmp_path / "g"))
    ours = zarr.open_consolidated(str(tmp_path / "g"))
    assert same(ours.attrs.asdict())
    assert same(ours["a"].attrs.asdict())
    theirs = peer.open_consolidated(str(tmp_path / "g"))
    assert same(theirs.attrs.asdict())
    assert same(theirs["a"].attrs.asdict())
    copied = zarr.open_group(tmp_path / "copy", mode="w", zarr_format=5 - zarr_format)
    zarr.copy(ours["a"], copied)
    assert same(copied["a"].attrs.asdict())


def test_digits_that_a_float_has_not_stay_where_others_are_changed(tmp_path: Path) -> None:
    zarr.open_group(tmp_path, mode="w", zarr_format=2)
    text = '{"precise": 3.14159265358979323846, "short": 1.50, "list": [1E+2]}'
    (tmp_path / ".zattrs").write_text(text)
    group = zarr.open_group(tmp_path, mode="r+")
    group.attrs["another"] = 1
    written = (tmp_path / ".zattrs").read_text()
    assert all(digits in written for digits in ("3.14159265358979323846", "1.50", "1E+2"))
    assert json.loads(written)["another"] == 1


def signs(values: Any) -> list[bool]:
    parts = np.asarray(values)
    return [bool(sign) for part in (parts.real, parts.imag) for sign in np.signbit(part).ravel()]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    ("dtype", "fill_value"),
    [
        ("f2", -0.0),
        ("f4", np.float32(-0.0)),
        ("f8", -0.0),
        ("c8", complex(-0.0, 0.0)),
        ("c16", complex(0.0, -0.0)),
        ("c16", np.complex128(complex(-0.0, -0.0))),
    ],
)
def test_a_fill_value_of_negative_zero_keeps_its_sign(
    tmp_path: Path, dtype: str, fill_value: Any, zarr_format: int
) -> None:
    array = zarr.create_array(tmp_path, shape=4, chunks=2, dtype=dtype, fill_value=fill_value, zarr_format=zarr_format)
    document = json.loads((tmp_path / ("zarr.json" if zarr_format == 3 else ".zarray")).read_text())
    wanted = np.array(fill_value, dtype=dtype)
    said = document["fill_value"]
    assert signs(complex(*said) if isinstance(said, list) else said) == signs(wanted)
    again = zarr.open_array(tmp_path, mode="r+")
    for found in (array.fill_value, again.fill_value, again[0]):
        assert signs(found) == signs(wanted)
    # Chunks of the zero with the other sign are stored and read.
    again[:2] = np.zeros(2, dtype=dtype)
    assert signs(again[:2]) == signs(np.zeros(2, dtype=dtype))
    assert signs(again[2:]) == signs(np.full(2, wanted))
    if zarr_format in FORMATS:
        theirs: Any = peer.open_array(str(tmp_path), mode="r")
        # zarr-python 2 adds the two parts of a complex fill value, which loses the sign of a zero.
        seen = slice(2) if FORMATS == [2] and wanted.dtype.kind == "c" else slice(4)
        assert signs(theirs[seen]) == signs(again[seen])


def test_a_fill_value_of_negative_zero_is_zero_where_there_is_no_sign() -> None:
    for dtype in ("i4", "u1", "?", "M8[s]", "S3", "U3"):
        array = zarr.create(shape=2, dtype=dtype, fill_value=-0.0, zarr_format=2)
        assert array.fill_value == np.zeros((), dtype=dtype)


def test_negative_zeros_are_stored_where_the_fill_value_is_zero() -> None:
    array = zarr.create_array({}, shape=4, chunks=2, dtype="f8", fill_value=0.0)
    array[:2] = -0.0
    assert signs(array[:]) == [True, True, False, False] + [False] * 4
