//! Commands that copy and move data into, out of and between hierarchies.

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
