"""One case of made.py: its directory, the command, and the possible outcomes."""

import os

import hdf5_files
import netcdf_files
import tiff_pages
from hierarchy import Hierarchy

RIGHT, NAMED = ("right",), ("right", "refused")


class Place:
    """A directory for one case, and the command."""

    def __init__(self, zarrox, directory):
        self.zarrox, self.directory = zarrox, directory

    def at(self, name):
        return os.path.join(self.directory, name)

    def expect(self, outcome, allowed):
        assert outcome["class"] in allowed, f"{outcome['class']}: {'; '.join(outcome['reasons'])}"

    def hdf5(self, name, allowed=RIGHT, exported=RIGHT):
        outcome = hdf5_files.check(self.zarrox, self.at(name), self.directory)
        self.expect(outcome, allowed)
        if exported and "exported" in outcome:
            self.expect(outcome["exported"], exported)

    def netcdf(self, name, allowed=RIGHT, exported=RIGHT):
        outcome = netcdf_files.check(self.zarrox, self.at(name), self.directory)
        self.expect(outcome, allowed)
        if exported and "netcdf" in outcome:
            self.expect(outcome["netcdf"], exported)

    def tiff(self, name, allowed=RIGHT):
        self.expect(tiff_pages.check(self.zarrox, self.at(name), self.directory), allowed)

    def imported(self, name, *options):
        target = self.at(name + ".made")
        self.zarrox.do("import", self.at(name), target, "--force", *options)
        return target

    def attributes(self, target, path=""):
        return Hierarchy(target).document(path)["attributes"]
