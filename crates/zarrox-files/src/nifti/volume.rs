//! The array described by a header.

use zarrox::{DataType, Result};

use super::layout::{BITS, DATA_TYPE, DIM, Header, INTENT_CODE, Version};
use crate::input::{corrupt, unsupported};

/// The dimension names. The first dimension varies fastest.
const NAMES: [&str; 4] = ["x", "y", "z", "t"];

/// The intent codes of CIFTI-2.
pub(super) const CIFTI: std::ops::Range<i64> = 3000..3100;

/// The number of leading dimensions in CIFTI-2. They always have length 1.
pub(super) const EMPTY_OF_CIFTI: usize = 4;

/// The array of a file.
#[derive(Debug)]
pub(super) struct Volume {
    /// The lengths of the dimensions, from slowest- to fastest-varying.
    pub(super) shape: Vec<u64>,
    pub(super) names: Vec<String>,
    /// The zero-based indices of the dimensions in the header. The dimension for color samples is not in the header.
    pub(super) dims: Vec<usize>,
    pub(super) data_type: DataType,
}

impl Volume {
    pub(super) fn of(header: &Header) -> Result<Self> {
        let lengths = lengths(header)?;
        let (data_type, samples) = data_type(header)?;
        let is_cifti = header.version == Version::Second
            && CIFTI.contains(&header.int(INTENT_CODE, 0))
            && lengths.len() > EMPTY_OF_CIFTI
            && lengths.iter().take(EMPTY_OF_CIFTI).all(|&length| length == 1);
        let first = if is_cifti { EMPTY_OF_CIFTI } else { 0 };
        let dims: Vec<usize> = (first..lengths.len()).rev().collect();
        let mut shape: Vec<u64> = lengths.into_iter().skip(first).rev().collect();
        let mut names: Vec<String> = dims.iter().map(|&dim| name(dim)).collect();
        if let Some(samples) = samples {
            shape.push(samples);
            names.push("channel".to_owned());
        }
        Ok(Self { shape, names, dims, data_type })
    }

    /// Returns the total size of the elements in bytes.
    pub(super) fn size(&self) -> Result<u64> {
        let item = self.data_type.size() as u64;
        let size = self.shape.iter().try_fold(item, |size, &length| size.checked_mul(length));
        size.ok_or_else(|| corrupt("the array is too large"))
    }
}

/// Returns the lengths of the dimensions, from fastest- to slowest-varying.
fn lengths(header: &Header) -> Result<Vec<u64>> {
    let count = header.int(DIM, 0);
    let count = usize::try_from(count).ok().filter(|count| (1..=7).contains(count));
    let count = count.ok_or_else(|| {
        corrupt(format!("a NIfTI image has 1 to 7 dimensions, but this one has {}", header.int(DIM, 0)))
    })?;
    let mut lengths: Vec<i64> = (1..=count).map(|dim| header.int(DIM, dim)).collect();
    // FreeSurfer writes surfaces with more vertices than the maximum length of a NIfTI-1 dimension.
    match (header.version, lengths.as_mut_slice()) {
        (Version::First, [first @ -1, 1, 1, ..]) => *first = header.large_length(),
        (Version::First, [first @ 27_307, 1, third @ 6, ..]) => (*first, *third) = (6 * 27_307, 1),
        _ => {}
    }
    let length = |(dim, &length): (usize, &i64)| {
        let length = u64::try_from(length).ok().filter(|&length| length > 0);
        length.ok_or_else(|| {
            corrupt(format!("the length of dimension {} is {}", dim + 1, header.int(DIM, dim + 1)))
        })
    };
    lengths.iter().enumerate().map(length).collect()
}

/// Returns the name of a dimension.
fn name(dim: usize) -> String {
    NAMES.get(dim).map_or_else(|| format!("dim_{}", dim + 1), |&name| name.to_owned())
}

/// The codes of supported data types, with the number of bits and the number of samples per element.
const TYPES: [(i64, DataType, i64, Option<u64>); 14] = [
    (2, DataType::UInt8, 8, None),
    (4, DataType::Int16, 16, None),
    (8, DataType::Int32, 32, None),
    (16, DataType::Float32, 32, None),
    (32, DataType::Complex64, 64, None),
    (64, DataType::Float64, 64, None),
    (128, DataType::UInt8, 24, Some(3)),
    (256, DataType::Int8, 8, None),
    (512, DataType::UInt16, 16, None),
    (768, DataType::UInt32, 32, None),
    (1024, DataType::Int64, 64, None),
    (1280, DataType::UInt64, 64, None),
    (1792, DataType::Complex128, 128, None),
    (2304, DataType::UInt8, 32, Some(4)),
];

/// Returns the data type, and the number of samples if an element has more than one.
fn data_type(header: &Header) -> Result<(DataType, Option<u64>)> {
    let code = header.int(DATA_TYPE, 0);
    if let Some((_, data_type, _, samples)) = TYPES.iter().find(|known| known.0 == code) {
        return Ok((data_type.clone(), *samples));
    }
    Err(match code {
        1 => unsupported("elements of one bit are not supported, since NIfTI does not define their order"),
        1536 => unsupported("Zarr has no data type for floats of 128 bits"),
        2048 => unsupported("Zarr has no data type for complex numbers of 256 bits"),
        0 | 255 => corrupt(format!("unknown data type {code}")),
        _ => unsupported(format!("the data type with code {code} is not supported")),
    })
}

/// Sets the data type of elements with `samples` samples each. Returns an error if NIfTI does not support it.
pub(super) fn set_data_type(header: &mut Header, data_type: &DataType, samples: Option<u64>) -> Result<()> {
    let own = if *data_type == DataType::Bool { &DataType::UInt8 } else { data_type };
    let Some((code, _, bits, _)) = TYPES.iter().find(|known| known.1 == *own && known.3 == samples) else {
        return Err(unsupported(format!(
            "NIfTI has no equivalent of the data type {data_type}; zarrox cp --dtype makes a copy with elements of another type, such as float32"
        )));
    };
    header.set_int(DATA_TYPE, 0, *code)?;
    header.set_int(BITS, 0, *bits)
}
