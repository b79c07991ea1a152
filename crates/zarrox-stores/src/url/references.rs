//! URLs of references: where they are, and what the storage options say of them.

use super::{Located, Scheme, StorageOption, StorageOptions, chain};
use crate::{ReferenceOptions, StoreError, StoreErrorKind};

/// `reference://node`, with the place of the references in an option, as fsspec has it.
pub(super) static SCHEME: Scheme = Scheme {
    names: &["reference"],
    options: &[
        StorageOption::text("fo", "the references, where the URL does not say it"),
        StorageOption::text("target", "the URL that relative references are seen from"),
        StorageOption::text("remote_protocol", "the scheme of references that have none"),
        StorageOption::flag("allow_local", "allow references to files of this machine"),
        StorageOption::bytes("memory_limit", "the most memory for references"),
        StorageOption::text("remote_*", "an option of the stores that the references lead to"),
    ],
    open: |url, options| {
        let Some(place) = options.get("fo") else {
            let message = "where the references are is not said; write reference://node::URL, or set the storage option 'fo'";
            return Err(StoreError::new(StoreErrorKind::NotFound, "opening", message));
        };
        open(place, &url.rest(), options)
    },
};

/// The store of the references at a URL or path.
pub(super) fn open(place: &str, node: &str, options: &StorageOptions) -> Result<Located, StoreError> {
    let references = said(options)?;
    #[cfg(unix)]
    if let Some(path) =
        chain::local(place).filter(|_| !chain::is_located(place) || place.starts_with("file://"))
    {
        return Ok(Located::whole(references.open(path)?, node));
    }
    // Not `fo`, which is said once.
    let others = options.iter().filter(|(name, _)| *name != "fo").collect();
    let located = chain::open(place, &others)?;
    Ok(Located::whole(references.open_from(located.store, &located.path, Some(place))?, node))
}

fn said(options: &StorageOptions) -> Result<ReferenceOptions, StoreError> {
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
            let message = "the storage option 'memory_limit' is a number of bytes";
            StoreError::new(StoreErrorKind::InvalidKey, "opening", message).with_source(error)
        };
        references = references.memory_limit(limit.parse::<u64>().map_err(wrong)?);
    }
    Ok(references)
}
