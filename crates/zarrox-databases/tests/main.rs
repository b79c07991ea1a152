//! The integration tests, in one program that is linked once.

#[cfg(any(feature = "files", feature = "berkeley-db"))]
mod databases;
#[cfg(feature = "files")]
mod durability;
mod urls;
