//! Checks of all data of other programs: the only findings are those that are listed here, with the reason.

use std::collections::BTreeSet;

use zarrox::{Format, OpenOptions};
use zarrox_testkit::corpus::directory;
use zarrox_tools::check::{Check, Finding, FindingKind as Kind, Severity};

use super::files::{expected, writers};
use super::pending::{LENIENT, STRICTLY, THREE_DIMENSIONS};
use super::{case, covers};

const PICKLE: &str = "pickled objects are programs, which a check must not run";
const NOT_KNOWN: &str = "the codec is not there yet";
const EXTENSION: &str = "the hierarchy has unknown extensions on purpose";
const UNITS: &str = "NumPy's times of minutes and months are M8[m] and M8[M], and the arrays are called so";

/// Expected findings: the kind, the beginning of the node's name (writer, hierarchy, path), a part of the message, and the
/// reason. Documents that violate their specification are in the lists of strict reading.
const KNOWN: &[(Kind, &str, &str, &str)] = &[
    (Kind::Unsupported, "objects/objects.zarr/unsafe", "pickle", PICKLE),
    (Kind::Unsupported, "zarr-python/2.11/unsafe.zarr/", "pickle", PICKLE),
    (Kind::Unsupported, "zarr-python/2.18/objects.zarr/unsafe", "pickle", PICKLE),
    (Kind::Unsupported, "zarr-python/2.18-experimental/objects.zarr/unsafe", "pickle", PICKLE),
    (Kind::Unsupported, "zarrs/", "unknown codec 'zarrs.gdeflate'", NOT_KNOWN),
    (Kind::Unsupported, "draft/extensions.zarr/", "", EXTENSION),
    (Kind::Unsupported, "draft/must_understand.zarr", "", EXTENSION),
    (Kind::NamesDifferInCase, "zarr-python/2.11/times.zarr", "", UNITS),
    (Kind::NamesDifferInCase, "zarr-python/2.18/types.zarr", "", UNITS),
    (Kind::NamesDifferInCase, "zarr-python/3.4/types.zarr", "", UNITS),
    (Kind::NamesDifferInCase, "zarr-python/3.4/v2_types.zarr", "", UNITS),
    (
        Kind::ChunksWithoutArray,
        "numcodecs/0.16-v3/v3_numeric.zarr/zfpy_parts",
        "4 chunks",
        "zarr-python stored chunks, and then failed to store the array's document",
    ),
];

/// Returns the entry of the list for a finding.
fn known(name: &str, finding: &Finding) -> Option<usize> {
    let is = |(kind, beginning, says, _): &(Kind, &str, &str, &str)| {
        *kind == finding.kind && name.starts_with(beginning) && finding.message.contains(says)
    };
    KNOWN.iter().position(is)
}

/// Returns true if strict reading refuses the node for a reason that is listed.
fn is_strict(writer: &str, case: &str, finding: &Finding) -> bool {
    let listed = LENIENT.iter().any(|(entry, _)| covers(entry, case));
    let says = STRICTLY.iter().any(|(of, says)| *of == writer && finding.message.contains(says));
    finding.kind == Kind::NonstandardDocument && (listed || says)
}

#[test]
fn data_of_other_programs_is_valid() {
    let (mut problems, mut seen, mut strict) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for writer in writers() {
        for (hierarchy, _) in expected(&writer) {
            let options = OpenOptions::new().data_type_fallback(true);
            let check = Check::open_with(&options, directory(&writer).join(&hierarchy)).unwrap();
            for finding in findings(&check).into_iter().filter(|found| found.severity() > Severity::Note) {
                let name = case(&writer, &hierarchy, &finding.path);
                match known(&name, &finding) {
                    Some(entry) => drop(seen.insert(entry)),
                    None if is_strict(&writer, &name, &finding) => drop(strict.insert(name)),
                    None => problems.push(format!("{name}: {finding}")),
                }
            }
        }
    }
    let stale = (0..KNOWN.len()).filter(|entry| !seen.contains(entry));
    problems.extend(stale.map(|entry| format!("no finding for {:?}", KNOWN[entry])));
    // One of the reasons is about chunks, which are checked leniently, as they are read.
    let documents = LENIENT.iter().filter(|(_, reason)| *reason != THREE_DIMENSIONS);
    let lenient = documents.filter(|(entry, _)| !strict.iter().any(|name| covers(entry, name)));
    problems.extend(lenient.map(|(entry, _)| format!("nothing of '{entry}' is called nonstandard")));
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// Hierarchies of N5 have no list of expected findings. The only findings are blocks with lists of elements, which cannot be
/// read, and a level that z5py wrote in place of the block size.
#[test]
fn n5_of_other_programs_is_valid() {
    let (mut hierarchies, mut lists) = (0, 0);
    for writer in ["n5/java", "n5/tensorstore", "n5/z5py", "n5/zarr2"] {
        for entry in std::fs::read_dir(directory(writer)).unwrap().map(Result::unwrap) {
            if !entry.file_type().unwrap().is_dir() {
                continue;
            }
            hierarchies += 1;
            let check = Check::open_with(&OpenOptions::new().format(Format::N5), entry.path()).unwrap();
            for finding in findings(&check).into_iter().filter(|found| found.severity() > Severity::Note) {
                let is_list = writer == "n5/java" && finding.message.contains("as a list of elements");
                let is_level = writer == "n5/z5py" && finding.message.contains("'blockSize' is 6");
                assert!(is_list || is_level, "{}: {finding}", entry.path().display());
                lists += usize::from(is_list);
            }
        }
    }
    assert!(hierarchies >= 4 && lists > 0, "{hierarchies} hierarchies, {lists} lists of elements");
}

fn findings(check: &Check) -> Vec<Finding> {
    let mut findings = Vec::new();
    let summary = check.run(|finding| {
        findings.push(finding);
        Ok(())
    });
    summary.unwrap();
    findings
}
