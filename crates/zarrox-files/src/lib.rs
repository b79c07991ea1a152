//! Files of other formats as Zarr hierarchies.

mod chunks;
mod export;
mod fill;
#[cfg(feature = "hdf5")]
mod hdf5;
mod import;
mod input;
mod netcdf3;
mod rows;
mod store;

pub use export::{Export, Target, export_file};
pub use import::{Import, Kind, import_file, open_file};
pub use store::{FileStore, LeftOut};

/// The attribute that has the names of an enumeration with their values, since Zarr has no such type.
pub const ENUM: &str = "enum";
