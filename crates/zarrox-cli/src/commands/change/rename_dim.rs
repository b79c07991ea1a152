//! `zarrox rename-dim`: renames a dimension.

use clap::Args;
use zarrox::{Error, ErrorKind, Node, Result};

use crate::args::Global;
use crate::exit::Failure;
use crate::opening;

/// Rename a dimension, in an array or in all arrays below a group
///
/// Dimension names are read from `dimension_names`, or from xarray's attribute `_ARRAY_DIMENSIONS`.
#[derive(Debug, Args)]
pub(crate) struct RenameDim {
    /// The array or group
    path: String,

    /// The current name
    old: String,

    /// The new name
    new: String,
}

impl RenameDim {
    pub(crate) fn run(&self, global: &Global) -> Result<(), Failure> {
        let node = opening::open(&global.without_elements(), &self.path)?;
        let group = match node {
            Node::Array(mut array) => {
                array.rename_dimension(&self.old, &self.new)?;
                return Ok(array.flush()?);
            }
            Node::Group(group) => group,
        };
        let mut arrays = Vec::new();
        group.visit(&mut |_, node| {
            if let Ok(Node::Array(array)) = node {
                arrays.push(array.clone());
            }
            Ok(())
        })?;
        let mut renamed = 0;
        for mut array in arrays {
            match array.rename_dimension(&self.old, &self.new) {
                Ok(()) => renamed += 1,
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        if renamed == 0 {
            let message = format!("no array in '{}' has a dimension named '{}'", self.path, self.old);
            return Err(Error::new(ErrorKind::NotFound, message).into());
        }
        Ok(group.flush()?)
    }
}
