//! `zarrox resize`: changes the shape of an array.

use clap::Args;
use zarrox::Result;

use crate::args::{Global, OpenLengths};
use crate::exit::{Failure, usage};
use crate::opening;

/// Change the shape of an array: new elements have the fill value, and chunks that are cut off are erased
#[derive(Debug, Args)]
pub(crate) struct Resize {
    /// The array
    path: String,

    /// The new shape, such as 100,200; one -1 leaves a length as it is
    #[arg(allow_hyphen_values = true, value_name = "SHAPE")]
    shape: OpenLengths,

    /// Allow lengths to become smaller, by which elements are lost
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
            return Err(usage(format!("the shape {old:?} would become smaller; --shrink allows that")).into());
        }
        array.resize(&shape)?;
        Ok(array.flush()?)
    }
}
