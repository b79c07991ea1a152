//! Pictures: maps values to colours, and writes PNG files.

mod colours;
#[cfg(feature = "png")]
mod png;
mod scale;
mod values;
#[cfg(feature = "png")]
mod write;

pub use colours::{Colour, Colours, MAPS, NAMES};
#[cfg(feature = "png")]
pub(crate) use png::not_written;
#[cfg(feature = "png")]
pub use png::{coloured, picture};
pub use scale::{Scale, Scaling};
pub use values::{floats, missing_values};
#[cfg(feature = "png")]
pub use write::Picture;
