//! Image pyramids, and [OME-Zarr](https://ngff.openmicroscopy.org) metadata for images.
//!
//! [`Downsample`] creates the pyramid levels of an image, and [`ome`] writes and validates image metadata.

pub mod ome;
pub mod pyramid;

pub use pyramid::{Downsample, Reduction, downsample};
