//! Damaged files of other formats: each is opened, and all that it has is read.

use std::path::Path;
use std::sync::Arc;

use zarrox::{DataType, Node, OpenMode, OpenOptions, Result};

/// The name of the fuzz target.
pub const NAME: &str = "files";

/// The largest arrays that are read, in bytes.
const MOST: u64 = 1 << 24;

/// An image of TIFF: eight rows of eight bytes, in one strip that is not compressed.
const TIFF: &[u8] = b"II\x2a\0\x08\0\0\0\x08\0\
    \0\x01\x03\0\x01\0\0\0\x08\0\0\0\
    \x01\x01\x03\0\x01\0\0\0\x08\0\0\0\
    \x02\x01\x03\0\x01\0\0\0\x08\0\0\0\
    \x03\x01\x03\0\x01\0\0\0\x01\0\0\0\
    \x06\x01\x03\0\x01\0\0\0\x01\0\0\0\
    \x11\x01\x04\0\x01\0\0\0\x6e\0\0\0\
    \x16\x01\x03\0\x01\0\0\0\x08\0\0\0\
    \x17\x01\x04\0\x01\0\0\0\x40\0\0\0\
    \0\0\0\0\
    0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// The image of [`TIFF`] with samples of so many bits, in a compression, and the first bytes of its strip.
fn tiff(bits: u8, compression: u8, strip: &[u8]) -> Vec<u8> {
    const STRIP: usize = 110;
    let mut bytes = TIFF[..STRIP].to_vec();
    for (at, value) in [(42, bits), (54, compression), (102, u8::try_from(strip.len()).unwrap_or(0))] {
        bytes[at] = value;
    }
    bytes.extend(strip);
    bytes
}

/// A file of NetCDF-3: the dimension `x` of two, and the variable `v` of two shorts.
const NETCDF: &[u8] = b"CDF\x01\0\0\0\0\
    \0\0\0\x0a\0\0\0\x01\0\0\0\x01x\0\0\0\0\0\0\x02\
    \0\0\0\0\0\0\0\0\
    \0\0\0\x0b\0\0\0\x01\0\0\0\x01v\0\0\0\0\0\0\x01\0\0\0\0\
    \0\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\x04\0\0\0\x50\
    \0\x01\0\x02";

/// An image of NIfTI: four by two elements of a byte.
fn nifti() -> Vec<u8> {
    let mut bytes = vec![0; 352];
    bytes[..4].copy_from_slice(&348_i32.to_le_bytes());
    bytes[40..46].copy_from_slice(&[2, 0, 4, 0, 2, 0]);
    bytes[70..74].copy_from_slice(&[2, 0, 8, 0]);
    bytes[108..112].copy_from_slice(&352_f32.to_le_bytes());
    bytes[344..348].copy_from_slice(b"n+1\0");
    bytes.extend(b"12345678");
    bytes
}

/// The fuzz target of files. An input is a file, whose first bytes tell its kind; others are CSV.
#[derive(Debug)]
pub struct Files {
    directory: tempfile::TempDir,
}

impl Files {
    /// Makes a place for the files.
    ///
    /// # Errors
    /// When there is no directory for temporary files.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { directory: tempfile::tempdir()? })
    }

    /// Reads a file of these bytes; panics where the library does.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn run(&self, input: &[u8]) {
        let path = self.directory.path().join("input.csv");
        #[expect(clippy::expect_used, reason = "a target that has nowhere to write fails")]
        std::fs::write(&path, input).expect("there is room for the input");
        read(&path);
    }

    /// Inputs to begin with, the same in every run: a small file of each kind.
    ///
    /// # Errors
    /// When the library does not write one of them.
    pub fn seeds(&self) -> Result<Vec<Vec<u8>>> {
        let zarr = self.directory.path().join("seed.zarr");
        let group = OpenOptions::new().mode(OpenMode::Write).create_group(&zarr)?;
        let column = |name, data_type| {
            group.create_array(name).shape([5]).data_type(data_type).dimension_names(["row"]).create()
        };
        column("x", DataType::Int16)?.fill(.., 7_i16)?;
        column("y", DataType::Float64)?.fill(.., 7.0)?;
        let image = OpenOptions::new().mode(OpenMode::Write).create_array(zarr.join("image"));
        image.shape([4, 6]).data_type(DataType::UInt8).create()?;
        let mut seeds = vec![TIFF.to_vec(), NETCDF.to_vec(), nifti()];
        // Samples of four bits; and white rows of CCITT's Group 4 and of its runs.
        seeds.extend([tiff(4, 1, &TIFF[110..142]), tiff(1, 4, &[0xff]), tiff(1, 2, &[0x98; 8])]);
        for (source, suffix) in [("x", "h5"), ("x", "nc"), ("image", "png"), ("x", "csv"), ("y", "parquet")] {
            let file = self.directory.path().join(format!("seed.{suffix}"));
            zarrox_files::Export::new().overwrite(true).run(zarr.join(source), &file)?;
            seeds.extend(std::fs::read(&file));
        }
        Ok(seeds)
    }
}

/// Opens a file, and reads all arrays that are not too large.
pub fn read(path: &Path) {
    let Ok(store) = zarrox_files::open_file(path) else { return };
    let Ok(node) = OpenOptions::new().mode(OpenMode::Read).open_in(Arc::new(store), "") else { return };
    let read = |array: &zarrox::Array| {
        if array.nbytes().is_some_and(|size| size < MOST) {
            let _ = array.read_dyn(..);
        }
    };
    match node {
        Node::Array(array) => read(&array),
        Node::Group(group) => {
            let _ = group.visit(&mut |_, node| {
                if let Ok(Node::Array(array)) = node {
                    read(array);
                }
                Ok(())
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use zarrox_files::{Kind, open_file};

    use super::*;

    #[test]
    fn seeds_are_files_of_all_kinds() {
        let files = Files::new().unwrap();
        let mut kinds = Vec::new();
        for seed in files.seeds().unwrap() {
            let path = files.directory.path().join("input.csv");
            std::fs::write(&path, &seed).unwrap();
            let kind = Kind::of(&path).unwrap().unwrap();
            let store = open_file(&path).unwrap();
            assert!(store.left_out().is_empty(), "{kind}");
            let node = OpenOptions::new().mode(OpenMode::Read).open_in(Arc::new(store), "").unwrap();
            let array = match node {
                Node::Array(array) => array,
                Node::Group(group) => {
                    group.open(&group.children().unwrap()[0].name).unwrap().into_array().unwrap()
                }
            };
            array.read_dyn(..).unwrap();
            kinds.push(kind);
            files.run(&seed);
        }
        let hdf5 = Kind::Hdf5;
        assert_eq!(
            kinds,
            [
                Kind::Tiff,
                Kind::NetCdf3,
                Kind::Nifti,
                Kind::Tiff,
                Kind::Tiff,
                Kind::Tiff,
                hdf5,
                hdf5,
                Kind::Images,
                Kind::Csv,
                Kind::Parquet
            ]
        );
    }
}
