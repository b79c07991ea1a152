//! The options for exporting TIFF files and image stacks.

use clap::{Args, ValueEnum};
#[cfg(feature = "images")]
use zarrox::{Error, ErrorKind, Node, Result, Selection};
use zarrox_files::Export;
#[cfg(feature = "images")]
pub(super) use zarrox_files::Names;

use super::drawing::Drawing;
use crate::exit::usage;

/// The image names in a build without images: an uninhabited type.
#[cfg(not(feature = "images"))]
#[derive(Debug)]
pub(super) enum Names {}

/// The options of exported TIFF, and of stacks of images.
#[derive(Debug, Args)]
pub(super) struct Imaging {
    /// Write a directory of images, one for each index along the first dimension, named 0000.png, 0001.png, and so on
    #[arg(long, value_name = "KIND")]
    stack: Option<Kind>,

    /// The compression of a .tif file: deflate (the default), zstd or none
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    compression: Option<Compression>,
}

/// The image format of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// PNG: elements of 8 and 16 bits unchanged, or colours with --cmap
    Png,
    /// JPEG: elements of 8 bits, with lossy compression
    Jpeg,
    /// TIFF: all numeric data types
    Tiff,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Compression {
    Deflate,
    Zstd,
    None,
}

impl Imaging {
    /// Fails if an option was given that applies only to images.
    pub(super) fn refuse(&self) -> Result<()> {
        match self.compression {
            Some(_) => Err(usage("--compression applies only to .tif files")),
            None => Ok(()),
        }
    }
}

#[cfg(feature = "images")]
impl Imaging {
    /// Returns the file names of an image stack, if the output is one.
    pub(super) fn names(&self, out: &str) -> Result<Option<Names>> {
        let pattern = Names::of_pattern(out)?;
        match (pattern, self.stack) {
            // File names of other formats may have the same form.
            (Some(_), None) if zarrox_files::StackKind::of(out).is_none() => Ok(None),
            (Some(names), _) => self.kind(out).map(|_| Some(names)),
            (None, Some(_)) if out == "-" => Err(usage("a stack of images cannot be written to a stream")),
            (None, Some(kind)) => Ok(Some(Names::in_directory(out, kind.library().suffix()))),
            (None, None) => Ok(None),
        }
    }

    /// Returns the format of the images.
    fn kind(&self, out: &str) -> Result<zarrox_files::StackKind> {
        let given = self.stack.map(Kind::library);
        given.or_else(|| zarrox_files::StackKind::of(out)).ok_or_else(|| {
            usage(format!("the image name '{out}' has no known suffix; give --stack png, jpeg or tiff"))
        })
    }

    /// Sets the compression of an export.
    pub(super) fn compressed(&self, export: Export) -> Export {
        self.compression
            .into_iter()
            .fold(export, |export, compression| export.compression(compression.library()))
    }

    /// Writes an image for each index along the first dimension. `limits` contains the memory limit, and whether existing files
    /// are replaced.
    pub(super) fn write_stack(
        &self,
        node: &Node,
        selection: Selection,
        (names, out): (&Names, &str),
        drawing: Option<&Drawing>,
        (memory, overwrite): (u64, bool),
        tell: impl Fn(u64) -> Result<()> + Send + Sync + 'static,
    ) -> Result<()> {
        let kind = self.kind(out)?;
        if kind != zarrox_files::StackKind::Tiff {
            self.refuse()?;
        }
        let mut stack = zarrox_files::Stack::new(kind)
            .select(selection)
            .memory(memory)
            .overwrite(overwrite)
            .sync(crate::files::flushes())
            .on_progress(tell);
        if let Some(drawing) = drawing {
            stack = stack.picture(drawing.picture()?);
        }
        if let Some(compression) = self.compression {
            stack = stack.compression(compression.library());
        }
        crate::interrupt::or_interrupted(stack.write(node, names)).map(drop).map_err(|error| {
            match error.kind() {
                ErrorKind::AlreadyExists => {
                    Error::new(error.kind(), format!("{error}; --force replaces images"))
                }
                _ => error,
            }
        })
    }
}

#[cfg(feature = "images")]
impl Kind {
    fn library(self) -> zarrox_files::StackKind {
        match self {
            Self::Png => zarrox_files::StackKind::Png,
            Self::Jpeg => zarrox_files::StackKind::Jpeg,
            Self::Tiff => zarrox_files::StackKind::Tiff,
        }
    }
}

#[cfg(feature = "images")]
impl Compression {
    fn library(self) -> zarrox_files::TiffCompression {
        match self {
            Self::Deflate => zarrox_files::TiffCompression::Deflate,
            Self::Zstd => zarrox_files::TiffCompression::Zstandard,
            Self::None => zarrox_files::TiffCompression::None,
        }
    }
}

#[cfg(not(feature = "images"))]
impl Imaging {
    /// Fails: this build does not support images.
    pub(super) fn names(&self, _: &str) -> Result<Option<Names>> {
        match self.stack {
            Some(_) => {
                let message = "this build cannot write images; build zarrox with the feature `images`";
                Err(zarrox::Error::new(zarrox::ErrorKind::Unsupported, message))
            }
            None => Ok(None),
        }
    }

    pub(super) fn compressed(&self, export: Export) -> Export {
        export
    }

    pub(super) fn write_stack(
        &self,
        _: &Node,
        _: Selection,
        (names, _): (&Names, &str),
        _: Option<&Drawing>,
        _: (u64, bool),
        _: impl Fn(u64) -> Result<()> + Send + Sync + 'static,
    ) -> Result<()> {
        match *names {}
    }
}
