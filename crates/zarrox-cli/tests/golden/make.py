"""Makes the golden files with NumPy: arrays as .npy, and as NumPy prints them. Run in this directory."""

import numpy as np

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
for name, array in arrays.items():
    np.save(name, array)
    with open(name + ".txt", "w") as text:
        print(array, file=text)
np.savez("stored.npz", x=np.arange(5), **{"deep/y": np.eye(2)})
np.savez_compressed("deflated.npz", x=np.arange(5), y=np.eye(2))
np.save("objects.npy", np.array(["a", None], object), allow_pickle=True)
np.save("structured.npy", np.zeros(2, [("a", "<f4"), ("b", "<i2")]))
