//! Encodes images whose pixels are the elements of an array as PNG or JPEG.

use std::io::Write;

use image::ExtendedColorType;
use image::codecs::jpeg::JpegEncoder;
use png::{BitDepth, ColorType, Encoder};
use zarrox::{DataType, Result};

use super::kind::StackKind;
use crate::input::{failed, unsupported};
use crate::placed::Placed;

/// The JPEG quality, from 1 to 100.
const QUALITY: u8 = 90;

/// The shape and pixel type of the images in a stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pixels {
    kind: StackKind,
    height: u32,
    width: u32,
    colour: ColorType,
    /// The size of a sample in bytes: 1 or 2.
    size: u8,
    /// True for booleans. The value `true` is encoded as white.
    is_truth: bool,
}

impl Pixels {
    /// Returns the shape and pixel type of the images of a selection.
    ///
    /// # Errors
    /// [`zarrox::ErrorKind::Unsupported`] if the image format does not support the data type.
    pub(super) fn of(placed: &Placed, kind: StackKind) -> Result<Self> {
        let data_type = placed.array.data_type();
        let shape: Vec<u64> = placed.result().map(|axis| axis.count).collect();
        let (size, is_truth) = match (data_type, kind) {
            (DataType::UInt8, _) => (1, false),
            (DataType::Bool, _) => (1, true),
            (DataType::UInt16, StackKind::Png) => (2, false),
            (_, StackKind::Jpeg) => {
                return Err(unsupported(format!("JPEG supports uint8, not {data_type}; write png or tiff")));
            }
            _ => {
                return Err(unsupported(format!(
                    "PNG supports uint8 and uint16, not {data_type}; use --cmap for colours, or tiff for unchanged elements"
                )));
            }
        };
        let colour = match (shape.get(3), kind) {
            (None | Some(1), _) => ColorType::Grayscale,
            (Some(2), StackKind::Png) => ColorType::GrayscaleAlpha,
            (Some(3), _) => ColorType::Rgb,
            (Some(4), StackKind::Png) => ColorType::Rgba,
            (Some(count), _) => {
                return Err(unsupported(format!("such images cannot have {count} channels; write tiff")));
            }
        };
        let most = if kind == StackKind::Jpeg { 65_535 } else { (1 << 31) - 1 };
        let side = |dim: usize| {
            let length = shape.get(dim).copied().unwrap_or(1);
            let length = u32::try_from(length).ok().filter(|&length| length <= most);
            length.ok_or_else(|| unsupported(format!("such images have at most {most} pixels along a side; the selection has the shape {shape:?}")))
        };
        Ok(Self { kind, height: side(1)?, width: side(2)?, colour, size, is_truth })
    }

    /// Returns the number of elements in an image.
    pub(super) fn elements(self) -> u64 {
        u64::from(self.height) * u64::from(self.width) * self.colour.samples() as u64
    }

    /// Returns the size of a decoded image in bytes.
    pub(super) fn size(self) -> u64 {
        self.elements().saturating_mul(self.size.into())
    }

    /// Encodes elements as an image.
    pub(super) fn encode(self, elements: &[u8], out: &mut impl Write) -> Result<()> {
        // PNG stores the most significant byte first.
        let changed: Option<Vec<u8>> = match (self.size, self.is_truth) {
            (_, true) => Some(elements.iter().map(|&truth| if truth == 0 { 0 } else { 255 }).collect()),
            (2, _) => {
                let swap =
                    |pair: &[u8]| u16::from_ne_bytes(pair.try_into().unwrap_or_default()).to_be_bytes();
                Some(elements.chunks_exact(2).flat_map(swap).collect())
            }
            _ => None,
        };
        let elements = changed.as_deref().unwrap_or(elements);
        if self.kind == StackKind::Jpeg {
            let colour =
                if self.colour == ColorType::Rgb { ExtendedColorType::Rgb8 } else { ExtendedColorType::L8 };
            return JpegEncoder::new_with_quality(out, QUALITY)
                .encode(elements, self.width, self.height, colour)
                .map_err(|error| match error {
                    image::ImageError::IoError(error) => failed("writing the image", error),
                    other => unsupported(format!("the image cannot be written: {other}")),
                });
        }
        let mut encoder = Encoder::new(out, self.width, self.height);
        encoder.set_color(self.colour);
        encoder.set_depth(if self.size == 2 { BitDepth::Sixteen } else { BitDepth::Eight });
        let mut writer = encoder.write_header().map_err(crate::picture::not_written)?;
        writer.write_image_data(elements).map_err(crate::picture::not_written)?;
        writer.finish().map_err(crate::picture::not_written)
    }
}
