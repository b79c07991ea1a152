//! The common parts of the development programs: running other programs, and installing their requirements.
//!
//! This crate depends on no other crate of the workspace, so that `cargo xtask` is built in seconds.

#![expect(clippy::print_stdout, reason = "it is a library of command-line programs")]

pub mod debian;
pub mod node;
pub mod package;
pub mod python;
pub mod run;
