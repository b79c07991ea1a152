//! Checks the caller's memory: its strides must fit its size, and the elements of a result must not overlap.

use zarrox::Result;
use zarrox::internals::argument;
use zarrox::internals::strided::contiguous_strides;

/// Returns the strides in bytes for a shape: the given strides, or row-major strides. They are checked against the number of
/// bytes from the first element on. Negative strides can also reach memory before the first element; the size of that memory is
/// unknown.
pub(crate) fn checked(
    given: Option<&[isize]>,
    shape: &[usize],
    item: usize,
    size: usize,
) -> Result<Vec<isize>> {
    let strides = given.map_or_else(|| contiguous_strides(shape, item).to_vec(), <[isize]>::to_vec);
    if shape.contains(&0) {
        return Ok(strides);
    }
    let reach = |is_counted: fn(i128) -> bool| -> i128 {
        let steps =
            shape.iter().zip(&strides).map(|(&length, &stride)| (length as i128 - 1) * stride as i128);
        steps.filter(|&step| is_counted(step)).sum()
    };
    let (before, after) = (reach(|step| step < 0), reach(|step| step > 0) + item as i128);
    if after > size as i128 {
        return Err(argument(format!(
            "the elements need {after} bytes of memory from the first one on, but the size is {size}"
        )));
    }
    if before < isize::MIN as i128 / 2 || after > isize::MAX as i128 / 2 {
        return Err(argument("the strides exceed the address space"));
    }
    Ok(strides)
}

/// Returns an error if two elements share a byte or might share one, since results cannot be written to such memory.
pub(crate) fn check_distinct(strides: &[isize], shape: &[usize], item: usize) -> Result<()> {
    if shape.contains(&0) {
        return Ok(());
    }
    let mut axes: Vec<(usize, usize)> =
        strides.iter().map(|stride| stride.unsigned_abs()).zip(shape.iter().copied()).collect();
    axes.retain(|(_, length)| *length > 1);
    axes.sort_unstable();
    let mut extent = item;
    for (stride, length) in axes {
        if stride < extent {
            let message = format!(
                "elements overlap with strides of {strides:?} bytes and shape {shape:?}: no result fits there"
            );
            return Err(argument(message));
        }
        extent = stride.saturating_mul(length - 1).saturating_add(extent);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_must_fit_the_memory() {
        assert_eq!(checked(None, &[2, 3], 4, 24).unwrap(), [12, 4]);
        assert_eq!(checked(Some(&[4, 8]), &[2, 3], 4, 24).unwrap(), [4, 8]);
        assert!(checked(None, &[2, 3], 4, 23).is_err());
        assert!(checked(Some(&[4, 12]), &[2, 3], 4, 24).is_err());
        assert!(checked(Some(&[isize::MAX, isize::MAX]), &[2, 2], 4, usize::MAX).is_err());
        assert!(checked(Some(&[isize::MIN]), &[3], 4, usize::MAX).is_err());
        assert_eq!(checked(Some(&[-4]), &[3], 4, 4).unwrap(), [-4]);
        assert!(checked(Some(&[isize::MAX]), &[0], 4, 0).is_ok());
    }

    #[test]
    fn overlaps_are_found_in_any_order_of_the_axes() {
        assert!(check_distinct(&[4, 8], &[2, 3], 4).is_ok());
        assert!(check_distinct(&[-4, 8], &[2, 3], 4).is_ok());
        assert!(check_distinct(&[0, 4], &[1, 3], 4).is_ok());
        assert!(check_distinct(&[0, 4], &[2, 3], 4).is_err());
        assert!(check_distinct(&[4, 8], &[3, 3], 4).is_err());
        assert!(check_distinct(&[3], &[2], 4).is_err());
        assert!(check_distinct(&[0], &[0], 4).is_ok());
    }
}
