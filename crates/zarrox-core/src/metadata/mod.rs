//! A model of nodes that is common to all formats, and the formats that are converted to and from it.
//!
//! Each format is one file here, with the keys of its documents and the conversion to and from the model. After
//! [`FormatDef::from_documents`], no code depends on the format of a node.

mod consolidated;
mod drafts;
mod format;
mod layout;
mod members;
mod model;
mod n5;
mod n5_compression;
mod v1;
mod v2;
mod v3;
mod v3_draft;
mod v3_experimental;

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
pub use consolidated::{Consolidation, Documents, StoredDocuments, same_document};
pub use format::{Change, Document, FormatDef, ReadContext, Source};
pub use layout::{Extent, Layout};
pub use model::{ArrayMetadata, Format, GroupMetadata, NodeMetadata};

/// All formats, in the order of detection.
static FORMATS: &[(Format, &dyn FormatDef)] = &[
    (Format::V3, &v3::V3),
    (Format::V2, &v2::V2),
    (Format::V1, &v1::V1),
    // The drafts are last, because detecting them costs another read.
    (Format::V3Experimental, &v3_experimental::V3Experimental),
    (Format::V3Draft, &v3_draft::V3Draft),
    (Format::N5, &n5::N5),
];

impl Format {
    /// Returns all formats, in the order in which they are tried on a hierarchy of unknown format.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().map(|(format, _)| *format)
    }

    /// Returns the definition of the format.
    #[doc(hidden)]
    pub fn def(self) -> &'static dyn FormatDef {
        FORMATS.iter().find(|(format, _)| *format == self).map_or(FORMATS[0].1, |(_, def)| *def)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.def().name())
    }
}

/// Parses the name of a format, such as `v3` or `n5`; the `v` may be omitted.
impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        fn without_v(name: &str) -> &str {
            name.strip_prefix('v').unwrap_or(name)
        }
        Self::all().find(|format| without_v(format.def().name()) == without_v(name)).ok_or_else(|| {
            let names: Vec<&str> = Self::all().map(|format| format.def().name()).collect();
            Error::argument(format!("unknown Zarr format '{name}'; expected one of {}", names.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_parsed_from_their_names() {
        for format in Format::all() {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        assert_eq!("2".parse::<Format>().unwrap(), Format::V2);
        assert_eq!("3-draft".parse::<Format>().unwrap(), Format::V3Draft);
        for unknown in ["", "v", "4", "vv2", "V3", "zarr"] {
            let error = unknown.parse::<Format>().unwrap_err();
            assert!(error.to_string().contains(&format!("'{unknown}'; expected one of v3, v2")), "{error}");
        }
    }
}
