//! The integration tests, in a single program: for each program, the library is linked and its generic code compiled.

mod arrays;
#[cfg(feature = "async")]
mod asynchronous;
mod attributes;
mod checksums;
mod corpus;
mod examples;
mod filters;
mod formats;
mod groups;
#[cfg(unix)]
mod incidents;
mod indexing;
mod iterate;
mod model;
mod parts;
mod rectilinear;
mod shown;
mod stores;
mod types;
