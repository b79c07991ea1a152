//! Measurements, and the table of their results.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::memory::peak;

const REPETITIONS: usize = 9;

/// The shortest measured time: shorter work is repeated.
const LEAST: Duration = Duration::from_millis(2);

/// The table, which is printed row by row.
pub(crate) struct Report {
    rows: usize,
    above: Vec<String>,
    repetitions: usize,
}

impl Report {
    pub(crate) fn new() -> Self {
        println!(
            "| case | measured | beside it | result | limit | result / limit |\n|---|---|---|---|---|---|"
        );
        Self { rows: 0, above: Vec::new(), repetitions: REPETITIONS }
    }

    /// Sets how often the measurements that follow are repeated.
    pub(crate) fn repeat(&mut self, slow: bool) {
        self.repetitions = if slow { 3 } else { REPETITIONS };
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Returns the cases that are above their limits.
    pub(crate) fn above(&self) -> &[String] {
        &self.above
    }

    /// Compares the times of two kinds of work. Returns both times, in seconds.
    pub(crate) fn ratio<A, B>(
        &mut self,
        case: &str,
        beside: &str,
        limit: impl Into<Option<f64>>,
        ours: impl FnMut() -> A,
        other: impl FnMut() -> B,
    ) -> (f64, f64) {
        let (ours, other) = interleaved(self.repetitions, ours, other);
        let texts = [time(ours), format!("{} ({beside})", time(other)), format!("{:.2}", ours / other)];
        let limit = limit.into();
        self.row(case, texts, ours / other, limit.map(|limit| (limit, format!("{limit}"))));
        (ours, other)
    }

    /// Measures the time of work, with a limit in milliseconds.
    pub(crate) fn time<A>(&mut self, case: &str, limit: impl Into<Option<f64>>, mut work: impl FnMut() -> A) {
        let (count, _) = repeated(&mut work);
        let mut times: Vec<f64> = (0..self.repetitions).map(|_| timed(count, &mut work)).collect();
        let took = median(&mut times);
        let limit = limit.into().map(|limit| (limit / 1e3, time(limit / 1e3)));
        self.row(case, [time(took), String::new(), time(took)], took, limit);
    }

    /// Adds a ratio that was measured elsewhere.
    pub(crate) fn found(&mut self, case: &str, beside: &str, found: f64, limit: f64) {
        let texts = [String::new(), beside.to_owned(), format!("{found:.2}")];
        self.row(case, texts, found, Some((limit, format!("{limit}"))));
    }

    /// Measures the peak memory of work, including its result, in bytes.
    pub(crate) fn memory<A>(
        &mut self,
        case: &str,
        limit: impl Into<Option<usize>>,
        work: impl FnOnce() -> A,
    ) {
        let held = peak(work);
        let limit = limit.into().map(|limit| (real(limit), bytes(limit)));
        self.row(case, [bytes(held), String::new(), bytes(held)], real(held), limit);
    }

    /// Adds a count, which must be exact.
    pub(crate) fn count(&mut self, case: &str, found: usize, expected: usize) {
        assert_eq!(found, expected, "{case}");
        let texts = [found.to_string(), String::new(), found.to_string()];
        self.row(case, texts, real(found), Some((real(expected), expected.to_string())));
    }

    fn row(
        &mut self,
        case: &str,
        [ours, other, result]: [String; 3],
        found: f64,
        limit: Option<(f64, String)>,
    ) {
        let (text, share) = match limit {
            Some((limit, text)) => (text, found / limit),
            None => ("–".to_owned(), 0.0),
        };
        let mark = if share > 1.0 { " **above**" } else { "" };
        let shown = if text == "–" { String::new() } else { format!("{share:.2}{mark}") };
        println!("| {case} | {ours} | {other} | {result} | {text} | {shown} |");
        self.rows += 1;
        if share > 1.0 {
            self.above.push(format!("{case}: {result}, and the limit is {text}"));
        }
    }
}

/// Returns the medians of the times of two kinds of work, which alternate.
pub(crate) fn interleaved<A, B>(
    repetitions: usize,
    mut ours: impl FnMut() -> A,
    mut other: impl FnMut() -> B,
) -> (f64, f64) {
    // The first time is a warm-up.
    let ((ours_count, first_took), (other_count, second_took)) = (repeated(&mut ours), repeated(&mut other));
    let (mut first, mut second) = (Vec::new(), Vec::new());
    // Short work is repeated more often: other processes disturb it more.
    let more = if first_took + second_took < 0.02 { 3 } else { 1 };
    for _ in 0..repetitions * more {
        first.push(timed(ours_count, &mut ours));
        second.push(timed(other_count, &mut other));
    }
    (median(&mut first), median(&mut second))
}

/// Finds how often work must be repeated to take long enough to be measured. Returns this number, and the
/// seconds for one repetition.
fn repeated<A>(work: &mut impl FnMut() -> A) -> (u32, f64) {
    black_box(work());
    let took = timed(1, work);
    let count = (LEAST.as_secs_f64() / took.max(1e-9)).ceil().clamp(1.0, 100_000.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a range")]
    let count = count as u32;
    (count, took)
}

/// Returns the seconds for `times` repetitions of work. The last result is dropped after the measurement.
fn timed<A>(count: u32, work: &mut impl FnMut() -> A) -> f64 {
    let start = Instant::now();
    for _ in 1..count {
        black_box(work());
    }
    let last = black_box(work());
    let took = start.elapsed().as_secs_f64() / f64::from(count);
    drop(last);
    took
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
pub(crate) fn real(n: usize) -> f64 {
    n as f64
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

fn bytes(n: usize) -> String {
    match n {
        n if n < 1 << 20 => format!("{:.1} KiB", real(n) / 1024.0),
        n => format!("{:.1} MiB", real(n) / 1_048_576.0),
    }
}
