//! Files of other programs are read with their values, damaged files give errors, and exported files are read
//! again.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

mod concat;
mod damaged;
#[cfg(feature = "hdf5")]
mod damaged_chunks;
#[cfg(any(feature = "nifti", feature = "tiff"))]
mod expected;
mod exported;
mod foreign;
mod hdf5;
#[cfg(feature = "images")]
mod images;
mod memory;
mod netcdf3;
#[cfg(feature = "nifti")]
mod nifti;
#[cfg(feature = "png")]
mod pictures;
#[cfg(feature = "tables")]
mod tables;
#[cfg(feature = "tiff")]
mod tiff;
#[cfg(all(feature = "images", feature = "nifti", feature = "png", feature = "tiff"))]
mod written;

use std::path::{Path, PathBuf};

/// Returns the directory of the files that other programs wrote.
fn data() -> PathBuf {
    zarrox_testkit::corpus::unpacked(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files"))
}
