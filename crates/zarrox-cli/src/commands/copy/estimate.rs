//! Estimates the time of a rechunking copy from a sample.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use zarrox::{Node, Result};
use zarrox_tools::bench::Bench;
use zarrox_tools::copy::{Copier, CopyPlan, Way};

use crate::args::Global;
use crate::interrupt;
use crate::opening;

/// The maximum size of the sample that is read and encoded, in bytes.
const SAMPLE: u64 = 8 << 20;

/// Estimates the time in seconds that planned copies of the arrays below a node take. Samples are read from the source, encoded,
/// and written to a temporary file beside the destination. For a remote destination, the time for storing chunks is not included.
///
/// # Errors
/// If the source cannot be read.
pub(super) fn seconds(
    global: &Global,
    source: &str,
    destination: &str,
    copier: &Copier,
    plans: &[CopyPlan],
) -> Result<f64> {
    let node = global.of_any_format().read(source)?;
    let mut all = 0.0;
    for plan in plans {
        interrupt::check()?;
        let array = match &node {
            Node::Array(array) => array.clone(),
            Node::Group(group) => group.open(plan.path.trim_start_matches('/'))?.into_array()?,
        };
        if array.shape().contains(&0) {
            continue;
        }
        let bench = Bench::new().sample(SAMPLE).turns(1).candidate("copy", copier.clone());
        let report = bench.run(&array)?;
        let Some(Ok(copy)) = report.candidates.get(1) else { continue };
        let stored = plan.way == Way::Stored;
        let reading = if stored { report.first_fetch } else { report.read.max(report.first_fetch) };
        let encoding = if stored { std::time::Duration::ZERO } else { copy.encode };
        let writing = written(destination, copy.bytes_stored).unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "one or two times")]
        let times_written = plan.times_written as f64;
        all += report.whole(reading) * plan.times_read.max(1.0);
        all += report.whole(encoding) + report.whole(writing) * times_written;
    }
    Ok(all)
}

/// Measures the time that it takes to write `bytes` to a file beside a path on this machine.
fn written(destination: &str, bytes: u64) -> Option<std::time::Duration> {
    let path = opening::local(destination)?;
    let there = path.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("."));
    let mut file = tempfile::tempfile_in(there).ok()?;
    let bytes = vec![0x5a; usize::try_from(bytes).ok()?];
    let begun = Instant::now();
    file.write_all(&bytes).ok()?;
    Some(begun.elapsed())
}
