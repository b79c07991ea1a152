"""Makes the golden files with NumPy: arrays as .npy, and as NumPy prints them. Run in this directory."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join("..", "..", "..", "zarrox", "tests", "corpus"))
import pack

HERE = os.getcwd()
os.chdir(pack.begin(HERE))

n = np.arange(24)
arrays = {
    "bool": n.reshape(2, 12) % 3 == 0,
    "int16_cube": np.arange(-858, 858, dtype="<i2").reshape(11, 12, 13),
    "int32_fortran": np.asfortranarray(n.astype("<i4").reshape(2, 3, 4)),
    "uint64": np.array([0, 7, 2**64 - 1], "<u8"),
    "int64_long": np.arange(2000, dtype="<i8") * 1000003,
    "int64_scalar": np.array(-5, "<i8"),
    "int8_empty": np.zeros((0, 3), "i1"),
    "float16": np.array([0.1, 65504, 6e-8, -1.5], "<f2"),
    "float32": (n / np.float32(7)).astype("<f4").reshape(4, 6),
    "float32_big": np.array([1.5, -2.25, np.inf, np.nan], ">f4"),
    "float32_exponents": np.array([[1e-10, 123456.79], [-3.3, 0.0]], "<f4"),
    "float64_plain": np.array([1.0, 2.5, -3.125, np.nan, -np.inf], "<f8"),
    "float64_digits": np.array([np.pi, np.e * 100, 0.99999999999, -0.0], "<f8"),
    "float64_exponents": np.array([1e-300, 1 / 3, 1e300], "<f8"),
    "float64_wrapped": np.sqrt(np.arange(30, dtype="<f8")),
    "complex64": np.array([1 + 2j, -0.5 - 1e-3j, complex(np.nan, np.inf)], "<c8"),
    "complex128_fortran_big": np.asfortranarray((n[:6] * (0.1 - 1j)).astype(">c16").reshape(2, 3)),
    "text": np.array([["a", "bcé"], ["it's", ""]]),
    "text_big": np.array(["🧊", "x\ty"], ">U4"),
    "text_scalar": np.array("abc"),
    "bytes": np.array([b"a", b"it's", b"\xff\x00z"]),
    "times": np.array(["2024-01-01T00:00:05", "NaT", "0001-02-03"], "M8[s]"),
    "times_days": np.array([["2024-02-29", "1969-12-31"]], ">M8[D]"),
    "times_multiple": np.arange(3).astype("M8[25ms]"),
    "spans": np.array([1, -200, "NaT"], "m8[ns]"),
}
points = np.array([(1, 2.5), (300, -4.25), (-7, 1e-10)], [("a", "<i4"), ("b", "<f8")])
nested = np.zeros(3, [("p", [("x", "<f4"), ("y", "<i2")]), ("m", "<f4", (2, 3)), ("s", "S3"), ("u", "<U4"), ("c", "<c8")])
nested["p"]["x"], nested["p"]["y"] = [1.5, 1e-10, 0.1], [0, -300, 7]
nested["m"] = (n[:18] * np.float32(1.1)).reshape(3, 2, 3)
nested["s"], nested["u"], nested["c"] = [b"ab", b"", b"it's"], ["a", "it's", "né"], [1j, 2, 3 - 0.5j]
timed = np.zeros(3, [("t", "<M8[s]"), ("d", "<m8[ms]"), ("b", "?"), ("f", "?", 2), ("v", "V2"), ("h", "<f2"), ("w", "<m8[D]", 2)])
timed["t"][1], timed["d"], timed["b"][1], timed["w"][1] = "NaT", [1, -200, "NaT"], True, 12345
mixed = np.array([(1, 2, [3, 4]), (256, -2, [5, 6])], [("a", ">i2"), ("b", "<i4"), ("c", ">f8", (2,))])
arrays |= {
    "points": points,
    "points_grid": points[[[0, 1], [2, 0]]],
    "points_single": np.array((1, 1e10), points.dtype),
    "points_long": np.resize(points, 1200),
    "nested": nested,
    "nested_single": nested[2],
    "timed": timed,
    "timed_single": timed[1],
    "single_field": np.array([(5,), (6,)], [("only", "<i8")]),
    "names": np.array([(1, 2, 3)], [("né", "<i4"), ("it's", "<i4"), ("a\\b", "<i4")]),
    "names_wide": np.array([(1,)], [("🧊", "<i4")]),
    "long_fields": np.array([(np.arange(2000).reshape(20, 100), z) for z in (1, 2)], [("m", "<i4", (20, 100)), ("z", "i1")]),
    "mixed": mixed,
    "mixed_fortran": np.asfortranarray(np.resize(mixed, (2, 3))),
    "padded": np.array([(1, 2, (3,)), (-1, -2, (-3,))], np.dtype([("a", "i1"), ("b", "<i4"), ("p", [("x", "i1")])], align=True)),
    "titled": np.array([(1,), (2,)], [(("a title", "nm"), "<i4")]),
    "words": np.array(["a", "bc", "it's", "né🧊", ""]),
    "words_long": np.resize(np.array(["a", "b" * 9, "c" * 20]), (2, 600)),
}
for name, array in arrays.items():
    array = np.asarray(array)
    np.save(name, array)
    with open(name + ".txt", "w") as text:
        print(array, file=text)
# Text and bytes of variable length are arrays of objects.
for name in ["words", "words_long", "bytes"]:
    with open(name + "_objects.txt", "w") as text:
        print(arrays[name].astype(object), file=text)
# Single fields, and several fields.
for name, fields in [("nested", "m"), ("nested", ["u", "m"]), ("timed", ["d", "t"]), ("points_long", "b"), ("long_fields", "m")]:
    with open(f"{name}_{fields if isinstance(fields, str) else ''.join(fields)}.txt", "w") as text:
        print(arrays[name][fields], file=text)
np.savez("stored.npz", x=np.arange(5), **{"deep/y": np.eye(2)})
np.savez_compressed("deflated.npz", x=np.arange(5), y=np.eye(2))
np.save("objects.npy", np.array(["a", None], object), allow_pickle=True)
np.save("structured_objects.npy", np.array([(1, None)], [("a", "<f4"), ("b", "O")]), allow_pickle=True)
os.chdir(HERE)
pack.pack(HERE)
