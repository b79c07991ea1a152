//! Commands that show what is stored.

mod describe;
pub(super) mod dump;
pub(super) mod info;
pub(super) mod ls;
pub(super) mod tree;
