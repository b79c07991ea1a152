//! Image pyramids, and the [OME-Zarr](https://ngff.openmicroscopy.org) metadata of images.
//!
//! [`Downsample`] creates the pyramid levels of an image, and [`ome`] writes and validates its metadata.

pub mod ome;
pub mod pyramid;

pub use pyramid::{Downsample, downsample};
