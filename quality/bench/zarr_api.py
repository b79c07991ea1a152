"""Work that uses the common API of zarr-python 2, zarr-python 3 and zarrox."""

from contestant import Contestant


class ZarrApi(Contestant):
    """A library with the API of zarr-python: `zarr` is its module."""

    zarr = None
    # : Opens a group without its consolidated metadata.
    unconsolidated = {"use_consolidated": False}

    def open(self, path):
        return self.zarr.open_array(path, mode="r")

    def open_output(self):
        return self.zarr.open_array(self.output, mode="r+")

    def select(self, array, kind, selection):
        if kind == "strided":
            return array[selection]
        if kind == "orthogonal":
            return array.oindex[selection]
        if kind == "blocks":
            return array.blocks[selection]
        return array.vindex[selection]

    def select_write(self, array, kind, selection, values):
        if kind == "strided":
            array[selection] = values
        elif kind == "orthogonal":
            array.oindex[selection] = values
        elif kind == "blocks":
            array.blocks[selection] = values
        else:
            array.vindex[selection] = values

    def append(self, array, blocks):
        for values in blocks:
            array.append(values)

    def open_group(self):
        return self.zarr.open_group(self.path, mode="r", **self.unconsolidated)

    def open_members(self, names):
        group = self.open_group()
        return [group[name] for name in names]

    def open_consolidated_members(self, names):
        group = self.zarr.open_consolidated(self.path, mode="r")
        return [group[name] for name in names]

    def paths_below(self):
        return [path for path, _ in self.open_group().members(max_depth=None)]

    def stored(self, array):
        """Returns the number of stored chunks, and their bytes."""
        return array.nchunks_initialized, array.nbytes_stored()
