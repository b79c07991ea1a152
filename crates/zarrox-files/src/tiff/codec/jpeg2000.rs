//! JPEG 2000: bare codestreams, and codestreams in JP2 boxes. Components are returned as stored, without applying
//! palettes or colour conversion. Each sample becomes a whole element.

use hayro_jpeg2000::{DecodeError, DecodeSettings, DecoderContext, Image, MarkerError};
use zarrox::data_type::Endian;
use zarrox::{DataType, Result};

use super::general::damaged;
use super::pictures;
use super::wanted::Wanted;
use crate::input::{corrupt, unsupported, zeroed};
use crate::tiff::sample::Sample;

/// The first bytes of a codestream: the start marker (SOC) and the marker of the size segment (SIZ).
const CODESTREAM: &[u8] = b"\xff\x4f\xff\x51";

/// The first bytes of a JP2 file.
const BOXES: &[u8] = b"\0\0\0\x0cjP  ";

/// The maximum number of components that the decoder supports.
pub(super) const MOST_COMPONENTS: u64 = 255;

/// The maximum number of tiles in a codestream.
const MOST_TILES: u64 = 65_535;

/// Returns true if samples of this type can be decoded as JPEG 2000 components.
pub(super) fn can_be(sample: &Sample) -> bool {
    use DataType as Type;
    matches!(sample.data_type, Type::UInt8 | Type::UInt16 | Type::Int8 | Type::Int16)
}

/// A component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Component {
    bits: u8,
    is_signed: bool,
    /// True if the component has a sample for each pixel.
    is_whole: bool,
}

/// The size segment at the start of a codestream.
#[derive(Debug)]
struct Header {
    capabilities: u16,
    rows: u32,
    columns: u32,
    tiles: u64,
    components: Vec<Component>,
}

impl Header {
    /// Parses the header of a codestream; `None` if it is truncated or its sizes are invalid.
    fn of(codestream: &[u8]) -> Option<Self> {
        let segment = codestream.strip_prefix(CODESTREAM)?.get(2..)?;
        let (capabilities, rest) = segment.split_first_chunk()?;
        let (sizes, rest) = rest.split_first_chunk::<32>()?;
        let (count, rest) = rest.split_first_chunk()?;
        let mut numbers = [0; 8];
        for (number, bytes) in numbers.iter_mut().zip(sizes.as_chunks().0) {
            *number = u32::from_be_bytes(*bytes);
        }
        let [right, bottom, left, top, tile_width, tile_height, tiles_left, tiles_top] = numbers;
        let tiles = |end: u32, start: u32, length: u32| {
            Some(u64::from(end.checked_sub(start)?).div_ceil(u64::from(length).max(1)))
        };
        let components = rest.as_chunks::<3>().0.get(..usize::from(u16::from_be_bytes(*count)))?;
        Some(Self {
            capabilities: u16::from_be_bytes(*capabilities),
            rows: bottom.checked_sub(top)?,
            columns: right.checked_sub(left)?,
            tiles: tiles(right, tiles_left, tile_width)?.saturating_mul(tiles(
                bottom,
                tiles_top,
                tile_height,
            )?),
            components: components
                .iter()
                .map(|&[size, x, y]| Component {
                    bits: (size & 0x7f) + 1,
                    is_signed: size & 0x80 != 0,
                    is_whole: (x, y) == (1, 1),
                })
                .collect(),
        })
    }

    /// Returns an error if the image does not have `samples` components of the given sample type, or if it uses an
    /// unsupported feature.
    fn check(&self, samples: u64, sample: &Sample) -> Result<()> {
        if self.capabilities & 0x4000 != 0 {
            return Err(unsupported("high-throughput JPEG 2000 is not supported"));
        }
        if self.capabilities & 0x8000 != 0 {
            return Err(unsupported("JPEG 2000 with extensions of its part 2 is not supported"));
        }
        if self.components.iter().any(|component| !component.is_whole) {
            return Err(unsupported("JPEG 2000 with subsampled components is not supported"));
        }
        let is_signed = matches!(sample.data_type, DataType::Int8 | DataType::Int16);
        let fits = |component: &Component| {
            u64::from(component.bits) <= sample.bits && component.is_signed == is_signed
        };
        if self.components.len() as u64 != samples || !self.components.iter().all(fits) {
            return Err(corrupt(format!(
                "a JPEG 2000 codestream has the components {:?} instead of {samples} samples of {}",
                self.components, sample.data_type
            )));
        }
        if self.tiles > MOST_TILES {
            return Err(corrupt(format!("a JPEG 2000 codestream has {} tiles", self.tiles)));
        }
        Ok(())
    }
}

/// Returns the codestream, which is either all bytes or inside the boxes of a JP2.
fn codestream(bytes: &[u8]) -> Option<&[u8]> {
    if bytes.starts_with(CODESTREAM) {
        return Some(bytes);
    }
    let mut rest = bytes.starts_with(BOXES).then_some(bytes)?;
    loop {
        let (size, behind) = rest.split_first_chunk()?;
        let (kind, behind) = behind.split_first_chunk::<4>()?;
        let (head, size) = match u32::from_be_bytes(*size) {
            0 => (8, rest.len() as u64),
            1 => (16, u64::from_be_bytes(*behind.first_chunk()?)),
            size => (8, size.into()),
        };
        let size = usize::try_from(size).ok().filter(|&size| size >= head)?;
        if kind == b"jp2c" {
            return rest.get(head..size.min(rest.len()));
        }
        rest = rest.get(size..)?;
    }
}

/// Returns an error if the JPEG 2000 image with the given first bytes does not have `samples` samples of the given type,
/// or if it is not supported.
pub(super) fn check(start: &[u8], samples: u64, sample: &Sample) -> Result<()> {
    match codestream(start).and_then(Header::of) {
        Some(header) => header.check(samples, sample),
        // The error will be reported when the image is decoded.
        None => Ok(()),
    }
}

/// Decodes the samples of a JPEG 2000 image.
pub(super) fn decoded(bytes: &[u8], wanted: Wanted<'_>) -> Result<Vec<u8>> {
    let codestream = codestream(bytes).ok_or_else(|| corrupt("a strip or tile is not a JPEG 2000"))?;
    let header = Header::of(codestream).ok_or_else(|| corrupt("the header of a JPEG 2000 is damaged"))?;
    header.check(wanted.samples as u64, wanted.sample)?;
    pictures::check(header.rows, header.columns, wanted)?;
    // Lenient decoders replace missing data with zeros.
    let settings = DecodeSettings { strict: true, resolve_palette_indices: false, target_resolution: None };
    let image = Image::new(codestream, &settings).map_err(not_decoded)?;
    let mut context = DecoderContext::default();
    let image = image.decode(&mut context).map_err(not_decoded)?;
    let (samples, size) = (wanted.samples, wanted.sample.data_type.size());
    let pixels = u64::from(header.rows) * u64::from(header.columns);
    let components = image.components();
    let is_whole = components.len() == samples
        && components.iter().all(|component| component.samples().len() as u64 == pixels);
    if !is_whole {
        return Err(corrupt("a JPEG 2000 codestream has other components than its header"));
    }
    let bytes = usize::try_from(pixels).ok().and_then(|pixels| pixels.checked_mul(samples * size));
    let mut out = zeroed(bytes.unwrap_or(usize::MAX))?;
    for (nth, (component, of)) in components.iter().zip(&header.components).enumerate() {
        let places = out.chunks_exact_mut(size).skip(nth).step_by(samples);
        for (place, &value) in places.zip(component.samples()) {
            let [low, high] = of.element(value).to_le_bytes();
            match (place, wanted.endian) {
                ([byte], _) => *byte = low,
                (place, Endian::Little) => place.copy_from_slice(&[low, high]),
                (place, Endian::Big) => place.copy_from_slice(&[high, low]),
            }
        }
    }
    Ok(out)
}

impl Component {
    /// Undoes the decoder's shift to unsigned integers, and returns the bits of the sample.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers outside the range are clamped"
    )]
    fn element(self, value: f32) -> u16 {
        let most = u16::MAX >> (16 - self.bits.min(16));
        let number = (value.round_ties_even() as u16).min(most);
        if self.is_signed { number.wrapping_sub(most / 2 + 1) } else { number }
    }
}

fn not_decoded(error: DecodeError) -> zarrox::Error {
    match error {
        DecodeError::Marker(MarkerError::Unsupported) => {
            unsupported(format!("unsupported JPEG 2000 in a strip or tile: {error}"))
        }
        error => damaged(&error),
    }
}

#[cfg(test)]
mod tests {
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    use super::*;

    /// Returns the header of an image with 3 rows and 5 columns.
    fn header(capabilities: u16, components: &[[u8; 3]]) -> Vec<u8> {
        let count = u16::try_from(components.len()).unwrap();
        let sizes = [5_u32, 3, 0, 0, 5, 3, 0, 0].map(u32::to_be_bytes).concat();
        [CODESTREAM, &[0, 0], &capabilities.to_be_bytes(), &sizes, &count.to_be_bytes(), &components.concat()]
            .concat()
    }

    #[test]
    fn headers_tell_what_is_not_decoded() {
        let bytes = Sample::of(8, 1).unwrap();
        let checked = |header: &[u8], samples| check(header, samples, &bytes);
        assert!(checked(&header(0, &[[7, 1, 1]]), 1).is_ok() && checked(&[], 1).is_ok());
        let refused = |header: &[u8], says| assert_error(checked(header, 1), ErrorKind::Unsupported, says);
        refused(&header(0x4000, &[[7, 1, 1]]), "high-throughput");
        refused(&header(0x8000, &[[7, 1, 1]]), "part 2");
        refused(&header(0, &[[7, 2, 1]]), "subsampled components");
        for component in [[0x87, 1, 1], [8, 1, 1]] {
            assert_error(checked(&header(0, &[component]), 1), ErrorKind::Corrupt, "samples of uint8");
        }
        assert_error(checked(&header(0, &[[7, 1, 1]]), 3), ErrorKind::Corrupt, "instead of 3 samples");
        let mut many = header(0, &[[7, 1, 1]]);
        many[8..12].copy_from_slice(&70_000_u32.to_be_bytes());
        many[24..28].copy_from_slice(&1_u32.to_be_bytes());
        assert_error(checked(&many, 1), ErrorKind::Corrupt, "70000 tiles");
    }

    #[test]
    fn codestreams_are_found_in_boxes() {
        let stream = header(0, &[[7, 1, 1]]);
        let boxed = |size: &[u8]| [BOXES, b"\r\n\x87\n\0\0\0\x0afree..", size, &stream].concat();
        let length = u32::try_from(stream.len()).unwrap();
        let long = (u64::from(length) + 16).to_be_bytes();
        for size in [
            [&(length + 8).to_be_bytes()[..], b"jp2c"].concat(),
            b"\0\0\0\0jp2c".to_vec(),
            [&b"\0\0\0\x01jp2c"[..], &long].concat(),
        ] {
            assert_eq!(codestream(&boxed(&size)), Some(&stream[..]));
        }
        for size in [&b"\0\0\0\x02jp2c"[..], b"\0\0\0\x40free", b""] {
            assert_eq!(codestream(&boxed(size)), None);
        }
        assert_eq!(codestream(b"\xff\xd8\xff\xe0"), None);
    }

    #[test]
    fn numbers_have_the_bits_and_the_sign_of_their_component() {
        let of = |bits, is_signed| Component { bits, is_signed, is_whole: true };
        assert_eq!([-1.0, 0.4, 300.0, 1.5].map(|value| of(8, false).element(value)), [0, 0, 255, 2]);
        assert_eq!([70_000.0, 5.0].map(|value| of(16, false).element(value)), [65_535, 5]);
        assert_eq!([0.0, 128.0, 255.0].map(|value| of(8, true).element(value)), [0xff80, 0, 127]);
        assert_eq!([0.0, 2047.0, 4095.0].map(|value| of(12, true).element(value)), [0xf800, 0xffff, 2047]);
    }
}
