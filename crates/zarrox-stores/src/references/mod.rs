//! References as kerchunk writes them: documents that say where in other objects each value lies.

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
