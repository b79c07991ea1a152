//! Suites that every store, codec and format passes.

pub mod codec;
#[cfg(feature = "stores")]
pub mod store;
