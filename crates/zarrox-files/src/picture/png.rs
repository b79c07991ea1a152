//! Writes PNG files.

use std::io::Write;

use ::png::{BitDepth, ColorType, Compression, Encoder, EncodingError, Writer};
use zarrox::{DataType, Error, ErrorKind, Result};

use super::scale::Scale;
use crate::input::failed;

/// The shape of a picture, and the kind of its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) height: u32,
    pub(super) width: u32,
    /// The number of channels if the elements are pixels; `None` if they are values.
    pub(super) channels: Option<usize>,
}

impl Form {
    /// Returns the form of a picture of elements with the given shape. Bytes are pixels if the last dimension has length
    /// 3 or 4. Other dimensions of length 1 are dropped.
    pub(super) fn of(shape: &[u64], data_type: &DataType) -> Result<Self> {
        let long = |shape: &[u64]| -> Vec<u64> { shape.iter().copied().filter(|&n| n != 1).collect() };
        if let (&[ref sides @ .., channels @ (3 | 4)], DataType::UInt8) = (shape, data_type) {
            let sides = if sides.len() == 2 { sides.to_vec() } else { long(sides) };
            if let &[height, width] = sides.as_slice() {
                return Self::new(height, width, usize::try_from(channels).ok());
            }
        }
        let sides = if shape.len() == 2 { shape.to_vec() } else { long(shape) };
        match sides.as_slice() {
            &[height, width] => Self::new(height, width, None),
            &[width] => Self::new(1, width, None),
            [] => Self::new(1, 1, None),
            _ => Err(bad(format!(
                "a picture needs two dimensions, or for bytes a third one of 3 or 4 channels; the selection has the shape {shape:?}"
            ))),
        }
    }

    /// Returns the form of a picture with the given height and width.
    pub(super) fn new(height: u64, width: u64, channels: Option<usize>) -> Result<Self> {
        let side = |length: u64| u32::try_from(length).ok().filter(|&length| length < 1 << 31);
        match (side(height), side(width)) {
            (Some(0), _) | (_, Some(0)) => Err(bad("a picture has at least one pixel")),
            (Some(height), Some(width)) => Ok(Self { height, width, channels }),
            _ => Err(bad(format!("a PNG image cannot have {height} x {width} pixels"))),
        }
    }

    /// Starts a file.
    pub(super) fn begin<W: Write>(self, out: W, compression: Compression) -> Result<Writer<W>> {
        let mut encoder = Encoder::new(out, self.width, self.height);
        encoder.set_color(if self.channels == Some(3) { ColorType::Rgb } else { ColorType::Rgba });
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(compression);
        encoder.write_header().map_err(not_written)
    }
}

/// Writes a picture of values in row-major order.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] if the picture has no pixels or too many.
pub fn picture(values: &[f64], height: usize, width: usize, scale: &Scale) -> Result<Vec<u8>> {
    let pixels: Vec<u8> = values.iter().flat_map(|value| scale.colour(*value)).collect();
    encode(&pixels, height, width, None)
}

/// Writes a picture of pixels with three or four 8-bit channels.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] if the picture has no pixels or too many.
pub fn coloured(pixels: &[u8], height: usize, width: usize, channels: usize) -> Result<Vec<u8>> {
    encode(pixels, height, width, Some(channels))
}

fn encode(pixels: &[u8], height: usize, width: usize, channels: Option<usize>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let form = Form::new(height as u64, width as u64, channels)?;
    let mut writer = form.begin(&mut bytes, Compression::Fast)?;
    writer.write_image_data(pixels).map_err(not_written)?;
    writer.finish().map_err(not_written)?;
    Ok(bytes)
}

/// Returns the error for a failed write.
pub(crate) fn not_written(error: EncodingError) -> Error {
    match error {
        EncodingError::IoError(error) => failed("writing the picture", error),
        error => bad(format!("the picture cannot be made: {error}")),
    }
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

#[cfg(test)]
mod tests {
    use super::super::{Colours, Scaling};
    use super::*;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn pictures_can_be_decoded() {
        let scale = Scale { low: 0.0, high: 5.0, scaling: Scaling::Linear, colours: Colours::default() };
        let picture = picture(&[0.0, 1.0, 2.0, 3.0, f64::NAN, 5.0], 2, 3, &scale).unwrap();
        let mut reader = ::png::Decoder::new(std::io::Cursor::new(picture)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (3, 2));
        assert_eq!(pixels[..4], [68, 1, 84, 255]);
        assert_eq!((pixels[19], &pixels[20..]), (0, &[253, 231, 37, 255][..]));
        assert_error(coloured(&[], 0, 3, 3), ErrorKind::InvalidArgument, "at least one pixel");
    }

    #[test]
    fn the_form_follows_the_shape() {
        let of = |shape: &[u64], data_type: DataType| {
            let form = Form::of(shape, &data_type).ok()?;
            Some((form.height, form.width, form.channels))
        };
        assert_eq!(of(&[4, 3], DataType::UInt8), Some((4, 3, None)));
        assert_eq!(of(&[4, 5, 3], DataType::UInt8), Some((4, 5, Some(3))));
        assert_eq!(of(&[1, 4, 5, 4], DataType::UInt8), Some((4, 5, Some(4))));
        assert_eq!(of(&[4, 5, 3], DataType::UInt16), None);
        assert_eq!(of(&[1, 4, 5], DataType::Float32), Some((4, 5, None)));
        assert_eq!(of(&[1, 7], DataType::Float32), Some((1, 7, None)));
        assert_eq!(of(&[7], DataType::Float32), Some((1, 7, None)));
        assert_eq!(of(&[0, 7], DataType::Float32), None);
        assert_eq!(of(&[1 << 40, 7], DataType::Float32), None);
    }
}
