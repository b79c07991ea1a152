//! Tables: CSV and Parquet files, whose columns are one-dimensional arrays.

mod blocks;
mod columns;
pub(crate) mod csv_in;
mod csv_out;
mod dates;
mod fields;
mod footer;
mod guess;
mod instants;
mod lists;
mod names;
mod nulls;
mod packed;
mod pages;
pub(crate) mod parquet_in;
mod parquet_out;
mod parquet_types;
mod sinks;
mod spool;
mod write;

pub use write::Table;
