//! The shape that tifffile writes to the description: `{"shape": [5, 20, 30]}`.

use zarrox::json::{self, Json};

use super::form::Form;
use super::image::Axis;

/// Returns the page dimensions from a description; `None` if it contains no shape or if the pages do not match the shape.
pub(super) fn planes(text: &str, form: &Form, pages: u64) -> Option<Vec<Axis>> {
    let document = json::parse_object(text.trim().as_bytes()).ok()?;
    let shape: Vec<u64> =
        document.get("shape")?.as_array()?.iter().map(Json::as_u64).collect::<Option<_>>()?;
    let page = [form.samples, form.depth, form.height, form.width]
        .iter()
        .try_fold(1_u64, |n, &length| n.checked_mul(length))?;
    let size = shape.iter().try_fold(1_u64, |size, &length| size.checked_mul(length))?;
    let count = size.checked_div(page).filter(|count| count.checked_mul(page) == Some(size))?;
    // The leading dimensions are the page dimensions.
    let mut product = 1_u64;
    let split = shape.iter().position(|&length| {
        let is_whole = product == count;
        product = product.saturating_mul(length);
        is_whole
    })?;
    if count <= 1 || (count != pages && pages != 1) {
        return None;
    }
    let names = names(document.get("axes").and_then(Json::as_str).unwrap_or_default(), split, shape.len());
    Some(names.into_iter().zip(shape).collect())
}

/// Returns the names of the leading dimensions, given a string with one letter per dimension.
fn names(axes: &str, count: usize, ndim: usize) -> Vec<String> {
    let letters: Vec<String> = axes.chars().map(|axis| axis.to_lowercase().to_string()).collect();
    let is_usable = letters.len() == ndim
        && letters[..count]
            .iter()
            .enumerate()
            .all(|(nth, name)| !["x", "y"].contains(&name.as_str()) && !letters[..nth].contains(name));
    if is_usable {
        return letters[..count]
            .iter()
            .map(|name| if name == "i" || name == "q" { "page".to_owned() } else { name.clone() })
            .collect();
    }
    (0..count).map(|nth| if count == 1 { "page".to_owned() } else { format!("page_{nth}") }).collect()
}
