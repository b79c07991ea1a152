//! `zarrox create`: creates an array or a group.

use clap::Args;
use zarrox::internals::data_type::split_sub_array;
use zarrox::{OpenMode, Result};

use crate::args::{Global, Lengths};
use crate::cleanup::StoreFile;
use crate::creation::{self, Creation};
use crate::exit::{Failure, usage};
use crate::suggest::{self, suggesting};

/// Create an array, or with --group a group
///
/// Missing groups above the node are created as well.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The path of the new node
    path: String,

    /// The shape, such as 10,20; empty for an array without dimensions, which has one element
    #[arg(long, value_name = "LENGTHS", required_unless_present = "group", conflicts_with = "group")]
    shape: Option<Lengths>,

    /// The data type: float32, <f4, bool, string …; for structured data types, JSON as in v2 or v3 metadata: '[["x", "<f4"],
    /// ["y", "<i2"]]'. A shape in front, as in (2,3)f4, makes each element a subarray, whose dimensions are added to those of the
    /// array
    #[arg(long, value_name = "TYPE", required_unless_present = "group", conflicts_with = "group")]
    #[arg(value_parser = suggesting(suggest::text, suggest::data_types), hide_possible_values = true)]
    dtype: Option<String>,

    /// Create a group
    #[arg(long)]
    group: bool,

    #[command(flatten)]
    creation: Creation,
}

impl Create {
    pub(crate) fn run(&self, global: &Global) -> Result<(), Failure> {
        match (&self.shape, &self.dtype) {
            (Some(Lengths(shape)), Some(dtype)) => {
                let (inner, dtype) =
                    split_sub_array(dtype).map_err(|error| usage(format!("--dtype: {error}")))?;
                let (data_type, _) = creation::data_type(dtype)?;
                StoreFile::or_removed(global, &self.path, || {
                    let builder = global.options().create_array(&self.path).sub_array(inner);
                    self.creation.apply(builder.data_type(data_type), shape)?.create()?.flush()
                })?;
            }
            _ => StoreFile::or_removed(global, &self.path, || self.create_group(global))?,
        }
        Ok(())
    }

    fn create_group(&self, global: &Global) -> Result<()> {
        if let Some(option) = self.creation.array_option() {
            return Err(usage(format!("{option} applies to arrays, not to groups")));
        }
        let attributes = self.creation.attributes()?;
        let mode = if self.creation.force { OpenMode::Write } else { OpenMode::CreateNew };
        let mut group = global.options().mode(mode).create_group(&self.path)?;
        if !attributes.is_empty() {
            group.set_attributes(attributes)?;
        }
        group.flush()
    }
}
