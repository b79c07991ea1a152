//! `zarrox check`: damage is found, and repaired if that is wanted.

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

/// Findings that wait to be printed.
const WAITING: usize = 64;

/// Find what is damaged in arrays, groups or whole hierarchies, and repair it
///
/// Without --repair nothing is written, so that read-only places can be checked. Every finding names the node, the chunk, the key, what
/// is wrong, and what a repair would do. Notes are worth knowing; only warnings and errors end with the exit code 5.
///
/// A repair loses no bytes: what is damaged goes to the quarantine, `NAME.quarantine` beside the hierarchy, before anything takes its
/// place. What can be read stays as it is.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The arrays, groups or hierarchies
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,

    /// Look at documents only
    #[arg(long, conflicts_with_all = ["quick", "full"])]
    metadata: bool,

    /// Look at documents, keys, sizes and the indexes of shards; decode no chunk
    #[arg(long, conflicts_with = "full")]
    quick: bool,

    /// Decode every chunk as well; this is the default
    #[arg(long)]
    full: bool,

    /// Also list the chunks that are not stored, as ranges in row-major order
    #[arg(long)]
    missing: bool,

    /// Also name the arrays whose chunks have no checksums, so that not every changed byte is noticed
    #[arg(long)]
    checksums: bool,

    /// Repair what is found
    #[arg(long)]
    repair: bool,

    /// With --repair: change nothing, and say what would be done
    #[arg(long, requires = "repair")]
    dry_run: bool,

    /// With --repair: write chunks of fill values in the place of lost ones, which are missing otherwise
    #[arg(long, requires = "repair")]
    refill: bool,

    /// Print JSON, for programs: one finding a line
    #[arg(long)]
    json: bool,

    /// Print nothing but errors; the exit code tells
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
        // Each finding was told.
        if is_clean { Ok(()) } else { Err(Failure::Told(ErrorKind::Corrupt)) }
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
                writeln!(out, "  what was damaged is in {}", printable(&checker.quarantine()))?;
            }
        }
        Ok(summary)
    }

    fn checker(&self, global: &Global, path: &str, progress: &Progress) -> Result<Checker> {
        let options = global.options().access(&interrupt::options());
        let mut checker = Checker::open_with(&options, path)?.level(self.level()).missing(self.missing);
        checker = checker.checksums(self.checksums);
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

    /// Prints a finding, below the name of its node where that is another than the last one's.
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

/// Checks on a thread of its own, and hands over each finding on this one.
fn watch(
    checker: &Checker,
    mut print: impl FnMut(Finding) -> io::Result<()>,
) -> Result<CheckSummary, Failure> {
    let (sender, receiver) = sync_channel(WAITING);
    thread::scope(|scope| {
        let check = scope.spawn(move || {
            checker.run(move |finding| {
                let closed = |_| Error::new(ErrorKind::Interrupted, "nobody hears of the findings any more");
                sender.send(finding).map_err(closed)
            })
        });
        let printed = receiver.iter().try_for_each(&mut print);
        // Where nothing can be printed any more, the check ends with its next finding.
        drop(receiver);
        let summary = check.join().unwrap_or_else(|panic| resume_unwind(panic));
        printed?;
        Ok(interrupt::or_interrupted(summary)?)
    })
}

/// The words about the repair.
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

/// The last line.
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
