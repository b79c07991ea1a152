"""TensorStore as a contestant; see `contestant.py`. It supports only arrays, not groups."""

import importlib.metadata
from collections import deque
from pathlib import Path

import tensorstore as ts

import contestant
from contestant import Contestant


class TensorStore(Contestant):
    lacks = {
        "open_consolidated": "no consolidated metadata",
        "list": "no groups",
        "info": "does not say how much is stored",
    }

    def __init__(self, case):
        super().__init__(case)
        self.context = ts.Context({
            # Nothing is cached between reads.
            "cache_pool": {"total_bytes_limit": 0},
            "data_copy_concurrency": {"limit": self.threads},
            "file_io_concurrency": {"limit": self.threads},
            # No other contestant waits until the data are on the disk.
            "file_io_sync": False,
        })

    def version(self):
        return f"tensorstore {importlib.metadata.version('tensorstore')}"

    def future(self, path, **mode):
        driver = "zarr3" if (Path(path) / "zarr.json").exists() else "zarr"
        spec = {"driver": driver, "kvstore": {"driver": "file", "path": f"{path}/"}}
        return ts.open(spec, open=True, context=self.context, **mode)

    def open(self, path):
        return self.future(path, read=True).result()

    def open_output(self):
        return self.future(self.output, read=True, write=True).result()

    def dtype(self, array):
        return array.dtype.numpy_dtype

    def stored_shape(self, array):
        return array.chunk_layout.write_chunk.shape

    def read(self, array, region):
        return array[region].read().result()

    def write(self, array, region, values):
        array[region].write(values).result()

    def read_many(self, array, regions, keep):
        values = in_flight((array[region].read() for region in regions), self.at_once)
        return [value if keep else None for value in values]

    def write_many(self, array, regions, values):
        writes = (array[region].write(value) for region, value in zip(regions, values))
        for _ in in_flight(writes, self.at_once):
            pass

    def copy_pieces(self, source, target, size):
        """Copies as many pieces concurrently as there are threads: a copy of the whole array at once would be in memory."""
        steps = self.steps(source, target, size // self.threads)
        regions = contestant.pieces(source.shape, steps)
        for _ in in_flight((target[region].write(source[region]) for region in regions), self.threads):
            pass

    def select(self, array, kind, selection):
        return self.selected(array, kind, selection).read().result()

    def select_write(self, array, kind, selection, values):
        self.selected(array, kind, selection).write(values).result()

    def selected(self, array, kind, selection):
        if kind == "orthogonal":
            return array.oindex[selection]
        if kind == "coordinates":
            return array.vindex[selection]
        if kind == "blocks":
            axes = zip(selection, self.stored_shape(array), array.shape)
            selection = tuple(slice(s.start * chunk, min(s.stop * chunk, length)) for s, chunk, length in axes)
        return array[selection]

    def append(self, array, blocks):
        for values in blocks:
            start = array.shape[0]
            end = [start + len(values)] + [None] * (array.rank - 1)
            array = array.resize(exclusive_max=end).result()
            array[start:].write(values).result()

    def open_members(self, names):
        futures = [self.future(f"{self.path}/{name}", read=True) for name in names]
        return [future.result() for future in futures]


def in_flight(futures, limit):
    """Yields the results of futures, with a limited number of them in flight."""
    waiting = deque()
    for future in futures:
        waiting.append(future)
        if len(waiting) == limit:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


if __name__ == "__main__":
    contestant.main(TensorStore)
