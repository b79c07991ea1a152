//! Sorts names in bounded memory, using temporary files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use zarrox_core::{Error, ErrorKind, Result};

use crate::digest::StoredValues;
use zarrox::internals::Task;

/// The number of values in a batch that the threads share.
pub(super) const BATCH: usize = 1024;

/// The maximum total size of names that are sorted in memory, in bytes.
const SORTED_IN_MEMORY: usize = 128 << 20;

/// The name and the size of a value, ordered by the bytes of the name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) size: u64,
}

/// The memory that an entry takes in addition to its name, in bytes.
const OVERHEAD: usize = size_of::<Entry>() + 16;

/// Returns the names of all values in order.
pub(super) fn sorted_names(values: &StoredValues, work: &Task) -> Result<Sorted> {
    let mut sorter = Sorter::new((work.memory / 2).min(SORTED_IN_MEMORY));
    let mut is_empty = true;
    values.visit(&mut |name, size| {
        is_empty = false;
        work.expect(size);
        sorter.push(name, size)
    })?;
    if is_empty {
        return Err(Error::new(ErrorKind::NotFound, format!("no stored values at {}", values.place())));
    }
    sorter.finish()
}

/// A sorter of entries.
pub(super) struct Sorter {
    entries: Vec<Entry>,
    bytes: usize,
    /// The size of the entries in memory, in bytes.
    limit: usize,
    /// Files of sorted entries.
    runs: Vec<File>,
}

impl Sorter {
    pub(super) fn new(limit: usize) -> Self {
        Self { entries: Vec::new(), bytes: 0, limit, runs: Vec::new() }
    }

    pub(super) fn push(&mut self, name: &str, size: u64) -> Result<()> {
        self.bytes += name.len() + OVERHEAD;
        self.entries.push(Entry { name: name.to_owned(), size });
        if self.bytes > self.limit { self.spill().map_err(|error| failed(&error)) } else { Ok(()) }
    }

    /// Sorts the entries in memory, and writes them to a file.
    fn spill(&mut self) -> io::Result<()> {
        self.entries.sort_unstable();
        let mut out = BufWriter::new(tempfile::tempfile()?);
        for Entry { name, size } in self.entries.drain(..) {
            out.write_all(&(name.len() as u64).to_le_bytes())?;
            out.write_all(name.as_bytes())?;
            out.write_all(&size.to_le_bytes())?;
        }
        let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        self.runs.push(file);
        self.bytes = 0;
        Ok(())
    }

    /// Returns all entries in order.
    pub(super) fn finish(mut self) -> Result<Sorted> {
        self.entries.sort_unstable();
        let mut sorted =
            Sorted { entries: self.entries.into_iter(), runs: Vec::new(), next: BinaryHeap::new() };
        sorted.runs.extend(self.runs.into_iter().map(BufReader::new));
        for run in 0..=sorted.runs.len() {
            sorted.refill(run)?;
        }
        Ok(sorted)
    }
}

/// Sorted entries.
pub(super) struct Sorted {
    /// The last run, which was not written to a file.
    entries: std::vec::IntoIter<Entry>,
    runs: Vec<BufReader<File>>,
    /// The next entry of each run that has further entries.
    next: BinaryHeap<Reverse<(Entry, usize)>>,
}

impl Sorted {
    pub(super) fn next(&mut self) -> Result<Option<Entry>> {
        let Some(Reverse((entry, run))) = self.next.pop() else { return Ok(None) };
        self.refill(run)?;
        Ok(Some(entry))
    }

    fn refill(&mut self, run: usize) -> Result<()> {
        let entry = match self.runs.get_mut(run) {
            Some(file) => read_entry(file).map_err(|error| failed(&error))?,
            None => self.entries.next(),
        };
        self.next.extend(entry.map(|entry| Reverse((entry, run))));
        Ok(())
    }
}

fn read_entry(file: &mut BufReader<File>) -> io::Result<Option<Entry>> {
    let mut number = [0; 8];
    match file.read_exact(&mut number) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut name = vec![0; usize::try_from(u64::from_le_bytes(number)).map_err(io::Error::other)?];
    file.read_exact(&mut name)?;
    file.read_exact(&mut number)?;
    let name = String::from_utf8(name).map_err(io::Error::other)?;
    Ok(Some(Entry { name, size: u64::from_le_bytes(number) }))
}

fn failed(error: &io::Error) -> Error {
    let message = format!("sorting the keys in a temporary file failed: {error}");
    let kind = if error.kind() == io::ErrorKind::StorageFull {
        ErrorKind::StorageFull
    } else {
        ErrorKind::Unreachable
    };
    Error::new(kind, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_order_whether_they_fit_into_memory_or_not() {
        let mut expected: Vec<Entry> = (0..1000_u64)
            .map(|n| Entry { name: format!("c/{}/é{}", n * 7919 % 1009, n % 3), size: n * n })
            .collect();
        for limit in [usize::MAX, 5000, 1] {
            let mut sorter = Sorter::new(limit);
            expected.iter().for_each(|entry| sorter.push(&entry.name, entry.size).unwrap());
            assert_eq!(sorter.runs.is_empty(), limit == usize::MAX);
            let mut sorted = sorter.finish().unwrap();
            let found: Vec<Entry> = std::iter::from_fn(|| sorted.next().unwrap()).collect();
            expected.sort();
            assert_eq!(found, expected, "{limit}");
        }
        assert_eq!(Sorter::new(1).finish().unwrap().next().unwrap(), None);
    }
}
