"""Compares the import of a TIFF file with tifffile's reading."""

import os
import struct

import numpy as np
import PIL.Image
import rasterio
import tifffile

from command import DAMAGED, SKIPPED, Notes
from hierarchy import Hierarchy

# Lossy codecs, whose decoders may differ a little.
LOSSY = {6, 7, 34892, 33003, 33005, 34712, 34887, 50001, 22610, 34934, 33007, 34933}
NEAR = 4

# Larger numbers of pages are not matched individually, and SubIFDs are not followed deeper.
MOST_PAGES = 500
DEEPEST = 3


def read(path):
    """Returns the elements of each series of a file, and for each page whether it is an overview or a mask."""
    with tifffile.TiffFile(path) as file:
        series = [each.levels[0] for each in file.series]
        images = [np.asarray(each.asarray()) for each in series]
        is_lossy = any(page.compression in LOSSY for page in file.pages)
        reduced = [all((int(getattr(page, "subfiletype", 0) or 0) & 5) for page in each.pages if page is not None) for each in series]
        return images, reduced, is_lossy


def images_of(hierarchy):
    """Returns the images of a hierarchy, without coordinates."""
    found = {}
    for path in hierarchy.arrays():
        document = hierarchy.document(path)
        names = document.get("dimension_names") or []
        if len(document["shape"]) == 1 and path and names == [path.rsplit("/", 1)[-1]]:
            continue
        array, formed = hierarchy.array(path)
        found[path] = formed(np.asarray(array[...]))
    return found


def same_image(ours, theirs, near):
    """Returns the reason why two images differ; `None` if they are the same."""
    ours, theirs = np.squeeze(ours), np.squeeze(theirs)
    if ours.size != theirs.size:
        return f"shape {ours.shape} instead of {theirs.shape}"
    if ours.shape != theirs.shape:
        # Axes that tifffile merges or splits keep the order of elements.
        if ours.ndim == theirs.ndim and sorted(ours.shape) == sorted(theirs.shape):
            return f"shape {ours.shape} instead of {theirs.shape}"
        ours = ours.reshape(theirs.shape)
    if theirs.dtype.kind == "b" or ours.dtype.kind == "b":
        ours, theirs = ours.astype("u1"), theirs.astype("u1")
    if ours.dtype.newbyteorder("=") != theirs.dtype.newbyteorder("="):
        return f"type {ours.dtype} instead of {theirs.dtype}"
    equal = (ours == theirs) | ((ours != ours) & (theirs != theirs))
    if equal.all():
        return None
    if near and ours.dtype.kind in "iu" and np.abs(ours.astype("i8") - theirs.astype("i8")).max() <= NEAR:
        return None
    at = int(np.argmin(equal.ravel()))
    return f"{int((~equal).sum())} of {equal.size} elements differ: {ours.ravel()[at]!r} instead of {theirs.ravel()[at]!r} at {at}"


def pages_of(path):
    """Returns the elements of all pages of all series."""
    with tifffile.TiffFile(path) as file:
        return [np.squeeze(page.asarray()) for series in file.series for page in series.pages if page is not None]


def pages_below(path):
    """Returns the elements of all pages, also in the chains that SubIFDs begin, and for each page whether it is an overview or a mask."""
    found, seen = [], set()

    def walk(file, offset, depth):
        # Directories can form a cycle.
        while offset and offset not in seen:
            seen.add(offset)
            file.filehandle.seek(offset)
            page = tifffile.TiffPage(file, index=0)
            found.append((np.squeeze(page.asarray()), bool(int(page.subfiletype or 0) & 5)))
            if depth < DEEPEST:
                for below in page.subifds or ():
                    walk(file, below, depth + 1)
            offset = following(file, offset)

    with tifffile.TiffFile(path) as file:
        try:
            walk(file, file.pages.first.offset, 0)
        except Exception:  # noqa: BLE001, some are damaged
            return found
    return found


def following(file, offset):
    """Returns the offset of the next directory in the chain; 0 for none."""
    handle, tiff = file.filehandle, file.tiff
    handle.seek(offset)
    (count,) = struct.unpack(tiff.tagnoformat, handle.read(tiff.tagnosize))
    handle.seek(offset + tiff.tagnosize + count * tiff.tagsize)
    return struct.unpack(tiff.offsetformat, handle.read(tiff.offsetsize))[0]


def planes(image, pages):
    """Returns an image as the pages that it consists of; `None` if it cannot be divided into them."""
    image = np.squeeze(image)
    for page in pages:
        if image.ndim >= page.ndim and image.shape[image.ndim - page.ndim :] == page.shape:
            return image.reshape(-1, *page.shape)
    return None


def compare_pages(images, path, is_lossy, is_told):
    """Returns the reason why images do not consist of all pages of a file. Pages that are reported as skipped may be missing."""
    pages = pages_of(path)
    found = [plane for image in images for plane in (planes(image, pages) if planes(image, pages) is not None else [image])]
    if len(found) > MOST_PAGES:
        return "too many pages to look for each"

    def is_same(plane, page):
        return plane.shape == page.shape and same_image(plane, page, is_lossy) is None

    below = None
    for plane in found:
        if not any(is_same(plane, page) for page in pages):
            below = pages_below(path) if below is None else below
            if any(is_same(plane, page) for page, _ in below):
                continue
            return f"an image of shape {plane.shape} is not a page"
    pages = pages + [page for page, is_copy in (pages_below(path) if below is None else below) if not is_copy]
    missing = [number for number, page in enumerate(pages) if not any(is_same(plane, page) for plane in found)]
    return None if is_told or not missing else f"pages {missing[:5]} of {len(pages)} are skipped silently"


def opinions(path):
    """Yields the image as Pillow and GDAL read it, if they can read all of it."""
    try:
        with PIL.Image.open(path) as image:
            frames = []
            for number in range(getattr(image, "n_frames", 1)):
                image.seek(number)
                frames.append(np.array(image))
        yield np.stack(frames) if len({frame.shape for frame in frames}) == 1 else frames[0]
    except Exception:  # noqa: BLE001
        pass
    try:
        with rasterio.open(path) as file:
            bands = file.read()
        yield bands
        yield np.moveaxis(bands, 0, -1)
    except Exception:  # noqa: BLE001
        pass


def compare(path, images, reduced, is_lossy, hierarchy, is_told):
    """Returns the differences between the series of tifffile and the images of a hierarchy."""
    found = images_of(hierarchy)
    wanted = [image for image, small in zip(images, reduced) if not small] or images[:1]
    if not found:
        return ["nothing was imported"]
    main = found.get("image", found.get("", found.get("0", next(iter(found.values())))))
    reason = f"{len(wanted)} series, of which only one is imported, silently" if len(found) < len(wanted) and not is_told else None
    if len(found) == 1:
        reason = reason or same_image(main, wanted[0], is_lossy)
    else:
        reason = reason or "several images"
    if reason is None:
        return []
    paged = compare_pages(list(found.values()), path, is_lossy, is_told)
    if paged is None:
        return []
    # tifffile groups some files differently from other programs.
    if len(wanted) == 1 and main.size == wanted[0].size and any(same_image(main, other, is_lossy) is None for other in opinions(path)):
        return []
    return [reason, paged]


def check(zarrox, path, work):
    """Returns the outcome of a TIFF file."""
    target = os.path.join(work, "target.zarr")
    code, output = zarrox("import", path, target, "--force")
    refused = None
    if code in SKIPPED:
        refused = output.strip()[:500]
        code, output = zarrox("import", path, target, "--force", "--skip-unsupported")
    try:
        images, reduced, is_lossy = read(path)
        if not images:
            raise ValueError("no series")
    except Exception as error:  # noqa: BLE001, whatever tifffile cannot read
        reasons = [f"tifffile: {type(error).__name__}: {error}"[:300], output.strip()[:300]]
        if code == 0 and not refused:
            return second_opinion(path, Hierarchy(target), reasons)
        if code in (0, DAMAGED, *SKIPPED):
            return {"class": "refused" if refused else "broken", "reasons": [refused or "", *reasons]}
        return {"class": "failed", "reasons": [f"exit code {code}", *reasons]}
    if code in SKIPPED:
        return {"class": "refused", "reasons": [output.strip()[:500]]}
    if code == DAMAGED and not any(True for _ in opinions(path)):
        return {"class": "broken", "reasons": [f"exit code 5: {output.strip()[:300]}", "neither Pillow nor GDAL reads it whole"]}
    if code == DAMAGED:
        # A missing directory is reported, and all other directories are as other programs read them.
        damage = output.strip()[:400]
        code, output = zarrox("import", path, target, "--force", "--skip-unsupported", "--skip-damaged")
        hierarchy = Hierarchy(target)
        if code == 0 and "/page" in damage and not compare(path, images, reduced, is_lossy, hierarchy, False):
            return {"class": "refused", "reasons": [damage]}
        return {"class": "failed", "reasons": [f"exit code 5: {damage}, though others read it"]}
    if code != 0:
        return {"class": "failed", "reasons": [f"exit code {code}: {output.strip()[:400]}, though others read it"]}
    notes = Notes(output)
    hierarchy = Hierarchy(target)
    differences = compare(path, images, reduced, is_lossy, hierarchy, bool(notes) or bool(refused))
    if differences:
        return {"class": "failed", "reasons": differences}
    # A reported problem is not a loss if all pages exist, such as a cyclic directory.
    if refused or (notes and compare(path, images, reduced, is_lossy, hierarchy, False)):
        return {"class": "refused", "reasons": [refused or "; ".join(notes.lines[:5])]}
    return {"class": "right", "reasons": []}


def in_rgb(image):
    """Converts brightness and color differences, as in JPEG, to RGB."""
    y, cb, cr = (image[..., number].astype("f4") for number in range(3))
    rgb = np.stack([y + 1.402 * (cr - 128), y - 0.344136 * (cb - 128) - 0.714136 * (cr - 128), y + 1.772 * (cb - 128)], axis=-1)
    return rgb.round().clip(0, 255).astype("u1")


def second_opinion(path, hierarchy, reasons):
    """Returns the outcome of a file that tifffile cannot read."""
    images = images_of(hierarchy)
    found = list(images.values())
    found += [in_rgb(image) for name, image in images.items() if hierarchy.document(name)["attributes"].get("photometric") == "ycbcr"]
    others = list(opinions(path))
    if not others:
        return {"class": "unknown", "reasons": reasons}
    if any(same_image(ours, other, near=True) is None for ours in found for other in others):
        return {"class": "right", "reasons": []}
    differences = sorted({str(same_image(ours, other, near=True)) for ours in found for other in others}, key=len)
    return {"class": "failed", "reasons": [f"Pillow or GDAL: {differences[-1]}", *differences, *reasons]}
