//! Consolidated metadata: whether it says what the nodes say.

use zarrox_core::{Error, ErrorKind, Result};

use super::finding::{Finding, FindingKind, Remedy};
use super::session::Session;
use crate::group::Group;

/// Compares a group's own consolidated metadata with the documents of all nodes below, and writes it anew if that is wanted.
pub(super) fn check(session: &Session<'_>, group: &Group) -> Result<()> {
    let (place, path) = (group.location().as_stored(), group.path().as_str());
    match place.has_consolidated(group.metadata().format) {
        Ok(true) => {}
        Ok(false) => return Ok(()),
        Err(error) => return session.report_unreadable(path, error),
    }
    let findings = match group.check_consolidated() {
        Ok(differences) => {
            let finding = |difference: crate::consolidated::Difference| {
                let node = group
                    .path()
                    .join(&difference.path)
                    .map_or_else(|_| difference.path.clone(), |node| node.to_string());
                let node = node.trim_start_matches('/').to_owned();
                Finding::new(
                    FindingKind::StaleConsolidated,
                    &node,
                    stale(path, difference.kind),
                    Remedy::Consolidate,
                )
            };
            differences.into_iter().map(finding).collect()
        }
        Err(error) => vec![broken(session, path, error)?],
    };
    if findings.is_empty() {
        return Ok(());
    }
    session.settle(findings, || group.consolidate_metadata())
}

fn stale(group: &str, kind: crate::consolidated::DifferenceKind) -> String {
    use crate::consolidated::DifferenceKind as Kind;
    let says = match kind {
        Kind::Missing => "does not have the node",
        Kind::Extra => "has the node, which is not there",
        Kind::Changed => "says something else than the node's own documents",
    };
    format!("the consolidated metadata of '/{group}' {says}")
}

fn broken(session: &Session<'_>, path: &str, error: Error) -> Result<Finding> {
    let error = session.fatal(error)?;
    Ok(match error.kind() {
        ErrorKind::InvalidMetadata => {
            let message = format!("the consolidated metadata cannot be understood: {error}");
            Finding::new(FindingKind::BrokenConsolidated, path, message, Remedy::Consolidate)
        }
        ErrorKind::Unsupported => {
            let why = Remedy::Nothing("nothing here can write it anew".to_owned());
            Finding::new(FindingKind::Unsupported, path, error.to_string(), why)
        }
        _ => {
            let why = Remedy::Nothing("the store does not give it".to_owned());
            Finding::new(FindingKind::Unreadable, path, error.to_string(), why)
        }
    })
}
