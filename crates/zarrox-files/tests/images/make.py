"""Writes images with Pillow, and the pixels of each image as Pillow reads them: `NAME.npy` beside the image.

python make.py
"""

import os
import sys

import numpy as np
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../zarrox/tests/corpus"))

import pack  # noqa: E402


def pixels(frame, channels, dtype, height=5, width=7):
    """Returns numbers that depend on the position: frame, row, column and channel."""
    f, y, x, c = frame, *np.ogrid[:height, :width, :channels]
    step = 257 if dtype == "u2" else 1
    return ((f * 50 + y * 7 + x * 3 + c * 11) * step % (1 << (16 if dtype == "u2" else 8))).astype(dtype)


def keep(path, image, **options):
    image.save(path, **options)
    np.save(path + ".npy", np.asarray(Image.open(path)))


def main():
    data = pack.begin(HERE)
    frames = os.path.join(data, "frames")
    os.makedirs(frames)
    # The alphabetical order of the names differs from the order of the numbers.
    for frame in (10, 9, 1, 2, 0):
        Image.fromarray(pixels(frame, 3, "u1")).save(os.path.join(frames, f"frame{frame}.png"))
    with open(os.path.join(frames, "notes.txt"), "w") as file:
        file.write("not an image\n")
    single = lambda name: os.path.join(data, name)
    keep(single("gray.png"), Image.fromarray(pixels(1, 1, "u1")[..., 0]))
    keep(single("gray16.png"), Image.fromarray(pixels(1, 1, "u2")[..., 0]))
    keep(single("alpha.png"), Image.fromarray(pixels(1, 2, "u1"), "LA"))
    keep(single("rgb.png"), Image.fromarray(pixels(1, 3, "u1")))
    keep(single("rgba.png"), Image.fromarray(pixels(1, 4, "u1")))
    smooth = np.add.outer(np.arange(40), np.arange(56)).astype("u1")
    keep(single("gray.jpg"), Image.fromarray(smooth), quality=95)
    rgb = np.stack([smooth, smooth[::-1], smooth * 2], axis=-1)
    keep(single("rgb.jpg"), Image.fromarray(rgb), quality=95, subsampling=0)
    keep(single("progressive.jpg"), Image.fromarray(rgb), quality=95, subsampling=0, progressive=True)
    pack.pack(HERE)


if __name__ == "__main__":
    main()
