//! [`Import`]: copies of files of other formats into Zarr.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use zarrox::convert::ConvertReport;
use zarrox::copy::{Copier, Copying};
use zarrox::{DataType, Error, ErrorKind, Result};

use crate::input::{Input, unsupported};
use crate::reading::Reading;
use crate::store::{FileStore, LeftOut};

/// The number of bytes at the beginning of a file that tell its kind, but for HDF5 behind a block of the user.
const START: u64 = 512;

/// The first bytes of PNG and JPEG.
const IMAGES: [&[u8]; 2] = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"];

/// The first bytes of TIFF: little-endian and big-endian, the classic form and BigTIFF.
const TIFF: [&[u8]; 4] = [b"II\x2a\0", b"MM\0\x2a", b"II\x2b\0", b"MM\0\x2b"];

/// The first bytes of Parquet.
const PARQUET: &[u8] = b"PAR1";

/// A kind of file that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// HDF5, also as NetCDF-4.
    Hdf5,
    /// NetCDF-3: the classic format, and those with 64-bit offsets and 64-bit data.
    NetCdf3,
    /// An image of PNG or JPEG, or a directory of such images.
    Images,
    /// TIFF, also as GeoTIFF, COG and OME-TIFF.
    Tiff,
    /// NIfTI-1 in one file, also compressed as `.nii.gz`.
    Nifti,
    /// Parquet.
    Parquet,
    /// Comma-separated values, or with the suffix `.tsv` tab-separated ones.
    Csv,
}

impl Kind {
    /// The kind of a file, by its first bytes, or of text by its suffix, or of a directory; `None` for another one.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of(path: impl AsRef<Path>) -> Result<Option<Self>> {
        if path.as_ref().is_dir() {
            return Ok(Some(Self::Images));
        }
        let input = Input::open(path.as_ref())?;
        Self::of_input(&input)
    }

    fn of_input(input: &Input) -> Result<Option<Self>> {
        let start = input.start(START)?;
        let hdf5: &[u8] = b"\x89HDF\r\n\x1a\n";
        if start.starts_with(hdf5) {
            return Ok(Some(Self::Hdf5));
        }
        if start.starts_with(crate::netcdf3::SIGNATURE) && matches!(start.get(3), Some(1 | 2 | 5)) {
            return Ok(Some(Self::NetCdf3));
        }
        if IMAGES.iter().any(|signature| start.starts_with(signature)) {
            return Ok(Some(Self::Images));
        }
        if TIFF.iter().any(|signature| start.starts_with(signature)) {
            return Ok(Some(Self::Tiff));
        }
        #[cfg(feature = "nifti")]
        if crate::nifti::is_nifti(&start, input.path()) {
            return Ok(Some(Self::Nifti));
        }
        if start.starts_with(PARQUET) {
            return Ok(Some(Self::Parquet));
        }
        // The signature is at 512, 1024, and so on, behind a block of the user.
        let mut offset = START;
        while offset + hdf5.len() as u64 <= input.length() && offset <= 1 << 30 {
            if input.read(offset, hdf5.len() as u64)? == hdf5 {
                return Ok(Some(Self::Hdf5));
            }
            offset *= 2;
        }
        let suffix = input.path().extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
        if ["csv", "tsv"].iter().any(|text| suffix.eq_ignore_ascii_case(text)) {
            return Ok(Some(Self::Csv));
        }
        Ok(None)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hdf5 => "HDF5",
            Self::NetCdf3 => "NetCDF-3",
            Self::Images => "PNG and JPEG",
            Self::Tiff => "TIFF",
            Self::Nifti => "NIfTI",
            Self::Parquet => "Parquet",
            Self::Csv => "CSV",
        })
    }
}

/// Opens a file of another format, or a directory of images, as a store of Zarr v3, for reading.
///
/// # Errors
/// [`ErrorKind::Unsupported`] when the kind of the file is not known, or this build does not read it; [`ErrorKind::Corrupt`] when
/// the file is damaged.
pub fn open_file(path: impl AsRef<Path>) -> Result<FileStore> {
    open(path.as_ref(), &Reading::default())
}

fn open(path: &Path, reading: &Reading) -> Result<FileStore> {
    let name = format!("'{}'", path.display());
    match Kind::of(path)? {
        Some(kind) => open_kind(kind, path, reading).map_err(|error| error.at(name)),
        None => Err(unsupported(format!("{name} is not a file of a known kind"))),
    }
}

fn open_kind(kind: Kind, path: &Path, reading: &Reading) -> Result<FileStore> {
    match kind {
        #[cfg(feature = "hdf5")]
        Kind::Hdf5 => crate::hdf5::open(path, reading.is_plain),
        #[cfg(not(feature = "hdf5"))]
        Kind::Hdf5 => Err(lacking(kind, "hdf5")),
        Kind::NetCdf3 => crate::netcdf3::open(path, reading.is_plain),
        #[cfg(feature = "images")]
        Kind::Images => crate::images::open(path, reading.is_plain),
        #[cfg(not(feature = "images"))]
        Kind::Images => Err(lacking(kind, "images")),
        #[cfg(feature = "tiff")]
        Kind::Tiff => crate::tiff::open(path, reading),
        #[cfg(not(feature = "tiff"))]
        Kind::Tiff => Err(lacking(kind, "tiff")),
        #[cfg(feature = "nifti")]
        Kind::Nifti => crate::nifti::open(path, reading.is_plain),
        #[cfg(not(feature = "nifti"))]
        Kind::Nifti => Err(lacking(kind, "nifti")),
        #[cfg(feature = "tables")]
        Kind::Parquet => crate::table::parquet_in::open(path, reading),
        #[cfg(feature = "tables")]
        Kind::Csv => crate::table::csv_in::open(path, reading),
        #[cfg(not(feature = "tables"))]
        Kind::Parquet | Kind::Csv => Err(lacking(kind, "tables")),
    }
}

/// The error of a build that does not read a kind of file.
#[cfg(not(all(
    feature = "hdf5",
    feature = "images",
    feature = "nifti",
    feature = "tables",
    feature = "tiff"
)))]
fn lacking(kind: Kind, feature: &str) -> Error {
    unsupported(format!(
        "files of {kind} are read by a build with the feature {feature}, which this one lacks"
    ))
}

/// Copies files of other formats into Zarr: its options, with which an import can be planned and run.
///
/// ```no_run
/// let report = zarrox_files::Import::new().run("era5.nc", "era5.zarr")?;
/// println!("{report}");
/// # Ok::<(), zarrox::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Import {
    copier: Copier,
    reading: Reading,
    skips: bool,
    node: String,
}

impl Import {
    /// Creates an import with the options of [`Copier::new`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the options of the copy: its format, chunks, codecs, and what is done with nodes that are there.
    pub fn copier(self, copier: Copier) -> Self {
        Self { copier, ..self }
    }

    /// Tells that the copier chooses other codecs than those of the file, so that nothing is compressed for it twice.
    pub fn recodes(self, recodes: bool) -> Self {
        Self { reading: Reading { is_plain: recodes, ..self.reading }, ..self }
    }

    /// Sets the type of a column of CSV, which otherwise follows from all its values.
    pub fn column(mut self, name: impl Into<String>, data_type: DataType) -> Self {
        self.reading.columns.push((name.into(), data_type));
        self
    }

    /// Takes a smaller copy of the images of TIFF, as COG has them: 1 for the largest one. Level 0 has the images themselves.
    pub fn level(self, level: usize) -> Self {
        Self { reading: Reading { level, ..self.reading }, ..self }
    }

    /// Sets whether nodes and attributes that have no form in Zarr are left out. Otherwise they are an error.
    pub fn skip_unsupported(self, skip: bool) -> Self {
        Self { skips: skip, ..self }
    }

    /// Imports only the node at this path of the file, with all nodes below it.
    pub fn node(self, path: impl Into<String>) -> Self {
        Self { node: path.into(), ..self }
    }

    /// Plans an import. Nothing is written yet.
    ///
    /// # Errors
    /// The errors of [`open_file`] and of [`Copier::plan`].
    pub fn plan(&self, source: impl AsRef<Path>, destination: impl AsRef<Path>) -> Result<Importing> {
        let store = open(source.as_ref(), &self.reading)?;
        let node = self.node.trim_matches('/');
        let is_below = |found: &&LeftOut| {
            let path = found.path.trim_start_matches('/');
            node.is_empty()
                || path == node
                || path.strip_prefix(node).is_some_and(|rest| rest.starts_with('/'))
        };
        let left_out = store.left_out().iter().filter(is_below).cloned().collect();
        let copying = self.copier.plan_from(Arc::new(store), node, destination)?;
        Ok(Importing { copying, left_out, skips: self.skips })
    }

    /// Imports a file. After an interruption, the same call continues.
    ///
    /// # Errors
    /// The errors of [`Import::plan`]; [`ErrorKind::Unsupported`] when a node or an attribute has no form in Zarr.
    pub fn run(&self, source: impl AsRef<Path>, destination: impl AsRef<Path>) -> Result<ConvertReport> {
        self.plan(source, destination)?.run()
    }
}

/// A planned import that can be run.
#[derive(Debug)]
#[must_use = "nothing is imported before `run` is called"]
pub struct Importing {
    copying: Copying,
    left_out: Vec<LeftOut>,
    skips: bool,
}

impl Importing {
    /// The nodes and attributes that have no form in Zarr.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The copy that will be made.
    pub fn copying(&self) -> &Copying {
        &self.copying
    }

    /// Imports the file. After an interruption, the same import continues.
    ///
    /// # Errors
    /// The errors of [`Import::run`].
    pub fn run(self) -> Result<ConvertReport> {
        if !self.skips && !self.left_out.is_empty() {
            return Err(refused(&self.left_out));
        }
        self.copying.run()
    }
}

fn refused(left_out: &[LeftOut]) -> Error {
    const MOST: usize = 10;
    let mut message = "parts of the file have no form in Zarr, and can only be left out:".to_owned();
    for found in left_out.iter().take(MOST) {
        message.push_str(&format!("\n  {found}"));
    }
    if left_out.len() > MOST {
        message.push_str(&format!("\n  and {} more", left_out.len() - MOST));
    }
    Error::new(ErrorKind::Unsupported, message)
}

/// Imports a file into a hierarchy where nothing is. [`Import`] has options.
///
/// # Errors
/// The errors of [`Import::run`].
pub fn import_file(source: impl AsRef<Path>, destination: impl AsRef<Path>) -> Result<ConvertReport> {
    Import::new().run(source, destination)
}
