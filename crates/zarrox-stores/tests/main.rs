//! The integration tests, in one program that is linked once.

#[cfg(feature = "async")]
mod asynchronous;
#[cfg(all(feature = "s3", feature = "azure", feature = "http"))]
mod cloud_faults;
mod directory;
mod durability;
mod fallback;
mod memory;
#[cfg(feature = "references")]
mod references;
mod wrappers;
#[cfg(feature = "zip")]
mod zip;
