//! OME-Zarr: multi-resolution images with axes, scales and channels.
//!
//! [`Image`] describes an image. The description is written to the attributes of a group, in the form of OME-Zarr 0.4 or 0.5, or
//! of the convention [multiscales](https://github.com/zarr-conventions/multiscales). [`Downsample`](crate::pyramid::Downsample)
//! writes these attributes, and [`validate()`] checks existing metadata.

mod axis;
mod channel;
mod convention;
mod image;
mod labels;
mod v04;
mod v05;
pub mod validate;

use std::fmt;
use std::str::FromStr;

use zarrox_core::json::{Json, Map};
use zarrox_core::{Error, Format, Result};

pub use axis::{Axis, AxisKind};
pub use channel::{Channel, DisplayWindow};
pub use image::{Image, ImageLevel};
pub(crate) use labels::list_label;
pub use validate::{Issue, Severity, validate};

use zarrox::internals::argument;

/// A form of metadata for multi-resolution images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Multiscales {
    /// OME-Zarr 0.4, in groups of Zarr v2.
    Ome04,
    /// OME-Zarr 0.5, in groups of Zarr v3.
    Ome05,
    /// The convention `multiscales` of zarr-conventions, in groups of Zarr v2 and v3.
    Convention,
}

impl Multiscales {
    /// Returns the name: `0.4`, `0.5` or `multiscales`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ome04 => v04::VERSION,
            Self::Ome05 => v05::VERSION,
            Self::Convention => "multiscales",
        }
    }

    /// Returns the default form for groups of a format, which is the version of OME-Zarr for this format.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](zarrox::ErrorKind::InvalidArgument) when no version of OME-Zarr supports the format.
    pub fn for_format(format: Format) -> Result<Self> {
        match format {
            Format::V2 => Ok(Self::Ome04),
            Format::V3 => Ok(Self::Ome05),
            other => Err(argument(format!("OME-Zarr requires Zarr v2 or v3, not {other}"))),
        }
    }

    /// Returns the format that groups must have; `None` if several formats are possible.
    pub fn format(self) -> Option<Format> {
        match self {
            Self::Ome04 => Some(Format::V2),
            Self::Ome05 => Some(Format::V3),
            Self::Convention => None,
        }
    }

    /// Returns an error if this form is not possible in groups of a format.
    pub(crate) fn check(self, format: Format) -> Result<()> {
        let fits = match self.format() {
            Some(own) => own == format,
            None => matches!(format, Format::V2 | Format::V3),
        };
        if fits {
            return Ok(());
        }
        let own = self.format().map_or("v2 or v3".to_owned(), |format| format.to_string());
        let message = format!("{self} requires groups of Zarr {own}, not {format}; give another destination");
        Err(argument(message))
    }

    /// Writes the description of an image into the attributes of its group. All other attributes are left unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](zarrox::ErrorKind::InvalidArgument) when the form does not allow the axes, or when a scale or
    /// translation does not have one number for each axis.
    pub fn describe(self, image: &Image, attributes: &mut Map) -> Result<()> {
        image.check_lengths()?;
        match self {
            Self::Ome04 => v04::describe(image, attributes),
            Self::Ome05 => v05::describe(image, attributes),
            Self::Convention => {
                convention::describe(image, attributes);
                Ok(())
            }
        }
    }

    /// Removes the description of an image from the attributes of its group.
    pub(crate) fn forget(self, attributes: &mut Map) {
        let members = match self {
            Self::Ome04 | Self::Convention => Some(attributes),
            Self::Ome05 => attributes.get_mut(v05::OME).and_then(Json::as_object_mut),
        };
        members.map(|members| members.remove("multiscales"));
    }
}

impl fmt::Display for Multiscales {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Convention => f.write_str("the convention multiscales"),
            version => write!(f, "OME-Zarr {}", version.name()),
        }
    }
}

impl FromStr for Multiscales {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let all = [Self::Ome04, Self::Ome05, Self::Convention];
        let found = all.into_iter().find(|form| form.name() == text);
        found.ok_or_else(|| {
            argument(format!("unknown version '{text}' of OME-Zarr; the versions are 0.4 and 0.5"))
        })
    }
}
