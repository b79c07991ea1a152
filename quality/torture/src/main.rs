//! `cargo xtask torture`: processes that write to the same hierarchy concurrently, and are killed.
//!
//! The program is the driver, which makes the plan, starts and kills processes, and checks the results. With the arguments `work
//! JOB`, it is one of these processes.

mod allocations;
mod check;
mod element;
mod fault;
mod job;
mod kills;
mod leftovers;
mod model;
mod options;
mod outcome;
mod parallel;
mod peers;
mod place;
mod plan;
mod process;
mod report;
mod round;
mod run;
mod simulate;
mod worker;
mod world;

use std::process::ExitCode;

#[expect(clippy::print_stderr, reason = "this is a program for a terminal")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.as_slice() {
        [word, job] if word == "work" => {
            serde_json::from_str(job).map_err(|error| error.to_string()).and_then(|job| worker::run(&job))
        }
        [word, operation, number] if word == "refuse" => allocations::refuse(operation, number),
        [word] if word == "--allocations" => allocations::run(),
        arguments => options::parse(arguments).and_then(|options| match options.is_simulated() {
            true => simulate::run(&options),
            false => run::run(&options),
        }),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
