"""Prints the results of NumPy's astype for numbers: a line for each pair of types, with the bytes (little-endian, as hexadecimal
digits) before and after. Machine-dependent results (floats beyond an integer's range) are left out."""

import sys

import numpy as np

np.seterr(all="ignore")
inf, nan = float("inf"), float("nan")
SOURCES = {
    "float64": [1.9, -1.9, 0, -0.5, 100.5, 1e300, nan, inf, 0.1, 65519.9, 1 + 2**-11 + 2**-40],
    "int32": [0, -1, 300, -300, 70000, 2**31 - 1, -(2**31), 16777217, 1, 2],
    "uint64": [0, 1, 255, 256, 2**32, 2**53 + 1, 2**63, 2**64 - 1, 3, 4],
    "float32": [0.5, -2.75, 3e38, 1e-45, 16777216, 2049, -0.0, 65520, 7, 100.25],
    "complex64": [1 + 2j, 2j, -3.5, 0, 1e10j, 4, 5.25 - 1j, 127, 0.1 + 0.1j, -1],
    "bool": [True, False, True],
    "float16": [0.1, 65504, -1.5, 2048, inf, 6e-8, 1, 0, -0.0, 3.25],
}
TARGETS = ["bool", "int8", "int64", "uint8", "uint32", "float16", "float32", "float64", "complex64"]

print(f"NumPy {np.__version__}", file=sys.stderr)
for source, values in SOURCES.items():
    values = np.array(values, source)
    for target in TARGETS:
        given = values
        if target.lstrip("u").startswith("int") and values.dtype.kind in "fc":
            whole = np.trunc(values.real.astype("f8"))
            limits = np.iinfo(target)
            given = values[(whole >= limits.min) & (whole <= limits.max)]
        print(source, target, given.tobytes().hex(), given.astype(target).tobytes().hex())
