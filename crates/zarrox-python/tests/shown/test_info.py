"""Reports, as text and as HTML, and the helpers behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import zarrox
import zarrox.v2 as zarr
from zarrox.v2 import util
from zarrox.core import html
from zarrox.shown.info import InfoReporter, info_text_report

EXPECTED = """\
Name               : /foo
Type               : zarrox.v2.core.Array
Data type          : int32
Shape              : (1000000,)
Chunk shape        : (100000,)
Order              : C
Read-only          : False
Filter [0]         : Delta(dtype='<i4')
Compressor         : Blosc(cname='lz4', clevel=5, shuffle=SHUFFLE, blocksize=0)
Synchronizer type  : zarrox.v2.sync.ThreadSynchronizer
Store type         : zarrox.v2.storage.KVStore
Chunk store type   : zarrox.v2.storage.KVStore
No. bytes          : 4000000 (3.8M)
No. bytes stored   : {stored}
Storage ratio      : {ratio}
Chunks initialized : 0/10
"""


def test_the_report_is_that_of_zarr_python_2() -> None:
    z = zarr.zeros(
        1000000, chunks=100000, dtype="i4", store={}, chunk_store={}, path="foo", filters=[zarr.Delta(dtype="<i4")],
        synchronizer=zarr.ThreadSynchronizer(),
    )
    stored = z.nbytes_stored
    assert repr(z.info) == EXPECTED.format(stored=stored, ratio=f"{4000000 / stored:.1f}")
    assert isinstance(z.info, InfoReporter)


def test_the_report_of_version_3() -> None:
    z = zarrox.create_array({}, shape=(100,), chunks=(10,), shards=(20,), dtype="i4")
    assert [line.partition(" : ")[0].strip() for line in repr(z.info).splitlines()] == [
        "Type", "Zarr format", "Data type", "Fill value", "Shape", "Shard shape", "Chunk shape", "Order", "Read-only",
        "Store type", "Filters", "Serializer", "Compressors", "No. bytes",
    ]
    assert "Data type   : Int32(endianness='little')\n" in repr(z.info)
    assert "Compressors : (ZstdCodec(level=0, checksum=False),)\n" in repr(z.info)
    assert "No. bytes stored" in repr(z.info_complete())


def test_long_values_are_wrapped() -> None:
    report = info_text_report([("Foo", " ".join(["word"] * 30)), ("Longer", 1)])
    assert all(len(line) <= 80 for line in report.splitlines())
    assert report.splitlines()[1].startswith("       : word")
    assert report.splitlines()[-1] == "Longer : 1"


def parsed(fragment: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<html>{fragment}</html>")


def test_tables_are_escaped() -> None:
    table = parsed(html.info_table([("a<b", "<script>alert(1)</script>")]))
    assert [cell.text for cell in table.iter("td")] == ["<script>alert(1)</script>"]
    assert [cell.text for cell in table.iter("th")] == ["a<b"]


@pytest.mark.parametrize(
    ("shape", "chunks", "lines"),
    [((10,), (3,), 3), ((10, 20), (5, 5), 4), ((4, 10, 20), (2, 5, 5), 10), ((5, 4, 10, 20), (1, 2, 5, 5), 10), ((7,), (7,), 0)],
)
def test_drawings_show_the_borders_of_chunks(shape: tuple[int, ...], chunks: tuple[int, ...], lines: int) -> None:
    svg = parsed(html.chunk_grid_svg(shape, chunks))
    assert len(list(svg.iter("{http://www.w3.org/2000/svg}line"))) == lines


def test_drawings_stay_small() -> None:
    assert len(html.chunk_grid_svg((10**9, 10**9), (1, 1))) < 10_000
    assert html.chunk_grid_svg((), ()) == ""
    assert html.chunk_grid_svg((0, 3), (1, 3)) == ""


def test_nodes_show_themselves_as_html() -> None:
    root = zarr.group()
    root.create_group("a & b").zeros("<x>", shape=(10, 10), chunks=(5, 5))
    tree = parsed(html.group_html(root))
    assert [item.text for item in tree.iter("summary")] == ["/", "a & b/", "<x> (10, 10) float64"]
    assert "svg" in root["a & b/<x>"]._repr_html_()
    assert "<table" in root["a & b/<x>"].info._repr_html_()


def test_trees_end_at_a_level() -> None:
    root = zarr.group()
    root.create_group("a/b/c/d")
    assert [item.text for item in parsed(html.group_html(root, levels=2)).iter("summary")] == ["/", "a/", "b/"]


class Bar:
    """A progress bar with the members of tqdm's bars."""

    def __init__(self, total: int = 0, **kwargs: Any) -> None:
        self.total, self.done, self.closed = total, 0, False
        made.append(self)

    def update(self, amount: int) -> None:
        self.done += amount

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True


made: list[Bar] = []


def test_progress_is_told_to_bars_classes_and_functions() -> None:
    told: list[tuple[int, int]] = []
    bar = Bar()
    for progress in (None, bar, Bar, lambda done, total: told.append((done, total))):
        with util.progress_reporter(progress, 10) as report:
            report(4)
            report(6)
    assert (bar.total, bar.done, bar.closed) == (10, 10, False)
    assert (made[-1].total, made[-1].done, made[-1].closed) == (10, 10, True)
    assert told == [(4, 10), (10, 10)]


def test_sizes_for_people() -> None:
    sizes = [100, 2**10, 2**20, 2**30, 2**40, 2**50]
    assert [util.human_readable_size(size) for size in sizes] == ["100", "1.0K", "1.0M", "1.0G", "1.0T", "1.0P"]


def test_shapes() -> None:
    assert util.normalize_shape(3) == util.normalize_shape(np.int64(3)) == util.normalize_shape([3.0]) == (3,)
    assert util.normalize_resize_args((5, 5), (None, 3)) == util.normalize_resize_args((5, 5), 5, 3) == (5, 3)
    with pytest.raises(TypeError):
        util.normalize_shape(None)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: util.fill_json(0, np.dtype("S3")), ""),
        (lambda: util.fill_json(b"ab", np.dtype("S3")), "YWI="),
        (lambda: util.fill_json(np.nan, np.dtype("c8")), ["NaN", 0.0]),
        (lambda: util.fill_json("NaT", np.dtype("M8[s]")), -(2**63)),
        (lambda: util.fill_json(None, np.dtype("f8")), None),
        (lambda: util.fill_json(True, np.dtype(bool)), True),
        (lambda: util.fill_json("a", np.dtype(object)), "a"),
        (lambda: util.fill_json(0, np.dtype("U3")), ""),
        (lambda: util.fill_json(np.inf, np.dtype("f4"), 3), "Infinity"),
        (lambda: util.json_loads(util.json_dumps({"b": 1, "a": "é"})), {"a": "é", "b": 1}),
    ],
)
def test_json(call: Callable[[], Any], expected: Any) -> None:
    assert call() == expected


def test_documents_are_written_as_by_zarr_python_2() -> None:
    assert util.json_dumps({"b": [1], "a": "é"}) == b'{\n    "a": "\\u00e9",\n    "b": [\n        1\n    ]\n}'


def test_chunks_as_arrays_get_them() -> None:
    assert util.normalize_chunks(5, (20, 30), 4) == (5, 5)
    assert util.normalize_chunks(False, (20, 30), 4) == (20, 30)
    assert util.guess_chunks((0,), 8) == (1,)
    assert util.chunk_lengths((-1, 5), (20, 30)) == [None, 5]
    assert (util.buffer_size(b"abc"), util.buffer_size(np.zeros(3, "M8[s]"))) == (3, 24)


def test_what_has_its_place_elsewhere() -> None:
    assert util.normalize_storage_path is zarr.storage.normalize_storage_path
    with pytest.raises(AttributeError, match="nothing"):
        util.nothing  # noqa: B018
