//! The attributes of an image, derived from its tags.

use zarrox::Result;
use zarrox::json::{Json, Map};

use super::directory::Directory;
use super::form::Form;
use super::gdal;
use super::series::Series;
use super::tag;

/// Returns the attributes of an image, except those for georeferencing and the missing value.
///
/// `names` are the dimension names. `rows` and `columns` are the factors by which its pixels are larger than those of the
/// first level.
pub(super) fn of(series: &Series, form: &Form, names: &[String], (rows, columns): (f64, f64)) -> Result<Map> {
    let mut attributes = Map::default();
    if let Some(name) = series.name.as_ref().filter(|name| !name.is_empty()) {
        attributes.insert("name".to_owned(), name.as_str().into());
    }
    if let Some(text) = series.description()? {
        attributes.insert("description".to_owned(), text.into());
    }
    if let Some(name) = photometric(form.photometric) {
        attributes.insert("photometric".to_owned(), name.into());
    }
    let labels: Vec<Option<&str>> = series.channels.iter().map(|channel| channel.name.as_deref()).collect();
    if labels.iter().any(Option::is_some) {
        let labels = labels.into_iter().map(|name| name.map_or(Json::Null, Json::from)).collect();
        attributes.insert("channel_names".to_owned(), labels);
    }
    series.scales.times(rows, columns).attributes(names, &mut attributes);
    if let Some(directory) = &series.directory {
        colormap(directory, &mut attributes)?;
        if series.scales.0.is_empty() {
            resolution(directory, (rows, columns), &mut attributes)?;
        }
        gdal::describe(directory, form.samples, &mut attributes)?;
    }
    Ok(attributes)
}

/// Returns the name of the photometric interpretation; `None` for grayscale and RGB.
fn photometric(number: u64) -> Option<String> {
    Some(match number {
        1 | 2 => return None,
        0 => "miniswhite".to_owned(),
        3 => "palette".to_owned(),
        4 => "mask".to_owned(),
        5 => "separated".to_owned(),
        6 => "ycbcr".to_owned(),
        8 => "cielab".to_owned(),
        9 => "icclab".to_owned(),
        10 => "itulab".to_owned(),
        32803 => "cfa".to_owned(),
        32844 => "logl".to_owned(),
        32845 => "logluv".to_owned(),
        34892 => "linear_raw".to_owned(),
        51177 => "depth_map".to_owned(),
        other => other.to_string(),
    })
}

/// Adds the colours of a palette, with 16 bits each for red, green and blue.
fn colormap(directory: &Directory, attributes: &mut Map) -> Result<()> {
    if directory.count(tag::COLORMAP) > 3 << 16 {
        return Ok(());
    }
    let numbers = directory.numbers(tag::COLORMAP)?;
    let count = numbers.len() / 3;
    let color = |nth: usize| [numbers[nth], numbers[count + nth], numbers[2 * count + nth]];
    if count > 0 {
        attributes.insert("colormap".to_owned(), (0..count).map(color).collect());
    }
    Ok(())
}

/// Adds the resolution, in pixels per inch or per centimetre.
fn resolution(directory: &Directory, (rows, columns): (f64, f64), attributes: &mut Map) -> Result<()> {
    let density = |tag| Ok::<_, zarrox::Error>(directory.floats(tag)?.first().copied());
    let (Some(x), Some(y)) = (density(tag::X_RESOLUTION)?, density(tag::Y_RESOLUTION)?) else {
        return Ok(());
    };
    let (x, y) = (x / columns, y / rows);
    let unit = match directory.number(tag::RESOLUTION_UNIT)?.unwrap_or(2) {
        2 => Some("inch"),
        3 => Some("centimeter"),
        _ => None,
    };
    let is_said =
        x.is_finite() && y.is_finite() && x > 0.0 && y > 0.0 && (unit.is_some() || (x, y) != (1.0, 1.0));
    if is_said {
        attributes.insert("resolution".to_owned(), [x, y].into());
        if let Some(unit) = unit {
            attributes.insert("resolution_unit".to_owned(), unit.into());
        }
    }
    Ok(())
}
