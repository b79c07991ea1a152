//! The options of a copy into one format.

use std::fmt;
use std::num::NonZeroUsize;

use zarrox::internals::Listener;
use zarrox::{Consolidated, MissingChunks, OpenOptions};
use zarrox_core::Format;

use super::chosen::Chosen;
use super::elements::PlainElements;
use super::plan::Wishes;
use super::report::Property;
use super::rewrite::Rewrite;
use super::translator::Missing;

/// The values to compare with the source after writing. Metadata is always compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verify {
    /// No values.
    Nothing,
    /// The values of arrays whose chunks were encoded again.
    #[default]
    Reencoded,
    /// All values of arrays whose chunks were encoded again, and the bytes of copied chunks.
    Everything,
    /// All values, also those of copied chunks, which are decoded.
    Values,
}

/// The options of a copy whose format is known.
#[derive(Clone)]
pub struct Settings {
    pub(super) to: Format,
    pub(super) options: OpenOptions,
    /// The properties that may be lost.
    pub(super) allowed: Vec<Property>,
    /// True if every property may be lost.
    pub(super) lossy: bool,
    pub(super) verify: Verify,
    /// True if an existing node at the destination is deleted, with all nodes below it.
    pub(super) overwrite: bool,
    /// The function that is called with the progress.
    pub listener: Option<Listener>,
    /// The properties of arrays that differ from the source.
    pub rewrite: Rewrite,
    pub(super) chosen: Chosen,
    /// The memory and the speed.
    pub effort: Effort,
    /// True if the root gets consolidated metadata, also where the source has none.
    pub(super) consolidate: bool,
    /// What becomes of missing values.
    pub(super) missing: Missing,
    /// The elements of a source without chunks; `None` for one that has chunks.
    pub(super) elements: Option<PlainElements>,
    /// True if a failed copy deletes what it has made.
    pub(super) cleans_up: bool,
}

/// The memory and the speed that copying may take.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The number of bytes that may be in memory at once. At least one chunk is.
    pub memory: usize,
    /// The most bytes of the source that are copied in a second.
    pub rate: Option<u64>,
    /// The number of chunks that are copied at a time; `None` for as many as the stores are good for.
    pub jobs: Option<NonZeroUsize>,
    /// True if chunks of the source that are damaged are left out.
    pub skip_damaged: bool,
    /// True if the source is not repaired, so that its errors come again.
    pub fixed_source: bool,
    /// True if arrays are compared again that an earlier run has finished.
    pub again: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            rate: None,
            jobs: None,
            skip_damaged: false,
            fixed_source: false,
            again: false,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            to: Format::V3,
            options: OpenOptions::new(),
            allowed: Vec::new(),
            lossy: false,
            verify: Verify::default(),
            overwrite: false,
            listener: None,
            rewrite: Rewrite::default(),
            chosen: Chosen::default(),
            effort: Effort::default(),
            consolidate: false,
            missing: Missing::AsXarray,
            elements: None,
            cleans_up: false,
        }
    }
}

impl Settings {
    /// The same settings for a format, with which an existing node is replaced or refused.
    #[must_use]
    pub fn into_format(self, to: Format, overwrite: bool) -> Self {
        Self { to, overwrite, ..self }
    }

    /// The options with which both sides are opened. Missing chunks stay missing.
    pub fn opening(&self) -> OpenOptions {
        self.options
            .clone()
            .consolidated(Consolidated::Never)
            .missing_chunks(MissingChunks::Fill)
            .store_empty_chunks(false)
    }

    pub(super) fn wishes(&self) -> Wishes<'_> {
        let Self { to, rewrite, chosen, consolidate, missing, elements, .. } = self;
        let elements = elements.as_ref();
        Wishes { to: *to, rewrite, chosen, consolidate: *consolidate, missing: *missing, elements }
    }

    pub(super) fn allows(&self, property: Property) -> bool {
        self.lossy || self.allowed.contains(&property)
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("to", &self.to)
            .field("allowed", &self.allowed)
            .field("lossy", &self.lossy)
            .field("verify", &self.verify)
            .field("overwrite", &self.overwrite)
            .finish_non_exhaustive()
    }
}
