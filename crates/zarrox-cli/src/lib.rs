//! The command `zarrox`: inspects, creates, changes, copies, verifies and serves Zarr arrays and groups.
//!
//! The program and the Python package call [`run`].

mod args;
mod cleanup;
mod commands;
mod creation;
mod edges;
mod examples;
mod exit;
mod files;
mod filter;
mod interrupt;
mod limits;
mod magic;
mod names;
mod notes;
mod opening;
mod part;
mod places;
mod print;
mod progress;
mod reserve;
mod retries;
mod strings;
mod suggest;
mod version;
mod window;

use std::ffi::OsString;

pub use reserve::WithReserve;

/// Runs a command line and returns the exit code. The first argument is the name of the program.
///
/// This function is for programs that do nothing else: it changes the handling of signals and panics, sets the global `tracing`
/// subscriber, and ends the process after it has printed the help or the error for an invalid argument.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    limits::block_file_size_signal();
    zarrox::internals::panics::silence_caught();
    exit::report(commands::run(arguments))
}
