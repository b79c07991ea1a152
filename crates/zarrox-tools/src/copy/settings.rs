//! The options of a copy into one format.

use std::fmt;
use std::num::NonZeroUsize;

use zarrox::internals::Listener;
use zarrox::{AccessOptions, Consolidated, Interrupt, MissingChunks, OpenOptions};
use zarrox_core::Format;

use super::chosen::Chosen;
use super::elements::PlainElements;
use super::plan::PlanOptions;
use super::report::Property;
use super::rewrite::Rewrite;
use super::translator::Missing;

/// The values that are compared with the source after writing. Metadata is always compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verify {
    /// No values.
    Nothing,
    /// The values of arrays whose chunks were encoded again.
    #[default]
    Reencoded,
    /// All values of arrays whose chunks were encoded again, and the bytes of copied chunks.
    Everything,
    /// All values, including those of copied chunks, which are decoded.
    Values,
}

/// The settings of a copy with a known format.
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
    /// The progress listener.
    pub listener: Option<Listener>,
    /// The interrupt that cancels the copy.
    pub(super) interrupt: Option<Interrupt>,
    /// The properties of arrays that differ from the source.
    pub rewrite: Rewrite,
    pub(super) chosen: Chosen,
    /// The limits of the execution.
    pub execution: Execution,
    /// True if the root gets consolidated metadata, even if the source has none.
    pub(super) consolidate: bool,
    /// The treatment of missing values.
    pub(super) missing: Missing,
    /// The elements of a source without chunks; `None` for a source with chunks.
    pub(super) elements: Option<PlainElements>,
    /// True if a failed copy deletes its output.
    pub(super) cleans_up: bool,
}

/// The limits and modes of the execution of a copy.
#[derive(Debug, Clone, Copy)]
pub struct Execution {
    /// The memory limit in bytes. At least one chunk is held in memory.
    pub memory: usize,
    /// The maximum number of bytes of the source that are copied per second.
    pub rate: Option<u64>,
    /// The number of chunks that are copied concurrently; `None` for a number that suits the stores.
    pub jobs: Option<NonZeroUsize>,
    /// True if damaged chunks of the source are skipped.
    pub skip_damaged: bool,
    /// True if the source is immutable, so that its errors are permanent.
    pub fixed_source: bool,
    /// True if arrays that an earlier run has finished are compared again.
    pub again: bool,
}

impl Default for Execution {
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
            interrupt: None,
            rewrite: Rewrite::default(),
            chosen: Chosen::default(),
            execution: Execution::default(),
            consolidate: false,
            missing: Missing::AsXarray,
            elements: None,
            cleans_up: false,
        }
    }
}

impl Settings {
    /// Returns the same settings for a format. `overwrite` sets whether an existing node is replaced.
    #[must_use]
    pub fn into_format(self, to: Format, overwrite: bool) -> Self {
        Self { to, overwrite, ..self }
    }

    /// Returns the options for opening both sides. Missing chunks stay missing.
    pub fn opening(&self) -> OpenOptions {
        let options = match &self.interrupt {
            Some(interrupt) => self.options.clone().access(&AccessOptions::new().interrupt(interrupt)),
            None => self.options.clone(),
        };
        options
            .consolidated(Consolidated::Never)
            .missing_chunks(MissingChunks::Fill)
            .store_empty_chunks(false)
    }

    pub(super) fn plan_options(&self) -> PlanOptions<'_> {
        let Self { to, rewrite, chosen, consolidate, missing, elements, .. } = self;
        let elements = elements.as_ref();
        PlanOptions { to: *to, rewrite, chosen, consolidate: *consolidate, missing: *missing, elements }
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
