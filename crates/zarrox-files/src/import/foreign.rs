//! Files in recognised but unsupported formats. The error names the format and suggests a remedy.

use std::path::Path;

use zarrox::Result;

use crate::input::Input;

/// The number of bytes that are examined at each end of a file.
const ENDS: u64 = 1 << 16;

/// The magic numbers of formats, with a description of each format.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"\x0e\x03\x13\x01", "HDF4, which is not supported; convert it to HDF5 with h4toh5"),
    (b"SIMPLE  =", "FITS, which is not supported; astropy reads it"),
    (
        b"MATLAB 5.0 MAT-file",
        "a MATLAB file of version 5, which is not supported; save it as HDF5 with MATLAB's save -v7.3",
    ),
    (b"\x1f\x8b", "compressed by gzip; decompress it first (gunzip)"),
    (b"BZh", "compressed by bzip2; decompress it first (bunzip2)"),
    (b"\xfd7zXZ\0", "compressed by xz; decompress it first (unxz)"),
    (b"\x28\xb5\x2f\xfd", "compressed by Zstandard; decompress it first (unzstd)"),
    (b"PARE", "an encrypted Parquet file, which is not supported"),
    (b"ARROW1", "an Arrow file, which is not supported; convert it to Parquet with pyarrow"),
    (b"SQLite format 3\0", "an SQLite database, which is not supported"),
    (b"\xcd\xf3\x00\x01", "a NASA CDF file, which is not supported; convert it to NetCDF with cdflib"),
];

/// The first bytes of a ZIP archive, and of an empty ZIP archive.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// The names of Zarr and N5 metadata documents.
const DOCUMENTS: [&str; 6] =
    ["zarr.json", ".zgroup", ".zarray", ".zmetadata", ".nczgroup", "attributes.json"];

/// The description for Zarr itself.
const ZARR: &str = "Zarr already; copy it with zarrox cp, or zarrox convert for another format";

/// Returns the description of an unsupported file; `None` if its format is unknown.
pub(crate) fn of_file(input: &Input) -> Result<Option<String>> {
    let start = input.start(ENDS)?;
    if start.starts_with(b"GRIB") {
        let edition = start.get(7).copied().unwrap_or_default();
        let name = if matches!(edition, 1 | 2) { format!("GRIB{edition}") } else { "GRIB".to_owned() };
        let advice = "which is not supported; convert it to NetCDF with cdo or eccodes (grib_to_netcdf)";
        return Ok(Some(format!("{name}, {advice}")));
    }
    if is_archive(&start) {
        return Ok(is_zarr_archive(input)?.then(|| ZARR.to_owned()));
    }
    if let Some(found) = metadata_of_ome(&start) {
        return Ok(Some(found));
    }
    let found = SIGNATURES.iter().find(|(signature, _)| start.starts_with(signature));
    Ok(found.map(|(_, name)| (*name).to_owned()))
}

/// Returns the description of a file that contains only OME-TIFF metadata, such as `.companion.ome`; `None` for any other file.
fn metadata_of_ome(start: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(start);
    if !text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
        || !(text.contains("<OME") || text.contains(":OME"))
    {
        return None;
    }
    let named = text.split_once("FileName=\"").and_then(|(_, rest)| rest.split_once('"'));
    let named = named.map(|(name, _)| format!(", such as '{name}'")).unwrap_or_default();
    Some(format!("OME-TIFF metadata without images; import an image file that it names{named}"))
}

/// Returns true if the first four bytes are those of a ZIP archive.
pub fn is_archive(start: &[u8]) -> bool {
    ZIP.iter().any(|signature| start.starts_with(signature))
}

/// Returns true if a ZIP archive contains Zarr documents. The names are listed in the central directory, at the end of
/// the archive.
pub(crate) fn is_zarr_archive(input: &Input) -> Result<bool> {
    let start = input.start(ENDS)?;
    let length = input.length().min(ENDS);
    let end = input.read(input.length() - length, length)?;
    let has = |bytes: &[u8]| {
        let mut names = DOCUMENTS.iter().filter(|name| **name != "attributes.json");
        names.any(|name| bytes.windows(name.len()).any(|window| window == name.as_bytes()))
    };
    Ok(has(&start) || has(&end))
}

/// Returns the description of a directory whose format is not supported, if it is recognised.
pub(crate) fn of_directory(path: &Path) -> Option<String> {
    DOCUMENTS.iter().any(|name| path.join(name).is_file()).then(|| ZARR.to_owned())
}

#[cfg(test)]
mod tests {
    use zarrox::ErrorKind;

    use crate::Kind;

    #[test]
    fn kinds_that_are_not_read_are_named() {
        let directory = tempfile::tempdir().unwrap();
        for (bytes, name) in [
            (&b"\x0e\x03\x13\x01rest"[..], "HDF4"),
            (b"GRIB\0\0\0\x01", "GRIB1"),
            (b"GRIB\0\0\0\x02\0\0", "GRIB2"),
            (b"SIMPLE  =                    T", "FITS"),
            (b"MATLAB 5.0 MAT-file, Platform", "MATLAB"),
            (b"\x1f\x8b\x08\0", "gzip"),
            (b"<?xml version=\"1.0\"?>\n<OME><UUID FileName=\"a_C0.ome.tif\"/>", "such as 'a_C0.ome.tif'"),
            (b"PK\x03\x04............................x/zarr.json", "zarrox cp"),
        ] {
            let path = directory.path().join("a.npy");
            std::fs::write(&path, bytes).unwrap();
            let error = Kind::of(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains(name), "{error}");
        }
        let path = directory.path().join("a.npz");
        std::fs::write(&path, b"PK\x03\x04............................x.npy").unwrap();
        assert_eq!(Kind::of(&path).unwrap(), Some(Kind::Npz));
        let zarr = directory.path().join("b.zarr");
        zarrox::create_group(&zarr).unwrap();
        assert!(Kind::of(&zarr).unwrap_err().to_string().contains("zarrox cp"));
        assert_eq!(Kind::of(directory.path()).unwrap(), Some(Kind::Images));
    }
}
