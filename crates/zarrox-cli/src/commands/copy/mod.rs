//! Commands that copy and move data into hierarchies, out of them, and between them.

pub(super) mod append;
pub(super) mod convert;
mod copying;
pub(super) mod cp;
pub(super) mod downsample;
mod drawing;
mod estimate;
pub(super) mod export;
mod imaging;
pub(super) mod import;
pub(super) mod mv;
pub(super) mod rechunk;
pub(super) mod recoding;
pub(super) mod reshard;
