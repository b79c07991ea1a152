//! Suites that every store, codec and format passes.

pub mod acceptance;
pub mod allocator;
pub mod bad_input;
#[cfg(feature = "choices")]
pub mod choices;
pub mod codec;
#[cfg(feature = "corpus")]
pub mod corpus;
#[cfg(feature = "stores")]
pub mod counters;
#[cfg(all(target_os = "linux", feature = "stores"))]
pub mod durability;
pub mod errors;
pub mod examples;
#[cfg(feature = "stores")]
pub mod faults;
pub mod files;
pub mod fuzz;
#[cfg(feature = "stores")]
mod holds;
pub mod needs;
pub mod other_process;
#[cfg(feature = "stores")]
pub mod processes;
pub mod proxy;
#[cfg(feature = "async")]
pub mod remote;
pub mod servers;
#[cfg(feature = "stores")]
pub mod simulation;
pub mod specimen;
#[cfg(feature = "stores")]
pub mod store;
#[cfg(all(unix, feature = "terminal"))]
pub mod terminal;
pub mod variable;
pub mod web;

/// The code in the documentation.
#[cfg(doctest)]
mod documentation {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/zarrs.md")]
    mod zarrs {}
    #[doc = include_str!("../../../docs/questions.md")]
    mod questions {}
    #[doc = include_str!("../../../docs/guide/arrays.md")]
    mod arrays {}
    #[doc = include_str!("../../../docs/guide/changing.md")]
    mod changing {}
    #[doc = include_str!("../../../docs/guide/check.md")]
    mod check {}
    #[doc = include_str!("../../../docs/guide/codecs.md")]
    mod codecs {}
    #[doc = include_str!("../../../docs/guide/concurrency.md")]
    mod concurrency {}
    #[doc = include_str!("../../../docs/guide/copying.md")]
    mod copying {}
    #[doc = include_str!("../../../docs/guide/digests.md")]
    mod digests {}
    #[doc = include_str!("../../../docs/guide/files.md")]
    mod files {}
    #[doc = include_str!("../../../docs/guide/formats.md")]
    mod formats {}
    #[doc = include_str!("../../../docs/guide/indexing.md")]
    mod indexing {}
    #[doc = include_str!("../../../docs/guide/inspecting.md")]
    mod inspecting {}
    #[doc = include_str!("../../../docs/guide/own-codecs.md")]
    mod own_codecs {}
    #[doc = include_str!("../../../docs/guide/own-stores.md")]
    mod own_stores {}
    #[doc = include_str!("../../../docs/guide/pyramids.md")]
    mod pyramids {}
    #[doc = include_str!("../../../docs/guide/stores.md")]
    mod stores {}
    #[doc = include_str!("../../../docs/guide/types.md")]
    mod types {}
    #[doc = include_str!("../../../docs/guide/views.md")]
    mod views {}
}
