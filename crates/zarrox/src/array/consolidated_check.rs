//! The check that the metadata of an array from consolidated metadata agrees with the array's own document.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use zarrox_core::{ArrayMetadata, Error, ErrorKind, NodeMetadata, Result};

use crate::location::Location;

/// Marks metadata from consolidated metadata, until the array's own document has confirmed it.
#[derive(Debug, Default)]
pub(crate) struct ConsolidatedCheck {
    confirmed: AtomicBool,
    /// The metadata to confirm, if the array is also viewed in another way.
    said: OnceLock<ArrayMetadata>,
}

impl ConsolidatedCheck {
    /// Creates a check, if documents come from memory.
    pub(crate) fn new(location: &Location) -> Option<Arc<Self>> {
        location.copy().map(|_| Arc::default())
    }

    /// Keeps the metadata to confirm, for an array that will be viewed in another way.
    pub(crate) fn keep(&self, said: &ArrayMetadata) {
        self.said.get_or_init(|| said.clone());
    }

    /// Compares the metadata with the array's own document, once, so that no value is read by outdated metadata.
    /// Attributes do not affect values.
    pub(crate) fn confirm(&self, location: &Location, said: &ArrayMetadata) -> Result<()> {
        if self.confirmed.load(Ordering::Acquire) {
            return Ok(());
        }
        let said = self.said.get().unwrap_or(said);
        let place = location.as_stored().of_format(Some(said.format));
        let how = match place.find_node()? {
            Some(NodeMetadata::Array(stored)) => {
                if place.is_same_array(&stored, said)? {
                    self.confirmed.store(true, Ordering::Release);
                    return Ok(());
                }
                format!("differs from its copy: its shape is {:?}", stored.shape)
            }
            _ => "does not exist any more".to_owned(),
        };
        let message = format!(
            "the consolidated metadata is out of date: the array {how}; consolidate again, or open with \
             Consolidated::Never"
        );
        Err(Error::new(ErrorKind::InvalidMetadata, message))
    }
}
