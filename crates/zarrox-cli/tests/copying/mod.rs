//! Copies, moves, and other chunks.

mod cp;
mod rechunk;
