//! Files of HDF5 and NetCDF as Zarr hierarchies, and back; images as arrays, and pictures of arrays.
//!
//! ```
//! use zarrox::prelude::*;
//! # let directory = tempfile::tempdir()?;
//! # let (path, file, again) =
//! #     (directory.path().join("a.zarr"), directory.path().join("a.nc"), directory.path().join("b.zarr"));
//! let root = zarrox::create_group(&path)?;
//! let array = root.create_array("t2m").shape([2, 3]).data_type(DataType::Float32);
//! array.dimension_names(["y", "x"]).create()?.fill(.., 280.5_f32)?;
//!
//! zarrox_files::export_file(&path, &file)?;
//! zarrox_files::import_file(&file, &again)?;
//! assert_eq!(zarrox::open_array(again.join("t2m"))?.read::<f32>(..)?.sum(), 6.0 * 280.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`open_file`] makes a read-only store of a file, and [`Import`] copies it with the machinery of [`zarrox::copy()`]: chunks first,
//! documents last, and again by the same call after an interruption. [`Export`] writes a hierarchy to a file.

mod chunks;
#[cfg(any(feature = "images", feature = "nifti", feature = "tables", feature = "tiff"))]
mod described;
mod export;
mod fill;
#[cfg(feature = "hdf5")]
mod hdf5;
#[cfg(feature = "images")]
mod images;
mod import;
mod input;
mod netcdf3;
#[cfg(feature = "nifti")]
mod nifti;
pub mod picture;
mod reading;
mod rows;
mod store;
#[cfg(feature = "tables")]
mod table;
#[cfg(feature = "tiff")]
mod tiff;

pub use export::{Export, Target, export_file};
pub use import::{Import, Kind, import_file, open_file};
pub use store::{FileStore, LeftOut};
#[cfg(feature = "tables")]
pub use table::Table;

/// The attribute that has the names of an enumeration with their values, since Zarr has no such type.
pub const ENUM: &str = "enum";
