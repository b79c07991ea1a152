//! The integration tests, in one program: it is linked once.

mod changes;
mod check;
mod common;
#[cfg(unix)]
mod completions;
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
#[cfg(unix)]
mod interrupts;
mod json;
mod looking;
mod measures;
mod n5;
mod nodes;
mod optional;
#[cfg(unix)]
mod paging;
#[cfg(unix)]
mod plot;
mod remote;
mod transfer;
mod types;
mod zip;
