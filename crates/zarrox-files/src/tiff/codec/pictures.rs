//! Strips and tiles that are encoded as PNG or WebP.

use std::io::Cursor;

use image::{ColorType, ImageDecoder as _};
use zarrox::Result;
use zarrox::data_type::Endian;

use super::general::damaged;
use super::wanted::Wanted;
use crate::encoded::png_chunks;
use crate::input::{corrupt, zeroed};

/// Returns the error for an image of the wrong size.
fn differs(rows: u64, columns: u64, wanted: Wanted<'_>) -> zarrox::Error {
    corrupt(format!(
        "a picture of {rows} x {columns} pixels is in a strip or tile of {} times {}",
        wanted.rows, wanted.columns
    ))
}

/// Returns an error if an image has the wrong number of columns or too few rows.
pub(super) fn check(rows: u32, columns: u32, wanted: Wanted<'_>) -> Result<()> {
    let fits = usize::try_from(columns).is_ok_and(|columns| columns == wanted.columns)
        && usize::try_from(rows)
            .is_ok_and(|rows| (wanted.rows..=wanted.rows.saturating_mul(2)).contains(&rows));
    if fits { Ok(()) } else { Err(differs(rows.into(), columns.into(), wanted)) }
}

/// Decodes the samples of a PNG.
pub(super) fn png(bytes: &[u8], wanted: Wanted<'_>) -> Result<Vec<u8>> {
    png_chunks::check(bytes)?;
    let decoder = image::codecs::png::PngDecoder::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
    let (columns, rows) = decoder.dimensions();
    check(rows, columns, wanted)?;
    let is_wide = match decoder.color_type() {
        ColorType::L8 | ColorType::La8 | ColorType::Rgb8 | ColorType::Rgba8 => false,
        ColorType::L16 | ColorType::La16 | ColorType::Rgb16 | ColorType::Rgba16 => true,
        _ => return Err(corrupt("a PNG has other samples than the TIFF image")),
    };
    if usize::from(decoder.color_type().channel_count()) != wanted.samples
        || is_wide != (wanted.sample.bits == 16)
    {
        return Err(corrupt("a PNG has other samples than the TIFF image"));
    }
    let mut out = zeroed(usize::try_from(decoder.total_bytes()).unwrap_or(usize::MAX))?;
    decoder.read_image(&mut out).map_err(|error| damaged(&error))?;
    if is_wide && wanted.endian != Endian::NATIVE {
        out.as_chunks_mut::<2>().0.iter_mut().for_each(|number| number.reverse());
    }
    Ok(out)
}

/// Decodes the samples of a WebP image: three or four bytes per pixel.
pub(super) fn webp(bytes: &[u8], wanted: Wanted<'_>) -> Result<Vec<u8>> {
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
    let (columns, rows) = decoder.dimensions();
    check(rows, columns, wanted)?;
    let size = decoder.output_buffer_size().ok_or_else(|| corrupt("a WebP is too large"))?;
    decoder.set_memory_limit(size.saturating_mul(4).saturating_add(1 << 20));
    let mut out = zeroed(size)?;
    decoder.read_image(&mut out).map_err(|error| damaged(&error))?;
    let own = if decoder.has_alpha() { 4 } else { 3 };
    Ok(match (own, wanted.samples) {
        // Pixels without an opacity channel are opaque.
        (3, 4) => out.as_chunks::<3>().0.iter().flat_map(|&[r, g, b]| [r, g, b, 255]).collect(),
        (4, 3) => out.as_chunks::<4>().0.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect(),
        _ => out,
    })
}
