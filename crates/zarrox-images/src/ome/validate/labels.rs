//! Checking labels: the list in the group `labels`, and the attribute `image-label` of each label image.

use std::collections::BTreeSet;

use zarrox_core::Result;
use zarrox_core::data_type::Storage;
use zarrox_core::json::Json;

use super::node::{MOST, Report, Visited};

/// Checks the list of label images, and each label image.
pub(super) fn check_list(visited: &Visited, report: &mut Report) -> Result<()> {
    let Some(list) = visited.get("labels").and_then(Json::as_array) else {
        report.error(visited, "'labels' must be a list of paths");
        return Ok(());
    };
    for label in list.iter().take(MOST) {
        let Some(path) = label.as_str() else {
            report.error(visited, "'labels' must be a list of paths");
            continue;
        };
        report.visit(visited, path, "multiscales")?;
        check_type(visited, path, report)?;
    }
    Ok(())
}

/// Checks that labels are integers.
fn check_type(visited: &Visited, path: &str, report: &mut Report) -> Result<()> {
    let Ok(group) = visited.group.open(path).and_then(zarrox::Node::into_group) else { return Ok(()) };
    let attributes = group.attributes();
    let members = attributes.get("ome").and_then(Json::as_object).unwrap_or(attributes);
    if !members.contains_key("image-label") {
        report.warning_below(visited, path, "the image is listed as labels, but has no 'image-label'");
    }
    let first = members.get("multiscales").and_then(|list| list.get(0)?.get("datasets")?.get(0)?.get("path"));
    let Some(array) = first.and_then(Json::as_str) else { return Ok(()) };
    let Ok(array) = group.open(array).and_then(zarrox::Node::into_array) else { return Ok(()) };
    if !matches!(array.data_type().storage(), Storage::Int(_) | Storage::Uint(_)) {
        report.error_below(visited, path, format!("labels must be integers, not {}", array.data_type()));
    }
    Ok(())
}

/// Checks `image-label`.
pub(super) fn check_label(visited: &Visited, report: &mut Report) {
    let Some(label) = visited.get("image-label").and_then(Json::as_object) else {
        report.error(visited, "'image-label' must be an object");
        return;
    };
    check_colors(visited, label.get("colors"), report);
    check_values(visited, "properties", label.get("properties"), report);
    if let Some(source) = label.get("source")
        && (!source.is_object() || source.get("image").is_some_and(|image| !image.is_string()))
    {
        report.error(visited, "'source' of 'image-label' must be an object, and its 'image' a path");
    }
}

fn check_colors(visited: &Visited, colors: Option<&Json>, report: &mut Report) {
    check_values(visited, "colors", colors, report);
    for color in colors.and_then(Json::as_array).into_iter().flatten().take(MOST) {
        let Some(rgba) = color.get("rgba") else { continue };
        let is_part = |part: &Json| part.as_u64().is_some_and(|part| part <= 255);
        if !rgba.as_array().is_some_and(|parts| parts.len() == 4 && parts.iter().all(is_part)) {
            report.error(visited, "'rgba' of a colour of 'image-label' must be four integers from 0 to 255");
        }
    }
}

/// Checks a list of objects, whose label values must be distinct.
fn check_values(visited: &Visited, member: &str, list: Option<&Json>, report: &mut Report) {
    let Some(list) = list else { return };
    let Some(list) = list.as_array() else {
        report.error(visited, format!("'{member}' of 'image-label' must be a list"));
        return;
    };
    let mut seen = BTreeSet::new();
    for entry in list.iter().take(MOST) {
        match entry.get("label-value").filter(|value| value.is_number()) {
            None => report.error(
                visited,
                format!("an entry of '{member}' of 'image-label' has no numeric 'label-value'"),
            ),
            Some(value) => {
                if !seen.insert(value.to_string()) {
                    report.error(
                        visited,
                        format!("two entries of '{member}' of 'image-label' have the label {value}"),
                    );
                }
            }
        }
    }
}
