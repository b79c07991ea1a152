//! Arrays over stores: requests, failures, damage, and URLs.

mod appends;
mod chunk_cache;
mod damage;
mod failures;
mod far;
mod fetches;
mod generations;
mod leftovers;
mod processes;
mod round_trips;
mod together;
mod urls;
#[cfg(feature = "zip")]
mod zip;
