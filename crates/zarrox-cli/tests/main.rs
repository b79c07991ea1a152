//! The integration tests, in one program: it is linked once.

mod changes;
mod check;
mod common;
mod consolidate;
mod convert;
mod copying;
mod digests;
mod dump;
mod errors;
mod files;
mod foreign;
#[cfg(unix)]
mod guide;
mod help;
mod looking;
mod measures;
mod n5;
mod network;
mod nodes;
mod shell;
mod transfer;
mod types;
mod zip;
