//! Names that a format allows.

use zarrox::Result;
use zarrox::json::{Json, Map};

use super::options::Convention;
use crate::hdf5::OF_SCALES;
use crate::input::unsupported;

/// The maximum length of a NetCDF name in bytes.
const LONGEST: usize = 256;

/// Attributes with which HDF5 and NetCDF-4 describe dimensions and files.
const RESERVED: [&str; 10] = [
    "CLASS",
    "NAME",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "DIMENSION_LABELS",
    "_Netcdf4Dimid",
    "_Netcdf4Coordinates",
    "_NCProperties",
    "_NCCopied",
    "_nc3_strict",
];

/// Checks that a name follows the rules of the format.
pub(super) fn check(name: &str, convention: Convention) -> Result<()> {
    let reason = match convention {
        _ if name.contains('\0') => Some("has NUL"),
        Convention::Hdf5 => None,
        Convention::NetCdf => reason(name),
    };
    match reason {
        Some(reason) => {
            let name = name.escape_default();
            Err(unsupported(format!(
                "{convention} does not allow the name '{name}', which {reason}; rename it first"
            )))
        }
        None => Ok(()),
    }
}

/// Returns the NetCDF rule that a name violates, if any.
fn reason(name: &str) -> Option<&'static str> {
    let first = name.chars().next()?;
    Some(match () {
        () if !(first.is_ascii_alphanumeric() || first == '_' || !first.is_ascii()) => {
            "does not begin with a letter, a digit or an underscore"
        }
        () if name.contains('/') => "has a slash",
        () if name.chars().any(|letter| letter.is_ascii_control()) => "has a control character",
        () if name.ends_with(' ') => "ends with a space",
        () if name.len() > LONGEST => "is longer than 256 bytes",
        () => return None,
    })
}

/// Returns true for attributes that only the export itself may write, since readers interpret them.
pub(super) fn is_reserved(name: &str, convention: Convention) -> bool {
    convention == Convention::NetCdf && RESERVED.contains(&name)
}

/// Returns an error for an attribute whose name is reserved in NetCDF for the description of dimensions, but which does
/// not describe one.
pub(super) fn check_reserved(name: &str, attributes: &Map) -> Result<()> {
    let is_of_scale = attributes.get("CLASS").and_then(Json::as_str) == Some("DIMENSION_SCALE");
    if is_of_scale || !OF_SCALES.contains(&name) {
        return Ok(());
    }
    Err(unsupported(format!(
        "NetCDF reserves the name of the attribute '{name}' for dimensions; rename it first"
    )))
}

#[cfg(test)]
mod tests {
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    use super::*;

    #[test]
    fn names_that_netcdf_refuses_are_refused() {
        let fits = |name: &str| check(name, Convention::NetCdf).is_ok();
        assert!(["t2m", "_x", "2m temperature", "größe", "a.b+c@d", "Ω"].into_iter().all(fits));
        assert!(!["a/b", "a\0", "a\n", "a ", " a", "-a", "(x)"].into_iter().any(fits));
        assert!(!fits(&"a".repeat(257)));
        assert!(check("a/b ", Convention::Hdf5).is_ok());
        assert_error(check("a\0b", Convention::Hdf5), ErrorKind::Unsupported, "has NUL");
    }
}
