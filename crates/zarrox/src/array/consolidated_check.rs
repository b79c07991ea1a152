//! The check that an array which was opened by consolidated metadata is what its own document says.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use zarrox_core::{ArrayMetadata, Error, ErrorKind, NodeMetadata, Result};

use crate::location::Location;

/// That the metadata of an array is from consolidated metadata, until its own document has confirmed it.
#[derive(Debug, Default)]
pub(crate) struct ConsolidatedCheck {
    confirmed: AtomicBool,
    /// The metadata that was said, where the array is also seen in another way.
    said: OnceLock<ArrayMetadata>,
}

impl ConsolidatedCheck {
    /// Where documents come from memory: what they say must be confirmed.
    pub(crate) fn new(location: &Location) -> Option<Arc<Self>> {
        location.copy().map(|_| Arc::default())
    }

    /// Keeps what was said, for an array that will be seen in another way.
    pub(crate) fn keep(&self, said: &ArrayMetadata) {
        self.said.get_or_init(|| said.clone());
    }

    /// Compares what was said of the array with its own document, once: values must not be read by what is out of date.
    /// Attributes do not change what a value is.
    pub(crate) fn confirm(&self, location: &Location, said: &ArrayMetadata) -> Result<()> {
        if self.confirmed.load(Ordering::Acquire) {
            return Ok(());
        }
        let said = self.said.get().unwrap_or(said);
        let place = location.as_stored().of_format(Some(said.format));
        let context = &place.context;
        let how = match place.find_node()? {
            Some(NodeMetadata::Array(stored)) => {
                let stored = ArrayMetadata {
                    attributes: said.attributes.clone(),
                    extra: said.extra.clone(),
                    ..stored
                };
                if stored.is_same(said, &context.registry, context.chunk_limit)? {
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
