//! Commands that create, change and delete nodes.

pub(super) mod attrs;
pub(super) mod consolidate;
pub(super) mod create;
pub(super) mod rm;
