//! `zarrox check`: finds damage, and repairs it on request.

use std::io::{self, Write};
use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::thread;

use clap::Args;
use zarrox::json::{Json, Map};
use zarrox::{Error, ErrorKind, Result};
use zarrox_tools::check::{Check as Checker, CheckLevel, CheckSummary, Finding, Outcome, Repair, Severity};

use crate::args::Global;
use crate::exit::{Failure, each, printable};
use crate::interrupt;
use crate::progress::Progress;

/// The capacity of the queue of findings.
const QUEUE: usize = 64;

/// Find damage in arrays, groups and hierarchies, and repair it
///
/// Without --repair nothing is written, so that read-only stores can be checked. Each finding names the node, the chunk, the key,
/// the problem and the repair. Notes are informational; warnings and errors lead to the exit code 5.
///
/// A repair deletes no bytes: damaged objects are moved to the quarantine, `NAME.quarantine` beside the hierarchy, before they are
/// replaced. Readable data stays unchanged.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The arrays, groups or hierarchies
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,

    /// Check documents only
    #[arg(long, conflicts_with_all = ["quick", "full"])]
    metadata: bool,

    /// Check documents, keys, sizes and shard indexes, without decoding chunks
    #[arg(long, conflicts_with = "full")]
    quick: bool,

    /// Also decode every chunk; this is the default
    #[arg(long)]
    full: bool,

    /// Also list missing chunks, as ranges in row-major order
    #[arg(long)]
    missing: bool,

    /// Also list the arrays whose chunks have no checksums, in which some damage cannot be detected
    #[arg(long)]
    checksums: bool,

    /// Repair the findings
    #[arg(long)]
    repair: bool,

    /// With --repair: print the repairs, and change nothing
    #[arg(long, requires = "repair")]
    dry_run: bool,

    /// With --repair: write chunks of fill values in place of lost chunks, which are missing otherwise
    #[arg(long, requires = "repair")]
    refill: bool,

    /// With --repair: move chunks without a document of an array to the quarantine
    #[arg(long, requires = "repair")]
    orphans: bool,

    /// Print JSON: one finding per line
    #[arg(long)]
    json: bool,

    /// Print only errors; the exit code is the result
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

impl Check {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        let mut is_clean = true;
        each(out, &self.paths, |out, path| {
            is_clean &= self.check(global, path, out)?.is_clean();
            Ok(())
        })?;
        // Each finding was printed.
        if is_clean { Ok(()) } else { Err(Failure::Reported(ErrorKind::Corrupt)) }
    }

    fn check(&self, global: &Global, path: &str, out: &mut dyn Write) -> Result<CheckSummary, Failure> {
        let progress = Progress::new(path, 0);
        let checker = self.checker(global, path, &progress)?;
        let mut node = None;
        let summary =
            watch(&checker, |finding| progress.aside(|| self.print(path, &finding, &mut node, out)))?;
        progress.finish(None);
        if !self.json && !self.quiet {
            writeln!(out, "{}", printable(&tally(path, &summary)))?;
            if summary.repaired > 0 {
                writeln!(out, "  damaged objects are in {}", printable(&checker.quarantine()))?;
            }
        }
        Ok(summary)
    }

    fn checker(&self, global: &Global, path: &str, progress: &Progress) -> Result<Checker> {
        let options = global.options().access(&interrupt::options());
        let mut checker = Checker::open_with(&options, path)?.level(self.level()).missing(self.missing);
        checker = checker.checksums(self.checksums).orphans(self.orphans);
        if self.repair {
            checker = checker.repair(Repair { dry_run: self.dry_run, refill: self.refill });
        }
        if !progress.is_seen() {
            return Ok(checker);
        }
        let progress = progress.clone();
        Ok(checker.on_progress(move |done| {
            progress.set(done.done, done.total);
            Ok(())
        }))
    }

    fn level(&self) -> CheckLevel {
        match (self.metadata, self.quick) {
            (true, _) => CheckLevel::Metadata,
            (_, true) => CheckLevel::Quick,
            _ => CheckLevel::Full,
        }
    }

    /// Prints a finding. If it concerns a different node from the last finding, the path of its node is printed first.
    fn print(
        &self,
        root: &str,
        finding: &Finding,
        node: &mut Option<String>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        if self.json {
            return writeln!(out, "{}", to_json(root, finding));
        }
        if node.as_ref() != Some(&finding.path) {
            writeln!(out, "/{}:", printable(&finding.path))?;
            *node = Some(finding.path.clone());
        }
        writeln!(out, "  {}", printable(&format!("{finding} {}", ending(finding))))
    }
}

/// Runs the check on another thread, and calls `tell` with each finding on the current thread.
fn watch(
    checker: &Checker,
    mut print: impl FnMut(Finding) -> io::Result<()>,
) -> Result<CheckSummary, Failure> {
    let (sender, receiver) = sync_channel(QUEUE);
    thread::scope(|scope| {
        let check = scope.spawn(move || {
            checker.run(move |finding| {
                let closed = |_| Error::new(ErrorKind::Interrupted, "the output was closed");
                sender.send(finding).map_err(closed)
            })
        });
        let printed = receiver.iter().try_for_each(&mut print);
        // If the output is closed, the check ends at the next finding.
        drop(receiver);
        let summary = check.join().unwrap_or_else(|panic| resume_unwind(panic));
        printed?;
        Ok(interrupt::or_interrupted(summary)?)
    })
}

/// Returns the outcome of the repair in brackets.
fn ending(finding: &Finding) -> String {
    match &finding.outcome {
        Outcome::Planned => format!("[would be repaired: {}]", finding.remedy),
        Outcome::Repaired => format!("[repaired: {}]", finding.remedy),
        Outcome::Failed(why) => format!("[not repaired: {why}]"),
        _ => format!("[repair: {}]", finding.remedy),
    }
}

fn to_json(root: &str, finding: &Finding) -> String {
    let mut members = Map::default();
    members.insert("root".to_owned(), root.into());
    members.extend(finding.to_json());
    Json::from(members).to_string()
}

/// Returns the last line, with the totals.
fn tally(path: &str, summary: &CheckSummary) -> String {
    let several = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let count = |severity: Severity| several(summary.count(severity), severity.name());
    let found = match summary.findings.is_empty() {
        true => "clean".to_owned(),
        false => {
            format!("{}, {}, {}", count(Severity::Error), count(Severity::Warning), count(Severity::Note))
        }
    };
    let repaired =
        if summary.repaired > 0 { format!(", {} repaired", summary.repaired) } else { String::new() };
    format!(
        "{path}: {found}{repaired}; {}, {}, {} of {}",
        several(summary.arrays, "array"),
        several(summary.groups, "group"),
        several(summary.chunks, "chunk"),
        several(summary.bytes, "byte")
    )
}
