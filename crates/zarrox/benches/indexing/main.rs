//! Selections of every kind: slow cases that users of Zarr have reported, each with a limit.
//!
//! The limit of a case is relative to comparable work in the same run: a slice, a read of everything, NumPy. The case and the
//! comparable work alternate, so that a noisy machine affects both, and the ratio of the medians is compared. Few cases have
//! limits in milliseconds or bytes: those where another implementation takes a thousand times as much.
//!
//! `cargo xtask bench indexing [--case shard] [--scale small] [--require]`; `--require` fails when a row is above its limit.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reports, and stops at the first failure"
)]

mod data;
mod huge;
mod images;
mod kinds;
mod lists;
mod memory;
mod numpy;
mod report;
mod rows;
mod shards;
mod values;

use report::Report;

/// The size of the arrays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Small,
    Full,
}

type Case = (&'static str, fn(&mut Report, Scale));

const CASES: &[Case] = &[
    ("huge grid", huge::run),
    ("steps over rows", rows::steps),
    ("rows one by one", rows::one_by_one),
    ("a list on shards", shards::lists),
    ("points in a shard", shards::points),
    ("image planes", images::run),
    ("long lists", lists::run),
    ("kinds", kinds::run),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let scale = if option("--scale").as_deref() == Some("small") { Scale::Small } else { Scale::Full };
    let only = option("--case").unwrap_or_default();
    let mut report = Report::new();
    for (_, run) in CASES.iter().filter(|(name, _)| name.contains(&only)) {
        run(&mut report, scale);
    }
    let above = report.above();
    println!("\n{} of {} rows are above their limits", above.len(), report.len());
    if !above.is_empty() && arguments.iter().any(|argument| argument == "--require") {
        println!("{}", above.join("\n"));
        std::process::exit(1);
    }
}
