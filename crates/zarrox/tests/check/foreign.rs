//! Everything that other programs wrote is checked: nothing is found there but what is listed here, with the reason.

use std::collections::BTreeSet;

use zarrox::OpenOptions;
use zarrox::check::{Check, Finding, FindingKind as Kind, Severity};
use zarrox_testkit::corpus::directory;

use super::run;
use crate::corpus::files::{expected, writers};

/// Findings in what others wrote: the kind, the beginning of the node's name (writer, hierarchy, path), a part of the message, and the
/// reason.
const KNOWN: &[(Kind, &str, &str, &str)] = &[];

/// The entry of the list that a finding is about.
fn known(name: &str, finding: &Finding) -> Option<usize> {
    let is = |(kind, beginning, says, _): &(Kind, &str, &str, &str)| {
        *kind == finding.kind && name.starts_with(beginning) && finding.message.contains(says)
    };
    KNOWN.iter().position(is)
}

#[test]
fn what_others_wrote_is_whole() {
    let (mut problems, mut seen) = (Vec::new(), BTreeSet::new());
    for writer in writers() {
        for (hierarchy, _) in expected(&writer) {
            let options = OpenOptions::new().data_type_fallback(true);
            let check = Check::open_with(&options, directory(&writer).join(&hierarchy)).unwrap();
            for finding in run(&check).1.into_iter().filter(|found| found.severity() > Severity::Note) {
                let name = format!("{writer}/{hierarchy}/{}", finding.path);
                match known(&name, &finding) {
                    Some(entry) => drop(seen.insert(entry)),
                    None => problems.push(format!("{name}: {finding}")),
                }
            }
        }
    }
    let stale = (0..KNOWN.len()).filter(|entry| !seen.contains(entry)).map(|entry| format!("nothing is {:?}", KNOWN[entry]));
    problems.extend(stale);
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
