//! The protocol of a contestant: lines of input and output, times, peak memory, and checksums.

use std::io::BufRead;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use serde_json::{Value, json};

use crate::case::Case;
use crate::failure::Failure;

/// The result of the work, for the checksum.
pub(crate) enum Found {
    Nothing,
    Number(u64),
    /// Elements of this width, with the index of each box.
    Boxes(usize, Vec<(usize, Elements)>),
}

/// The bytes of a result, row-major.
pub(crate) type Elements = Box<dyn AsRef<[u8]> + Send>;

/// Does the work once. The result is returned if the argument is true, and otherwise dropped at once.
pub(crate) type Job = Box<dyn FnMut(bool) -> Result<Found, Failure>>;

/// Answers all lines of the standard input.
pub(crate) fn serve(name: &str, prepare: fn(&Case) -> Result<Job, Failure>) {
    let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let prepared = caught(|| {
        let case = Case::parse(&first)?;
        Ok((case.repeat, prepare(&case)?))
    });
    let (repeat, mut job) = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => return println!("{}", failure.answer()),
    };
    println!("{}", json!({"ready": format!("{name} {}", env!("CARGO_PKG_VERSION"))}));
    for line in lines {
        let answer = match line.trim() {
            "run" => caught(|| run(&mut job, repeat, false)),
            "check" => caught(|| run(&mut job, repeat, true)),
            other => Err(Failure::Error(format!("'{other}' is neither run nor check"))),
        };
        println!("{}", answer.unwrap_or_else(|failure| failure.answer()));
    }
}

/// Runs a function, and returns a panic as an error.
fn caught<R>(work: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(Failure::Error("it panicked".to_owned())))
}

fn run(job: &mut Job, repeat: usize, check: bool) -> Result<Value, Failure> {
    let start = Instant::now();
    for _ in 1..repeat {
        job(false)?;
    }
    let found = job(check)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut answer = json!({"seconds": seconds, "peak": peak()});
    if check {
        answer["checksum"] = checksum(&found).to_string().into();
    }
    Ok(answer)
}

/// Returns the peak memory of the process so far, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

fn checksum(found: &Found) -> u64 {
    match found {
        Found::Nothing => 0,
        Found::Number(number) => *number,
        Found::Boxes(width, boxes) => boxes.iter().fold(0, |sum, (index, elements)| {
            let elements = (**elements).as_ref();
            sum.wrapping_add(weighted(elements, *width).wrapping_mul(*index as u64 + 1))
        }),
    }
}

/// Returns the sum of elements as unsigned integers, each multiplied by its index in a cycle of 251.
fn weighted(elements: &[u8], width: usize) -> u64 {
    let number = |element: &[u8]| {
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(element);
        u64::from_le_bytes(bytes)
    };
    let cycles = elements.chunks(251 * width);
    let terms = cycles.flat_map(|cycle| cycle.chunks_exact(width).zip(1_u64..));
    terms.fold(0, |sum, (element, weight)| sum.wrapping_add(number(element).wrapping_mul(weight)))
}
