//! The compression of strips and tiles.

mod ccitt;
mod general;
mod jpeg;
mod jpeg2000;
mod lerc;
mod lzw;
mod pictures;
mod wanted;

use zarrox::Result;

use self::general::{damaged, inflated, limited, unzstd};
pub(super) use self::wanted::Wanted;

use super::sample::Sample;
use crate::input::{corrupt, unsupported};

/// The memory limit of the LZMA decoder, in bytes.
const LZMA_MEMORY: u64 = 256 << 20;

/// The compression of strips and tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Lzw,
    Jpeg(jpeg::Colours),
    Jpeg2000,
    Deflate,
    PackBits,
    Zstandard,
    Lzma,
    Ccitt(ccitt::Mode),
    Lerc(lerc::Around),
    WebP,
    Png,
}

/// The properties of an image that decoders need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Properties<'a> {
    pub(super) photometric: u64,
    /// The number of interleaved samples in a pixel.
    pub(super) samples: u64,
    pub(super) sample: &'a Sample,
    /// The options for CCITT Group 3.
    pub(super) t4_options: u64,
    /// The LERC parameters.
    pub(super) lerc: &'a [u64],
}

impl Compression {
    /// Returns the compression with the given number for an image.
    pub(super) fn of(number: u64, image: Properties<'_>) -> Result<Self> {
        let Properties { samples, sample, .. } = image;
        let is_bytes = sample.bits == 8 && !sample.is_packed();
        let refused =
            |name: &str| Err(unsupported(format!("{name} (compression {number}) is not supported")));
        Ok(match number {
            1 => Self::None,
            2..=4 => {
                if sample.bits != 1 || samples != 1 {
                    let bits = sample.bits;
                    return Err(unsupported(format!(
                        "CCITT of {samples} samples of {bits} bits is not supported"
                    )));
                }
                Self::Ccitt(ccitt::Mode::of(number, image.t4_options)?)
            }
            5 => Self::Lzw,
            7 => Self::Jpeg(jpeg::Colours::of(image.photometric, samples, sample)?),
            8 | 32946 => Self::Deflate,
            32773 => Self::PackBits,
            33003..=33005 | 34712 if jpeg2000::can_be(sample) && samples <= jpeg2000::MOST_COMPONENTS => {
                Self::Jpeg2000
            }
            34887 => Self::Lerc(lerc::Around::of(image.lerc)?),
            34925 => Self::Lzma,
            34933 if matches!(sample.bits, 8 | 16) && samples <= 4 && !sample.is_packed() => Self::Png,
            50000 | 34926 => Self::Zstandard,
            50001 | 34927 if is_bytes && matches!(samples, 3 | 4) => Self::WebP,
            6 => return refused("the old form of JPEG"),
            9 | 10 => return refused("JBIG"),
            32766 => return refused("the compression of NeXT"),
            32771 => return refused("CCITT with word-aligned rows"),
            32809 => return refused("ThunderScan"),
            32895..=32898 => return refused("the compression of Kodak or IT8"),
            32908 | 32909 => return refused("the compression of Pixar"),
            32947 => return refused("the compression of DCS"),
            34661 => return refused("JBIG"),
            34676 | 34677 => return refused("the logarithmic compression of SGI"),
            34892 => return refused("lossy JPEG of DNG"),
            34934 | 22610 => return refused("JPEG XR"),
            50002 | 52546 => return refused("JPEG XL"),
            65000..=65002 => return refused("EER"),
            _ => {
                let bits = sample.bits;
                return Err(unsupported(format!(
                    "the compression {number} of {samples} samples of {bits} bits is not supported"
                )));
            }
        })
    }

    /// Returns true if the decoder itself converts samples to colours for each pixel.
    pub(super) fn has_own_colours(self) -> bool {
        matches!(self, Self::Jpeg(_) | Self::Jpeg2000 | Self::WebP | Self::Png | Self::Lerc(_))
    }

    /// Returns true if the decoder itself returns elements, to which no predictor applies.
    pub(super) fn has_own_elements(self) -> bool {
        self.has_own_colours() || matches!(self, Self::Ccitt(_))
    }

    /// Returns true if the decoder returns whole elements even for samples with fewer bits.
    pub(super) fn has_unpacked_elements(self) -> bool {
        self == Self::Jpeg2000
    }

    /// Returns true if the first bytes of a strip or tile tell whether it is supported.
    pub(super) fn has_header(self) -> bool {
        matches!(self, Self::Jpeg(_) | Self::Jpeg2000)
    }

    /// Returns an error if a strip or tile with the given first bytes has an unsupported format, or does not have
    /// `samples` samples of the given type.
    pub(super) fn check_header(self, start: &[u8], samples: u64, sample: &Sample) -> Result<()> {
        match self {
            Self::Jpeg(_) => jpeg::check(start),
            Self::Jpeg2000 => jpeg2000::check(start, samples, sample),
            _ => Ok(()),
        }
    }

    /// Returns true if the bits of the compressed bytes may be reversed.
    pub(super) fn can_be_reversed(self) -> bool {
        !self.has_own_colours()
    }
}

/// Decodes the requested samples of a strip or tile, in the byte order of the file.
pub(super) fn decompressed(
    compression: Compression,
    bytes: Vec<u8>,
    tables: &[u8],
    wanted: Wanted<'_>,
) -> Result<Vec<u8>> {
    let size = wanted.size;
    let mut out = match compression {
        Compression::None => bytes,
        Compression::Deflate => inflated(&bytes, size)?,
        Compression::Zstandard => unzstd(&bytes, size)?,
        Compression::Lzma => {
            let stream = liblzma::stream::Stream::new_stream_decoder(LZMA_MEMORY, 0);
            let stream = stream.map_err(|error| damaged(&error))?;
            limited(liblzma::read::XzDecoder::new_stream(bytes.as_slice(), stream), size)?
        }
        Compression::Lzw => lzw::decoded(&bytes, size)?,
        Compression::PackBits => unpacked(&bytes, size),
        Compression::Jpeg(colours) => jpeg::decoded(&bytes, tables, colours, wanted)?,
        Compression::Jpeg2000 => jpeg2000::decoded(&bytes, wanted)?,
        Compression::Ccitt(mode) => ccitt::decoded(&bytes, mode, wanted)?,
        Compression::Lerc(around) => lerc::decoded(&bytes, around, wanted)?,
        Compression::WebP => pictures::webp(&bytes, wanted)?,
        Compression::Png => pictures::png(&bytes, wanted)?,
    };
    if out.len() < size {
        return Err(corrupt(format!("a strip or tile has {} bytes instead of {size}", out.len())));
    }
    out.truncate(size);
    Ok(out)
}

/// Decodes PackBits: runs of equal bytes, and literals.
fn unpacked(mut bytes: &[u8], size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some((&head, rest)) = bytes.split_first()
        && out.len() < size
    {
        match head {
            0..=127 => {
                let (taken, left) = rest.split_at((usize::from(head) + 1).min(rest.len()));
                out.extend_from_slice(taken);
                bytes = left;
            }
            128 => bytes = rest,
            _ => {
                let Some((&byte, left)) = rest.split_first() else { break };
                out.resize(out.len() + 257 - usize::from(head), byte);
                bytes = left;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_bytes_are_runs_and_single_ones() {
        assert_eq!(unpacked(&[0xfe, 7, 0x80, 1, 1, 2], 100), [7, 7, 7, 1, 2]);
        assert_eq!(unpacked(&[0x7f, 1], 100), [1]);
        assert!(unpacked(&[0x81, 1].repeat(100), 200).len() < 400);
    }
}
