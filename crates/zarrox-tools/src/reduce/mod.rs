//! Reduction of blocks of elements to single elements or to statistics.
//!
//! Pyramid levels, statistics along axes, responses of the server and plots are computed here. A box of elements is
//! [divided](Division) into blocks along each axis. A block that lies inside one box is reduced as a whole, to an element of the
//! same data type. For a block that spans several boxes, statistics are accumulated until the last of these boxes has been read.

mod division;
mod measure;
mod moments;
mod number;
mod reducer;
mod reduction;
mod running;
mod sample;
mod whole;

pub use division::Division;
pub use measure::Measure;
pub use reducer::{Blocks, Reducer};
pub use reduction::Reduction;

pub(crate) use moments::{Moments, moments};
pub(crate) use number::{has_loops, with_number};
pub(crate) use running::{Running, running, size};
pub use sample::MOST;
pub use whole::{Whole, whole};
