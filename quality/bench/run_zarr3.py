"""zarr-python 3 as a contestant, with the codec pipeline in its argument; see `contestant.py`."""

import sys

import numcodecs.blosc
import zarr

import contestant
from zarr_api import ZarrApi

PIPELINES = {
    "default": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "fused": "zarr.core.codec_pipeline.FusedCodecPipeline",
    "zarrs": "zarrs.ZarrsCodecPipeline",
}
PIPELINE = sys.argv[1] if len(sys.argv) > 1 else "default"
if PIPELINE == "zarrs":
    import zarrs


class Zarr3(ZarrApi):
    zarr = zarr

    def __init__(self, case):
        super().__init__(case)
        numcodecs.blosc.set_nthreads(self.threads)
        zarr.config.set({
            "threading.max_workers": self.threads,
            "async.concurrency": self.threads,
            "codec_pipeline.path": PIPELINES[PIPELINE],
            "codec_pipeline.max_workers": self.threads,
        })

    def check(self, array):
        if PIPELINE == "zarrs" and not array.dtype.isnative:
            raise contestant.Unsupported("no byte order but the machine's")
        if PIPELINE == "zarrs" and array.order == "F":
            raise contestant.Unsupported("no column-major results")

    def version(self):
        version = f"zarr {zarr.__version__}"
        if PIPELINE == "zarrs":
            return f"{version}, zarrs {zarrs.__version__}"
        return f"{version}, fused" if PIPELINE == "fused" else version


if __name__ == "__main__":
    contestant.main(Zarr3)
