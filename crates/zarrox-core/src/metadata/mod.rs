//! One model of nodes for all formats, and the formats that are converted to and from it.
//!
//! A format is one file here: the keys of its documents, and the conversion to and from the model. After
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

pub use consolidated::{Consolidation, Documents, StoredDocuments, same_document};
pub use format::{Change, Document, FormatDef, ReadContext, Source};
pub use layout::{Extent, Layout};
pub use model::{ArrayMetadata, Format, GroupMetadata, NodeMetadata};

/// All formats, in the order of detection.
static FORMATS: &[(Format, &dyn FormatDef)] = &[
    (Format::V3, &v3::V3),
    (Format::V2, &v2::V2),
    (Format::V1, &v1::V1),
    // The drafts are last, because their detection costs a further read.
    (Format::V3Experimental, &v3_experimental::V3Experimental),
    (Format::V3Draft, &v3_draft::V3Draft),
    (Format::N5, &n5::N5),
];

impl Format {
    /// Returns all formats, in the order in which a hierarchy of unknown format is tested for them.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().map(|(format, _)| *format)
    }

    /// Returns the format with this display name, such as `v3`.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|format| format.to_string() == name)
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
