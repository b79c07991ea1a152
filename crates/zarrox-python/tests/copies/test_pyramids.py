"""Pyramid levels of images, compared with NumPy."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox as zarr

METHODS = ("mean", "mode", "nearest", "min", "max", "median")
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
FLOATS = ("f2", "f4", "f8")
COMPLEX = ("c8", "c16")

#: Shapes that are not multiples of the factors, with chunks and factors.
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = [
    ((37, 50), (8, 16), (2, 2)),
    ((3, 21, 26), (1, 10, 7), (1, 3, 2)),
    ((9, 10, 11), (4, 4, 4), (2, 2, 2)),
]


def image(shape: tuple[int, ...], dtype: str, *, nan: bool = False) -> np.ndarray[Any, Any]:
    """Returns elements of the whole range of a type. Some elements are equal."""
    random = np.random.default_rng(24)
    if dtype == "?":
        return random.integers(0, 2, shape).astype("?")
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        values = random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        return np.where(random.random(shape) < 0.5, values, np.array(3, dtype))
    values = (random.normal(size=shape) * 100).round(1)
    if dtype in COMPLEX:
        return (values + 1j * random.normal(size=shape)).astype(dtype)
    if nan:
        values[random.random(shape) < 0.1] = np.nan
    return values.astype(dtype)


def rounded(total: int, count: int) -> int:
    """Returns the integer nearest to a quotient; halves are rounded to even."""
    whole, rest = divmod(total, count)
    return whole + (2 * rest > count or (2 * rest == count and whole % 2 == 1))


def mean(rows: list[np.ndarray[Any, Any]]) -> Any:
    """Returns the mean of the elements of a block, computed in the documented order: first the sums of rows, then their
    sum."""
    dtype = rows[0].dtype
    count = sum(row.size for row in rows)
    if dtype.kind in "iub":
        return rounded(sum(int(value) for row in rows for value in row), count)
    wide = "c16" if dtype.kind == "c" else "f8"
    sums = [np.add.accumulate(row.astype(wide))[-1] for row in rows if row.size]
    total = np.add.accumulate(np.array(sums, wide))[-1]
    if wide == "c16":
        return complex(total.real / count, total.imag / count)
    return total / count


def reduced(values: np.ndarray[Any, Any], factors: tuple[int, ...], method: str, skip_nan: bool) -> np.ndarray[Any, Any]:
    """Returns the next pyramid level."""
    factors = tuple(min(factor, length) for factor, length in zip(factors, values.shape, strict=True))
    result = np.empty([-(-length // factor) for factor, length in zip(factors, values.shape, strict=True)], values.dtype)
    for place in np.ndindex(result.shape):
        cell = values[tuple(slice(i * f, (i + 1) * f) for i, f in zip(place, factors, strict=True))]
        result[place] = element(cell, method, skip_nan)
    return result


def element(cell: np.ndarray[Any, Any], method: str, skip_nan: bool) -> Any:
    first = cell.reshape(-1)[0]
    if method == "nearest":
        return first
    rows = list(cell.reshape(-1, cell.shape[-1]))
    has_nan = cell.dtype.kind in "fc"
    if skip_nan and has_nan:
        rows = [row[~np.isnan(row)] for row in rows]
    flat = np.concatenate(rows)
    if not flat.size:
        return first
    if method == "mean":
        return mean(rows)
    if method == "mode":
        # `unique` sorts, and NaN comes last; the first of the largest counts is the smallest element.
        elements, counts = np.unique(flat, return_counts=True)
        return elements[np.argmax(counts)]
    if has_nan and np.isnan(flat).any():
        return np.nan
    if method in ("min", "max"):
        return getattr(flat, method)()
    flat = np.sort(flat)
    middle = flat[(flat.size - 1) // 2 : flat.size // 2 + 1]
    return mean([middle])


def check(path: Path, values: np.ndarray[Any, Any], factors: tuple[int, ...], method: str, **options: Any) -> None:
    skip_nan = bool(options.get("skip_nan"))
    levels = zarr.downsample(path / "0", method=method, factors=factors, multiscales=True, **options)
    assert len(levels) > 1
    for level in levels[1:]:
        values = reduced(values, factors, method, skip_nan)
        found = zarr.open_array(path / level.path, mode="r")[...]
        assert found.dtype == values.dtype
        np.testing.assert_array_equal(found, values, err_msg=f"{method} {level}")


def created(path: Path, values: np.ndarray[Any, Any], chunks: tuple[int, ...]) -> None:
    array = zarr.create(shape=values.shape, chunks=chunks, dtype=values.dtype, store=str(path), path="0", zarr_format=3)
    array[...] = values


@pytest.mark.parametrize(("shape", "chunks", "factors"), SHAPES)
@pytest.mark.parametrize(
    ("dtype", "method"),
    [
        *itertools.product(("?", *INTEGERS, *FLOATS), METHODS),
        *itertools.product(COMPLEX, ("mean", "mode", "nearest")),
    ],
)
def test_levels_are_what_numpy_makes(
    tmp_path: Path,
    dtype: str,
    method: str,
    shape: tuple[int, ...],
    chunks: tuple[int, ...],
    factors: tuple[int, ...],
) -> None:
    values = image(shape, dtype)
    created(tmp_path / "image.zarr", values, chunks)
    check(tmp_path / "image.zarr", values, factors, method)


@pytest.mark.parametrize("skip_nan", [False, True])
@pytest.mark.parametrize(("dtype", "method"), list(itertools.product(FLOATS, METHODS)))
def test_nan_is_kept_or_left_out(tmp_path: Path, dtype: str, method: str, skip_nan: bool) -> None:
    values = image((37, 50), dtype, nan=True)
    created(tmp_path / "image.zarr", values, (8, 16))
    check(tmp_path / "image.zarr", values, (2, 3), method, skip_nan=skip_nan)


def test_an_image_is_described(tmp_path: Path) -> None:
    created(tmp_path / "image.zarr", image((2, 40, 60), "u2"), (1, 16, 16))
    levels = zarr.downsample(
        tmp_path / "image.zarr/0",
        tmp_path / "new.zarr",
        axes="cyx",
        scale=[1, 0.5, 0.5],
        unit="micrometer",
        channels=["DAPI:blue", "actin"],
        chunks=(1, 20, 20),
        name="cells",
        memory=1 << 24,
        jobs=2,
    )
    assert [level.shape for level in levels] == [(2, 40, 60), (2, 20, 30), (2, 10, 15)]
    assert levels[2].translation == (0, 0.75, 0.75)
    assert zarr.validate_ome(tmp_path / "new.zarr") == []
    entry = zarr.open_group(tmp_path / "new.zarr", mode="r").attrs["ome"]["multiscales"][0]
    assert (entry["name"], entry["type"]) == ("cells", "mean")
    with pytest.raises(FileExistsError):
        zarr.downsample(tmp_path / "image.zarr/0", tmp_path / "new.zarr", axes="cyx")
    with pytest.raises(ValueError, match="unknown reduction"):
        zarr.downsample(tmp_path / "image.zarr/0", method="sum")  # type: ignore[arg-type]


def test_findings_have_their_place(tmp_path: Path) -> None:
    created(tmp_path / "image.zarr", image((40, 60), "u2"), (16, 16))
    zarr.downsample(tmp_path / "image.zarr", levels=1)
    document = tmp_path / "image.zarr/zarr.json"
    document.write_text(document.read_text().replace('"path": "1"', '"path": "7"'))
    (finding,) = zarr.validate_ome(tmp_path / "image.zarr")
    assert (finding.severity, finding.path) == ("error", "7")
    assert str(finding) == "error /7: there is no node here"
