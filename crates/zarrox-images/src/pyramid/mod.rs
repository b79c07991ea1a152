//! Images in several resolutions: each level is made of the one before, in one pass over the data.
//!
//! ```
//! use zarrox::{prelude::*, s};
//! use zarrox_images::pyramid::{Downsample, Method};
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("image.zarr");
//! let image = zarrox::create_group(&path)?;
//! let array = image.create_array("0").shape([100, 100]).data_type(DataType::UInt8).chunks([32, 32]).create()?;
//! array.write(s![..50, ..], 8)?;
//!
//! Downsample::new().method(Method::Mean).axes(["y".parse()?, "x".parse()?]).run(path.join("0"))?;
//! assert_eq!(image.open_array("1")?.shape(), [50, 50]);
//! assert!(zarrox_images::ome::validate(&path)?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Values
//!
//! The levels below the first one are made of the level before, by one [`Method`] and by factors for each dimension. Where a length is
//! not a multiple of its factor, the last cell has fewer elements, and only those count. Means are rounded at each level.
//!
//! # Memory
//!
//! Threads read parts of the source that belong together. Of each level, a thread has one block of whole chunks in memory, and all
//! threads together have a few that are not complete. So the memory depends on the size of chunks and on the number of levels, and not
//! on the size of the image. If it is not enough for all levels at once, later levels are made of a stored one in another pass.
//!
//! # Interruption
//!
//! Chunks are stored first, then the documents of arrays, and the description of the image last, as [conversions](mod@zarrox_tools::copy#interruption)
//! do. After an interruption, the same call continues: blocks that are stored are read and not made again.

mod chain;
mod elements;
mod kernel;
mod levels;
mod make;
mod method;
mod options;
mod pass;
mod pixel;
mod plan;
mod source;

use zarrox_core::Result;

use zarrox::{OpenMode, Place};
use zarrox_tools::internals::check_apart;

pub use method::Method;
pub use options::Downsample;
pub use plan::{Pyramid, PyramidLevel, PyramidPass};

impl Downsample {
    /// Plans levels beside an array, in the group that it is in. For a group, the array is that of its highest resolution.
    ///
    /// # Errors
    /// When the array cannot be opened, or an option does not fit to it.
    pub fn plan(&self, source: impl Into<Place>) -> Result<Pyramid> {
        let node = self.copier.settings().opening().place(source)?.open_node()?;
        plan::beside(self, source::array_of(node)?)
    }

    /// Plans a new group with a copy of an array and its levels.
    ///
    /// # Errors
    /// The errors of [`plan`](Self::plan); when one place contains the other.
    pub fn plan_into(&self, source: impl Into<Place>, destination: impl Into<Place>) -> Result<Pyramid> {
        let (source, destination) = (source.into(), destination.into());
        check_apart(&source, &destination)?;
        let opening = self.copier.settings().opening();
        let node = opening.clone().mode(OpenMode::Read).place(source)?.open_node()?;
        plan::into(self, source::array_of(node)?, opening.new_place(destination)?)
    }

    /// Makes levels beside an array, in the group that it is in, and describes the image there. After an interruption, the same call
    /// continues.
    ///
    /// # Errors
    /// The errors of [`plan`](Self::plan); [`ErrorKind::AlreadyExists`](zarrox::ErrorKind::AlreadyExists) when a level is there;
    /// [`ErrorKind::Unsupported`](zarrox::ErrorKind::Unsupported) when elements cannot be reduced so; the errors of reading and writing.
    pub fn run(&self, source: impl Into<Place>) -> Result<Vec<PyramidLevel>> {
        self.plan(source)?.run()
    }

    /// Makes a new group with a copy of an array, its levels, and the description of the image. Chunks of the first level that need not
    /// change are copied as they are. After an interruption, the same call continues.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run); [`ErrorKind::AlreadyExists`](zarrox::ErrorKind::AlreadyExists) when something is at the
    /// destination.
    pub fn run_into(
        &self,
        source: impl Into<Place>,
        destination: impl Into<Place>,
    ) -> Result<Vec<PyramidLevel>> {
        self.plan_into(source, destination)?.run()
    }
}

/// Makes levels beside an array, halved by the mean, and describes the image. [`Downsample`] has options.
///
/// # Errors
/// The errors of [`Downsample::run`].
pub fn downsample(source: impl Into<Place>) -> Result<Vec<PyramidLevel>> {
    Downsample::new().run(source)
}
