//! Commands that find damage and differences.

pub(super) mod check;
pub(super) mod diff;
pub(super) mod digest;
pub(super) mod manifest;
pub(super) mod validate_ome;
