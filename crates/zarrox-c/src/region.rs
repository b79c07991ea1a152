//! Regions of arrays: start, count and stride, as in netCDF.

use zarrox::{DimSelection, Error, ErrorKind, Result, Selection};

use crate::arguments::{list, value};

/// A region: `count` elements along each dimension, from `start` on, `stride` apart. A null pointer to a region means the whole
/// array.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct zarrox_region {
    /// The number of dimensions, which must be the number of dimensions of the array.
    pub ndim: usize,
    /// The index of the first element along each dimension; null for zeros.
    pub start: *const u64,
    /// The number of elements along each dimension; null for all elements from `start` on.
    pub count: *const u64,
    /// The distance between elements along each dimension; null for ones. A negative stride selects elements backwards from
    /// `start`; 0 is an error.
    pub stride: *const i64,
}

/// A region of an array: a selection, and its shape.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) selection: Selection,
    pub(crate) shape: Vec<usize>,
}

impl Part {
    /// Returns a region of an array of this shape.
    ///
    /// # Safety
    /// The pointer is null, or points to a region whose own pointers are null or point to one number for each of its dimensions.
    pub(crate) unsafe fn new(region: *const zarrox_region, shape: &[u64]) -> Result<Self> {
        // SAFETY: the caller guarantees it.
        let Some(region) = (unsafe { value(region, "region") })? else {
            let all = |length: &u64| usize::try_from(*length).map_err(|_| too_large());
            return Ok(Self {
                selection: Selection::all(),
                shape: shape.iter().map(all).collect::<Result<_>>()?,
            });
        };
        let ndim = region.ndim;
        if ndim != shape.len() {
            return Err(wrong(format!("the region has {ndim} dimensions, and the array {}", shape.len())));
        }
        // SAFETY: the caller guarantees it.
        let (start, count, stride) = unsafe {
            (
                optional(region.start, ndim, "start")?,
                optional(region.count, ndim, "count")?,
                optional(region.stride, ndim, "stride")?,
            )
        };
        let (mut items, mut counts) = (Vec::with_capacity(ndim), Vec::with_capacity(ndim));
        for (dim, &length) in shape.iter().enumerate() {
            let axis = Axis {
                start: start.map_or(0, |start| start[dim]),
                count: count.map(|count| count[dim]),
                stride: stride.map_or(1, |stride| stride[dim]),
            };
            let (item, count) =
                axis.resolve(length).map_err(|message| wrong(format!("dimension {dim}: {message}")))?;
            items.push(item);
            counts.push(count);
        }
        Ok(Self { selection: Selection::new(items), shape: counts })
    }

    /// Returns the number of elements.
    pub(crate) fn len(&self) -> Result<usize> {
        self.shape.iter().try_fold(1_usize, |size, &n| size.checked_mul(n)).ok_or_else(too_large)
    }
}

/// Returns a list, or `None` for null.
unsafe fn optional<'a, T>(pointer: *const T, length: usize, name: &str) -> Result<Option<&'a [T]>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller guarantees it.
    unsafe { list(pointer, length, name) }.map(Some)
}

/// A region along one dimension.
struct Axis {
    start: u64,
    count: Option<u64>,
    stride: i64,
}

impl Axis {
    /// Returns the slice of a dimension of this length, and the number of selected elements.
    fn resolve(&self, length: u64) -> Result<(DimSelection, usize), String> {
        let (start, stride, length) = (i128::from(self.start), i128::from(self.stride), i128::from(length));
        if stride == 0 {
            return Err("the stride is 0".to_owned());
        }
        // An empty region may begin just after the last element.
        if start > length {
            return Err(format!("the start {start} is outside of the length {length}"));
        }
        let most = if stride > 0 {
            (length - start + stride - 1) / stride
        } else {
            start.min(length - 1) / -stride + 1
        };
        let most = if start == length { 0 } else { most };
        let count = self.count.map_or(most, i128::from);
        if count > most {
            return Err(format!(
                "{count} elements from {start} on with stride {stride} exceed the length {length}; at most {most} fit"
            ));
        }
        let number = usize::try_from(count).map_err(|_| too_large().to_string())?;
        if number == 0 {
            return Ok((DimSelection::Slice { start: Some(0), stop: Some(0), step: 1 }, 0));
        }
        let bound = |bound: i128| i64::try_from(bound).map_err(|_| format!("the index {bound} is too large"));
        let last = start + (count - 1) * stride;
        let stop = last + stride.signum();
        let stop = if stop < 0 { None } else { Some(bound(stop)?) };
        // For a single element, the step does not matter, and may be larger than the array.
        let step = if number == 1 { self.stride.signum() } else { self.stride };
        Ok((DimSelection::Slice { start: Some(bound(start)?), stop, step }, number))
    }
}

fn wrong(message: String) -> Error {
    Error::new(ErrorKind::InvalidSelection, message)
}

fn too_large() -> Error {
    Error::new(ErrorKind::LimitExceeded, "the region has more elements than memory can hold")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(
        start: u64,
        count: Option<u64>,
        stride: i64,
        length: u64,
    ) -> Result<(DimSelection, usize), String> {
        Axis { start, count, stride }.resolve(length)
    }

    fn slice(start: i64, stop: Option<i64>, step: i64) -> DimSelection {
        DimSelection::Slice { start: Some(start), stop, step }
    }

    #[test]
    fn regions_are_slices() {
        assert_eq!(resolved(0, None, 1, 10).unwrap(), (slice(0, Some(10), 1), 10));
        assert_eq!(resolved(1, None, 3, 10).unwrap(), (slice(1, Some(8), 3), 3));
        assert_eq!(resolved(1, Some(2), 3, 10).unwrap(), (slice(1, Some(5), 3), 2));
        assert_eq!(resolved(9, None, -1, 10).unwrap(), (slice(9, None, -1), 10));
        assert_eq!(resolved(9, None, -4, 10).unwrap(), (slice(9, Some(0), -4), 3));
        assert_eq!(resolved(9, Some(1), i64::MIN, 10).unwrap(), (slice(9, Some(8), -1), 1));
        assert_eq!(resolved(0, Some(1), i64::MAX, 10).unwrap(), (slice(0, Some(1), 1), 1));
        assert_eq!(resolved(10, None, 1, 10).unwrap().1, 0);
        assert_eq!(resolved(0, None, -1, 0).unwrap().1, 0);
        assert_eq!(resolved(0, Some(0), 5, 0).unwrap().1, 0);
    }

    #[test]
    fn what_exceeds_the_array_is_an_error() {
        for (start, count, stride, length) in [
            (0, Some(11), 1, 10),
            (1, Some(10), 1, 10),
            (11, Some(0), 1, 10),
            (0, Some(2), -1, 10),
            (10, Some(1), -1, 10),
            (0, Some(1), 0, 10),
            (u64::MAX, Some(u64::MAX), i64::MAX, 10),
            (0, Some(u64::MAX), i64::MIN, 10),
            (0, Some(1), 1, 0),
        ] {
            assert!(resolved(start, count, stride, length).is_err(), "{start} {count:?} {stride} {length}");
        }
    }
}
