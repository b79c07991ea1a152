//! Copies, moves, and other chunks.

mod cp;
mod pyramids;
mod rechunk;
