//! Hierarchies on servers, and the server of hierarchies.

mod remote;
#[cfg(all(unix, feature = "serve"))]
mod serve;
