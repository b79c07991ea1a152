//! References of kerchunk: documents that map each key to a range of bytes in another object.

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
