//! URLs of references, and their storage options.

use super::options::{StorageOption, StorageOptions};
use super::scheme::{Located, OpenUrl};
use super::stage::{is_url, local};
use super::text::StoreUrl;
use crate::references::options::ReferenceOptions;
use crate::references::store::ReferenceStore;
use crate::{StoreError, StoreErrorKind};

/// The URL schemes of references.
pub(super) const NAMES: &[&str] = &["reference"];

/// The storage options of references.
pub(super) const OPTIONS: &[StorageOption] = &[
    StorageOption::text("fo", "the URL of the references, unless it is in the URL"),
    StorageOption::text("target", "the base URL of relative references"),
    StorageOption::text("remote_protocol", "the scheme of references without a scheme"),
    StorageOption::flag(
        "allow_local",
        "allow references to any local file (by default: to files beside the file of the references)",
    ),
    StorageOption::bytes("memory_limit", "the most memory for references"),
    StorageOption::text("remote_*", "an option of the stores that the references point to"),
];

/// Opens the store for `reference://node`. The URL of the references is in an option, as in fsspec.
pub(super) fn open_option(
    url: &StoreUrl<'_>,
    options: &StorageOptions,
    open_url: OpenUrl,
) -> Result<Located, StoreError> {
    let Some(place) = options.get("fo") else {
        let message = "the URL of the references is missing; write reference://node::URL, or set the storage option 'fo'";
        return Err(StoreError::new(StoreErrorKind::NotFound, "opening", message));
    };
    open(place, &url.rest(), options, open_url)
}

/// Opens the store for the references at a URL or path.
pub(super) fn open(
    place: &str,
    node: &str,
    options: &StorageOptions,
    open_url: OpenUrl,
) -> Result<Located, StoreError> {
    let references = reference_options(options)?;
    if let Some(path) = local(place).filter(|_| !is_url(place) || place.starts_with("file://")) {
        return Ok(Located::whole(ReferenceStore::open_file(references, path.as_ref(), open_url)?, node));
    }
    // The option `fo` is left out, since it only applies once.
    let others = options.iter().filter(|(name, _)| *name != "fo").collect();
    let located = open_url(place, &others)?;
    Ok(Located::whole(
        ReferenceStore::open(references, located.store, &located.path, Some(place), open_url)?,
        node,
    ))
}

fn reference_options(options: &StorageOptions) -> Result<ReferenceOptions, StoreError> {
    let own = ["fo", "target", "remote_protocol", "allow_local", "memory_limit"];
    let storage = options.iter().filter(|(name, _)| !own.contains(name)).collect();
    let mut references = ReferenceOptions::new().storage(storage);
    if let Some(target) = options.get("target") {
        references = references.target(target);
    }
    if let Some(scheme) = options.get("remote_protocol") {
        references = references.remote_protocol(scheme);
    }
    if let Some(allow) = options.flag("allow_local")? {
        references = references.allow_local(allow);
    }
    if let Some(limit) = options.get("memory_limit") {
        let wrong = |error| {
            let message = "the storage option 'memory_limit' must be a number of bytes";
            StoreError::new(StoreErrorKind::InvalidKey, "opening", message).with_source(error)
        };
        references = references.memory_limit(limit.parse::<u64>().map_err(wrong)?);
    }
    Ok(references)
}
