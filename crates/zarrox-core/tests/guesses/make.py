"""Writes guesses.json: the chunk shapes that zarr-python 2 chooses, as [shape, bytes of an element, chunks].

Run with zarr 2.18.7: python make.py
"""

import json
import random
from pathlib import Path

from zarr.util import guess_chunks

random.seed(7)
cases = [
    ((), 8),
    ((0,), 8),
    ((0, 5), 4),
    ((1,), 1),
    ((1_000_000,), 4),
    ((10_000, 10_000), 4),
    ((1_000_000_000, 1_000_000_000), 8),
    ((100, 100, 100), 8),
    ((8760, 721, 1440), 4),
    ((100, 100), 70_000_000),
    ((2**40,), 1),
    ((131_072,), 1),
    ((131_073,), 1),
    ((196_608,), 1),
    ((196_607,), 1),
]
# Sizes at the boundaries between two shapes: powers of two and adjacent numbers.
for exponent in range(10, 34):
    for near in (-1, 0, 1):
        cases.append(((2**exponent + near,), 1))
        cases.append(((2 ** (exponent // 2) + near, 2 ** ((exponent + 1) // 2)), 2))
for _ in range(1000):
    dims = random.randint(1, 5)
    shape = tuple(int(10 ** random.uniform(0, 12 / dims)) for _ in range(dims))
    cases.append((shape, random.choice([1, 2, 3, 4, 8, 12, 16, 100, 4096])))
rows = [json.dumps([shape, item, guess_chunks(shape, item)]) for shape, item in cases]
Path(__file__).with_name("guesses.json").write_text("[\n" + ",\n".join(rows) + "\n]\n")
