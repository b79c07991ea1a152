"""Checks that zarr-python selects as in the cases of `indexing.py`, which have NumPy's results.

    indexing_zarr.py CASES REPORT [MOST]

It runs in the environment of either zarr-python, and reports the number of cases, the number of cases with the same result,
and the number of other cases that each rule of `RULES` explains. A difference without a rule is a failure.
"""

import json
import sys

import numpy as np
import zarr

import indexing

VERSION_3 = zarr.__version__.startswith("3.")


# The reasons for differences from NumPy: the text; the kind, which is "refuses" for an error where NumPy succeeds, "allows" for
# the opposite, or "differs" for another result; and a test for the cases.
RULES = (
    ("rejects slices with negative steps", {"refuses"}, lambda case: case.has_negative_step()),
    ("rejects new axes", {"refuses"}, lambda case: None in case.plain()),
    ("rejects an ellipsis together with arrays", {"refuses"}, lambda case: bool(case.arrays) and Ellipsis in case.plain()),
    ("selects orthogonally by masks and arrays in z[...], or rejects them, unless there is one integer array for each dimension",
     {"refuses", "allows", "differs"}, lambda case: case.kind == "numpy" and case.is_mixed()),
    ("keeps any of several values that are written to the same element", {"differs"},
     lambda case: case.writes and case.kind != "blocks" and case.has_repeats()),
    ("returns an array of one element for integers in vindex", {"differs"},
     lambda case: case.kind == "coordinates" and not case.arrays),
    ("selects from arrays without dimensions only by z[...]", {"refuses", "differs"},
     lambda case: case.ndim == 0 and case.kind != "numpy"),
    ("rejects slices of blocks that select no block or begin outside of the grid", {"refuses"},
     lambda case: case.kind == "blocks" and (case.is_empty() or case.begins_outside())),
    ("selects other blocks by a slice that ends before the first block", {"differs"},
     lambda case: case.kind == "blocks" and case.ends_outside()),
    ("broadcasts only scalars", {"refuses"}, lambda case: case.broadcasts()),
    ("confuses leading axes of length 1 of the values with other axes", {"differs"}, lambda case: case.has_more_axes()),
    ("does not compare the shape of the values with the shape of the selection", {"allows"}, lambda case: "misfit" in case.json),
)


class Case:
    """A case, with the properties that rules use."""

    def __init__(self, case):
        self.json = case
        [[self.kind, self.text]] = case["select"]
        self.ndim = len(case["shape"])
        self.items = () if self.kind == "mask" else indexing.parse(self.text)
        self.arrays = [item for item in self.items if isinstance(item, np.ndarray)]
        self.writes = "write" in case

    def plain(self):
        """Returns the items that can be compared: those that are not arrays."""
        return [item for item in self.items if not isinstance(item, np.ndarray)]

    def has_negative_step(self):
        return any(isinstance(item, slice) and (item.step or 1) < 0 for item in self.items)

    def is_mixed(self):
        """Returns true if there are arrays, unless each dimension has an array of integers or an integer."""
        pure = all(isinstance(item, int) or isinstance(item, np.ndarray) and item.dtype != bool for item in self.items)
        return bool(self.arrays) and not (pure and len(self.items) == self.ndim)

    def positions(self):
        shape = self.json["shape"]
        numbers = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
        grid = self.json["shards"] or self.json["chunks"]
        return np.asarray(indexing.selected(numbers, self.kind, self.text, grid))

    def has_repeats(self):
        positions = self.positions()
        return len(np.unique(positions)) < positions.size

    def is_empty(self):
        return self.positions().size == 0

    def block_slices(self):
        """Returns the slices of a block selection, each with the number of blocks."""
        grid = self.json["shards"] or self.json["chunks"]
        blocks = [-(-length // chunk) for length, chunk in zip(self.json["shape"], grid)]
        slices = zip(indexing.expand(self.items, self.ndim), blocks)
        return [(item, count) for item, count in slices if isinstance(item, slice)]

    def begins_outside(self):
        return any(not -count <= (item.start or 0) < count for item, count in self.block_slices())

    def ends_outside(self):
        return any((item.stop or 0) < -count for item, count in self.block_slices())

    def has_more_axes(self):
        """Returns true if the values have more axes than the selection."""
        return self.broadcasts() and len(self.json["write"]["shape"]) > self.positions().ndim

    def broadcasts(self):
        """Returns true if the values do not have the selection's shape, and are not a scalar."""
        if not self.writes or "after" not in self.json:
            return False
        shape = self.json["write"]["shape"]
        return shape != [] and shape != list(self.positions().shape)


def reason(case, what):
    """Returns the first rule that explains an outcome."""
    case = Case(case)
    return next((words for words, outcomes, applies in RULES if what in outcomes and applies(case)), None)


def made(case):
    """Returns the array of a case, in memory."""
    options = {"shape": tuple(case["shape"]), "chunks": tuple(case["chunks"]), "dtype": "i4"}
    if VERSION_3:
        shards = case["shards"] and tuple(case["shards"])
        z = zarr.create_array(store={}, shards=shards, compressors=None, **options)
    else:
        options["chunks"] = tuple(case["shards"] or case["chunks"])
        z = zarr.create(store=zarr.KVStore({}), compressor=None, **options)
    z[...] = np.arange(int(np.prod(case["shape"], dtype=int)), dtype="i4").reshape(case["shape"])
    return z


def selector(z, kind):
    return {"numpy": z, "orthogonal": z.oindex, "coordinates": z.vindex, "mask": z.vindex, "blocks": z.blocks}[kind]


def selection(kind, text):
    if kind == "mask":
        shape, bits = text.split(" ")
        return np.array([bit == "1" for bit in bits], dtype=bool).reshape(json.loads(shape))
    items = indexing.parse(text)
    return items[0] if len(items) == 1 else items


def outcome(case):
    """Returns `same`, or the difference of the results."""
    refused = "refused" in case or "misfit" in case
    [[kind, text]] = case["select"]
    z = made(case)
    try:
        target, items = selector(z, kind), selection(kind, text)
        if "write" in case:
            target[items] = array(case["write"])
            result = np.asarray(z[...]).ravel().tolist()
            same = result == case.get("after")
        else:
            result = np.asarray(target[items])
            expected = case.get("gives")
            same = expected is not None and indexing.flat(result) == expected
    except Exception as error:
        return "same" if refused else "refuses", f"{type(error).__name__}: {error}"
    if refused:
        return "allows", str(result)[:200]
    return ("same" if same else "differs"), str(result)[:200]


def array(flat):
    """Returns the values; a single value is a scalar."""
    return np.array(flat["values"], dtype="i4").reshape(flat["shape"])[()]


def main():
    path, report, *most = sys.argv[1:]
    with open(path) as lines:
        cases = [json.loads(line) for line in lines]
    # zarr-python does not support views.
    cases = [case for case in cases if len(case["select"]) == 1][:int(most[0]) if most else None]
    same, explained, failures = 0, {}, []
    for case in cases:
        what, detail = outcome(case)
        if what == "same":
            same += 1
        elif words := reason(case, what):
            explained[words] = explained.get(words, 0) + 1
        else:
            failures.append(f"{what}: {detail}; {json.dumps(case)}")
    versions = {"zarr": zarr.__version__, "numpy": np.__version__}
    result = {"versions": versions, "cases": len(cases), "same": same, "failures": failures}
    result["explained"] = dict(sorted(explained.items()))
    with open(report, "w") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main()
