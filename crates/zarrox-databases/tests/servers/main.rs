//! Stores on servers, which `cargo xtask test --stores` starts. Without servers these tests report that they did not run.

#[cfg(feature = "ftp")]
mod ftp;
#[cfg(any(feature = "mongodb", feature = "redis"))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#[path = "../databases/handles.rs"]
mod handles;
#[cfg(feature = "hdfs")]
mod hdfs;
#[cfg(feature = "mongodb")]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod mongodb;
#[cfg(feature = "trees")]
mod obstruction;
#[cfg(feature = "redis")]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod redis;
#[cfg(feature = "webdav")]
mod webdav;
