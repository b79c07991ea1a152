//! The command `zarrox`: looks at Zarr arrays and groups, creates them, and moves data in and out of them.

mod args;
mod commands;
mod creation;
mod edges;
mod examples;
mod exit;
mod files;
mod filter;
mod interrupt;
mod limits;
mod made;
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
    limits::fail_in_words();
    exit::report(commands::run())
}
