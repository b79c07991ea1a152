//! String attributes for properties of NetCDF that Zarr lacks. An import writes them, and an export reads them.
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
//! An attribute is written only if an export could not reproduce the file without it. All values are strings, since
//! xarray cannot write JSON objects as attributes. All names begin with `_nc`, since xarray hides such attributes in Zarr
//! v2. An export ignores entries that no longer match the hierarchy.
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

/// The attribute that records the types of attributes for which an export would choose a different type.
const TYPES: &str = zarrox_tools::copy::missing::TYPES;
/// The attribute for the storage of a variable.
const STORAGE: &str = "_nc_storage";
/// The attribute for the name of the user-defined type of a variable.
const TYPE: &str = "_nc_type";
/// The attribute for the format variant of the file.
const KIND: &str = "_nc_kind";
/// The attribute for the dimensions of a group.
const DIMENSIONS: &str = "_nc_dimensions";
/// The attribute for the order of the variables in a group.
const VARIABLES: &str = "_nc_variables";
/// The attribute for the order of the subgroups in a group.
const GROUPS: &str = "_nc_groups";

/// All attributes defined in this module.
const ALL: [&str; 7] = [TYPES, STORAGE, TYPE, KIND, DIMENSIONS, VARIABLES, GROUPS];
