//! zarrs as a contestant. The first line on standard input is the case; the answer is `{"ready": version}`, or `{"unsupported":
//! why}`. Then every line `run` does the work once, with the answer `{"seconds": …, "peak": …}`; `check` adds the `checksum` of
//! the result. The answer to a failure is `{"error": message}`.

mod case;
mod outcome;
mod pieces;
mod result;
mod source;
mod works;

use std::io::{BufRead, Lines, StdinLock, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use serde_json::{Value, json};

use crate::case::Case;
use crate::outcome::Outcome;
use crate::result::Done;
use crate::works::{Preparation, Work};

fn main() -> Outcome<()> {
    std::panic::set_hook(Box::new(|_| {}));
    let mut lines = std::io::stdin().lock().lines();
    match attempt(|| prepare(&mut lines)) {
        Err(message) => answer(&json!({ "error": message })),
        Ok((_, Preparation::Unsupported(why))) => answer(&json!({ "unsupported": why })),
        Ok((repeat, Preparation::Ready(work))) => {
            answer(&json!({ "ready": format!("zarrs {}", zarrs::version::version_str()) }))?;
            for line in lines {
                let check = line?.trim() == "check";
                let measured = attempt(|| measure(&work, repeat, check));
                answer(&measured.unwrap_or_else(|message| json!({ "error": message })))?;
            }
            Ok(())
        }
    }
}

fn prepare(lines: &mut Lines<StdinLock>) -> Outcome<(u64, Preparation)> {
    let case = Case::parse(&lines.next().ok_or("no case")??)?;
    case.use_threads()?;
    Ok((case.repeat(), works::prepare(case)?))
}

fn measure(work: &Work, repeat: u64, check: bool) -> Outcome<Value> {
    let start = Instant::now();
    let mut done = Done::Nothing;
    for _ in 0..repeat {
        done = work(check)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let mut answer = json!({ "seconds": seconds, "peak": result::peak()? });
    if check {
        answer["checksum"] = done.checksum().to_string().into();
    }
    Ok(answer)
}

/// Returns the message of a failure, which may be a panic.
fn attempt<T>(function: impl FnOnce() -> Outcome<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(function)) {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("panicked: {:?}", panic.downcast_ref::<String>())),
    }
}

fn answer(value: &Value) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{value}")?;
    Ok(out.flush()?)
}
