//! Data types and their elements.

mod astype;
mod extension;
mod families;
mod numbers;
mod objects;
mod optional;
mod records;
mod times;
