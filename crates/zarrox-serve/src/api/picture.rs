//! Pictures of two-dimensional values: PNG, in perceptual colour maps.

use png::{BitDepth, ColorType, Encoder};

use crate::failure::{Answer, Failure};

/// Colours at even distances, from the lowest value to the highest; between them they are interpolated.
type Colours = &'static [[u8; 3]];

/// The colour maps, of which the last are for signed values.
pub(crate) const MAPS: [(&str, Colours); 8] = [
    ("viridis", VIRIDIS),
    ("gray", GRAY),
    ("magma", MAGMA),
    ("inferno", INFERNO),
    ("plasma", PLASMA),
    ("cividis", CIVIDIS),
    ("rdbu", RED_BLUE),
    ("prgn", PURPLE_GREEN),
];

const GRAY: Colours = &[[0, 0, 0], [255, 255, 255]];
const VIRIDIS: Colours = &[
    [68, 1, 84],
    [72, 40, 120],
    [62, 73, 137],
    [49, 104, 142],
    [38, 130, 142],
    [31, 158, 137],
    [53, 183, 121],
    [110, 206, 88],
    [181, 222, 43],
    [253, 231, 37],
];
const MAGMA: Colours = &[
    [0, 0, 4],
    [24, 15, 61],
    [68, 15, 118],
    [114, 31, 129],
    [158, 47, 127],
    [205, 64, 113],
    [241, 96, 93],
    [253, 150, 104],
    [254, 202, 141],
    [252, 253, 191],
];
const INFERNO: Colours = &[
    [0, 0, 4],
    [27, 12, 65],
    [74, 12, 107],
    [120, 28, 109],
    [165, 44, 96],
    [207, 68, 70],
    [237, 105, 37],
    [251, 155, 6],
    [247, 209, 61],
    [252, 255, 164],
];
const PLASMA: Colours = &[
    [13, 8, 135],
    [71, 3, 159],
    [115, 1, 168],
    [156, 23, 158],
    [189, 55, 134],
    [216, 87, 107],
    [237, 121, 83],
    [250, 158, 59],
    [253, 201, 38],
    [240, 249, 33],
];
const CIVIDIS: Colours = &[
    [0, 32, 77],
    [0, 51, 111],
    [57, 72, 107],
    [87, 92, 109],
    [112, 113, 115],
    [138, 135, 121],
    [166, 157, 117],
    [196, 181, 108],
    [228, 207, 91],
    [255, 234, 70],
];
const RED_BLUE: Colours = &[
    [5, 48, 97],
    [33, 102, 172],
    [67, 147, 195],
    [146, 197, 222],
    [209, 229, 240],
    [247, 247, 247],
    [253, 219, 199],
    [244, 165, 130],
    [214, 96, 77],
    [178, 24, 43],
    [103, 0, 31],
];
const PURPLE_GREEN: Colours = &[
    [64, 0, 75],
    [118, 42, 131],
    [153, 112, 171],
    [194, 165, 207],
    [231, 212, 232],
    [247, 247, 247],
    [217, 240, 211],
    [166, 219, 160],
    [90, 174, 97],
    [27, 120, 55],
    [0, 68, 27],
];

/// The way from values to colours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// True for the logarithm of the values.
    pub(crate) logarithmic: bool,
    pub(crate) colours: Colours,
}

/// The smallest and the largest finite value; the smallest above zero for a logarithmic scale.
pub(crate) fn range_of(values: &[f64], logarithmic: bool) -> (f64, f64) {
    let used = values.iter().filter(|value| value.is_finite() && (!logarithmic || **value > 0.0));
    let range = used.fold(None, |range: Option<(f64, f64)>, &value| {
        let (low, high) = range.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    });
    range.unwrap_or(if logarithmic { (1.0, 10.0) } else { (0.0, 1.0) })
}

impl Scale {
    /// The place of a value on the scale from 0 to 1; `None` for what is not a finite number.
    fn place(&self, value: f64) -> Option<f64> {
        let along = |value: f64| if self.logarithmic { value.ln() } else { value };
        if value.is_nan() || (self.logarithmic && value <= 0.0) {
            return None;
        }
        let (low, high) = (along(self.low), along(self.high));
        if high <= low {
            return Some(0.5);
        }
        // The difference of two large numbers need not be finite.
        Some((((along(value) / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)).clamp(0.0, 1.0)).max(0.0))
    }

    /// The colour of a value; what is missing is transparent.
    fn colour(&self, value: f64) -> [u8; 4] {
        let Some(place) = self.place(value) else { return [0, 0, 0, 0] };
        let steps = self.colours.len().saturating_sub(1);
        #[expect(clippy::cast_precision_loss, reason = "there are few colours")]
        let at = place * steps as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is from 0 to the last one"
        )]
        let first = (at.floor() as usize).min(steps.saturating_sub(1));
        #[expect(clippy::cast_precision_loss, reason = "there are few colours")]
        let part = at - first as f64;
        let (low, high) = (self.colours[first], self.colours[(first + 1).min(steps)]);
        let mix = |channel: usize| {
            let mixed = f64::from(low[channel]) * (1.0 - part) + f64::from(high[channel]) * part;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is from 0 to 255"
            )]
            let mixed = mixed.round() as u8;
            mixed
        };
        [mix(0), mix(1), mix(2), 255]
    }
}

/// A picture of values in row-major order.
pub(crate) fn picture(values: &[f64], height: usize, width: usize, scale: &Scale) -> Answer<Vec<u8>> {
    let pixels: Vec<u8> = values.iter().flat_map(|value| scale.colour(*value)).collect();
    encode(&pixels, height, width, ColorType::Rgba)
}

/// A picture of pixels with three or four channels of a byte.
pub(crate) fn coloured(pixels: &[u8], height: usize, width: usize, channels: usize) -> Answer<Vec<u8>> {
    let kind = if channels == 4 { ColorType::Rgba } else { ColorType::Rgb };
    encode(pixels, height, width, kind)
}

fn encode(pixels: &[u8], height: usize, width: usize, kind: ColorType) -> Answer<Vec<u8>> {
    let length = |length: usize| u32::try_from(length).ok().filter(|length| *length > 0);
    let (Some(columns), Some(rows)) = (length(width), length(height)) else {
        return Err(Failure::bad("a picture has at least one pixel"));
    };
    let failed = |error: png::EncodingError| Failure::bad(format!("the picture cannot be made: {error}"));
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, columns, rows);
    encoder.set_color(kind);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(pixels).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_the_values() {
        let scale = Scale { low: 0.0, high: 10.0, logarithmic: false, colours: GRAY };
        assert_eq!(scale.colour(0.0), [0, 0, 0, 255]);
        assert_eq!(scale.colour(5.0), [128, 128, 128, 255]);
        assert_eq!(scale.colour(99.0), [255, 255, 255, 255]);
        assert_eq!(scale.colour(f64::NAN)[3], 0);
        assert_eq!(scale.colour(f64::NEG_INFINITY), [0, 0, 0, 255]);
        let wide = Scale { low: f64::MIN, high: f64::MAX, ..scale };
        assert_eq!(wide.colour(0.0), [128, 128, 128, 255]);
        let log = Scale { low: 1.0, high: 100.0, logarithmic: true, colours: GRAY };
        assert_eq!((log.colour(10.0)[0], log.colour(-1.0)[3]), (128, 0));
        assert_eq!(Scale { low: 3.0, high: 3.0, ..scale }.colour(3.0)[0], 128);
    }

    #[test]
    fn pictures_can_be_decoded() {
        let scale = Scale { low: 0.0, high: 5.0, logarithmic: false, colours: VIRIDIS };
        let picture = picture(&[0.0, 1.0, 2.0, 3.0, f64::NAN, 5.0], 2, 3, &scale).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(picture)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (3, 2));
        assert_eq!(pixels[..4], [68, 1, 84, 255]);
        assert_eq!((pixels[19], &pixels[20..]), (0, &[253, 231, 37, 255][..]));
        assert!(coloured(&[], 0, 3, 3).is_err());
    }
}
