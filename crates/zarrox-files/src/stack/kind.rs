//! [`StackKind`]: the image formats of stacks.

use std::path::Path;

/// The format of the images in a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StackKind {
    /// PNG: unchanged 8-bit or 16-bit elements, or colours from a colormap.
    Png,
    /// JPEG, which is lossy: 8-bit grayscale or RGB samples.
    Jpeg,
    /// TIFF: all data types that TIFF supports.
    Tiff,
}

impl StackKind {
    /// Returns the format for the suffix of a file name.
    pub fn of(path: impl AsRef<Path>) -> Option<Self> {
        let suffix = path.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        Some(match suffix.as_str() {
            "png" => Self::Png,
            "jpg" | "jpeg" => Self::Jpeg,
            "tif" | "tiff" => Self::Tiff,
            _ => return None,
        })
    }

    /// Returns the usual file name suffix.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Tiff => "tif",
        }
    }
}
