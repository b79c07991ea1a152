//! Functions shared by the commands that copy nodes.

use std::io::{self, Write};

use zarrox::json::{Json, json};
use zarrox::{ErrorKind, Result};
use zarrox_tools::copy::{Copier, CopyReport};

use crate::args::Global;
use crate::exit::{Failure, printable};
use crate::interrupt;
use crate::print;
use crate::progress::Progress;

/// Returns a copier that shows its progress and stops at an interrupt. The option `--format` sets the format of the copy.
pub(crate) fn copier(global: &Global, progress: &Progress) -> Copier {
    let bar = progress.clone();
    let copier = Copier::new().open_options(global.of_any_format().options().access(&interrupt::options()));
    let copier = global.format().into_iter().fold(copier, Copier::format);
    copier.on_progress(move |done| {
        bar.set(done.done, done.total);
        interrupt::check_or(interrupt::CONTINUES)
    })
}

/// Replaces the error of an interrupted copy with one that says how to continue the copy.
pub(crate) fn with_advice<T>(result: Result<T>) -> Result<T> {
    interrupt::with_advice(result, interrupt::CONTINUES)
}

/// Prints the properties that the copy stores differently or not at all.
pub(crate) fn print_findings(report: &CopyReport, out: &mut dyn Write) -> io::Result<()> {
    report.obstacles.iter().try_for_each(|obstacle| writeln!(out, "{}", printable(&obstacle.to_string())))
}

/// Prints the damaged regions that were skipped.
///
/// # Errors
/// If any region was skipped.
pub(crate) fn check_skipped(report: &CopyReport, out: &mut dyn Write) -> Result<(), Failure> {
    out.flush()?;
    for skipped in &report.skipped {
        crate::exit::note(&skipped.to_string());
    }
    if report.skipped.is_empty() { Ok(()) } else { Err(Failure::Reported(ErrorKind::Corrupt)) }
}

/// Prints reports as JSON: the nodes with their actions, the findings, and the totals.
pub(crate) fn print_json<'r>(
    reports: impl IntoIterator<Item = &'r CopyReport>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (mut nodes, mut findings, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    let (mut chunks, mut bytes) = (0_u64, 0_u64);
    for report in reports {
        (chunks, bytes) = (chunks.saturating_add(report.chunks()), bytes.saturating_add(report.bytes()));
        nodes.extend(report.nodes.iter().map(|node| {
            json!({
                "path": node.path.as_str(), "kind": if node.is_array { "array" } else { "group" },
                "action": node.action.to_string(), "chunks": node.chunks, "bytes": node.bytes,
            })
        }));
        findings.extend(report.obstacles.iter().map(|obstacle| {
            json!({
                "path": obstacle.path.as_str(), "property": obstacle.property.to_string(),
                "severity": format!("{:?}", obstacle.effect).to_lowercase(), "reason": obstacle.reason.as_str(),
            })
        }));
        skipped.extend(report.skipped.iter().map(|skipped| {
            let region = skipped.region.iter().map(|&(begin, end)| Json::from(vec![begin, end]));
            let region = Json::Array(region.collect());
            json!({"path": skipped.path.as_str(), "region": region, "reason": skipped.reason.as_str()})
        }));
    }
    let (nodes, findings, skipped) = (Json::Array(nodes), Json::Array(findings), Json::Array(skipped));
    let all = json!({
        "nodes": nodes, "findings": findings, "skipped": skipped, "chunks": chunks, "bytes": bytes,
    });
    print::print_json(out, &all)
}
