//! The command `zarrox`: inspects, creates, changes, copies, verifies and serves Zarr arrays and groups.

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
mod retries;
mod strings;
mod suggest;
mod window;

fn main() -> std::process::ExitCode {
    limits::block_file_size_signal();
    exit::report(commands::run())
}
