//! Text attributes for properties that NetCDF has and Zarr lacks. An import writes them and an export reads them.
//!
//! | attribute | of | example |
//! |---|---|---|
//! | `_nc_types` | group, array | `valid_range: short; number: int64` |
//! | `_nc_storage` | array | `contiguous` |
//! | `_nc_type` | array | `cloud_t` |
//! | `_nc_kind` | root | `netCDF-4 classic model` |
//! | `_nc_dimensions` | group | `time = UNLIMITED (24); nv = 2` |
//! | `_nc_variables`, `_nc_groups` | group | `time lat lon t2m` |
//!
//! An attribute is written only if an export could not reproduce the file without it. All values are text, since
//! xarray cannot write JSON objects as attributes. All names begin with `_nc`, since xarray hides such attributes in
//! Zarr v2. An export ignores entries that no longer match the hierarchy.
//!
//! An import adds the groups, dimensions and variables of the file to [`Hierarchy`], and the attributes of each object
//! to [`Attributes`]. An export reads [`Hints`] and [`types::Types`].

mod attributes;
mod dimensions;
mod hierarchy;
mod hints;
mod names;
mod storage;
mod types;

pub(crate) use attributes::{Attributes, Described, Origin};
pub(crate) use dimensions::{DeclaredDimension, Dimensions, Shaped, above};
pub(crate) use hierarchy::{Hierarchy, Kind};
pub(crate) use hints::{Hints, is_hint, user_type};
pub(crate) use names::{name_of, text_of};
pub(crate) use storage::Storage;
#[cfg(feature = "tables")]
pub(crate) use types::text_is_missing;
pub(crate) use types::{NcType, Types};

/// The types of attributes that an export would choose differently.
const TYPES: &str = zarrox_tools::copy::missing::TYPES;
/// The storage of a variable.
const STORAGE: &str = "_nc_storage";
/// The name of the user-defined type of a variable.
const TYPE: &str = "_nc_type";
/// The kind of the file.
const KIND: &str = "_nc_kind";
/// The dimensions of a group.
const DIMENSIONS: &str = "_nc_dimensions";
/// The order of the variables of a group.
const VARIABLES: &str = "_nc_variables";
/// The order of the groups in a group.
const GROUPS: &str = "_nc_groups";

/// All attributes of this module.
const ALL: [&str; 7] = [TYPES, STORAGE, TYPE, KIND, DIMENSIONS, VARIABLES, GROUPS];
