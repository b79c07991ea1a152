"""zarr-python 3 as a process of the torture test; see `work.py`."""

import zarr

import work


class Zarr(work.Worker):
    def open(self, path):
        return zarr.open_array(path, mode="r+")

    def write(self, array, region, values):
        array[region] = values

    def append(self, name, values):
        # Other processes append as well: the array is opened again for its shape, as the documentation advises.
        array = self.arrays[name] = self.open(f"{self.path}/{name}")
        array.append(values)

    def set_attribute(self, path, name, value):
        zarr.open_group(path, mode="r+").attrs[name] = value


if __name__ == "__main__":
    work.main(Zarr)
