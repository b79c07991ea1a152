//! `zarrox resize`: changes the shape of an array.

use clap::Args;
use zarrox::Result;

use crate::args::{Global, OpenLengths};
use crate::exit::{Failure, usage};
use crate::opening;

/// Change the shape of an array
///
/// New elements have the fill value. Chunks outside the new shape are deleted.
#[derive(Debug, Args)]
pub(crate) struct Resize {
    /// The array
    path: String,

    /// The new shape, such as 100,200; -1 keeps the current length of a dimension
    #[arg(allow_hyphen_values = true, value_name = "SHAPE")]
    shape: OpenLengths,

    /// Allow dimensions to shrink, which deletes elements
    #[arg(long)]
    shrink: bool,
}

impl Resize {
    pub(crate) fn run(&self, global: &Global) -> Result<(), Failure> {
        let mut array = opening::open(&global.options(), &self.path)?.into_array()?;
        let old = array.shape().to_vec();
        if self.shape.0.len() != old.len() {
            return Err(usage(format!("the array has {} dimensions: {old:?}", old.len())).into());
        }
        let shape: Vec<u64> =
            self.shape.0.iter().zip(&old).map(|(length, old)| length.unwrap_or(*old)).collect();
        let is_cut = shape.iter().zip(&old).any(|(new, old)| new < old);
        if is_cut && !self.shrink {
            return Err(usage(format!("the shape {old:?} would shrink; --shrink allows that")).into());
        }
        array.resize(&shape)?;
        Ok(array.flush()?)
    }
}
