//! The integration tests, in one program: it is linked once.

mod attributes;
mod changing;
mod check;
mod common;
mod consolidate;
mod convert;
mod cp;
mod diff;
mod digests;
mod dump;
mod errors;
mod files;
mod foreign;
#[cfg(unix)]
mod guide;
mod help;
mod looking;
mod measuring;
mod n5;
mod nodes;
mod optional;
mod rechunk;
mod remote;
mod transfer;
mod types;
mod zip;
