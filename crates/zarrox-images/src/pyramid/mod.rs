//! Image pyramids: each level is downsampled from the previous one, in one pass over the data.
//!
//! ```
//! use zarrox::{prelude::*, s};
//! use zarrox_images::pyramid::{Downsample, Reduction};
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("image.zarr");
//! let image = zarrox::create_group(&path)?;
//! let array = image.create_array("0").shape([100, 100]).data_type(DataType::UInt8).chunks([32, 32]).create()?;
//! array.write(s![..50, ..], 8)?;
//!
//! Downsample::new().method(Reduction::Mean).axes(["y".parse()?, "x".parse()?]).run(path.join("0"))?;
//! assert_eq!(image.open_array("1")?.shape(), [50, 50]);
//! assert!(zarrox_images::ome::validate(&path)?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Values
//!
//! Each level below the first one is downsampled from the previous level, with a [`Reduction`] and a scale factor for each
//! dimension. If a length is not a multiple of its factor, the last cell has fewer elements, and only these are taken into
//! account. Means are rounded at each level.
//!
//! # Memory
//!
//! Threads read neighbouring parts of the source. Each thread has one block of whole chunks per level in memory, and all threads
//! share a few incomplete blocks. The memory therefore depends on the size of chunks and on the number of levels, not on the size
//! of the image. If the memory limit is too small for all levels at once, the remaining levels are computed from a stored level
//! in another pass.
//!
//! # Interruption
//!
//! As in [conversions](mod@zarrox_tools::copy#interruption), chunks are stored first, then the documents of arrays, and the
//! description of the image last. After an interruption, repeating the call continues the work: stored blocks are read instead of
//! being recomputed.

mod chain;
mod levels;
mod make;
mod options;
mod pass;
mod plan;
mod source;

use zarrox_core::Result;

use zarrox::{OpenMode, Place};
use zarrox_tools::internals::check_apart;

pub use options::Downsample;
pub use plan::{Pyramid, PyramidLevel, PyramidPass};
pub use zarrox_tools::reduce::Reduction;

impl Downsample {
    /// Plans levels beside an array, in the array's group. If the source is a group, the array is the highest resolution of its
    /// image, or its only array.
    ///
    /// # Errors
    /// When the array cannot be opened, or an option does not fit the array.
    pub fn plan(&self, source: impl Into<Place>) -> Result<Pyramid> {
        let node = self.copier.settings().opening().place(source)?.open_node()?;
        plan::beside(self, source::array_of(node)?)
    }

    /// Plans a new group that contains a copy of an array, and its levels.
    ///
    /// # Errors
    /// The errors of [`plan`](Self::plan), and an error when one location contains the other.
    pub fn plan_into(&self, source: impl Into<Place>, destination: impl Into<Place>) -> Result<Pyramid> {
        let (source, destination) = (source.into(), destination.into());
        check_apart(&source, &destination)?;
        let opening = self.copier.settings().opening();
        let node = opening.clone().mode(OpenMode::Read).place(source)?.open_node()?;
        plan::into(self, source::array_of(node)?, opening.new_place(destination)?)
    }

    /// Creates levels beside an array, in the array's group, and writes the description of the image to this group. After an
    /// interruption, repeating the call continues the work.
    ///
    /// # Errors
    /// The errors of [`plan`](Self::plan); [`ErrorKind::AlreadyExists`](zarrox::ErrorKind::AlreadyExists) when a level exists;
    /// [`ErrorKind::Unsupported`](zarrox::ErrorKind::Unsupported) when the method does not support the elements; and the errors
    /// of reading and writing.
    pub fn run(&self, source: impl Into<Place>) -> Result<Vec<PyramidLevel>> {
        self.plan(source)?.run()
    }

    /// Creates a group that contains a copy of an array, its levels, and the description of the image. If the chunks of the first
    /// level need not change, they are copied without decoding. After an interruption, repeating the call continues the work.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run); [`ErrorKind::AlreadyExists`](zarrox::ErrorKind::AlreadyExists) when the destination is
    /// not empty.
    pub fn run_into(
        &self,
        source: impl Into<Place>,
        destination: impl Into<Place>,
    ) -> Result<Vec<PyramidLevel>> {
        self.plan_into(source, destination)?.run()
    }
}

/// Creates levels beside an array, downsampled to the mean with a scale factor of 2, and writes the description of the image.
/// [`Downsample`] does the same with options.
///
/// # Errors
/// The errors of [`Downsample::run`].
pub fn downsample(source: impl Into<Place>) -> Result<Vec<PyramidLevel>> {
    Downsample::new().run(source)
}
