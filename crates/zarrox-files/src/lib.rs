//! Conversion of HDF5, NetCDF, TIFF, NIfTI, NumPy, Parquet, CSV and image files to Zarr, and of Zarr to these formats.
//!
//! ```
//! use zarrox::prelude::*;
//! # let directory = tempfile::tempdir()?;
//! # let (path, file, again) =
//! #     (directory.path().join("a.zarr"), directory.path().join("a.nc"), directory.path().join("b.zarr"));
//! let root = zarrox::create_group(&path)?;
//! let array = root.create_array("t2m").shape([2, 3]).data_type(DataType::Float32);
//! array.dimension_names(["y", "x"]).create()?.write(.., 280.5_f32)?;
//!
//! zarrox_files::export_file(&path, &file)?;
//! zarrox_files::import_file(&file, &again)?;
//! assert_eq!(zarrox::open_array(again.join("t2m"))?.read::<ArrayD<f32>>(..)?.sum(), 6.0 * 280.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`open_file`] opens a file as a read-only store. [`Import`] copies a file to Zarr in the same way as
//! [`zarrox_tools::copy()`] copies nodes: chunks are written first and metadata documents last, and after an
//! interruption, the same call continues. [`Export`] writes a hierarchy to a file.

mod chunks;
#[cfg(any(feature = "images", feature = "nifti", feature = "tables", feature = "tiff"))]
mod described;
#[cfg(any(feature = "images", feature = "tiff"))]
mod encoded;
mod export;
#[cfg_attr(
    not(any(feature = "hdf5", feature = "nifti", feature = "tiff")),
    expect(dead_code, reason = "no format of this build refers to other files")
)]
mod external;
mod fill;
#[cfg(feature = "hdf5")]
mod hdf5;
#[cfg(feature = "images")]
mod images;
mod import;
mod input;
mod inventory;
mod natural;
#[cfg_attr(
    not(feature = "hdf5"),
    expect(dead_code, unused_imports, reason = "NetCDF-3 has no groups and no user-defined types")
)]
mod netcdf;
mod netcdf3;
#[cfg(feature = "nifti")]
mod nifti;
pub mod npy;
pub mod picture;
#[cfg(any(feature = "images", feature = "nifti", feature = "tiff"))]
mod placed;
mod reading;
#[cfg(all(feature = "images", feature = "png", feature = "tiff"))]
mod stack;
mod store;
#[cfg(feature = "tables")]
mod table;
#[cfg(feature = "tiff")]
mod tiff;
mod times;

pub use export::{Export, Target, export_file};
pub use import::foreign::is_archive;
pub use import::kind::{Kind, open_bytes, open_file};
pub use import::select::Select;
pub use import::{Appended, Import, Imported, Importing, import_file};
pub use inventory::Inventory;
#[cfg(feature = "npz")]
pub use npy::npz_writer::NpzWriter;
pub use npy::raw::RawElements;
#[cfg(all(feature = "images", feature = "png", feature = "tiff"))]
pub use stack::{Names, Stack, StackKind};
pub use store::{FileStore, LeftOut};
#[cfg(feature = "tables")]
pub use table::Table;
#[cfg(feature = "tiff")]
pub use tiff::write::Compression as TiffCompression;

/// The attribute for the names and values of an enumeration. Zarr has no enumeration type.
pub const ENUM: &str = "enum";

/// The attribute for dimension names in formats without dimension names.
pub(crate) const ARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// The attribute for the element type of variable-length lists. The array contains the little-endian bytes of the lists.
pub const LIST_OF: &str = "list_of";
