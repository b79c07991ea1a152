//! [`StackKind`]: the formats of the images in a stack.

use std::path::Path;

/// The form of the images of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StackKind {
    /// PNG: unchanged elements of 8 and 16 bits, or colours of a colormap.
    Png,
    /// JPEG, which is lossy: 8-bit samples of gray, or of red, green and blue.
    Jpeg,
    /// TIFF: all data types that TIFF supports.
    Tiff,
}

impl StackKind {
    /// Returns the kind for the suffix of a file.
    pub fn of(path: impl AsRef<Path>) -> Option<Self> {
        let suffix = path.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        Some(match suffix.as_str() {
            "png" => Self::Png,
            "jpg" | "jpeg" => Self::Jpeg,
            "tif" | "tiff" => Self::Tiff,
            _ => return None,
        })
    }

    /// Returns the usual suffix of files.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Tiff => "tif",
        }
    }
}
