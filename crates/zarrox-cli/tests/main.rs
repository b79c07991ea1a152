//! The integration tests, in one program: it is linked once.

mod common;
mod consolidate;
mod convert;
mod dump;
mod files;
mod foreign;
mod n5;
mod nodes;
mod optional;
mod types;
mod zip;
