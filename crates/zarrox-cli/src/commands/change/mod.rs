//! Commands that create, change and delete nodes.

pub(super) mod attrs;
mod attrs_more;
pub(super) mod consolidate;
pub(super) mod create;
pub(super) mod rename_dim;
pub(super) mod resize;
pub(super) mod rm;
pub(super) mod set;
pub(super) mod strict;
