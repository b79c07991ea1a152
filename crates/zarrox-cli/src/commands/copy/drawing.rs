//! The options of exported pictures.

use std::io::Write;

use clap::Args;
use zarrox::ArrayView;
use zarrox_files::picture::NAMES;

use crate::exit::Failure;

/// The options of exported pictures.
#[derive(Debug, Args)]
pub(super) struct Drawing {
    /// The colormap of a .png file: viridis (the default), gray, gray_r, magma, inferno, plasma, cividis, rdbu, prgn, coolwarm
    #[arg(long, value_name = "NAME", value_parser = NAMES, hide_possible_values = true)]
    cmap: Option<String>,

    /// The contrast limits: the values of the first and the last colour, such as 0,100 [default: the extremes, which need an
    /// extra pass]
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',', allow_hyphen_values = true)]
    range: Vec<f64>,

    /// The contrast limits as percentiles, such as 2,98
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',', conflicts_with = "range")]
    percentiles: Vec<f64>,

    /// Use a logarithmic norm
    #[arg(long)]
    log: bool,
}

impl Drawing {
    /// Returns the name of one of these options that was given.
    pub(super) fn option(&self) -> Option<&'static str> {
        let all = [
            ("--cmap", self.cmap.is_some()),
            ("--range", !self.range.is_empty()),
            ("--percentiles", !self.percentiles.is_empty()),
            ("--log", self.log),
        ];
        all.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }

    /// Writes the picture of a selection.
    #[cfg(feature = "images")]
    pub(super) fn draw(
        &self,
        view: &ArrayView<'_>,
        field: Option<&str>,
        memory: u64,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let mut picture = self.picture()?.memory(memory);
        if let Some(field) = field {
            picture = picture.field(field);
        }
        Ok(crate::interrupt::or_interrupted(picture.write(view, out))?)
    }

    /// Returns a picture with these options.
    #[cfg(feature = "images")]
    pub(super) fn picture(&self) -> zarrox::Result<zarrox_files::picture::Picture> {
        use zarrox_files::picture::{Colours, Picture, Scaling};

        use crate::exit::usage;

        let colours = self.cmap.as_deref().and_then(Colours::named).unwrap_or_default();
        let mut picture =
            Picture::new().colours(colours).scaling(if self.log { Scaling::Log } else { Scaling::Linear });
        picture = match self.range.as_slice() {
            [] => picture,
            &[low, high] => picture.range(low, high)?,
            _ => return Err(usage("--range takes two increasing numbers, such as 0,100")),
        };
        picture = match self.percentiles.as_slice() {
            [] => picture,
            &[low, high] => picture.percentiles(low, high)?,
            _ => return Err(usage("--percentiles takes two increasing numbers, such as 2,98")),
        };
        Ok(picture)
    }

    /// Fails: this build does not support pictures.
    #[cfg(not(feature = "images"))]
    pub(super) fn draw(
        &self,
        _: &ArrayView<'_>,
        _: Option<&str>,
        _: u64,
        _: &mut dyn Write,
    ) -> Result<(), Failure> {
        let message = "this build cannot write pictures; build zarrox with the feature `images`";
        Err(zarrox::Error::new(zarrox::ErrorKind::Unsupported, message).into())
    }
}
