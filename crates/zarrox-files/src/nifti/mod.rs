//! NIfTI-1, NIfTI-2 and Analyze 7.5 as Zarr: single files and pairs, optionally compressed with gzip.

mod affine;
mod attributes;
mod extensions;
mod gzip;
mod layout;
mod pair;
mod volume;
pub(crate) mod write;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use zarrox::Result;
use zarrox::stores::MemoryStore;

use crate::chunks::rows::{ElementLocation, Ordered, Rows, Whole};
use crate::described::Described;
use crate::input::{Input, corrupt};
use crate::nifti::layout::{Header, Kind};
use crate::nifti::volume::Volume;
use crate::reading::Reading;
use crate::store::FileStore;

/// The maximum size in bytes of a compressed header with its extensions, after decompression.
const MOST_HEADER: u64 = 16 << 20;

/// Returns true if a file is NIfTI or Analyze, according to its first bytes and its name.
pub(crate) fn is_nifti(start: &[u8], input: &Input) -> bool {
    let path = input.name();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    let is_packed = start.starts_with(gzip::SIGNATURE);
    layout::has_magic(start)
        || (is_packed && [".nii.gz", ".hdr.gz"].iter().any(|suffix| name.ends_with(suffix)))
        || (layout::layout(start).is_some() && pair::is_header(path))
        || header_beside(input).is_some()
}

/// If the file contains the elements of a pair, returns the path of the header file next to it.
fn header_beside(input: &Input) -> Option<PathBuf> {
    if input.is_in_memory() { None } else { pair::header_beside(input.name()) }
}

/// Opens a file as a Zarr store.
pub(crate) fn open(given: Arc<Input>, reading: &Reading) -> Result<FileStore> {
    let location = given.path().display().to_string();
    let file = header_beside(&given).map_or(Ok(given), |path| Input::open(&path).map(Arc::new))?;
    let input = header_file(&file)?;
    let header = Header::read(&input.start(layout::LONGEST as u64)?)?;
    let volume = Volume::of(&header)?;
    let begin = header.begin()?;
    let end = if header.kind == Kind::Single { begin } else { input.length() };
    let (extensions, left_out) = match header.kind {
        Kind::Analyze => (Vec::new(), Vec::new()),
        Kind::Single | Kind::Pair => extensions::read(&input, &header, end)?,
    };
    let input = match header.kind {
        Kind::Single => input,
        Kind::Pair | Kind::Analyze => elements_file(&file, begin, &volume, reading)?,
    };
    let available = input.length().saturating_sub(begin);
    let item = volume.data_type.size() as u64;
    let rows = Rows::new(ElementLocation::File(input, begin), &volume.shape, item, available)?;
    let form = Ordered { data_type: volume.data_type.clone(), endian: header.endian };
    let documents = MemoryStore::new();
    let described = Described {
        path: String::new(),
        attributes: attributes::of(&header, &volume.dims, extensions),
        shape: volume.shape,
        data_type: volume.data_type,
        names: volume.names.into_iter().map(Some).collect(),
        fill: None,
    };
    let chunks = described.create(&documents, Box::new(Whole { rows, form }), reading.is_plain)?;
    Ok(FileStore::new(location, documents, BTreeMap::from([(String::new(), chunks)]), left_out))
}

/// Returns the header file, decompressed as far as necessary.
fn header_file(file: &Arc<Input>) -> Result<Arc<Input>> {
    if file.start(2)? != gzip::SIGNATURE {
        return Ok(Arc::clone(file));
    }
    let needed = |start: &[u8]| {
        let header = Header::read(start)?;
        match header.kind {
            // Only as many bytes as the header describes are decompressed.
            Kind::Single => end_of(header.begin()?, &Volume::of(&header)?),
            Kind::Pair | Kind::Analyze => Ok(MOST_HEADER),
        }
    };
    Ok(Arc::new(gzip::inflated(file, layout::LONGEST, needed)?))
}

/// Opens the file that contains the elements of a pair.
fn elements_file(header: &Input, begin: u64, volume: &Volume, reading: &Reading) -> Result<Arc<Input>> {
    let elements = pair::elements_beside(header.name(), &reading.external)?;
    let input = Arc::new(Input::open(&elements)?);
    if input.start(2)? != gzip::SIGNATURE || elements.extension().is_none_or(|suffix| suffix != "gz") {
        return Ok(input);
    }
    let end = end_of(begin, volume)?;
    Ok(Arc::new(gzip::inflated(&input, 0, |_| Ok(end))?))
}

/// Returns the position after the last element.
fn end_of(begin: u64, volume: &Volume) -> Result<u64> {
    begin.checked_add(volume.size()?).ok_or_else(|| corrupt("the array is too large"))
}
