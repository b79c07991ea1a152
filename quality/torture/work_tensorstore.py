"""TensorStore as a process of the torture test; see `work.py`. It supports only arrays: neither groups nor attributes."""

import tensorstore as ts

import work


class TensorStore(work.Worker):
    def open(self, path):
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/"}}
        return ts.open(spec, open=True, read=True, write=True).result()

    def write(self, array, region, values):
        array[region].write(values).result()

    def append(self, name, values):
        # TensorStore has no append: this is the alternative in its documentation.
        array = self.array(name).resolve().result()
        start = array.shape[0]
        array = array.resize(exclusive_max=[start + len(values)] + [None] * (array.rank - 1)).result()
        self.arrays[name] = array
        array[start : start + len(values)].write(values).result()


if __name__ == "__main__":
    work.main(TensorStore)
