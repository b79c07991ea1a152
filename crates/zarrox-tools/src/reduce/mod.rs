//! Reduction of blocks of elements: to one element each, or to statistics of each.
//!
//! Levels of images, statistics along axes, the answers of the server and plots are all made here. A box of elements is
//! [divided](Division) into blocks along each axis. A block that lies in one box is reduced as a whole, to an element of the same
//! type. The elements of other blocks come in several boxes, and their statistics are kept until the last of them.

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
