//! The dimensions along which the pages of a file lie, as OME-XML or ImageJ describe them.

/// A dimension of pages: its name and its length.
pub(super) type Axis = (String, u64);

/// The dimensions of so many pages, from the slowest to the fastest: those of the description if it has so many, or one.
pub(super) fn of_pages(description: Option<&str>, pages: u64) -> Vec<Axis> {
    let described = description.and_then(|text| of_ome(text).or_else(|| of_imagej(text)));
    if let Some(axes) =
        described.filter(|axes| axes.iter().try_fold(1_u64, |n, axis| n.checked_mul(axis.1)) == Some(pages))
    {
        return axes.into_iter().filter(|(_, length)| *length > 1).collect();
    }
    if pages > 1 { vec![("page".to_owned(), pages)] } else { Vec::new() }
}

/// The dimensions that the first image of OME-XML has.
fn of_ome(text: &str) -> Option<Vec<Axis>> {
    let pixels = &text[text.find("<Pixels")?..];
    let pixels = &pixels[..pixels.find('>')?];
    let value = |name: &str| {
        let start = pixels.find(&format!(" {name}=\""))? + name.len() + 3;
        pixels[start..].split('"').next()
    };
    let order = value("DimensionOrder")?.strip_prefix("XY")?;
    let length = |axis: char| {
        value(&format!("Size{axis}"))?
            .parse()
            .ok()
            .map(|length| (axis.to_ascii_lowercase().to_string(), length))
    };
    let mut axes: Vec<Axis> = order.chars().rev().map(length).collect::<Option<_>>()?;
    // The samples of a pixel are channels that lie in one page.
    let samples = pixels_samples(&text[text.find("<Pixels")?..]);
    for (name, length) in &mut axes {
        if name == "c" && samples > 1 && length.is_multiple_of(samples) {
            *length /= samples;
        }
    }
    Some(axes)
}

/// The samples of a pixel of the first channel.
fn pixels_samples(text: &str) -> u64 {
    let found =
        text.find("SamplesPerPixel=\"").and_then(|at| text[at + 17..].split('"').next()?.parse().ok());
    found.unwrap_or(1).max(1)
}

/// The dimensions of a stack of ImageJ, whose channels follow one another.
fn of_imagej(text: &str) -> Option<Vec<Axis>> {
    text.starts_with("ImageJ=").then(|| {
        let length = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.and_then(|number| number.trim().parse().ok()).unwrap_or(1)
        };
        [("t", "frames"), ("z", "slices"), ("c", "channels")]
            .map(|(axis, name)| (axis.to_owned(), length(name)))
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_tell_the_dimensions_of_pages() {
        let of = |text: &str, pages| -> Vec<String> {
            of_pages(Some(text), pages).into_iter().map(|(name, length)| format!("{name}{length}")).collect()
        };
        let ome = r#"<OME><Image><Pixels ID="P" DimensionOrder="XYCZT" SizeX="9" SizeY="8" SizeC="2" SizeZ="3" SizeT="4">"#;
        assert_eq!(of(ome, 24), ["t4", "z3", "c2"]);
        assert_eq!(of(ome, 12), ["page12"]);
        let samples =
            r#"<Pixels DimensionOrder="XYCZT" SizeC="3" SizeZ="1" SizeT="5"><Channel SamplesPerPixel="3"/>"#;
        assert_eq!(of(samples, 5), ["t5"]);
        assert_eq!(of("ImageJ=1.11a\nimages=6\nchannels=2\nslices=3\n", 6), ["z3", "c2"]);
        assert_eq!(of("", 1), [""; 0]);
        assert_eq!(of("<Pixels", 2), ["page2"]);
    }
}
