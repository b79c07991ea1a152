//! Image pyramids, and the metadata of [OME-Zarr](https://ngff.openmicroscopy.org) that describe images.
//!
//! [`Downsample`] makes the smaller levels of an image, and [`ome`] reads, writes and validates its metadata.

pub mod ome;
pub mod pyramid;

pub use pyramid::{Downsample, downsample};
