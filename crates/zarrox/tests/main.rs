//! The integration tests, in one program: a library as large as this is linked and its generic code compiled for each.

mod arrays;
mod astype;
#[cfg(feature = "async")]
mod asynchronous;
mod attributes;
mod checksums;
mod chunk_cache;
mod consolidated;
mod convert;
mod corpus;
mod damage;
mod encoding;
mod extension;
mod failures;
mod far;
mod fetches;
mod filters;
mod groups;
mod indexing;
mod iterate;
mod model;
mod n5;
mod numbers;
mod objects;
mod optional;
mod parts;
mod rechunk;
mod records;
mod rectilinear;
mod round_trips;
mod stored_bytes;
mod times;
mod types;
mod urls;
mod v1;
mod v3_draft;
mod v3_experimental;
#[cfg(feature = "zip")]
mod zip;
