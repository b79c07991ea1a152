//! The GDAL metadata of bands: the XML, and the missing-value marker.

use roxmltree::{Document, ParsingOptions};
use zarrox::data_type::Casting;
use zarrox::json::{Json, Map};
use zarrox::{DataType, DynArray, Result};

use super::directory::Directory;
use super::tag;

/// The maximum number of bands up to which the bands of an image are described individually.
const MOST_BANDS: usize = 1 << 12;

/// Adds the attributes derived from the GDAL metadata of an image with `bands` bands.
pub(super) fn describe(directory: &Directory, bands: u64, attributes: &mut Map) -> Result<()> {
    let Some(text) = directory.text(tag::GDAL_METADATA)? else { return Ok(()) };
    let options = ParsingOptions { allow_dtd: false, nodes_limit: 1 << 20, ..ParsingOptions::default() };
    let Ok(document) = Document::parse_with_options(text.trim_matches(['\0', '\n', ' ']), options) else {
        attributes.insert("gdal_metadata".to_owned(), text.into());
        return Ok(());
    };
    let bands = usize::try_from(bands).unwrap_or(MOST_BANDS).min(MOST_BANDS);
    let mut of_bands = Bands::new(bands);
    let (mut of_image, mut of_each) = (Map::default(), vec![Map::default(); bands]);
    for item in document.descendants().filter(|node| node.tag_name().name() == "Item") {
        let value = item.text().unwrap_or_default();
        let band = item.attribute("sample").and_then(|number| number.parse::<usize>().ok());
        if let (Some(band), Some(role)) = (band, item.attribute("role"))
            && of_bands.put(band, role, value)
        {
            continue;
        }
        let name = item.attribute("name").unwrap_or_default();
        let name = match item.attribute("domain") {
            Some(domain) if !domain.is_empty() => format!("{domain}:{name}"),
            _ => name.to_owned(),
        };
        match band.map(|band| of_each.get_mut(band)) {
            Some(Some(band)) => band.insert(name, value.into()),
            _ => of_image.insert(name, value.into()),
        };
    }
    of_bands.attributes(attributes);
    if !of_image.is_empty() {
        attributes.insert("gdal_metadata".to_owned(), of_image.into());
    }
    if of_each.iter().any(|band| !band.is_empty()) {
        attributes.insert("gdal_band_metadata".to_owned(), of_each.into_iter().map(Json::from).collect());
    }
    Ok(())
}

/// The properties of each band.
#[derive(Debug)]
struct Bands {
    scales: Vec<f64>,
    offsets: Vec<f64>,
    names: Vec<String>,
    units: Vec<String>,
}

impl Bands {
    fn new(count: usize) -> Self {
        let texts = || vec![String::new(); count];
        Self { scales: vec![1.0; count], offsets: vec![0.0; count], names: texts(), units: texts() }
    }

    /// Records a value with a GDAL role. Returns false for unknown roles and invalid values.
    fn put(&mut self, band: usize, role: &str, value: &str) -> bool {
        let number = || value.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let put = |numbers: &mut Vec<f64>| match (numbers.get_mut(band), number()) {
            (Some(place), Some(number)) => {
                *place = number;
                true
            }
            _ => false,
        };
        let text = |texts: &mut Vec<String>| {
            texts.get_mut(band).is_some_and(|place| {
                value.clone_into(place);
                true
            })
        };
        match role {
            "scale" => put(&mut self.scales),
            "offset" => put(&mut self.offsets),
            "description" => text(&mut self.names),
            "unittype" => text(&mut self.units),
            _ => false,
        }
    }

    /// Adds the attributes: CF attributes if all bands have the same value, otherwise lists.
    fn attributes(&self, attributes: &mut Map) {
        let same = |numbers: &[f64]| numbers.windows(2).all(|pair| pair[0].to_bits() == pair[1].to_bits());
        let is_scaled =
            self.scales.iter().zip(&self.offsets).any(|(scale, offset)| (*scale, *offset) != (1.0, 0.0));
        if is_scaled {
            let list = |numbers: &[f64]| numbers.iter().map(|&number| Json::from(number)).collect::<Json>();
            let names = match same(&self.scales) && same(&self.offsets) {
                true => [("scale_factor", &self.scales), ("add_offset", &self.offsets)],
                false => [("scale_factors", &self.scales), ("add_offsets", &self.offsets)],
            };
            for (name, numbers) in names {
                let value = match (name.ends_with('s'), numbers.first()) {
                    (false, Some(&number)) => Json::from(number),
                    _ => list(numbers),
                };
                attributes.insert(name.to_owned(), value);
            }
        }
        let is_said = |texts: &[String]| texts.iter().any(|text| !text.is_empty());
        let list = |texts: &[String]| texts.iter().map(|text| Json::from(text.as_str())).collect::<Json>();
        if is_said(&self.names) {
            attributes.insert("band_names".to_owned(), list(&self.names));
        }
        if is_said(&self.units) {
            match self.units.windows(2).all(|pair| pair[0] == pair[1]) {
                true => attributes.insert("units".to_owned(), self.units[0].as_str().into()),
                false => attributes.insert("band_units".to_owned(), list(&self.units)),
            };
        }
    }
}

/// Returns the missing-value marker, as an element and as a number; `None` if the type cannot represent it.
pub(super) fn missing(text: &str, data_type: &DataType) -> Option<(Vec<u8>, Json)> {
    let registry = zarrox::codecs::registry();
    let text = text.trim();
    let scalar = |data_type, bytes: &[u8]| DynArray::new(data_type, vec![], bytes.to_vec()).ok();
    let (wide, number) = if let Ok(whole) = text.parse::<i64>() {
        (scalar(DataType::Int64, &whole.to_ne_bytes())?, Json::from(whole))
    } else if let Ok(whole) = text.parse::<u64>() {
        (scalar(DataType::UInt64, &whole.to_ne_bytes())?, Json::from(whole))
    } else {
        let float: f64 = text.parse().ok()?;
        (scalar(DataType::Float64, &float.to_ne_bytes())?, Json::from(float))
    };
    let is_float = matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64);
    let casting = if is_float { Casting::Lossy } else { Casting::Exact };
    let element = wide.cast(data_type, casting, &registry).ok()?;
    let number = match is_float {
        // The number is rounded to the precision of the type.
        true => {
            let float = element.cast(&DataType::Float64, Casting::Exact, &registry).ok()?;
            float.to::<Vec<f64>>().ok()?.first().copied()?.into()
        }
        false => number,
    };
    Some((element.into_bytes(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_values_are_those_that_the_type_has() {
        let number = |text, data_type| missing(text, &data_type).map(|(_, number)| number);
        assert_eq!(number("18446744073709551615", DataType::UInt64), Some(u64::MAX.into()));
        assert_eq!(number("-9999", DataType::UInt8), None);
        assert_eq!(number("255.0", DataType::UInt8).map(|number| number.as_f64()), Some(Some(255.0)));
        assert_eq!(number("nan", DataType::Int16), None);
    }
}
