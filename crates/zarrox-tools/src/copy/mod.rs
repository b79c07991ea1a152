//! Copies of arrays, groups and hierarchies between any stores and formats.
//!
//! ```
//! use zarrox::codecs::Zstd;
//! use zarrox::{prelude::*, s};
//! use zarrox_tools::copy::{Copier, IfExists};
//! # let directory = tempfile::tempdir()?;
//! # let (sea, copy, small) = (directory.path().join("sea.zarr"), directory.path().join("copy.zarr"), directory.path().join("small.zarr"));
//! # let old = directory.path().join("old.zarr");
//! # let root = zarrox::create_group(&sea)?;
//! # root.create_array("depth").shape([40, 80]).data_type(DataType::Int32).chunks([10, 10]).create()?.write(s![3.., ..], 7)?;
//!
//! zarrox_tools::copy(&sea, &copy)?; // encoded chunks unchanged
//! Copier::new().chunks([20, 80]).compressor(Zstd::level(9)).run(sea.join("depth"), &small)?;
//! assert_eq!(zarrox::open_array(&small)?.get::<i32>([3, 5])?, 7);
//!
//! root.create_group("later")?;
//! Copier::new().if_exists(IfExists::Update).run(&sea, &copy)?; // only differences
//! assert!(zarrox::open_group(&copy)?.contains("later")?);
//!
//! let conversion = Copier::new().format(Format::V2).plan(&small, &old)?;
//! println!("{conversion}"); // the plan; nothing has been written yet
//! conversion.run()?;
//! assert_eq!(zarrox::open(&old)?.format(), Format::V2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Preserved properties
//!
//! All values are preserved bit by bit. Attributes, dimension names and fill values are preserved as well, unless xarray would
//! then mask different elements in the other format (see [`Copier::keep_fill_values`]). Missing chunks stay missing. If both
//! formats support the codecs, the bytes of chunks are copied; otherwise chunks are decoded and encoded. xarray's attribute
//! `_ARRAY_DIMENSIONS` becomes `dimension_names` in a format that has them, and vice versa. Properties that the target cannot
//! express are detected before anything is written, and are an error unless their loss is [allowed](Copier::allow).
//!
//! # Interruption
//!
//! A copy writes the documents after all chunks, and the document of the root last, so that any node that can be opened is
//! complete. While a copy is incomplete, the destination contains a journal, [`JOURNAL`]. After an interruption, running the same
//! copy again continues it.
//!
//! A conversion [in place](Copier::plan_in_place) does not change chunks. It writes the new documents, from the innermost nodes
//! to the root, and then removes the old ones, starting with the root. At any time, the hierarchy is complete in one of the two
//! formats. After an interruption, running the same conversion again finishes it.

mod chosen;
mod chunks;
mod codecs;
mod conversion;
mod copier;
mod copying;
mod elements;
mod glob;
mod inventory;
mod merge;
pub mod missing;
mod moving;
mod plan;
mod rechunking;
mod report;
mod reshard;
mod rewrite;
mod run;
mod settings;
mod target;
mod translation;
mod translator;

pub use chunks::pool;
pub use conversion::{Conversion, check_apart, known_nodes};
pub use copier::{Copier, IfExists, copy};
pub use copying::{Copying, Destination};
pub use elements::{Access, PlainElements, copy_elements};
pub use glob::Glob;
#[doc(hidden)]
pub use glob::Globs;
pub use rechunking::{CopyPlan, Way};
pub use report::{Action, CopyReport, Effect, NodeReport, Obstacle, Property, Skipped};
pub use settings::{Settings, Verify};
pub use translation::Translation;
pub use zarrox::internals::JOURNAL;
