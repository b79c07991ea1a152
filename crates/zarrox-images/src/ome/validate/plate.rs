//! Checking plates and wells.

use std::collections::BTreeSet;

use zarrox_core::Result;
use zarrox_core::json::Json;

use super::node::{MOST, Report, Visited};

/// Checks a plate and its wells.
pub(super) fn check_plate(visited: &Visited, report: &mut Report) -> Result<()> {
    let Some(plate) = visited.get("plate").filter(|plate| plate.is_object()).cloned() else {
        report.error(visited, "'plate' must be an object");
        return Ok(());
    };
    if plate.get("name").is_none() {
        report.warning(visited, "'plate' has no 'name'");
    }
    if plate.get("field_count").is_some_and(|count| !is_positive(count)) {
        report.error(visited, "'field_count' of 'plate' must be an integer of at least 1");
    }
    check_acquisitions(visited, plate.get("acquisitions"), report);
    let rows = names(visited, "rows", plate.get("rows"), report);
    let columns = names(visited, "columns", plate.get("columns"), report);
    let Some(wells) = plate.get("wells").and_then(Json::as_array).filter(|wells| !wells.is_empty()) else {
        report.error(visited, "'wells' of 'plate' must be a list with at least one entry");
        return Ok(());
    };
    for (index, well) in wells.iter().enumerate().take(MOST) {
        let at = format!("plate.wells[{index}]");
        let Some(path) = well.get("path").and_then(Json::as_str) else {
            report.error(visited, format!("'path' of '{at}' must be a string"));
            continue;
        };
        let row = place(visited, &at, "rowIndex", well, &rows, report);
        let column = place(visited, &at, "columnIndex", well, &columns, report);
        if let (Some(row), Some(column)) = (row, column)
            && path != format!("{row}/{column}")
        {
            report.error(visited, format!("the path of '{at}' must be '{row}/{column}', not '{path}'"));
        }
        report.visit(visited, path, "well")?;
    }
    Ok(())
}

fn is_positive(number: &Json) -> bool {
    number.as_u64().is_some_and(|number| number > 0)
}

/// Checks the names of rows or columns, and returns them.
fn names(visited: &Visited, member: &str, list: Option<&Json>, report: &mut Report) -> Vec<String> {
    let Some(list) = list.and_then(Json::as_array).filter(|list| !list.is_empty()) else {
        report.error(visited, format!("'{member}' of 'plate' must be a list with at least one entry"));
        return Vec::new();
    };
    let mut seen = BTreeSet::new();
    let mut names = Vec::new();
    for entry in list.iter().take(MOST) {
        let name = entry.get("name").and_then(Json::as_str).unwrap_or_default();
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            report.error(
                visited,
                format!("the names of '{member}' of 'plate' must consist of letters and digits"),
            );
        } else if !seen.insert(name) {
            report.error(visited, format!("two of '{member}' of 'plate' have the name '{name}'"));
        }
        names.push(name.to_owned());
    }
    names
}

/// Returns the name of the row or column in which a well lies.
fn place<'n>(
    visited: &Visited,
    at: &str,
    member: &str,
    well: &Json,
    names: &'n [String],
    report: &mut Report,
) -> Option<&'n String> {
    let Some(index) = well.get(member).and_then(Json::as_u64) else {
        report.error(visited, format!("'{member}' of '{at}' must be an integer of at least 0"));
        return None;
    };
    let found = usize::try_from(index).ok().and_then(|index| names.get(index));
    if found.is_none() && !names.is_empty() {
        report.error(visited, format!("'{member}' of '{at}' must be less than {}, not {index}", names.len()));
    }
    found
}

fn check_acquisitions(visited: &Visited, list: Option<&Json>, report: &mut Report) {
    let Some(list) = list else { return };
    let Some(list) = list.as_array() else {
        report.error(visited, "'acquisitions' of 'plate' must be a list");
        return;
    };
    let mut seen = BTreeSet::new();
    for acquisition in list.iter().take(MOST) {
        match acquisition.get("id").and_then(Json::as_u64) {
            None => {
                report.error(visited, "'id' of an acquisition of 'plate' must be an integer of at least 0");
            }
            Some(id) => {
                if !seen.insert(id) {
                    report.error(visited, format!("two acquisitions of 'plate' have the id {id}"));
                }
            }
        }
        if acquisition.get("maximumfieldcount").is_some_and(|count| !is_positive(count)) {
            report.error(
                visited,
                "'maximumfieldcount' of an acquisition of 'plate' must be an integer of at least 1",
            );
        }
    }
}

/// Checks a well and its images.
pub(super) fn check_well(visited: &Visited, report: &mut Report) -> Result<()> {
    let images = visited.get("well").and_then(|well| well.get("images")).and_then(Json::as_array);
    let Some(images) = images.filter(|images| !images.is_empty()).cloned() else {
        report.error(visited, "'images' of 'well' must be a list with at least one entry");
        return Ok(());
    };
    for (index, image) in images.iter().enumerate().take(MOST) {
        if image.get("acquisition").is_some_and(|id| id.as_u64().is_none()) {
            report.error(
                visited,
                format!("'acquisition' of 'well.images[{index}]' must be an integer of at least 0"),
            );
        }
        let path = image.get("path").and_then(Json::as_str).unwrap_or_default();
        if path.is_empty() || !path.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            report.error(
                visited,
                format!("'path' of 'well.images[{index}]' must consist of letters and digits"),
            );
            continue;
        }
        report.visit(visited, path, "multiscales")?;
    }
    Ok(())
}
