"""Writes NIfTI images with nibabel, copies images that nibabel ships, and writes a description of all images: `expected.json`.

    python make.py

Runs in an environment with nibabel.
"""

import json
import os
import shutil
import sys
import zlib

import nibabel as nib
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..", "..")
sys.path.append(os.path.join(ROOT, "crates/zarrox/tests/corpus"))

import pack  # noqa: E402

TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8", "c8", "c16"]

#: The images of the tests of nibabel: a volume of a brain, and a volume with a time dimension.
SHIPPED = ["anatomical.nii", "functional.nii", "resampled_anat_moved.nii", "standard.nii.gz"]


def values(shape, kind):
    dtype = np.dtype(kind)
    numbers = (np.arange(np.prod(shape)) * 7 % 120).astype(dtype)
    numbers = numbers / dtype.type(4) if dtype.kind in "fc" else numbers
    return (numbers + 1j * numbers[::-1] if dtype.kind == "c" else numbers).astype(dtype).reshape(shape)


def write(data):
    affine = np.array([[-2, 0.1, 0, 90], [0, 2.5, 0.2, -126], [0, 0, 3, -72], [0, 0, 0, 1]])
    for kind in TYPES:
        for suffix, order in [(".nii", "<"), (".nii.gz", ">")]:
            header = nib.Nifti1Header(endianness=order)
            header.set_data_dtype(np.dtype(kind).newbyteorder(order))
            header.set_xyzt_units("mm", "sec")
            image = nib.Nifti1Image(values((5, 6, 7), kind), affine, header)
            nib.save(image, os.path.join(data, f"{kind}{'-big' if order == '>' else ''}{suffix}"))
    color = np.zeros((4, 3, 2), [("R", "u1"), ("G", "u1"), ("B", "u1")])
    color["R"], color["G"], color["B"] = 1, values((4, 3, 2), "u1"), 3
    nib.save(nib.Nifti1Image(color, np.eye(4)), os.path.join(data, "rgb.nii"))
    for count in [1, 2, 4, 7]:
        image = nib.Nifti1Image(values((3, 4, 2, 5, 1, 2, 3)[:count], "i2"), np.eye(4))
        nib.save(image, os.path.join(data, f"dimensions-{count}.nii"))
    scaled = nib.Nifti1Image(values((4, 5, 6), "i2"), None)
    scaled.header.set_slope_inter(0.5, -3)
    turned = np.diag([2.0, 3, -4, 1])
    turned[:2, :2] = [[0, -3], [2, 0]]
    turned[:3, 3] = [10, 20, 30]
    scaled.set_qform(turned, 1)
    scaled.set_sform(None, 0)
    scaled.header["descrip"] = b"made by hand"
    nib.save(scaled, os.path.join(data, "scaled.nii"))
    for name in SHIPPED:
        shutil.copy(os.path.join(os.path.dirname(nib.__file__), "tests/data", name), data)
    write_others(data, affine)


def write_others(data, affine):
    """Writes NIfTI-2, pairs, Analyze, CIFTI-2, and extensions."""
    for kind in ["u1", "i2", "f8", "c8"]:
        for suffix, order in [(".nii", "<"), (".nii.gz", ">")]:
            header = nib.Nifti2Header(endianness=order)
            header.set_data_dtype(np.dtype(kind).newbyteorder(order))
            header.set_xyzt_units("micron", "msec")
            image = nib.Nifti2Image(values((5, 6, 7, 2), kind), affine, header)
            nib.save(image, os.path.join(data, f"second-{kind}{suffix}"))
    nib.save(nib.Nifti2Image(values((40000, 2), "i2"), np.eye(4)), os.path.join(data, "second.nii"))
    # The conventions of FreeSurfer for long first dimensions.
    nib.save(nib.Nifti1Image(values((40000, 1, 1), "u1"), np.eye(4)), os.path.join(data, "vector.nii"))
    nib.save(nib.Nifti1Image(values((163842, 1, 1), "u1"), np.eye(4)), os.path.join(data, "surface.nii"))
    nib.save(nib.Nifti1Pair(values((4, 5, 6), "i2"), affine), os.path.join(data, "pair.img"))
    nib.save(nib.Nifti2Pair(values((4, 5, 6), "f4"), affine), os.path.join(data, "pair2.img"))
    nib.save(nib.Nifti1Pair(values((4, 5, 6), "f8"), affine), os.path.join(data, "packed.img.gz"))
    nib.save(nib.AnalyzeImage(values((4, 5, 6), "i2"), np.diag([-3, 4, 5, 1])), os.path.join(data, "analyze.img"))
    scaled = nib.Spm2AnalyzeImage(values((4, 5, 6), "i2"), np.diag([-3, 4, 5, 1]))
    scaled.header["scl_slope"] = 0.25
    nib.save(scaled, os.path.join(data, "spm.img"))
    extended = nib.Nifti1Image(values((3, 4, 2), "u1"), affine)
    extended.header.set_intent("t test", (12.5,), "by hand")
    extended.header["cal_max"], extended.header["cal_min"], extended.header["slice_code"] = 250, -3, 2
    extended.set_qform(np.diag([2, 3, -4, 1]), 1)
    extended.header.extensions.append(nib.nifti1.Nifti1Extension("comment", "Grüße".encode()))
    extended.header.extensions.append(nib.nifti1.Nifti1Extension(2, b"\xff\xfe\x00\x01"))
    nib.save(extended, os.path.join(data, "extended.nii"))
    nib.save(extended, os.path.join(data, "extended.hdr"))
    model = nib.cifti2.BrainModelAxis.from_mask(np.ones((3, 3, 2)), affine=np.eye(4), name="thalamus_left")
    series = nib.cifti2.SeriesAxis(0, 0.5, 5)
    nib.save(nib.Cifti2Image(values((5, 18), "f4"), (series, model)), os.path.join(data, "cifti.dtseries.nii"))


def described(path):
    """Returns the header and the elements of a file as nibabel reads them, in the dimension order of Zarr."""
    image = nib.load(path)
    if isinstance(image, nib.Cifti2Image):
        image = nib.Nifti2Image.from_filename(path)
    stored = np.asarray(image.dataobj.get_unscaled()).T
    if stored.dtype.names:
        stored = np.stack([stored[name] for name in stored.dtype.names], -1)
    header = image.header
    first = 5 if os.path.basename(path).startswith("cifti") else 1
    stored = stored.reshape(stored.shape[: stored.ndim - first + 1])
    said = {
        "shape": list(stored.shape),
        "type": stored.dtype.name,
        "crc32": zlib.crc32(np.ascontiguousarray(stored).astype(stored.dtype.newbyteorder("<")).tobytes()),
        "spacing": [float(each) for each in header["pixdim"][first : header["dim"][0] + 1][::-1]],
        "scaling": [None if np.isnan(each) else float(each) for each in (image.dataobj.slope, image.dataobj.inter)],
    }
    if isinstance(header, nib.Nifti1Header) and (header["sform_code"] > 0 or header["qform_code"] > 0):
        said["affine"] = image.affine.ravel().tolist()
    return said


def main():
    data = pack.begin(HERE)
    write(data)
    names = [name for name in sorted(os.listdir(data)) if not name.endswith((".img", ".img.gz", ".mat"))]
    expected = {name: described(os.path.join(data, name)) for name in names}
    with open(os.path.join(data, "expected.json"), "w") as file:
        json.dump(expected, file)
    pack.pack(HERE)


if __name__ == "__main__":
    main()
