"""Zarrox's Python package as a contestant; see `contestant.py`."""

import zarrox

import contestant
from zarr_api import ZarrApi


class Zarrox(ZarrApi):
    zarr = zarrox

    def __init__(self, case):
        super().__init__(case)
        zarrox.config.set({"threading.max_workers": self.threads})

    def version(self):
        return f"zarrox-python {zarrox.__version__}"


if __name__ == "__main__":
    contestant.main(Zarrox)
