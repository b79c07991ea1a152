//! [`Kind`]: the formats that can be imported, and functions that open files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrox::stores::Bytes;
use zarrox::{Error, Result};

use crate::external::External;
use crate::input::{Input, unsupported};
use crate::reading::Reading;
use crate::store::FileStore;

/// The number of bytes at the beginning of a file that are enough to detect its format, except for HDF5 after a user block.
const START: u64 = 512;

/// The first bytes of PNG and JPEG.
const IMAGES: [&[u8]; 2] = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"];

/// The first bytes of TIFF: classic TIFF and BigTIFF, each little-endian and big-endian.
const TIFF: [&[u8]; 4] = [b"II\x2a\0", b"MM\0\x2a", b"II\x2b\0", b"MM\0\x2b"];

/// The first bytes of Parquet.
const PARQUET: &[u8] = b"PAR1";

/// A file format that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// HDF5, including NetCDF-4.
    Hdf5,
    /// NetCDF-3: the classic, 64-bit offset and 64-bit data formats.
    NetCdf3,
    /// A PNG or JPEG image, or a directory of PNG and JPEG images.
    Images,
    /// TIFF, including GeoTIFF, COG and OME-TIFF.
    Tiff,
    /// NIfTI-1, NIfTI-2 and Analyze 7.5, in one file or two, optionally compressed with gzip.
    Nifti,
    /// Parquet.
    Parquet,
    /// A NumPy array, `.npy`.
    Npy,
    /// An archive of NumPy arrays, `.npz`.
    Npz,
    /// Comma-separated values, or tab-separated values if the suffix is `.tsv`.
    Csv,
}

impl Kind {
    /// Detects the format of a file or directory; `None` if it is unknown. Binary formats are detected from the first
    /// bytes of the file, and text formats from its suffix.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a recognised but unsupported format, such as GRIB; any error from reading the file.
    ///
    /// [`ErrorKind::Unsupported`]: zarrox::ErrorKind::Unsupported
    pub fn of(path: impl AsRef<Path>) -> Result<Option<Self>> {
        let path = path.as_ref();
        if path.is_dir() {
            return match crate::import::foreign::of_directory(path) {
                Some(foreign) => Err(foreign_kind(path, &foreign)),
                None => Ok(Some(Self::Images)),
            };
        }
        Self::of_open(&Input::open(path)?)
    }

    /// Opens bytes in memory as a file of this format. The result is a read-only store, as for [`open_file`]. The suffix
    /// of `name` distinguishes CSV from tab-separated values, and HDF5 from NetCDF. Other files that the bytes refer to
    /// are not read.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if the bytes are damaged or have another format; [`ErrorKind::Unsupported`] if this build
    /// cannot read the format.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use zarrox_files::Kind;
    ///
    /// let store = Kind::Csv.open_bytes("a.csv", "x,y\n1,0.5\n2,0.25\n")?;
    /// let y = zarrox::open_array((Arc::new(store), "y"))?;
    /// assert_eq!(y.read::<Vec<f64>>(..)?, [0.5, 0.25]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// [`ErrorKind::Corrupt`]: zarrox::ErrorKind::Corrupt
    /// [`ErrorKind::Unsupported`]: zarrox::ErrorKind::Unsupported
    pub fn open_bytes(self, name: impl Into<PathBuf>, bytes: impl Into<Bytes>) -> Result<FileStore> {
        open_kind(self, Input::in_memory(bytes.into(), name.into()), &closed())
    }

    /// Detects the format of an open file.
    fn of_open(input: &Input) -> Result<Option<Self>> {
        if let Some(kind) = Self::of_input(input)? {
            return Ok(Some(kind));
        }
        match crate::import::foreign::of_file(input)? {
            Some(foreign) => Err(foreign_kind(input.name(), &foreign)),
            None => Ok(None),
        }
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
        if crate::nifti::is_nifti(&start, input) {
            return Ok(Some(Self::Nifti));
        }
        if start.starts_with(PARQUET) {
            return Ok(Some(Self::Parquet));
        }
        if start.starts_with(crate::npy::MAGIC) {
            return Ok(Some(Self::Npy));
        }
        if crate::import::foreign::is_archive(&start) && !crate::import::foreign::is_zarr_archive(input)? {
            return Ok(Some(Self::Npz));
        }
        // After a user block, the signature is at 512, 1024, and so on.
        let mut offset = START;
        while offset + hdf5.len() as u64 <= input.length() && offset <= 1 << 30 {
            if input.read(offset, hdf5.len() as u64)? == hdf5 {
                return Ok(Some(Self::Hdf5));
            }
            offset *= 2;
        }
        let suffix = input.name().extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
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
            Self::Npy => "NumPy",
            Self::Npz => "NumPy's archives",
            Self::Csv => "CSV",
        })
    }
}

/// Opens a file in another format, or a directory of images, as a read-only Zarr v3 store. NumPy files become Zarr v2 stores.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if the format of the file is unknown or not supported by this build; [`ErrorKind::Corrupt`]
/// if the file is damaged.
///
/// [`ErrorKind::Unsupported`]: zarrox::ErrorKind::Unsupported
/// [`ErrorKind::Corrupt`]: zarrox::ErrorKind::Corrupt
pub fn open_file(path: impl AsRef<Path>) -> Result<FileStore> {
    open(path.as_ref(), &Reading::default())
}

/// Opens bytes in memory as a file in another format, which is detected as in [`open_file`]. See [`Kind::open_bytes`].
///
/// # Errors
/// The errors of [`open_file`].
pub fn open_bytes(name: impl Into<PathBuf>, bytes: impl Into<Bytes>) -> Result<FileStore> {
    open_input(Input::in_memory(bytes.into(), name.into()), &closed())
}

/// Returns the options for reading bytes in memory, which may not refer to other files.
fn closed() -> Reading {
    Reading { external: External { is_closed: true, ..External::default() }, ..Reading::default() }
}

/// Opens a file with options.
pub(crate) fn open(path: &Path, reading: &Reading) -> Result<FileStore> {
    #[cfg(feature = "images")]
    if path.is_dir() && Kind::of(path)? == Some(Kind::Images) {
        let opened = crate::images::open_directory(path, reading.is_plain);
        return opened.map_err(|error| error.at(format!("'{}'", path.display())));
    }
    open_input(Input::open(path)?, reading)
}

/// Creates the store of a file that is already open, with options.
pub(crate) fn open_input(input: Input, reading: &Reading) -> Result<FileStore> {
    if let Some(raw) = &reading.raw {
        return crate::npy::open_raw(&Arc::new(input), raw, reading);
    }
    match Kind::of_open(&input)? {
        Some(kind) => open_kind(kind, input, reading),
        None => Err(unsupported(format!("'{}' is not a file of a known kind", input.name().display()))),
    }
}

fn open_kind(kind: Kind, input: Input, reading: &Reading) -> Result<FileStore> {
    let (name, input) = (format!("'{}'", input.name().display()), Arc::new(input));
    let opened = match kind {
        #[cfg(feature = "hdf5")]
        Kind::Hdf5 => crate::hdf5::open(input, reading),
        #[cfg(not(feature = "hdf5"))]
        Kind::Hdf5 => Err(lacking(kind, "hdf5")),
        Kind::NetCdf3 => crate::netcdf3::open(&input, reading),
        #[cfg(feature = "images")]
        Kind::Images => crate::images::open(input, reading.is_plain),
        #[cfg(not(feature = "images"))]
        Kind::Images => Err(lacking(kind, "images")),
        #[cfg(feature = "tiff")]
        Kind::Tiff => crate::tiff::open(&input, reading),
        #[cfg(not(feature = "tiff"))]
        Kind::Tiff => Err(lacking(kind, "tiff")),
        #[cfg(feature = "nifti")]
        Kind::Nifti => crate::nifti::open(input, reading),
        #[cfg(not(feature = "nifti"))]
        Kind::Nifti => Err(lacking(kind, "nifti")),
        Kind::Npy => crate::npy::open(&input, reading),
        #[cfg(feature = "npz")]
        Kind::Npz => crate::npy::open_npz(&input, reading),
        #[cfg(not(feature = "npz"))]
        Kind::Npz => Err(lacking(kind, "npz")),
        #[cfg(feature = "tables")]
        Kind::Parquet => crate::table::parquet_in::open(&input, reading),
        #[cfg(feature = "tables")]
        Kind::Csv => crate::table::csv_in::open(&input, reading),
        #[cfg(not(feature = "tables"))]
        Kind::Parquet | Kind::Csv => Err(lacking(kind, "tables")),
    };
    opened.map_err(|error| error.at(name))
}

/// Returns the error for a recognised but unsupported format.
fn foreign_kind(path: &Path, foreign: &str) -> Error {
    unsupported(format!("'{}' is {foreign}", path.display()))
}

/// Returns the error for a format that this build cannot read.
#[cfg(not(all(
    feature = "hdf5",
    feature = "images",
    feature = "nifti",
    feature = "npz",
    feature = "tables",
    feature = "tiff"
)))]
fn lacking(kind: Kind, feature: &str) -> Error {
    unsupported(format!("this build cannot read {kind}: it lacks the feature {feature}"))
}
