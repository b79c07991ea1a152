//! The guarantees for any hierarchy, however damaged.

#![expect(clippy::panic, reason = "a suite panics where a promise is broken")]

use std::collections::BTreeSet;
use std::sync::Arc;

use zarrox::ErrorKind;
use zarrox::stores::Store;
use zarrox_tools::check::{Check, CheckLevel, Finding, Outcome, Repair};

use crate::bases::Base;
use crate::contents::{Contents, contents_of, difference, store_of};
use crate::elements::{Elements, options, readable};
use crate::reading;

/// The directory of the quarantine in a store with nothing beside it.
const QUARANTINE: &str = ".zarrox-quarantine/";

/// The prefix of the names of marks of unfinished work.
const MARK: &str = ".zarrox-unfinished";

/// Reads, checks and repairs a damaged hierarchy; panics if a guarantee is violated.
pub(crate) fn demand(base: &Base, damaged: &Contents, refill: bool) {
    let Ok(store) = store_of(damaged) else { return };
    // Some keys are invalid in a store.
    let stored = stored(&*store);
    reading::all(&store, base.root);
    let before = readable(&store, base.root);
    checked(base, &store, &stored, refill);
    let Some(found) = repaired(base, &store, &stored, refill) else { return };

    let (after, report) = (self::stored(&*store), report(&found));
    outside(base, &stored, &after);
    let demanded = before.into_iter().filter(|((path, _), _)| !is_given_up(base, &stored, path)).collect();
    kept(base, &demanded, &readable(&store, base.root), &report);
    nothing_lost(base, &stored, &after, &report);
    let again = run(&full(base, &store).repair(Repair { dry_run: true, refill }));
    let again =
        again.unwrap_or_else(|error| panic!("{}: a repaired hierarchy: {error}\n{report}", base.name));
    mended(base, &found, &again, &report);
}

/// Runs every check that only reads.
fn checked(base: &Base, store: &Arc<dyn Store>, stored: &Contents, refill: bool) {
    for level in [CheckLevel::Metadata, CheckLevel::Quick, CheckLevel::Full] {
        let check = || full(base, store).level(level);
        let _ = run(&check().missing(true));
        let _ = run(&check().repair(Repair { dry_run: true, refill }));
    }
    unchanged(base, stored, &self::stored(&**store), "a check without a repair");
}

/// Repairs the hierarchy and returns the findings; `None` if there is no hierarchy to check.
fn repaired(base: &Base, store: &Arc<dyn Store>, stored: &Contents, refill: bool) -> Option<Vec<Finding>> {
    let found = run(&full(base, store).repair(Repair { dry_run: false, refill }));
    if found.is_err() {
        unchanged(base, stored, &self::stored(&**store), "a repair that failed");
    }
    found.ok()
}

fn full(base: &Base, store: &Arc<dyn Store>) -> Check {
    match Check::open_with(&options(), (store.clone(), base.root)) {
        Ok(check) => check.level(CheckLevel::Full),
        Err(error) => panic!("'{}' is a valid path: {error}", base.root),
    }
}

fn run(check: &Check) -> zarrox::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let summary = check.run(|finding| {
        findings.push(finding);
        Ok(())
    });
    if let Err(error) = &summary {
        // Every defect is a finding: only a missing hierarchy is an error.
        assert!(
            matches!(error.kind(), ErrorKind::NotFound),
            "a check returned an error: {:?}: {error}",
            error.kind()
        );
    }
    summary.map(|_| findings)
}

fn stored(store: &dyn Store) -> Contents {
    match contents_of(store) {
        Ok(contents) => contents,
        Err(error) => panic!("the store can be read: {error}"),
    }
}

fn unchanged(base: &Base, before: &Contents, after: &Contents, operation: &str) {
    assert!(before == after, "{}: {operation} has written\n{}", base.name, difference(before, after));
}

/// Checks that nothing is written outside the hierarchy and its quarantine.
fn outside(base: &Base, before: &Contents, after: &Contents) {
    let outside = |contents: &Contents| -> Contents {
        let is_outside = |key: &str| !key.starts_with(base.prefix) && !key.starts_with(QUARANTINE);
        contents.iter().filter(|(key, _)| is_outside(key)).map(|(k, v)| (k.clone(), v.clone())).collect()
    };
    unchanged(base, &outside(before), &outside(after), "a repair outside the hierarchy");
}

/// Checks that elements that could be read before can be read, and are unchanged.
fn kept(base: &Base, before: &Elements, after: &Elements, report: &str) {
    for ((path, at), value) in before {
        let now = after.get(&(path.clone(), at.clone()));
        assert!(
            now == Some(value),
            "{}: '{path}' {at:?} was {value:?} before the repair, and is {now:?}\n{report}",
            base.name
        );
    }
}

/// Returns true for a node that a repair removes: a node in quarantine, or a node whose deletion has begun.
fn is_given_up(base: &Base, stored: &Contents, path: &str) -> bool {
    let is_marked = |mark: String| stored.contains_key(&format!("{}{mark}.json", base.prefix));
    let mut above = String::new();
    for name in path.split('/').skip(1) {
        if is_marked(format!("{above}{MARK}-{name}")) {
            return true;
        }
        above += &format!("{name}/");
    }
    path.contains(".replaced") || is_marked(MARK.to_owned())
}

/// Checks that every value still exists, under its key or elsewhere. Only consolidated metadata is rewritten, and marks of
/// finished work are deleted.
fn nothing_lost(base: &Base, before: &Contents, after: &Contents, report: &str) {
    let values: BTreeSet<&[u8]> = after.values().map(Vec::as_slice).collect();
    for (key, value) in before {
        let may_go = key.ends_with(".zmetadata") || key.ends_with("zarr.json") || key.contains(MARK);
        assert!(
            may_go || values.contains(value.as_slice()),
            "{}: the value of '{key}' is lost\n{report}",
            base.name
        );
    }
}

/// Checks that repaired findings are not found again, and that nothing is left to repair.
fn mended(base: &Base, found: &[Finding], again: &[Finding], report: &str) {
    let place = |finding: &Finding| {
        let chunks = (finding.chunk.clone(), finding.inner_chunk.clone());
        (finding.kind, finding.path.clone(), finding.key.clone(), chunks)
    };
    let repaired: BTreeSet<_> =
        found.iter().filter(|finding| finding.outcome == Outcome::Repaired).map(place).collect();
    for finding in found {
        assert!(!matches!(finding.outcome, Outcome::Failed(_)), "{}: a repair fails\n{report}", base.name);
    }
    for finding in again {
        let is_mended = !repaired.contains(&place(finding)) && !finding.remedy.is_possible();
        let (report_again, name) = (self::report(std::slice::from_ref(finding)), base.name);
        assert!(is_mended, "{name}: findings after a repair:\n{report_again}the repair:\n{report}");
    }
}

fn report(findings: &[Finding]) -> String {
    let line = |finding: &Finding| {
        format!("  /{}: {finding} [{}: {:?}]\n", finding.path, finding.remedy, finding.outcome)
    };
    findings.iter().map(line).collect()
}
