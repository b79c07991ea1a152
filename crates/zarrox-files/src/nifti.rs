//! NIfTI-1 as Zarr: files that have the header and the elements, also if gzip has compressed them.
//!
//! Specification: <https://nifti.nimh.nih.gov/pub/dist/src/niftilib/nifti1.h>

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use nifti::{Endianness, NiftiHeader, NiftiType};
use zarrox::data_type::Endian;
use zarrox::json::{Json, Map};
use zarrox::stores::MemoryStore;
use zarrox::{DataType, Result};

use crate::described::Described;
use crate::input::{Input, corrupt, failed, unsupported};
use crate::rows::{Ordered, Place, Rows, Whole};
use crate::store::FileStore;

/// The size of a header in bytes.
const HEADER: usize = 348;

/// The place of the four bytes that tell where the elements are.
const MAGIC: usize = 344;

/// The elements are in the file.
const SINGLE: &[u8] = b"n+1\0";

/// The elements are in another file.
const PAIR: &[u8] = b"ni1\0";

/// The first bytes of what gzip has compressed.
const GZIP: &[u8] = b"\x1f\x8b";

/// The names of the dimensions, the first of which varies fastest.
const NAMES: [&str; 4] = ["x", "y", "z", "t"];

/// Returns true if a file with these first bytes is one of NIfTI.
pub(crate) fn is_nifti(start: &[u8], path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    let has = |at: usize, magic: &[u8]| start.get(at..).is_some_and(|rest| rest.starts_with(magic));
    has(MAGIC, SINGLE) || has(MAGIC, PAIR) || is_second(start) || (has(0, GZIP) && name.ends_with(".nii.gz"))
}

/// Returns true for a header of NIfTI-2.
fn is_second(start: &[u8]) -> bool {
    start.get(4..7).is_some_and(|magic| matches!(magic, b"n+2" | b"ni2"))
}

/// Opens a file as a store of Zarr.
pub(crate) fn open(path: &Path, is_plain: bool) -> Result<FileStore> {
    let input = Input::open(path)?;
    let name = input.path().display().to_string();
    let input = Arc::new(if input.start(2)? == GZIP { inflated(path)? } else { input });
    let volume = Volume::read(&input.start(HEADER as u64)?)?;
    let available = input.length().saturating_sub(volume.begin);
    let item = volume.data_type.size() as u64;
    let rows = Rows::new(Place::File(input, volume.begin), &volume.shape, item, available)?;
    let form = Ordered { data_type: volume.data_type.clone(), endian: volume.endian };
    let documents = MemoryStore::new();
    let described = Described {
        path: String::new(),
        shape: volume.shape,
        data_type: volume.data_type,
        attributes: volume.attributes,
        names: volume.names.into_iter().map(Some).collect(),
        fill: None,
    };
    let chunks = described.create(&documents, Box::new(Whole { rows, form }), is_plain)?;
    Ok(FileStore::new(name, documents, BTreeMap::from([(String::new(), chunks)]), Vec::new()))
}

/// A temporary file with the header and the elements of a compressed file, whose parts cannot be read in any order.
fn inflated(path: &Path) -> Result<Input> {
    let reading = |error| failed(&format!("decompressing '{}'", path.display()), error);
    let writing = |error| failed("writing a temporary file", error);
    let mut decoder = MultiGzDecoder::new(BufReader::new(File::open(path).map_err(reading)?));
    let mut header = vec![0; HEADER];
    decoder.read_exact(&mut header).map_err(reading)?;
    // No more is decompressed than the header speaks of.
    let rest = Volume::read(&header)?.end()?.saturating_sub(HEADER as u64);
    let mut file = tempfile::tempfile().map_err(writing)?;
    file.write_all(&header).map_err(writing)?;
    io::copy(&mut decoder.take(rest), &mut file).map_err(reading)?;
    file.rewind().map_err(writing)?;
    Input::of(file, path.to_owned())
}

/// The array of a file, as its header tells.
#[derive(Debug)]
struct Volume {
    shape: Vec<u64>,
    names: Vec<String>,
    data_type: DataType,
    endian: Endian,
    /// The place of the first element.
    begin: u64,
    attributes: Map,
}

impl Volume {
    fn read(bytes: &[u8]) -> Result<Self> {
        if is_second(bytes) {
            return Err(unsupported("this is NIfTI-2; only NIfTI-1 is read"));
        }
        let header = NiftiHeader::from_reader(bytes).map_err(|error| corrupt(error.to_string()))?;
        if header.magic == PAIR {
            return Err(unsupported(
                "the elements are in another file (.img); only single files (.nii) are read",
            ));
        }
        if header.magic != SINGLE || usize::try_from(header.sizeof_hdr) != Ok(HEADER) {
            return Err(corrupt("this is no header of NIfTI-1"));
        }
        let lengths = header.dim().map_err(|error| corrupt(error.to_string()))?;
        let (data_type, samples) = data_type(&header)?;
        let mut shape: Vec<u64> = lengths.iter().rev().map(|&length| length.into()).collect();
        let mut names: Vec<String> = (0..lengths.len()).rev().map(name).collect();
        if let Some(samples) = samples {
            shape.push(samples);
            names.push("channel".to_owned());
        }
        let endian = if header.endianness == Endianness::Little { Endian::Little } else { Endian::Big };
        let begin = begin(header.vox_offset)?;
        Ok(Self { shape, names, data_type, endian, begin, attributes: attributes(&header, lengths.len()) })
    }

    /// The position after the last element.
    fn end(&self) -> Result<u64> {
        let item = self.data_type.size() as u64;
        let size = self.shape.iter().try_fold(item, |size, &length| size.checked_mul(length));
        size.and_then(|size| size.checked_add(self.begin)).ok_or_else(|| corrupt("the array is too large"))
    }
}

/// The name of a dimension.
fn name(dim: usize) -> String {
    NAMES.get(dim).map_or_else(|| format!("dim_{}", dim + 1), |&name| name.to_owned())
}

/// The place of the first element, which the header has as a float.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
fn begin(offset: f32) -> Result<u64> {
    // A file in which the place is not set has its elements behind the header and four bytes.
    const LEAST: f32 = 352.0;
    if !(0.0..1e9).contains(&offset) || offset.fract() != 0.0 {
        return Err(corrupt(format!("the elements cannot begin at {offset}")));
    }
    Ok(offset.max(LEAST) as u64)
}

/// The data type, and the number of samples of an element of several ones.
fn data_type(header: &NiftiHeader) -> Result<(DataType, Option<u64>)> {
    let found = header.data_type().map_err(|_| {
        unsupported(format!("elements of the type with number {} are not read", header.datatype))
    })?;
    Ok(match found {
        NiftiType::Uint8 => (DataType::UInt8, None),
        NiftiType::Int16 => (DataType::Int16, None),
        NiftiType::Int32 => (DataType::Int32, None),
        NiftiType::Float32 => (DataType::Float32, None),
        NiftiType::Complex64 => (DataType::Complex64, None),
        NiftiType::Float64 => (DataType::Float64, None),
        NiftiType::Rgb24 => (DataType::UInt8, Some(3)),
        NiftiType::Int8 => (DataType::Int8, None),
        NiftiType::Uint16 => (DataType::UInt16, None),
        NiftiType::Uint32 => (DataType::UInt32, None),
        NiftiType::Int64 => (DataType::Int64, None),
        NiftiType::Uint64 => (DataType::UInt64, None),
        NiftiType::Complex128 => (DataType::Complex128, None),
        NiftiType::Rgba32 => (DataType::UInt8, Some(4)),
        NiftiType::Float128 | NiftiType::Complex256 => {
            return Err(unsupported("Zarr has no floats of 128 bits"));
        }
    })
}

fn attributes(header: &NiftiHeader, ndim: usize) -> Map {
    let mut attributes = Map::default();
    let description = header.descrip.split(|&byte| byte == 0).next().unwrap_or_default();
    if !description.is_empty() {
        attributes.insert("description".to_owned(), String::from_utf8_lossy(description).trim().into());
    }
    let spacing = header.pixdim[1..=ndim].iter().rev().map(|&length| number(length)).collect();
    attributes.insert("spacing".to_owned(), Json::Array(spacing));
    if let Some(units) = units(header.xyzt_units, ndim) {
        attributes.insert("spacing_units".to_owned(), units);
    }
    if let Some(affine) = affine(header) {
        let row = |row: &[f64; 4]| Json::Array(row.iter().map(|&value| value.into()).collect());
        attributes.insert("affine".to_owned(), Json::Array(affine.iter().map(row).collect()));
    }
    let (slope, inter) = (header.scl_slope, header.scl_inter);
    let is_scaled = slope.is_finite() && inter.is_finite() && slope != 0.0 && (slope, inter) != (1.0, 0.0);
    if is_scaled {
        // The names of CF, so that xarray scales the elements.
        attributes.insert("scale_factor".to_owned(), number(slope));
        attributes.insert("add_offset".to_owned(), number(inter));
    }
    attributes
}

fn number(value: f32) -> Json {
    f64::from(value).into()
}

/// The units of the spacing, in the order of the dimensions; `None` if the header has none.
fn units(code: u8, ndim: usize) -> Option<Json> {
    let space = match code & 7 {
        1 => "m",
        2 => "mm",
        3 => "um",
        _ => "",
    };
    let time = match code & 0x38 {
        8 => "s",
        16 => "ms",
        24 => "us",
        32 => "Hz",
        40 => "ppm",
        48 => "rad/s",
        _ => "",
    };
    let unit = |dim| match dim {
        0..=2 => space,
        3 => time,
        _ => "",
    };
    let is_there = !space.is_empty() || !time.is_empty();
    is_there.then(|| Json::Array((0..ndim).rev().map(|dim| unit(dim).into()).collect()))
}

/// The matrix from the indices `(x, y, z, 1)` of an element to its place in space: that of the header, or else that of its quaternion.
fn affine(header: &NiftiHeader) -> Option<[[f64; 4]; 4]> {
    const LAST: [f64; 4] = [0.0, 0.0, 0.0, 1.0];
    let matrix = if header.sform_code > 0 {
        let [x, y, z] = [header.srow_x, header.srow_y, header.srow_z].map(|row| row.map(f64::from));
        [x, y, z, LAST]
    } else if header.qform_code > 0 {
        turned(header)
    } else {
        return None;
    };
    matrix.iter().flatten().all(|value| value.is_finite()).then_some(matrix)
}

/// The matrix of a unit quaternion, whose first number follows from the other three, of lengths and of an offset.
fn turned(header: &NiftiHeader) -> [[f64; 4]; 4] {
    let [b, c, d] = [header.quatern_b, header.quatern_c, header.quatern_d].map(f64::from);
    let a = (1.0 - (b * b + c * c + d * d)).max(0.0).sqrt();
    let rotation = [
        [a * a + b * b - c * c - d * d, 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)],
        [2.0 * (b * c + a * d), a * a + c * c - b * b - d * d, 2.0 * (c * d - a * b)],
        [2.0 * (b * d - a * c), 2.0 * (c * d + a * b), a * a + d * d - b * b - c * c],
    ];
    let mirror = if header.pixdim[0] < 0.0 { -1.0 } else { 1.0 };
    let lengths =
        [f64::from(header.pixdim[1]), f64::from(header.pixdim[2]), mirror * f64::from(header.pixdim[3])];
    let offsets = [header.quatern_x, header.quatern_y, header.quatern_z].map(f64::from);
    let mut matrix = [[0.0, 0.0, 0.0, 1.0]; 4];
    for (row, (turned, offset)) in matrix.iter_mut().zip(rotation.iter().zip(offsets)) {
        *row = [turned[0] * lengths[0], turned[1] * lengths[1], turned[2] * lengths[2], offset];
    }
    matrix
}
