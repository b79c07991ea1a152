//! Kerchunk references: documents that map each key to a byte range in another object.

mod document;
mod generate;
mod json;
mod lazy;
mod open;
pub(crate) mod options;
mod page;
mod reference;
mod set;
pub(crate) mod store;
mod table;
mod target;
mod template;
mod value;
