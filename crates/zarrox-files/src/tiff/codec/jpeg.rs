//! JPEG, with tables that are shared by all strips and tiles of an image.

use zarrox::Result;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;

use super::general::damaged;
use super::wanted::Wanted;
use crate::encoded::jpeg;
use crate::input::{corrupt, unsupported};
use crate::tiff::sample::Sample;

/// The colour space of a JPEG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tiff) enum Colours {
    Gray,
    /// Red, green and blue as stored.
    Rgb,
    /// Red, green and blue, stored as YCbCr.
    YCbCr,
    /// Four components as stored.
    Four,
}

impl Colours {
    /// Returns the colour space of an image with `samples` interleaved samples.
    pub(super) fn of(photometric: u64, samples: u64, sample: &Sample) -> Result<Self> {
        if sample.bits != 8 || sample.is_packed() {
            let bits = sample.bits;
            return Err(unsupported(format!("JPEG with samples of {bits} bits is not supported")));
        }
        match (photometric, samples) {
            (_, 1) => Ok(Self::Gray),
            (6, 3) => Ok(Self::YCbCr),
            (_, 3) => Ok(Self::Rgb),
            (5, 4) => Ok(Self::Four),
            _ => Err(unsupported(format!(
                "JPEG with {samples} samples and the photometric interpretation {photometric} is not supported"
            ))),
        }
    }

    fn samples(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::Rgb | Self::YCbCr => 3,
            Self::Four => 4,
        }
    }
}

/// The Adobe segment that declares untransformed colours.
const AS_STORED: &[u8] = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00";

/// Returns an error if the header of a JPEG, in its first bytes, declares an unsupported format.
pub(super) fn check(start: &[u8]) -> Result<()> {
    let mut at = 2;
    while let Some(&[0xff, marker]) = start.get(at..at + 2) {
        if marker == 0xff {
            at += 1;
            continue;
        }
        let name = match marker {
            0xc0..=0xc2 => match start.get(at + 4) {
                Some(8) | None => return Ok(()),
                Some(bits) => return Err(unsupported(format!("JPEG with {bits} bits is not supported"))),
            },
            0xc3 | 0xc7 | 0xcb | 0xcf => "lossless JPEG",
            0xc5 | 0xc6 | 0xcd | 0xce => "hierarchical JPEG",
            0xc9 | 0xca => "JPEG with arithmetic codes",
            _ => {
                let Some(&[high, low]) = start.get(at + 2..at + 4) else { return Ok(()) };
                at += 2 + usize::from(u16::from_be_bytes([high, low])).max(2);
                continue;
            }
        };
        return Err(unsupported(format!("{name} is not supported")));
    }
    Ok(())
}

/// Decodes the samples of a JPEG with shared tables.
pub(super) fn decoded(bytes: &[u8], tables: &[u8], colours: Colours, wanted: Wanted<'_>) -> Result<Vec<u8>> {
    // The tables form a JPEG without an image. Its end marker and the start marker of the image are dropped.
    let tables = tables.strip_prefix(b"\xff\xd8");
    let tables = tables.map(|tables| tables.strip_suffix(b"\xff\xd9").unwrap_or(tables));
    let image = bytes.strip_prefix(b"\xff\xd8").ok_or_else(|| corrupt("a strip or tile is not a JPEG"))?;
    let (segment, space): (&[u8], _) = match colours {
        Colours::Gray => (&[], ColorSpace::Luma),
        Colours::Rgb => (AS_STORED, ColorSpace::RGB),
        Colours::YCbCr => (&[], ColorSpace::RGB),
        Colours::Four => (AS_STORED, ColorSpace::CMYK),
    };
    jpeg::check_end(bytes)?;
    let whole = [b"\xff\xd8", segment, tables.unwrap_or_default(), image].concat();
    let options = jpeg::strict()
        .jpeg_set_out_colorspace(space)
        .set_max_width(wanted.columns)
        .set_max_height(wanted.rows.saturating_mul(2).max(64));
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(whole), options);
    decoder.decode_headers().map_err(|error| damaged(&error))?;
    let info = decoder.info().ok_or_else(|| corrupt("a JPEG has no header"))?;
    let size = decoder.output_buffer_size().unwrap_or(0);
    let is_same = usize::from(info.width) == wanted.columns
        && usize::from(info.height) >= wanted.rows
        && usize::from(info.components) == colours.samples()
        && size == usize::from(info.width) * usize::from(info.height) * colours.samples();
    if !is_same {
        return Err(corrupt(format!(
            "a JPEG of {} x {} pixels with {} samples is in a strip or tile of {} times {} with {}",
            info.height,
            info.width,
            info.components,
            wanted.rows,
            wanted.columns,
            colours.samples()
        )));
    }
    decoder.decode().map_err(|error| damaged(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_tell_what_is_not_decoded() {
        let header = |marker: u8, bits: u8| [0xff, 0xd8, 0xff, 0xdb, 0, 3, 9, 0xff, marker, 0, 11, bits];
        assert!(check(&header(0xc0, 8)).is_ok() && check(&[]).is_ok());
        for (marker, bits, name) in [(0xc1, 12, "12 bits"), (0xc3, 16, "lossless"), (0xc9, 8, "arithmetic")] {
            let error = check(&header(marker, bits)).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
