//! Checks of consolidated metadata against the documents of the nodes.

use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::{Bytes, Key};

use super::finding::{Finding, FindingKind, Remedy};
use super::restore::is_last_copy;
use super::session::Session;
use zarrox::Group;
use zarrox::{StaleNode, Staleness as Kind};

/// Compares a group's own consolidated metadata with the documents of all nodes below, and rewrites it on request.
pub(super) fn check(session: &Session<'_>, group: &Group) -> Result<()> {
    let (place, path) = (group.location().as_stored(), group.path().as_str());
    match place.has_consolidated(group.metadata().format) {
        Ok(true) => {}
        Ok(false) => return Ok(()),
        Err(error) => return session.report_unreadable(path, error),
    }
    let findings = match group.check_consolidated() {
        Ok(differences) => {
            // Findings about the documents themselves are not reported a second time, and the copies of disputed documents are
            // kept.
            let (last, differences): (Vec<_>, Vec<_>) = differences.into_iter().partition(|difference| {
                is_last_copy(group, difference) || is_disputed(session, group, difference)
            });
            let remedy = if differences.is_empty() {
                return Ok(());
            } else if last.is_empty() {
                remedy(session, group)?
            } else {
                let why = "it has copies of documents that are missing or may be wrong; repair these first";
                Remedy::Nothing(why.to_owned())
            };
            differences.iter().map(|difference| finding(group, difference, remedy.clone())).collect()
        }
        Err(error) => vec![broken(session, group, error)?],
    };
    let keep = |key: &str, document: &[u8]| {
        session.quarantine.keep(&Key::new(key)?, &Bytes::copy_from_slice(document)).map(drop)
    };
    session.settle(findings, || place.consolidate_after(group.metadata().format, &keep))
}

/// Returns true if the node's own documents may be wrong.
fn is_disputed(session: &Session<'_>, group: &Group, difference: &StaleNode) -> bool {
    group.path().join(&difference.path).is_ok_and(|path| session.is_disputed(path.as_str()))
}

/// Returns the repair for stale consolidated metadata: it is rewritten if possible.
fn remedy(session: &Session<'_>, group: &Group) -> Result<Remedy> {
    match group.location().can_consolidate_now(group.metadata().format) {
        Ok(()) => Ok(Remedy::Consolidate),
        Err(error) => {
            let error = session.fatal(error)?;
            Ok(Remedy::Nothing(format!("it cannot be rewritten before this is repaired: {error}")))
        }
    }
}

fn finding(group: &Group, difference: &StaleNode, remedy: Remedy) -> Finding {
    let (above, below) = (group.path().as_str(), difference.path.as_str());
    let node = match (above.is_empty(), below.is_empty()) {
        (true, _) => below.to_owned(),
        (_, true) => above.to_owned(),
        _ => format!("{above}/{below}"),
    };
    Finding::new(FindingKind::StaleConsolidated, &node, stale(above, difference.kind), remedy)
}

fn stale(group: &str, kind: Kind) -> String {
    let says = match kind {
        Kind::Missing => "does not have the node",
        Kind::Extra => "has the node, which does not exist",
        Kind::Changed => "differs from the node's own documents",
    };
    format!("the consolidated metadata of '/{group}' {says}")
}

fn broken(session: &Session<'_>, group: &Group, error: Error) -> Result<Finding> {
    let (error, path) = (session.fatal(error)?, group.path().as_str());
    Ok(match error.kind() {
        ErrorKind::InvalidMetadata => {
            let message = format!("the consolidated metadata is invalid: {error}");
            Finding::new(FindingKind::BrokenConsolidated, path, message, remedy(session, group)?)
        }
        ErrorKind::Unsupported => {
            let why = Remedy::Nothing("it cannot be rewritten, since its content is unsupported".to_owned());
            Finding::new(FindingKind::Unsupported, path, error.to_string(), why)
        }
        _ => {
            let why = Remedy::Nothing("the store cannot read it".to_owned());
            Finding::new(FindingKind::Unreadable, path, error.to_string(), why)
        }
    })
}
