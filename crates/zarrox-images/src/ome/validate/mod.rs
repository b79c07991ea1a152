//! Validating OME-Zarr 0.4 and 0.5 metadata.
//!
//! [`validate`] checks a group and all nodes that its metadata refers to: the arrays of an image, its labels, the wells and
//! images of a plate, and the images of a collection. No chunks are read.

mod image;
mod issue;
mod labels;
mod node;
mod plate;

use zarrox_core::json::Json;
use zarrox_core::{Error, ErrorKind, Result};

pub use issue::{Issue, Severity};

use node::{Report, Visited};
use zarrox::{Group, Node, OpenMode, OpenOptions, Place};

/// Checks the metadata of the group at a path or URL, and of all nodes that it refers to. Returns the issues; the list is empty
/// if the metadata is valid.
///
/// # Errors
/// [`ErrorKind::NotFound`] when there is no node; [`ErrorKind::InvalidArgument`] when the group has no OME-Zarr metadata;
/// [`ErrorKind::Unsupported`] when its version is neither 0.4 nor 0.5; and the errors of the store.
pub fn validate(path: impl Into<Place>) -> Result<Vec<Issue>> {
    validate_with(&OpenOptions::new(), path)
}

/// Works like [`validate`], with options for opening nodes.
///
/// # Errors
/// The errors of [`validate`].
pub fn validate_with(options: &OpenOptions, path: impl Into<Place>) -> Result<Vec<Issue>> {
    let options = options.clone().mode(OpenMode::Read).metadata_only(true).chunk_limit(usize::MAX);
    match options.open(path)? {
        Node::Group(group) => validate_group(&group),
        Node::Array(array) => {
            let message = format!("'{}' is an array, but only groups have OME-Zarr metadata", array.path());
            Err(Error::new(ErrorKind::InvalidArgument, message))
        }
    }
}

/// Works like [`validate`], for an open group.
///
/// # Errors
/// The errors of [`validate`].
pub fn validate_group(group: &Group) -> Result<Vec<Issue>> {
    let Some(visited) = Visited::of(group, "") else {
        let message = format!("the group '{}' has no OME-Zarr metadata of version 0.4 or 0.5", group.path());
        return Err(Error::new(ErrorKind::InvalidArgument, message));
    };
    let mut report = Report::new(visited.version);
    visited.check_version(&mut report)?;
    check(&visited, &mut report)?;
    while let Some(visited) = report.next() {
        check(&visited, &mut report)?;
    }
    Ok(report.findings)
}

/// Checks a group, and queues the groups that it refers to.
fn check(visited: &Visited, report: &mut Report) -> Result<()> {
    let mut is_known = false;
    if visited.get("plate").is_some() {
        is_known = true;
        plate::check_plate(visited, report)?;
    }
    if visited.get("well").is_some() {
        is_known = true;
        plate::check_well(visited, report)?;
    }
    if visited.get("multiscales").is_some() {
        is_known = true;
        image::check(visited, report)?;
    }
    if visited.get("labels").is_some() {
        is_known = true;
        labels::check_list(visited, report)?;
    }
    if visited.get("image-label").is_some() {
        is_known = true;
        labels::check_label(visited, report);
    }
    if let Some(layout) = visited.get("bioformats2raw.layout") {
        is_known = true;
        collection(visited, layout, report)?;
    }
    if visited.get("series").is_some() {
        is_known = true;
    }
    if !is_known {
        report.warning(visited, "the group describes no image, labels, plate, well or collection");
    }
    Ok(())
}

/// Checks an image collection written by bioformats2raw.
fn collection(visited: &Visited, layout: &Json, report: &mut Report) -> Result<()> {
    if layout.as_i64() != Some(3) && layout.as_str() != Some("3") {
        report.error(visited, format!("'bioformats2raw.layout' must be 3, not {layout}"));
    }
    if visited.get("plate").is_some() {
        return Ok(());
    }
    let series = match visited.group.contains("OME")? {
        true => report.group(visited, "OME")?.and_then(|ome| ome.get("series").cloned()),
        false => None,
    };
    let paths: Vec<String> = match series.as_ref().map(Json::as_array) {
        Some(Some(list)) => {
            if list.iter().any(|path| !path.is_string()) {
                report.error(visited, "'series' of the group OME must be a list of paths");
            }
            list.iter().filter_map(Json::as_str).map(str::to_owned).collect()
        }
        Some(None) => {
            report.error(visited, "'series' of the group OME must be a list of paths");
            Vec::new()
        }
        // Without a list of paths, the images are numbered.
        None => {
            let mut paths = Vec::new();
            while paths.len() < node::MOST && visited.group.contains(paths.len().to_string())? {
                paths.push(paths.len().to_string());
            }
            paths
        }
    };
    if paths.is_empty() {
        report.warning(visited, "the collection has no images");
    }
    paths.iter().take(node::MOST).try_for_each(|path| report.visit(visited, path, "multiscales"))
}
