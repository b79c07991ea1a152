"""Zarrox's Python package as a contestant; see `contestant.py`."""

import zarrox

import contestant
from zarr_api import ZarrApi


# The factor by which Zarrox's memory limit is smaller than that of the other contestants.
LESS = 4


class Zarrox(ZarrApi):
    zarr = zarrox

    def __init__(self, case):
        super().__init__(case)
        zarrox.config.set({"threading.max_workers": self.threads})

    def version(self):
        return f"zarrox-python {zarrox.__version__}"

    def copy(self, source, target):
        zarrox.rechunk(source, target)

    def rechunk(self, source, target, memory):
        zarrox.rechunk(source, target, memory=memory // LESS, scratch=f"{self.output}.between")


if __name__ == "__main__":
    contestant.main(Zarrox)
