//! What tests of several embedded databases share.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

pub(crate) mod damage;
pub(crate) mod golden;
pub(crate) mod handles;
pub(crate) mod processes;
