//! Manifests: lists of all stored keys with the sizes and hashes of their values, for the verification of copies.
//!
//! A manifest is a text file with one JSON object per line. It does not depend on the store: it is the same for a directory, an
//! archive or a database.
//!
//! ```text
//! {"zarrox_manifest":1,"hash":"blake3"}
//! {"key":"depth/c/0/0","size":4096,"blake3":"5d5f…"}
//! {"key":"depth/zarr.json","size":512,"blake3":"90ab…"}
//! {"keys":2,"bytes":4608,"digest":"stored:77c0…","lines":"a1b2…"}
//! ```
//!
//! The first line contains the version of the format. It is followed by a line for each key, sorted by the bytes of the keys,
//! with the size of the value and its BLAKE3 hash, as printed by `b3sum`. Keys are relative to the node; for nodes below the root
//! in the drafts of v3, which store documents separately from chunks, they are absolute. The last line contains the totals, the
//! [digest](crate::Digester::stored) of all stored values, and the BLAKE3 hash of all lines above. These reveal a truncated or
//! changed manifest.

mod lines;
mod sorted;
mod verify;

use std::fmt;
use std::io::{BufRead, Write};
use std::mem;
use std::sync::Arc;

use zarrox_core::Result;

pub use lines::Written;
pub use verify::{Discrepancy, Verified};

use crate::digest::{Digest, DigestKind, StoredSum, StoredValues};
use lines::LineWriter;
use sorted::{BATCH, sorted_names};
use zarrox::Progress;
use zarrox::internals::{Listener, Location, Task};
use zarrox::{Consolidated, OpenMode, OpenOptions, Place};

/// A builder that writes manifests, and compares them with stored values.
///
/// ```
/// use zarrox_tools::manifest::Manifest;
/// use zarrox::prelude::*;
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("a.zarr");
/// let array = zarrox::create_array(&path).shape([4]).data_type(DataType::Int8).chunks([2]).create()?;
/// array.write(.., [1_i8, 2, 3, 4])?;
///
/// let mut manifest = Vec::new();
/// let written = Manifest::new().write(&path, &mut manifest)?;
/// assert_eq!(written.keys, 3);
///
/// array.raw().erase(&[1])?;
/// let mut found = Vec::new();
/// let verified = Manifest::new().verify(&path, &mut manifest.as_slice(), &mut |finding| {
///     found.push(finding.to_string());
///     Ok(())
/// })?;
/// assert!(!verified.is_same());
/// assert_eq!(found, ["missing: c/1 (it had 11 bytes)"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Manifest {
    options: OpenOptions,
    memory: usize,
    listener: Option<Listener>,
}

impl Default for Manifest {
    fn default() -> Self {
        Self { options: OpenOptions::new(), memory: 1 << 30, listener: None }
    }
}

impl fmt::Debug for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manifest").field("memory", &self.memory).finish_non_exhaustive()
    }
}

impl Manifest {
    /// Creates an instance with a memory limit of 1 GiB.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the options for opening locations: threads and store options.
    #[must_use]
    pub fn open_options(self, options: OpenOptions) -> Self {
        Self { options, ..self }
    }

    /// Sets the memory limit in bytes. Keys that do not fit are sorted in temporary files.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Sets a listener that is called with the progress, from any thread. An error of the listener stops the operation.
    #[must_use]
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Writes the manifest of all stored values at a location and below. A valid node is not required.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the location has no stored values, [`ErrorKind::Unsupported`] if the store
    /// cannot list its keys, and the errors of reading and writing.
    ///
    /// [`ErrorKind::NotFound`]: zarrox::ErrorKind::NotFound
    /// [`ErrorKind::Unsupported`]: zarrox::ErrorKind::Unsupported
    pub fn write(&self, place: impl Into<Place>, out: &mut dyn Write) -> Result<Written> {
        self.write_from(&self.opening().place(place)?, out)
    }

    /// Compares all stored values at a location and below with a manifest, and calls `tell` with each difference: first missing,
    /// added and unreadable keys in order, then changed values and pairs of swapped values.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the manifest is invalid, truncated or changed,
    /// [`ErrorKind::NotFound`] if the location has no stored values, and the errors of [`Manifest::write`]. A
    /// value that cannot be read is a finding, unless the store is unreachable.
    ///
    /// [`ErrorKind::NotFound`]: zarrox::ErrorKind::NotFound
    /// [`ErrorKind::InvalidArgument`]: zarrox::ErrorKind::InvalidArgument
    pub fn verify(
        &self,
        place: impl Into<Place>,
        manifest: &mut dyn BufRead,
        tell: &mut dyn FnMut(Discrepancy) -> Result<()>,
    ) -> Result<Verified> {
        let place = self.opening().place(place)?;
        verify::verify(&StoredValues::new(&place)?, manifest, &self.work(), tell)
    }

    fn write_from(&self, place: &Location, out: &mut dyn Write) -> Result<Written> {
        let (values, work) = (StoredValues::new(place)?, self.work());
        let mut names = sorted_names(&values, &work)?;
        let mut writer = Writer {
            values: &values,
            work: &work,
            lines: LineWriter::begin(out)?,
            sum: StoredSum::default(),
            keys: 0,
            bytes: 0,
        };
        let mut batch = Vec::with_capacity(BATCH);
        while let Some(entry) = names.next()? {
            batch.push((entry.name, entry.size));
            if batch.len() == BATCH {
                writer.values(mem::take(&mut batch))?;
            }
        }
        writer.values(batch)?;
        writer.finish()
    }

    fn work(&self) -> Task {
        Task::new(self.memory, self.listener.clone())
    }

    /// Returns the options for opening locations: read-only, and without the use of consolidated metadata, which does not list
    /// the stored values.
    fn opening(&self) -> OpenOptions {
        self.options.clone().mode(OpenMode::Read).consolidated(Consolidated::Never)
    }
}

struct Writer<'a> {
    values: &'a StoredValues,
    work: &'a Task,
    lines: LineWriter<'a>,
    sum: StoredSum,
    keys: u64,
    bytes: u64,
}

impl Writer<'_> {
    /// Hashes values in parallel, and writes their lines.
    fn values(&mut self, batch: Vec<(String, u64)>) -> Result<()> {
        let (values, work) = (self.values, self.work);
        let bytes = batch.iter().map(|(_, size)| *size).fold(0, u64::saturating_add);
        let each = usize::try_from(bytes / batch.len().max(1) as u64).unwrap_or(usize::MAX);
        let at_once = StoredValues::at_once(work.memory);
        let hashed = values.pool().map(batch, each, at_once, |(name, size)| {
            let hashed = values.hash(&name)?;
            work.advance(size)?;
            // A value that was deleted after the listing is treated as if it had been deleted before.
            Ok(hashed.map(|hashed| (StoredSum::of(&name, &hashed), name, hashed)))
        })?;
        for (sum, name, value) in hashed.into_iter().flatten() {
            self.lines.value(&name, &value)?;
            self.sum.join(&sum);
            self.keys += 1;
            self.bytes = self.bytes.saturating_add(value.size);
        }
        Ok(())
    }

    fn finish(self) -> Result<Written> {
        let digest = Digest::new(DigestKind::Stored, self.sum.finish());
        let written = Written { keys: self.keys, bytes: self.bytes, digest };
        self.lines.finish(&written)?;
        Ok(written)
    }
}
