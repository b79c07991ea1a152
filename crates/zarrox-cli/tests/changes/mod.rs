//! Changes of nodes.

mod attributes;
mod changing;
