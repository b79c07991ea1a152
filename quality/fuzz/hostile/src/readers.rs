//! Fuzz targets of the readers of other formats, on bytes in memory: one for each reader, and one that detects the format.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrox::stores::{Key, Prefix, Store};
use zarrox::{Array, DynArray, Node, OpenMode, OpenOptions};
use zarrox_files::{FileStore, Kind};
use zarrox_testkit::corpus;
use zarrox_testkit::files::entries;

/// The largest size in bytes of an array that is read as a whole, and of a chunk that is read from a larger array.
const MOST_ELEMENTS: u64 = 1 << 18;

/// The largest number of arrays whose elements are read.
const MOST_ARRAYS: usize = 8;

/// The largest number of keys that are listed, and of chunks whose listed keys are read.
const MOST_KEYS: usize = 256;
const MOST_CHUNKS: usize = 8;

/// The largest size of a seed: small files are read, and changed, more often.
const MOST_SEED: u64 = 13 << 10;

/// The directories below `crates` with files of other programs.
const DIRECTORIES: [&str; 9] = [
    "zarrox-cli/tests/golden",
    "zarrox-files/tests/files",
    "zarrox-files/tests/filters",
    "zarrox-files/tests/hdf5",
    "zarrox-files/tests/hdf5-format",
    "zarrox-files/tests/images",
    "zarrox-files/tests/nifti",
    "zarrox-files/tests/tables",
    "zarrox-files/tests/tiff",
];

/// The fuzz target of a reader. An input is a file.
#[derive(Debug, Clone, Copy)]
pub struct Reader {
    /// The name of the target.
    pub name: &'static str,
    /// The kind of the file; `None` to detect it.
    kind: Option<Kind>,
    /// The suffixes of seed files. Inputs are named with the first one.
    suffixes: &'static [&'static str],
}

/// All readers.
pub const READERS: [Reader; 12] = [
    Reader {
        name: "files",
        kind: None,
        suffixes: &["csv", "h5", "hdr", "jpg", "nc", "nii", "npy", "npz", "parquet", "png", "tif"],
    },
    Reader { name: "read_csv", kind: Some(Kind::Csv), suffixes: &["csv", "tsv"] },
    Reader { name: "read_hdf5", kind: Some(Kind::Hdf5), suffixes: &["h5", "hdf5"] },
    Reader { name: "read_jpeg", kind: Some(Kind::Images), suffixes: &["jpg", "jpeg"] },
    Reader { name: "read_netcdf3", kind: Some(Kind::NetCdf3), suffixes: &["nc"] },
    Reader { name: "read_netcdf4", kind: Some(Kind::Hdf5), suffixes: &["nc"] },
    Reader { name: "read_nifti", kind: Some(Kind::Nifti), suffixes: &["nii", "gz", "hdr"] },
    Reader { name: "read_npy", kind: Some(Kind::Npy), suffixes: &["npy"] },
    Reader { name: "read_npz", kind: Some(Kind::Npz), suffixes: &["npz"] },
    Reader { name: "read_parquet", kind: Some(Kind::Parquet), suffixes: &["parquet"] },
    Reader { name: "read_png", kind: Some(Kind::Images), suffixes: &["png"] },
    Reader { name: "read_tiff", kind: Some(Kind::Tiff), suffixes: &["tif", "tiff"] },
];

impl Reader {
    /// Returns the reader of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        READERS.into_iter().find(|reader| reader.name == name)
    }

    /// Reads a file with these bytes: all nodes, and elements up to a limit; panics if the library does.
    pub fn run(&self, input: &[u8]) {
        if let Ok(store) = self.open(input) {
            read(store);
        }
    }

    fn open(&self, input: &[u8]) -> zarrox::Result<FileStore> {
        let name = format!("input.{}", self.suffixes[0]);
        match self.kind {
            Some(kind) => kind.open_bytes(name, input.to_vec()),
            None => zarrox_files::open_bytes(name, input.to_vec()),
        }
    }

    /// Returns the seeds: the small files of this kind in the tests, which other programs wrote.
    ///
    /// # Panics
    /// When files of the tests cannot be read.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../crates");
        let mut paths = Vec::new();
        for directory in DIRECTORIES {
            collect(&corpus::unpacked(&crates.join(directory)), &mut paths);
        }
        paths.sort();
        let is_small = |path: &PathBuf| path.metadata().is_ok_and(|metadata| metadata.len() <= MOST_SEED);
        let is_known =
            |path: &PathBuf| matches!(Kind::of(path), Ok(Some(kind)) if kind == self.kind.unwrap_or(kind));
        paths.retain(|path| self.is_named(path) && is_small(path) && is_known(path));
        if self.kind.is_none() {
            // The targets of single readers have all these files as seeds.
            paths.dedup_by_key(|path| {
                (path.extension().map(ToOwned::to_owned), path.parent().map(ToOwned::to_owned))
            });
        }
        paths.iter().flat_map(std::fs::read).collect()
    }

    fn is_named(&self, path: &Path) -> bool {
        let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
        self.suffixes.contains(&suffix)
    }
}

/// Collects the files of a directory and its subdirectories.
fn collect(directory: &Path, paths: &mut Vec<PathBuf>) {
    for path in entries(directory) {
        if path.is_dir() { collect(&path, paths) } else { paths.push(path) }
    }
}

/// Opens a file on disk, and reads its content.
pub fn read_file(path: &Path) {
    if let Ok(store) = zarrox_files::open_file(path) {
        read(store);
    }
}

/// Reads the content of a file.
fn read(store: FileStore) {
    let _ = (store.left_out().len(), store.notes().len(), store.inventory());
    let store: Arc<dyn Store> = Arc::new(store);
    read_listed_chunks(&*store);
    let Ok(node) = OpenOptions::new().mode(OpenMode::Read).open((store, "")) else { return };
    let mut left = MOST_ARRAYS;
    match node {
        Node::Array(array) => read_array(&array),
        Node::Group(group) => {
            let _ = group.visit(&mut |_, node| {
                match node {
                    Ok(Node::Array(array)) if left > 0 => {
                        left -= 1;
                        read_array(array);
                    }
                    _ => {}
                }
                Ok(())
            });
        }
    }
}

fn read_listed_chunks(store: &dyn Store) {
    let mut keys: Vec<Key> = Vec::new();
    let Ok(root) = Prefix::new("") else { return };
    let _ = store.list_prefix(&root, &mut |key, size| {
        if size <= MOST_ELEMENTS {
            keys.push(key);
        }
        if keys.len() < MOST_KEYS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let chunks = keys.iter().filter(|key| !key.as_str().ends_with("zarr.json"));
    for key in chunks.take(MOST_CHUNKS) {
        // A listed chunk may be missing: it contains only fill values.
        let _ = (store.get(key), store.size(key));
    }
}

fn read_array(array: &Array) {
    let _ = (array.attributes().len(), array.dimension_names(), array.fill_bytes(), array.to_string());
    if array.nbytes().is_some_and(|size| size <= MOST_ELEMENTS) {
        let _ = array.read::<DynArray>(..);
        return;
    }
    let item = array.data_type().size() as u64;
    let chunk = array.unit_shape().iter().try_fold(item, |size, &length| size.checked_mul(length));
    if chunk.is_some_and(|size| size <= MOST_ELEMENTS) {
        let first: Vec<_> = array.shape().iter().map(|_| zarrox::DimSelection::from(0..1)).collect();
        let _ = array.read::<DynArray>(first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reader_begins_with_files_that_it_reads() {
        for reader in READERS {
            let seeds = reader.seeds();
            let read = seeds.iter().filter(|seed| reader.open(seed).is_ok()).count();
            assert!(read > 0 && 2 * read >= seeds.len(), "{}: {read} of {}", reader.name, seeds.len());
            seeds.iter().for_each(|seed| reader.run(seed));
        }
    }

    #[test]
    fn names_are_distinguished() {
        assert_eq!(Reader::of_name("read_tiff").map(|reader| reader.kind), Some(Some(Kind::Tiff)));
        assert!(Reader::of_name("tiff").is_none());
    }
}
