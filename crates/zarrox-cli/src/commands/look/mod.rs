//! Commands that show nodes, elements and stored objects.

mod along;
pub(super) mod bench;
pub(super) mod cat;
mod cells;
pub(super) mod chunks;
mod columns;
mod describe;
pub(super) mod du;
pub(super) mod dump;
pub(super) mod find;
pub(super) mod head;
mod header;
pub(super) mod info;
pub(super) mod ls;
pub(super) mod meta;
pub(super) mod plot;
mod reduced;
pub(super) mod stats;
mod table;
pub(super) mod tree;
