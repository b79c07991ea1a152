//! The ImageJ metadata of a stack: lines in the description, and private tags.

use zarrox::Result;

use super::channel::Channel;
use super::directory::Directory;
use super::image::Axis;
use super::scales::Scales;
use super::tag;

/// The maximum size in bytes of ImageJ metadata that is read.
const MOST: u64 = 16 << 20;

/// Returns true if a description was written by ImageJ.
pub(super) fn is_imagej(text: &str) -> bool {
    text.starts_with("ImageJ=")
}

/// Returns the value of a line such as `slices=5`.
fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(str::trim)
}

fn number(text: &str, name: &str) -> Option<f64> {
    value(text, name)?.parse().ok()
}

/// Returns the plane dimensions in a description, from slowest- to fastest-varying.
///
/// Interleaved samples are not planes, although some programs count them as channels.
pub(super) fn planes(text: &str, samples: u64) -> Option<Vec<Axis>> {
    let length =
        |name: &str| value(text, name).and_then(|number| number.parse().ok()).unwrap_or(1_u64).max(1);
    let (images, mut channels) = (length("images"), length("channels"));
    let (slices, frames) = (length("slices"), length("frames"));
    let others = slices.saturating_mul(frames);
    if channels == samples && (images == others || images == 1) {
        channels = 1;
    }
    let order = value(text, "order").unwrap_or("czt").to_ascii_lowercase();
    let order =
        if ["ctz", "zct", "ztc", "tcz", "tzc"].contains(&order.as_str()) { order } else { "czt".to_owned() };
    let axis = |name: char| {
        let length = match name {
            'c' => channels,
            'z' => slices,
            _ => frames,
        };
        (name.to_string(), length)
    };
    let mut axes: Vec<Axis> = order.chars().rev().map(axis).collect();
    let product = others.checked_mul(channels)?;
    if product == 1 && images > 1 {
        return Some(vec![("page".to_owned(), images)]);
    }
    if images > product && images % product == 0 {
        axes.insert(0, ("page".to_owned(), images / product));
    }
    Some(axes)
}

/// Returns the spacing of elements along dimensions, with units.
pub(super) fn scales(text: &str, directory: Option<&Directory>) -> Result<Scales> {
    let mut scales = Scales::default();
    let unit = value(text, "unit");
    let of = |name: &str| value(text, name).or(unit);
    if let Some(directory) = directory.filter(|_| unit.is_some()) {
        for (axis, tag, name) in [("x", tag::X_RESOLUTION, "xunit"), ("y", tag::Y_RESOLUTION, "yunit")] {
            if let Some(&density) = directory.floats(tag)?.first() {
                scales.add(axis, 1.0 / density, of(name));
            }
        }
    }
    scales.add("z", number(text, "spacing").unwrap_or(0.0), of("zunit"));
    let interval = number(text, "finterval").filter(|interval| *interval > 0.0);
    let interval = interval.or_else(|| number(text, "fps").map(|rate| 1.0 / rate));
    scales.add("t", interval.unwrap_or(0.0), Some(value(text, "tunit").unwrap_or("s")));
    Ok(scales)
}

/// Returns `count` channels, with the display ranges and colours of ImageJ.
pub(super) fn channels(text: &str, directory: Option<&Directory>, count: u64) -> Result<Vec<Channel>> {
    let count = usize::try_from(count.min(1 << 10)).unwrap_or(1);
    let mut channels = vec![Channel::default(); count];
    if let (1, Some(min), Some(max)) = (count, number(text, "min"), number(text, "max")) {
        channels[0].range = Some((min, max));
    }
    let Some(directory) = directory else { return Ok(channels) };
    let mut colours = 0;
    for (kind, bytes) in metadata(directory)? {
        match &kind {
            b"rang" => {
                let number = |bytes: &[u8]| f64::from_bits(directory.file().number(bytes));
                for (channel, bytes) in channels.iter_mut().zip(bytes.chunks_exact(16)) {
                    channel.range = Some((number(&bytes[..8]), number(&bytes[8..])));
                }
            }
            // A lookup table of 256 red, green and blue values each. The last entry is the full colour.
            b"luts" if bytes.len() == 768 => {
                if let Some(channel) = channels.get_mut(colours) {
                    channel.color = Some(format!("{:02X}{:02X}{:02X}", bytes[255], bytes[511], bytes[767]));
                }
                colours += 1;
            }
            _ => {}
        }
    }
    Ok(channels)
}

/// Returns the entries of the ImageJ metadata. Each has a four-letter type and its bytes.
fn metadata(directory: &Directory) -> Result<Vec<([u8; 4], Vec<u8>)>> {
    if directory.size(tag::IMAGEJ_COUNTS) > MOST || directory.size(tag::IMAGEJ_METADATA) > MOST {
        return Ok(Vec::new());
    }
    let counts = directory.numbers(tag::IMAGEJ_COUNTS)?;
    let Some((bytes, _)) = directory.bytes(tag::IMAGEJ_METADATA)? else { return Ok(Vec::new()) };
    let head = counts.first().and_then(|&size| usize::try_from(size).ok()).unwrap_or(0);
    let (Some(head), Some(mut rest)) = (bytes.get(..head), bytes.get(head..)) else { return Ok(Vec::new()) };
    let mut sizes = counts.iter().skip(1);
    let mut entries = Vec::new();
    for kind in head.get(4..).unwrap_or_default().chunks_exact(8) {
        let mut name = [kind[0], kind[1], kind[2], kind[3]];
        if directory.file().endian == zarrox::data_type::Endian::Little {
            name.reverse();
        }
        for _ in 0..directory.file().number(&kind[4..]) {
            let size = sizes.next().and_then(|&size| usize::try_from(size).ok());
            let Some((entry, behind)) = size.and_then(|size| rest.split_at_checked(size)) else {
                return Ok(entries);
            };
            entries.push((name, entry.to_vec()));
            rest = behind;
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tell_the_dimensions_of_planes() {
        let of = |text: &str, samples| -> Vec<String> {
            let axes = planes(text, samples).unwrap();
            axes.into_iter().filter(|axis| axis.1 > 1).map(|(name, n)| format!("{name}{n}")).collect()
        };
        assert_eq!(of("ImageJ=1.11a\nimages=6\nchannels=2\nslices=3\n", 1), ["z3", "c2"]);
        assert_eq!(of("ImageJ=1\nimages=5\n", 1), ["page5"]);
        assert_eq!(of("ImageJ=1\nimages=4\nchannels=3\nframes=4\n", 3), ["t4"]);
        assert_eq!(of("ImageJ=1\nimages=12\nframes=2\nslices=3\n", 1), ["page2", "t2", "z3"]);
        assert_eq!(of("ImageJ=1\nimages=6\nframes=2\nslices=3\norder=tzc\n", 1), ["z3", "t2"]);
    }
}
