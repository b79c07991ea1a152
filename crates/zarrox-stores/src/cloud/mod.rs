//! Stores on HTTP servers: cloud object stores and web servers.

#[cfg(feature = "azure")]
pub(crate) mod azure;
#[cfg(feature = "object_store")]
mod client;
#[cfg(any(feature = "object_store", feature = "http"))]
pub(crate) mod connection;
#[cfg(any(feature = "object_store", feature = "http"))]
mod failure;
#[cfg(feature = "gcs")]
pub(crate) mod gcs;
#[cfg(feature = "http")]
pub(crate) mod http;
#[cfg(feature = "object_store")]
pub(crate) mod object;
#[cfg(feature = "s3")]
mod profile;
#[cfg(feature = "s3")]
pub(crate) mod s3;
