//! What the programs of development share: running other programs, and providing what these need.
//!
//! It knows of no library of the workspace, so that `cargo xtask` is built in seconds.

#![expect(clippy::print_stdout, reason = "it serves programs for a terminal")]

pub mod debian;
pub mod node;
pub mod package;
pub mod python;
pub mod run;
