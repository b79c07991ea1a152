"""The codec pipeline for zarr-python 3, compared with zarr-python's own."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from zarr.abc.codec import BytesBytesCodec
from zarr.codecs import BloscCodec, GzipCodec, TransposeCodec, ZstdCodec
from zarr.storage import (
    FsspecStore,
    LocalStore,
    LoggingStore,
    MemoryStore,
    ObjectStore,
    WrapperStore,
    ZipStore,
)

import zarrox.zarr3
from zarrox.zarr3 import explain

SHAPE = (23, 17)

DTYPES = [
    *("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"),
    *("M8[ns]", "m8[10s]", "U5", "S4", "V3", str),
    np.dtype([("a", "i4"), ("b", "f8")]),
]


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    """Enables the pipeline."""
    with zarrox.zarr3.enable():
        yield


def values(dtype: Any, count: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Returns random elements."""
    generator = np.random.default_rng(seed)
    if dtype is str:
        words = ["", "a", "schön", "some longer text that does not fit into the element"]
        return np.array([words[n] for n in generator.integers(0, 4, count)], dtype="T")
    dtype = np.dtype(dtype)
    if dtype.kind in "US":
        return generator.integers(0, 99999, count).astype(f"{dtype.kind}5").astype(dtype)
    if dtype.kind == "b":
        return generator.integers(0, 2, count).astype(bool)
    if dtype.kind in "fc":
        return generator.normal(size=count).astype(dtype)
    if dtype.kind == "V" and dtype.names is not None:
        return np.array([(n, n / 4) for n in range(count)], dtype=dtype)
    return np.frombuffer(generator.bytes(count * dtype.itemsize), dtype=dtype)


def stores(directory: Path) -> dict[str, Any]:
    """Returns a store of each writable kind."""
    import obstore.store
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
    from fsspec.implementations.local import LocalFileSystem
    from fsspec.implementations.memory import MemoryFileSystem

    (directory / "obstore").mkdir()
    return {
        "local": LocalStore(directory / "local"),
        "memory": MemoryStore(),
        "zip": ZipStore(directory / "a.zip", mode="w"),
        "logging": LoggingStore(LocalStore(directory / "logged")),
        "wrapper": WrapperStore(MemoryStore()),
        "obstore": ObjectStore(obstore.store.LocalStore(directory / "obstore")),
        "obstore-memory": ObjectStore(obstore.store.MemoryStore()),
        "fsspec": FsspecStore(
            AsyncFileSystemWrapper(LocalFileSystem(auto_mkdir=True), asynchronous=True), path=str(directory / "fsspec")
        ),
        "fsspec-memory": FsspecStore(AsyncFileSystemWrapper(MemoryFileSystem(), asynchronous=True), path="/plugin"),
    }


def own(array: zarr.Array) -> zarr.Array:
    """Opens the array with zarr-python's own pipeline."""
    with zarrox.zarr3.disable():
        return zarr.open_array(array.store_path, mode="r+")


GENERATOR = np.random.default_rng(7)

SELECTIONS: list[tuple[str, Any]] = [
    ("basic", ...),
    ("basic", (slice(3, 20), slice(None))),
    ("basic", (slice(1, 22, 5), slice(16, 2, None))),
    ("basic", (4, slice(2, 15, 3))),
    ("basic", (slice(None), 16)),
    ("basic", (22, 0)),
    ("oindex", ([5, 3, 22, 3], slice(2, 9))),
    ("oindex", ([5, 3, 22], [16, 0, 7])),
    ("oindex", (7, [16, 0, 7])),
    ("oindex", (GENERATOR.random(23) < 0.3, slice(None, None, 4))),
    ("oindex", (GENERATOR.random(23) < 0.3, GENERATOR.random(17) < 0.5)),
    ("vindex", ([5, 3, 22, 5], [16, 0, 7, 1])),
    ("vindex", (np.array([[5, 3], [22, 8]]), np.array([[16, 0], [7, 1]]))),
    ("mask", GENERATOR.random(SHAPE) < 0.2),
    ("blocks", (slice(1, 3), 1)),
]


def part(array: Any, kind: str) -> Any:
    """Returns the object whose items are selections of a kind."""
    return {"basic": array, "oindex": array.oindex, "blocks": array.blocks}.get(kind, array.vindex)


LAYOUTS: dict[str, dict[str, Any]] = {
    "chunks": {"chunks": (5, 4)},
    "blosc": {"chunks": (5, 4), "compressors": BloscCodec()},
    "transposed": {"chunks": (6, 9), "filters": TransposeCodec(order=(1, 0)), "compressors": GzipCodec()},
    "shards": {"chunks": (2, 3), "shards": (8, 6), "compressors": ZstdCodec()},
    "v2": {"chunks": (5, 4), "zarr_format": 2, "order": "F"},
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_type_and_selection_agrees_with_zarr_pythons_pipeline(dtype: Any, layout: str) -> None:
    """Each pipeline reads the elements that the other has written, with any selection."""
    array = zarr.create_array({}, shape=SHAPE, dtype=dtype, **LAYOUTS[layout])
    other = own(array)
    assert isinstance(array.async_array.codec_pipeline, zarrox.zarr3.ZarroxCodecPipeline)
    assert not isinstance(other.async_array.codec_pipeline, zarrox.zarr3.ZarroxCodecPipeline)
    for seed, (kind, selection) in enumerate(SELECTIONS):
        shape = part(other, kind)[selection].shape if kind != "basic" else np.shape(other[selection])
        new = values(dtype, int(np.prod(shape)), seed).reshape(shape)
        writer, reader = (array, other) if seed % 2 == 0 else (other, array)
        part(writer, kind)[selection] = new if new.shape else new[()]
        for one in (array, other):
            np.testing.assert_array_equal(np.asarray(part(one, kind)[selection]), part(reader, kind)[selection])
        np.testing.assert_array_equal(array[...], other[...])


@pytest.mark.parametrize("layout", ["chunks", "shards"])
@pytest.mark.parametrize(
    "name",
    ["local", "memory", "zip", "logging", "wrapper", "obstore", "obstore-memory", "fsspec", "fsspec-memory"],
)
def test_every_store_is_read_and_written(name: str, layout: str, tmp_path: Path) -> None:
    """Elements are written and read through each store, and each pipeline sees the writes of the other immediately."""
    store = stores(tmp_path)[name]
    array = zarr.create_array(store, name=layout, shape=SHAPE, dtype="f4", fill_value=3, **LAYOUTS[layout])
    in_rust = name not in ("zip", "logging", "wrapper")
    assert (explain(array).chunks, explain(array).store) == ("rust", "rust" if in_rust else "python")
    other = own(array)
    new = values("f4", 23 * 17).reshape(SHAPE)
    array[...] = new
    np.testing.assert_array_equal(other[...], new)
    if name != "zip":
        other[3:9, 2:] = 3
        np.testing.assert_array_equal(array[2:10], other[2:10])
    if name != "zip":
        array[:] = 3
    keys = asyncio.run(_listed(store)) if in_rust else []
    assert not [key for key in keys if "/c/" in key]
    store.close()


async def _listed(store: Any) -> list[str]:
    return [key async for key in store.list()]


def test_a_batch_is_one_call_of_rust(monkeypatch: pytest.MonkeyPatch) -> None:
    """A selection is one call, however many chunks it needs."""
    calls: list[int] = []

    async def run(opened: Any, batch: Any, memory: Any, call: Any) -> Any:
        calls.append(len(batch))
        return call(None)

    monkeypatch.setattr(zarrox.zarr3.pipeline, "_run", run)
    array = zarr.create_array({}, shape=(40, 40), chunks=(4, 5), dtype="i4")
    array[...] = 1
    assert array[::3, 1:].sum() == 14 * 39
    assert array.vindex[[0, 39, 20], [39, 0, 7]].tolist() == [1, 1, 1]
    assert calls == [80, 80, 3]


def test_a_store_that_was_moved_is_read_where_it_is(tmp_path: Path) -> None:
    """`LocalStore.move` changes the location of the store object itself."""
    store = LocalStore(tmp_path / "a")
    array = zarr.create_array(store, data=np.arange(10), chunks=(3,))
    asyncio.run(store.move(tmp_path / "b"))
    np.testing.assert_array_equal(array[:], np.arange(10))
    array[:] = 1
    assert not (tmp_path / "a").exists()


def test_an_archive_is_read_in_rust(tmp_path: Path) -> None:
    """Rust opens a closed archive by its path."""
    with ZipStore(tmp_path / "a.zip", mode="w") as store:
        zarr.create_array(store, data=np.arange(100).reshape(10, 10), chunks=(3, 3))
    with ZipStore(tmp_path / "a.zip", mode="r") as store:
        array = zarr.open_array(store, mode="r")
        assert explain(array).store == "rust"
        np.testing.assert_array_equal(array[2:9, ::3], np.arange(100).reshape(10, 10)[2:9, ::3])


def test_text_of_all_lengths_and_layouts_is_written_and_read() -> None:
    """NumPy stores short, medium and long text in different ways."""
    texts = ["", "a", "fifteen bytes..", "sixteen bytes...", "ü" * 200, "𝄞" * 100_000, "nul\0inside"]
    text = np.array([texts[n % len(texts)] for n in range(84)], dtype="T").reshape(7, 12)
    array = zarr.create_array({}, shape=(7, 12), dtype=str, chunks=(3, 5))
    for values in (text, text[::-1, ::-1], np.asfortranarray(text), text.astype(object)):
        array[...] = values
        np.testing.assert_array_equal(array[...], values.astype("T"))
        np.testing.assert_array_equal(own(array)[...], values.astype("T"))
    array[2] = "one text"
    assert array[1:3, 4].tolist() == [text.astype(object)[1, 4], "one text"]
    out = zarr.core.buffer.cpu.NDBuffer.from_numpy_array(np.empty((12, 7), dtype="T").T)
    array.get_basic_selection(slice(None), out=out)
    np.testing.assert_array_equal(out.as_numpy_array(), array[...])


def test_missing_text_is_what_it_is_in_zarr_python() -> None:
    """A text type with an object for missing elements is processed like objects."""
    missing = np.array(["a", None, "b"], dtype=np.dtypes.StringDType(na_object=None))
    array = zarr.create_array({}, shape=(3,), dtype=str)
    results = []
    for one in (array, own(array)):
        try:
            one[:] = missing
            results.append(one[:].tolist())
        except (TypeError, ValueError) as error:
            results.append(type(error))
    assert results[0] == results[1]


@pytest.mark.parametrize("empty", [False, True])
def test_empty_chunks_are_stored_where_that_is_asked_for(empty: bool) -> None:
    """`write_empty_chunks` determines whether empty chunks are stored."""
    store = MemoryStore()
    config = {"write_empty_chunks": empty}
    array = zarr.create_array(store, shape=(4,), chunks=(2,), dtype="i4", config=config)
    array[:] = 0
    array[0] = 0
    assert ("c/0" in store._store_dict, "c/1" in store._store_dict) == (empty, empty)
    array[0] = 1
    assert "c/0" in store._store_dict


def test_missing_chunks_are_told() -> None:
    """`read` returns the status of each chunk, and a missing chunk is an error with `read_missing_chunks=False`."""
    array = zarr.create_array({}, shape=(4,), chunks=(2,), dtype="i4", config={"read_missing_chunks": False})
    array[:2] = 5
    assert array[:2].tolist() == [5, 5]
    with pytest.raises(zarr.errors.ChunkNotFoundError, match="c/1"):
        array[:]


def test_rectilinear_chunks_are_read_and_written() -> None:
    """Chunks may have different shapes."""
    with zarr.config.set({"array.rectilinear_chunks": True}):
        array = zarr.create_array({}, shape=(10, 6), chunks=[[2, 5, 3], [1, 5]], dtype="i4")
        new = np.arange(60, dtype="i4").reshape(10, 6)
        array[...] = new
        array[3:8, 2] = 7
        new[3:8, 2] = 7
        assert explain(array).chunks == "rust"
        np.testing.assert_array_equal(own(array)[...], new)
        np.testing.assert_array_equal(array.oindex[[9, 0, 4], 1:], new[[9, 0, 4], 1:])


def test_values_that_do_not_fit_are_refused_as_by_zarr_python() -> None:
    """The exception is zarr-python's, since such values are passed to its own pipeline."""
    array = zarr.create_array({}, shape=(4, 6), chunks=(2, 3), dtype="i4")
    for value in (np.ones((4, 5), "i4"), np.ones(5, "i4")):
        with pytest.raises((ValueError, IndexError)):
            array[...] = value
        with pytest.raises((ValueError, IndexError)):
            own(array)[...] = value


class Flip(BytesBytesCodec):
    """A codec that is written in Python."""

    is_fixed_size = True

    @classmethod
    def from_dict(cls, data: Any) -> Flip:
        """Returns the codec."""
        return cls()

    def to_dict(self) -> Any:
        """Returns the metadata of the codec."""
        return {"name": "flip", "configuration": {}}

    async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        if getattr(Flip, "broken", None):
            raise Flip.broken
        return chunk_spec.prototype.buffer.from_bytes(bytes(255 - byte for byte in chunk_bytes.to_bytes()))

    async def _encode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        return await self._decode_single(chunk_bytes, chunk_spec)

    def compute_encoded_size(self, input_byte_length: int, _chunk_spec: Any) -> int:
        """Returns the number of bytes, which does not change."""
        return input_byte_length


def test_a_codec_that_only_python_has_is_called() -> None:
    """The codec runs, `explain` reports it, and its exception reaches the caller without a write."""
    zarr.registry.register_codec("flip", Flip)
    array = zarr.create_array({}, shape=(9,), chunks=(4,), dtype="i4", compressors=Flip())
    array[:] = np.arange(9)
    np.testing.assert_array_equal(array[:], np.arange(9))
    assert explain(array).chunks == "python"
    assert "Flip" in explain(array).reasons[0]
    Flip.broken = KeyError("a codec's own")
    try:
        for act in (lambda: array[:], lambda: array.__setitem__(slice(2, 7), 1)):
            with pytest.raises(KeyError) as raised:
                act()
            assert raised.value is Flip.broken
    finally:
        Flip.broken = None
    np.testing.assert_array_equal(array[:], np.arange(9))


class Broken(WrapperStore[Any]):
    """A store in which some methods fail."""

    error: BaseException | None = None
    methods: tuple[str, ...] = ("get", "set")

    def _fail(self, method: str) -> None:
        if self.error is not None and method in self.methods:
            raise self.error

    async def get(self, *arguments: Any, **named: Any) -> Any:
        """Fails."""
        self._fail("get")
        return await super().get(*arguments, **named)

    async def set(self, key: str, value: Any, *arguments: Any) -> None:
        """Fails."""
        self._fail("set")
        await super().set(key, value, *arguments)

    async def delete(self, key: str) -> None:
        """Fails."""
        self._fail("delete")
        await super().delete(key)

    async def getsize(self, key: str) -> int:
        """Fails."""
        self._fail("getsize")
        return await super().getsize(key)

    async def get_ranges(self, *arguments: Any, **named: Any) -> Any:
        """Fails."""
        self._fail("get_ranges")
        async for group in super().get_ranges(*arguments, **named):
            yield group


class OwnError(Exception):
    """An exception that only the store defines, and that cannot be created from a message."""

    def __init__(self, code: int, place: str) -> None:
        super().__init__(code, place)


ERRORS = [KeyError("mine"), OSError("mine"), FileNotFoundError("mine"), ZeroDivisionError("mine"), OwnError(3, "mine")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("layout", [{"chunks": (3,)}, {"chunks": (1,), "shards": (3,)}], ids=["chunks", "shards"])
def test_an_exception_of_a_store_reaches_the_caller_unchanged(layout: dict[str, Any], error: Exception) -> None:
    """This also holds for a `KeyError`, which does not mean a missing value. Nothing is partially written."""
    inner = MemoryStore()
    store = Broken(inner)
    array = zarr.create_array(store, shape=(9,), dtype="i4", **layout)
    array[:] = np.arange(9)
    before = {key: value.to_bytes() for key, value in inner._store_dict.items()}
    store.error = error
    for act in (
        lambda: array[:],
        lambda: array[1:3],
        lambda: array.__setitem__(slice(1, 8), 5),
        lambda: array.__setitem__(slice(0, 3), 5),
    ):
        with pytest.raises(type(error)) as raised:
            act()
        assert raised.value is error
    store.methods = ("delete",)
    with pytest.raises(type(error)) as raised:
        array[:] = 0
    assert raised.value is error
    store.error = None
    assert {key: value.to_bytes() for key, value in inner._store_dict.items()} == before


@pytest.mark.parametrize("method", ["getsize", "get_ranges"])
def test_an_exception_in_the_middle_of_a_shard_reaches_the_caller_unchanged(method: str) -> None:
    """A part of a shard is read with other methods of the store than a whole chunk."""
    store = Broken(MemoryStore())
    array = zarr.create_array(store, shape=(9000,), chunks=(1000,), shards=(9000,), dtype="i4", compressors=None)
    array[:] = np.arange(9000)
    store.error, store.methods = OwnError(4, method), (method,)
    try:
        values = array[2500:3500]
    except OwnError as raised:
        assert raised is store.error
    else:
        # The method was not needed.
        np.testing.assert_array_equal(values, np.arange(2500, 3500))


def test_a_store_that_is_read_only_is_not_written(tmp_path: Path) -> None:
    """The error is zarr-python's."""
    zarr.create_array(tmp_path / "a", shape=(4,), dtype="i4")
    array = zarr.open_array(LocalStore(tmp_path / "a", read_only=True), mode="r")
    with pytest.raises(ValueError, match="read-only"):
        array[:] = 1


def test_arrays_are_pickled_with_their_pipeline(tmp_path: Path) -> None:
    """An unpickled copy works, before and after the first read."""
    array = zarr.create_array(tmp_path / "a", shape=(9,), chunks=(4,), dtype="i4")
    for _ in range(2):
        again = pickle.loads(pickle.dumps(array))
        again[:] = np.arange(9)
        assert isinstance(again.async_array.codec_pipeline, zarrox.zarr3.ZarroxCodecPipeline)
        np.testing.assert_array_equal(array[:], np.arange(9))
    assert array.async_array.codec_pipeline == again.async_array.codec_pipeline


def _sum(path: str, answers: Any) -> None:
    with zarrox.zarr3.enable():
        answers.put(int(zarr.open_array(path)[:].sum()))


@pytest.mark.parametrize("method", ["fork", "spawn"] if sys.platform == "linux" else ["spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_other_processes_read(method: str, tmp_path: Path) -> None:
    """A forked process does not wait for the threads of its parent, even if the parent has read before."""
    path = str(tmp_path / "a")
    array = zarr.create_array(path, shape=(3_000_000,), chunks=(100_000,), dtype="i4")
    array[:] = 1
    assert array[:].sum() == 3_000_000
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    process = context.Process(target=_sum, args=(path, answers))
    process.start()
    try:
        assert answers.get(timeout=60) == 3_000_000
    finally:
        process.kill()


def test_threads_read_and_write_at_the_same_time(tmp_path: Path) -> None:
    """Threads that write parts of one chunk lose no updates."""
    for store in (LocalStore(tmp_path / "a"), LoggingStore(LocalStore(tmp_path / "b"))):
        array = zarr.create_array(store, shape=(64,), chunks=(64,), dtype="i4")

        def fill(start: int, array: zarr.Array = array) -> None:
            for index in range(start, 64, 8):
                array[index] = index + 1

        threads = [threading.Thread(target=fill, args=(start,)) for start in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(array[:], np.arange(1, 65))


def test_many_reads_of_called_stores_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """There are more calls than threads of the event loop, and each call needs such a thread."""
    array = zarr.create_array(LoggingStore(LocalStore(tmp_path / "a")), shape=(40,), chunks=(2,), dtype="i4")
    array[:] = np.arange(40)

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*(array.async_array.getitem(slice(n, 40)) for n in range(40)))

    results = asyncio.run(asyncio.wait_for(all_at_once(), 60))
    assert [len(result) for result in results] == list(range(40, 0, -1))


INTERRUPTED = """
import signal, sys, time, zarr, zarrox.zarr3
from zarr.storage import MemoryStore, WrapperStore
# Where a shell started the tests in the background, all their processes ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
zarrox.zarr3.enable()
class Slow(WrapperStore):
    async def get(self, key, *arguments, **named):
        if "c/" in key:
            import asyncio
            print("reading", flush=True)
            await asyncio.sleep(3)
        return await super().get(key, *arguments, **named)
array = zarr.create_array(Slow(MemoryStore()), shape=(4,), chunks=(2,), dtype="i4")
try:
    array[:]
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_read() -> None:
    """The exception is raised immediately, not when the store responds."""
    if sys.platform == "win32":
        # Signals are sent as on Unix.
        return
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "reading\n"
    process.send_signal(signal.SIGINT)
    assert "interrupted" in process.communicate(timeout=60)[0]


LONG = """
import os, signal, sys, time, numpy as np, zarr, zarrox.zarr3
from zarr.codecs import GzipCodec
from zarr.storage import LocalStore, WrapperStore
def interrupt(*_):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt
# Where a shell started the tests in the background, all their processes ignore the signal.
signal.signal(signal.SIGINT, interrupt)
zarrox.zarr3.enable()
class Called(WrapperStore):
    pass
path, kind = sys.argv[1:]
store = LocalStore(path) if kind == "native" else Called(LocalStore(path))
array = zarr.create_array(store, shape=(400, 200_000), chunks=(1, 200_000), dtype="f8", compressors=GzipCodec(level=9))
values = np.random.default_rng(0).random((1, 200_000)).repeat(400, axis=0)
count = lambda: sum(len(files) for _, _, files in os.walk(path))
print("writing", flush=True)
try:
    array[:] = values
except KeyboardInterrupt:
    print("stopping", flush=True)
    last = None
    while last != (last := count()):
        time.sleep(2)
    print("interrupted", last, flush=True)
    array[0, :3] = 7
    print(array[0, :3].tolist(), flush=True)
"""


@pytest.mark.parametrize("kind", ["native", "called"])
def test_ctrl_c_stops_the_work_of_rust(kind: str, tmp_path: Path) -> None:
    """Only the chunks in progress are written, and the array can be used afterwards."""
    if sys.platform == "win32":
        # Signals are sent as on Unix.
        return
    arguments = [sys.executable, "-c", LONG, str(tmp_path / "a"), kind]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    while not list((tmp_path / "a").rglob("0")):
        time.sleep(0.01)
    # Python misses a signal that arrives just before its main thread waits for a lock: a user would press the keys
    # again.
    while not select.select([process.stdout], [], [], 0.1)[0]:
        process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "stopping\n"
    printed = process.communicate(timeout=120)[0].splitlines()
    word, last = printed[0].split()
    assert word == "interrupted"
    assert int(last) < 400
    assert printed[1] == "[7.0, 7.0, 7.0]"


def test_a_task_that_is_cancelled_stops_the_work_of_rust(tmp_path: Path) -> None:
    """The work does not continue in the background."""
    array = zarr.create_array(
        tmp_path / "a", shape=(400, 200_000), chunks=(1, 200_000), dtype="f8", compressors=GzipCodec(level=9)
    )
    values = np.random.default_rng(0).random((1, 200_000)).repeat(400, axis=0)

    def count() -> int:
        return sum(len(files) for _, _, files in os.walk(tmp_path))

    async def write() -> None:
        task = asyncio.create_task(array.async_array.setitem(slice(None), values))
        while count() < 3:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(write())
    last = None
    while last != (last := count()):
        time.sleep(2)
    assert last < 400


def test_other_buffers_go_zarr_pythons_way() -> None:
    """Batches with another buffer prototype are passed to zarr-python's own pipeline."""
    from zarr.core.buffer import BufferPrototype, cpu

    class Own(cpu.NDBuffer):
        """A custom buffer."""

    array = zarr.create_array({}, shape=(9,), chunks=(4,), dtype="i4")
    array[:] = np.arange(9)
    prototype = BufferPrototype(buffer=cpu.Buffer, nd_buffer=Own)
    result = array.get_basic_selection(slice(2, 7), prototype=prototype)
    np.testing.assert_array_equal(result, np.arange(2, 7))


def test_the_explanation_of_an_array_with_another_pipeline_says_how_to_change_it() -> None:
    """The reason names the function to call."""
    with zarrox.zarr3.disable():
        array = zarr.create_array({}, shape=(9,), dtype="i4")
    assert "zarrox.zarr3.enable()" in str(explain(array))


def test_an_unknown_version_is_refused_with_those_that_are_known() -> None:
    """The import succeeds, since zarr-python imports every pipeline, but using the pipeline is an error."""
    program = (
        "import zarr; zarr.__version__ = '3.9.0'; import zarrox.zarr3\n"
        "import os; from zarr.registry import get_pipeline_class\n"
        "zarr.config.set({'codec_pipeline.path': zarrox.zarr3.PIPELINE})\n"
        "try: zarr.create_array({}, shape=(4,), dtype='i4')\n"
        "except ImportError as error: print(error)\n"
        "try: zarrox.zarr3.enable()\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    message = "zarrox.zarr3 works with zarr-python 3.1, 3.2, 3.3, 3.4, but 3.9.0 is installed"
    assert done.stdout.count(message) == 2


def _module(*arguments: str, prefix: Path) -> subprocess.CompletedProcess[str]:
    program = f"import sys; sys.prefix = {str(prefix)!r}; from zarrox.__main__ import main; sys.exit(main({arguments!r}))"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ZARR_")}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)


def test_an_environment_is_switched_on_and_off(tmp_path: Path) -> None:
    """A single file is created and deleted, and nothing else changes."""
    file = tmp_path / "etc/zarr/zarrox.yaml"
    assert "not there" in _module("status", prefix=tmp_path).stdout
    assert str(file) in _module("enable", prefix=tmp_path).stdout
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file]
    assert "already" in _module("enable", prefix=tmp_path).stdout
    status = _module("status", prefix=tmp_path).stdout
    assert f"pipeline:     {zarrox.zarr3.PIPELINE}" in status
    assert "removed" in _module("disable", prefix=tmp_path).stdout
    assert list(tmp_path.iterdir()) == []
    assert "nothing was done" in _module("disable", prefix=tmp_path).stdout


def test_a_file_of_somebody_else_stays(tmp_path: Path) -> None:
    """Neither command changes the file or other files beside it."""
    file = tmp_path / "etc/zarr/zarrox.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("codec_pipeline:\n  batch_size: 2\n")
    for command in ("enable", "disable"):
        done = _module(command, prefix=tmp_path)
        assert done.returncode == 1
        assert "stays as it is" in done.stderr
    assert file.read_text() == "codec_pipeline:\n  batch_size: 2\n"
