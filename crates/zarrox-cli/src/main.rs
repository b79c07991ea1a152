//! The command `zarrox`: looks at Zarr arrays and groups, creates them, and moves data in and out of them.

mod args;
mod commands;
mod conversion;
mod creation;
mod edges;
mod exit;
mod files;
mod filter;
mod interrupt;
mod npy;
mod npz;
mod part;
mod print;
mod progress;
mod slabs;
mod strings;
mod window;

fn main() -> std::process::ExitCode {
    exit::report(commands::run())
}
