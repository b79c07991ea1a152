//! Data types and their elements.

mod arbitrary;
mod astype;
mod extension;
mod familiar;
mod families;
mod numbers;
mod objects;
mod optional;
mod records;
mod times;
