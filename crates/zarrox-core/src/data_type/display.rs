//! The display names of data types.

use std::fmt;

use super::DataType;
use super::family::{bytes, time, utf32};
use crate::json;

impl fmt::Display for DataType {
    /// Formats the display name, which [`DataType::parse`] accepts: NumPy's name if it is short (`U5`, `S3`, `datetime64[ns]`),
    /// or else the name in v3 metadata, followed by the configuration if the type has one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RawBits(bytes) => write!(f, "r{}", bytes * 8),
            Self::Struct(structure) => structure.fmt(f),
            Self::Extension(extension) => {
                if let Some(name) =
                    time::numpy_name(self).or(bytes::numpy_name(self)).or(utf32::numpy_name(self))
                {
                    return f.write_str(&name);
                }
                f.write_str(&extension.name)?;
                json::write_configuration(f, &extension.configuration)
            }
            core => f.write_str(core.core_name().unwrap_or_default()),
        }
    }
}
