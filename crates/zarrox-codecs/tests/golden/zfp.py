"""Prints zfp.txt: mode, type, shape, the stream with a header, the stream without it, and the decoded bytes. See README.md."""

import numpy as np
import zfpy

SHAPES = [(10,), (5, 6), (2, 3, 5), (2, 1, 3, 5)]
MODES = {
    "reversible": {},
    "fixed_rate": {"rate": 11.5},
    "fixed_precision": {"precision": 13},
    "fixed_accuracy": {"tolerance": 0.1},
}

for dtype in ["int32", "int64", "float32", "float64"]:
    for shape in SHAPES:
        squares = np.arange(np.prod(shape)) ** 2 % 37
        data = (squares * (2**20 if dtype.startswith("int") else 0.25) - 3).astype(dtype).reshape(shape)
        for mode, arguments in MODES.items():
            if mode == "fixed_accuracy" and dtype.startswith("int"):
                continue
            encoded = zfpy.compress_numpy(data, **arguments)
            bare = zfpy.compress_numpy(data, write_header=False, **arguments)
            decoded = zfpy.decompress_numpy(encoded)
            print(mode, dtype, "x".join(map(str, shape)), encoded.hex(), bare.hex(), decoded.tobytes().hex())
