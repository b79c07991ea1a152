//! Stores on servers that have their own protocols: databases and file servers.

#[cfg(feature = "trees")]
mod address;
#[cfg(any(feature = "ftp", feature = "hdfs"))]
mod escape;
#[cfg(feature = "ftp")]
pub(crate) mod ftp;
#[cfg(feature = "hdfs")]
pub(crate) mod hdfs;
#[cfg(feature = "mongodb")]
pub(crate) mod mongodb;
#[cfg(feature = "redis")]
pub(crate) mod redis;
#[cfg(feature = "trees")]
mod tree;
#[cfg(feature = "webdav")]
pub(crate) mod webdav;
