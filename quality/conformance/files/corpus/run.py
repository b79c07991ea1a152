"""Imports every file of the corpus, and compares the result with other programs' readings of the file.

    python run.py COMMAND DIRECTORY [--also NAME=PATH …] [--only WORD …] [--kind KIND …] [--jobs N] [--report FILE] [--work DIRECTORY]
    python run.py COMMAND DIRECTORY --shipped

COMMAND is the program `zarrox`. DIRECTORY is the directory of fetch.py's packages: target/corpus. `--also` adds a directory with files.
With `--shipped`, nothing is downloaded: only files in packages of this environment are tested. The outcome of each file is in
DIRECTORY/report.json; the table is printed. The run fails if a file fails, or if there are fewer files than expected.
"""

import argparse
import collections
import glob
import json
import multiprocessing
import os
import random
import shutil
import site
import sys
import time
import traceback
import warnings

import fetch
import hdf5_files
import netcdf_files
import other_files
import tiff_pages
from command import Command, Failed
from unpack import kind_of

# The timeout of all steps of one file. h5py needs ten minutes for the names of 15,000 references.
SECONDS = 1800

# With fewer files, some were not found, and the check would be meaningless.
LEAST = {"hdf5": 400, "tests of HDF5": 300, "netcdf": 100, "tiff": 200, "nifti": 20, "parquet": 3}
LEAST_SHIPPED = {"hdf5": 10, "netcdf": 5, "nifti": 2}

# The largest shares of files with an error. HDF5 and NetCDF have a common share, since NetCDF-4 is HDF5.
MOST_REFUSED = {("hdf5", "netcdf"): 0.05, ("tiff",): 0.10}

CHECKS = {
    "hdf5": hdf5_files.check,
    "netcdf": netcdf_files.check,
    "tiff": tiff_pages.check,
    "nifti": other_files.check_nifti,
    "nifti-pair": other_files.check_nifti,
    "parquet": other_files.check_parquet,
}

# Files that other programs read wrongly.
NOT_TO_COMPARE = {
    "f03tst_open_mem.nc": "NetCDF's library returns uninitialized memory",
    "bad_missing_data.nc": "so it does where a dimension without a limit is not the first one",
    "h5clear_fsm_persist_less.h5": "the superblock says that the file ends before its elements, which are there",
    "cve_2020_10810.h5": "a message of the file is damaged that the elements do not need",
}

# Files with damage that other programs ignore; an error that names it is right.
NAMED_DAMAGE = {
    "bad_jpeg.tif": "the tables of JPEG are cut off",
    "bad_tag_offset.tif": "the description is not in the file",
    "datapage_v1-corrupt-checksum.parquet": "a checksum differs, which pyarrow does not look at",
    "rle-dict-uncompressed-corrupt-checksum.parquet": "a checksum differs, which pyarrow does not look at",
    "dict-page-offset-zero.parquet": "a field of the footer is a list where Parquet has a number, of a program's own",
}

# Words in the paths of files that are made to crash readers.
HOSTILE = ["fuzz", "crash-", "oom-", "timeout-", "cve_"]

CLASSES = ["tried", "right", "refused", "failed", "broken", "unknown"]


def kind(file):
    """Returns the row of a file in the table."""
    if file["kind"] in ("hdf5", "netcdf3"):
        return "netcdf" if netcdf_files.is_netcdf(file["path"]) else "hdf5"
    return file["kind"]


def shipped():
    """Returns the files in packages of this environment."""
    found = []
    for directory in site.getsitepackages():
        for path in sorted(glob.glob(os.path.join(directory, "**"), recursive=True)):
            if path.endswith((".h5", ".hdf5", ".hdf", ".nc", ".nc4", ".mnc", ".mat", ".tif", ".tiff", ".nii", ".nii.gz", ".parquet")) and os.path.isfile(path):
                with open(path, "rb") as file:
                    sort = "nifti" if path.endswith(".nii.gz") else kind_of(path, file.read(8192))
                if sort:
                    found.append({"package": os.path.relpath(path, directory).split(os.sep)[0], "path": path, "kind": sort})
    return found


def one(command, file, work, answer):
    """Checks one file in a separate process, since libraries may crash it."""
    os.setsid()
    warnings.simplefilter("ignore")
    # The output of libraries is discarded.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        row = kind(file)
        answer.send(row_of(file, row))
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        outcome = lenient(file["path"], CHECKS[row](Command(command), file["path"], work))
    except Failed as error:
        outcome = {"class": "failed", "reasons": [str(error)]}
    except Exception as error:  # noqa: BLE001, all files are tried
        outcome = {"class": "failed", "reasons": [f"comparison: {type(error).__name__}: {error}", traceback.format_exc()[-600:]]}
    # A hierarchy with very many chunks takes long to remove.
    shutil.rmtree(work, ignore_errors=True)
    answer.send(outcome)
    answer.close()
    os._exit(0)


def row_of(file, kind):
    """Returns the row of a file: files made to crash readers, and those that show single features of HDF5, have separate rows."""
    if any(word in file["path"] for word in HOSTILE):
        return "hostile"
    return "tests of HDF5" if file["package"].startswith("debian-hdf5") else kind


def lenient(path, outcome):
    """Returns the outcome if no other program can read the file. For files made to crash readers, an error is as good as a lenient result."""
    if outcome["class"] == "failed" and os.path.basename(path) in NOT_TO_COMPARE and not outcome["reasons"][0].startswith(("import:", "exit code")):
        return {"class": "unknown", "reasons": [NOT_TO_COMPARE[os.path.basename(path)]]}
    if outcome["class"] == "failed" and os.path.basename(path) in NAMED_DAMAGE and outcome["reasons"][0].startswith("exit code 5"):
        return {"class": "refused", "reasons": [NAMED_DAMAGE[os.path.basename(path)], *outcome["reasons"]]}
    if outcome["class"] == "failed" and any(word in path for word in HOSTILE) and outcome["reasons"][0].startswith("exit code 5"):
        return {"class": "broken", "reasons": outcome["reasons"]}
    return outcome


def run_all(command, files, work_in, jobs):
    """Returns the outcomes of all files."""
    context = multiprocessing.get_context("fork")
    waiting, running, done = list(reversed(files)), [], []
    while waiting or running:
        while waiting and len(running) < jobs:
            file = waiting.pop()
            ours, theirs = context.Pipe(duplex=False)
            work = os.path.join(work_in, str(len(waiting)))
            process = context.Process(target=one, args=(command, file, work, theirs))
            process.start()
            theirs.close()
            running.append((process, ours, file, work, time.monotonic()))
        multiprocessing.connection.wait([each[1] for each in running], timeout=1)
        still = []
        for process, ours, file, work, start in running:
            received = file.setdefault("received", [])
            try:
                while ours.poll():
                    received.append(ours.recv())
            except EOFError:
                pass
            late = time.monotonic() - start > SECONDS
            if len(received) < 2 and process.is_alive() and not late:
                still.append((process, ours, file, work, start))
                continue
            if late and process.is_alive():
                process.kill()
                shutil.rmtree(work, ignore_errors=True)
            process.join()
            row = received[0] if received else file["kind"]
            if len(received) == 2:
                outcome = received[1]
            elif late:
                outcome = {"class": "failed", "reasons": [f"the comparison takes more than {SECONDS} seconds"]}
            else:
                outcome = {"class": "unknown", "reasons": [f"another library ended its process: {process.exitcode}"]}
            del file["received"]
            done.append({**file, "row": row, "seconds": round(time.monotonic() - start, 1), **outcome})
            if outcome["class"] == "failed":
                print(f"FAILED {file['package']} {file['path']}: {outcome['reasons'][0]:.300}", flush=True)
        running = still
    return done


def table(outcomes):
    """Returns the table of all kinds of files, and of the exports."""
    rows = collections.defaultdict(collections.Counter)
    for outcome in outcomes:
        rows[outcome["row"]]["tried"] += 1
        rows[outcome["row"]][outcome["class"]] += 1
        for part, name in (("exported", "HDF5 → Zarr → HDF5"), ("netcdf", "NetCDF → Zarr → NetCDF")):
            if part in outcome:
                rows[name]["tried"] += 1
                rows[name][outcome[part]["class"]] += 1
    lines = [f"| class | {' | '.join(CLASSES)} |", "|---" * (len(CLASSES) + 1) + "|"]
    for name in sorted(rows):
        lines.append(f"| {name} | " + " | ".join(str(rows[name][each]) for each in CLASSES) + " |")
    return "\n".join(lines), rows


def by_package(outcomes):
    counts = collections.defaultdict(collections.Counter)
    for outcome in outcomes:
        counts[outcome["package"]]["tried"] += 1
        counts[outcome["package"]][outcome["class"]] += 1
    lines = [f"| package | {' | '.join(CLASSES)} |", "|---" * (len(CLASSES) + 1) + "|"]
    for name, row in counts.items():
        lines.append(f"| {name} | " + " | ".join(str(row[each]) for each in CLASSES) + " |")
    return "\n".join(lines)


def complaints(rows, least, strict):
    """Returns the reasons why the run fails."""
    found = []
    for name, row in rows.items():
        if row["failed"]:
            found.append(f"{name}: {row['failed']} failed")
    for names, share in MOST_REFUSED.items():
        refused, tried = (sum(rows[name][column] for name in names) for column in ("refused", "tried"))
        if strict and refused > share * tried:
            found.append(f"{' and '.join(names)}: {refused} of {tried} have errors, more than {share:.0%}")
    for name, number in least.items():
        if rows[name]["tried"] < number:
            found.append(f"{name}: only {rows[name]['tried']} files were found, of at least {number}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("directory")
    parser.add_argument("--also", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--kind", action="append", default=[])
    parser.add_argument("--shuffle", action="store_true", help="in random order, so that the first outcomes are from all packages")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--report")
    parser.add_argument("--work", help="the directory of the targets: DIRECTORY/work")
    parser.add_argument("--shipped", action="store_true")
    arguments = parser.parse_args()
    directory = os.path.abspath(arguments.directory)
    os.makedirs(directory, exist_ok=True)
    missing = {}
    if arguments.shipped:
        files = shipped()
    else:
        files, missing = fetch.fetch(directory, [each.split("=", 1) for each in arguments.also])
    files = [file for file in files if file["kind"] != "companion"]
    if arguments.only:
        files = [file for file in files if any(word in file["package"] + "/" + file["path"] for word in arguments.only)]
    if arguments.kind:
        files = [file for file in files if kind(file) in arguments.kind]
    if arguments.shuffle:
        random.Random(1).shuffle(files)
    outcomes = run_all(arguments.command, files, arguments.work or os.path.join(directory, "work"), arguments.jobs)
    text, rows = table(outcomes)
    report = arguments.report or os.path.join(directory, "report.json")
    with open(report, "w") as file:
        json.dump({"missing": missing, "rows": rows, "files": outcomes}, file, indent=1)
    print(by_package(outcomes))
    print()
    print(text)
    for name, reason in missing.items():
        print(f"not available: {name}: {reason}")
    found = complaints(rows, {} if arguments.only or arguments.kind else LEAST_SHIPPED if arguments.shipped else LEAST, strict=not arguments.shipped)
    for line in found:
        print(f"requirement not met: {line}")
    failed = sum(outcome["class"] == "failed" for outcome in outcomes)
    print(f"{len(outcomes) - failed} passed, {failed} failed")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
