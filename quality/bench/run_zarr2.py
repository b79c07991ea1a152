"""zarr-python 2 as a contestant; see `contestant.py`."""

from pathlib import Path

import numcodecs
import numcodecs.blosc
import zarr

import contestant
from zarr_api import ZarrApi


class Zarr2(ZarrApi):
    zarr = zarr
    # zarr-python 2 uses consolidated metadata only on request.
    unconsolidated = {}

    def __init__(self, case):
        super().__init__(case)
        if (Path(self.path) / "zarr.json").exists():
            raise contestant.Unsupported("no format 3")
        numcodecs.blosc.set_nthreads(self.threads)

    def version(self):
        return f"zarr {zarr.__version__}, numcodecs {numcodecs.__version__}"

    def copy_pieces(self, source, target, size):
        """Copies pieces in threads, as its tutorial advises: one call works on one chunk after the other."""

        def copy(region):
            target[region] = source[region]

        steps = self.steps(source, target, size // self.threads)
        self.for_each(copy, list(contestant.pieces(source.shape, steps)), self.threads)

    def paths_below(self):
        paths = []
        self.open_group().visit(paths.append)
        return paths

    def stored(self, array):
        return array.nchunks_initialized, array.nbytes_stored


if __name__ == "__main__":
    contestant.main(Zarr2)
