//! Copying, moving and rechunking.

mod cp;
mod pyramids;
mod rechunk;
