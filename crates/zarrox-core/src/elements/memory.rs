//! Memory for results: zeroed by the system, in huge pages if it is large.

use std::alloc::{Layout, alloc_zeroed};

use crate::error::{Error, ErrorKind, Result};

/// The minimum size for which huge pages are requested, in bytes. The first access to huge pages costs half as much.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

/// Allocates a vector of zeros. A large vector consists of untouched pages from the operating system, so that the memory is not
/// written twice.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`] when the size exceeds the address space, [`ErrorKind::OutOfMemory`] when the memory cannot be
/// allocated.
///
/// # Safety
/// Zeros must be a valid value of the type.
pub(super) unsafe fn zeroed<T>(count: usize) -> Result<Vec<T>> {
    let too_large = |kind| {
        let size = count.saturating_mul(size_of::<T>());
        Error::new(
            kind,
            format!("the result would take {size} bytes, more than the available memory; read it in parts"),
        )
    };
    let layout = Layout::array::<T>(count).map_err(|_| too_large(ErrorKind::LimitExceeded))?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the size of the layout is not zero; a null pointer is checked for below.
    let pointer = unsafe { alloc_zeroed(layout) };
    if pointer.is_null() {
        return Err(too_large(ErrorKind::OutOfMemory));
    }
    advise_huge_pages(pointer, layout.size());
    // SAFETY: the memory comes from the global allocator with this layout, and its zeros are valid values by the contract of this
    // function.
    Ok(unsafe { Vec::from_raw_parts(pointer.cast::<T>(), count, count) })
}

/// Allocates an empty vector with a capacity of `size` bytes.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`] when the memory cannot be allocated.
pub fn reserved(size: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|error| {
        let message = format!("the elements would take {size} bytes, more than the available memory");
        Error::new(ErrorKind::OutOfMemory, message).with_source(error)
    })?;
    Ok(bytes)
}

#[cfg(target_os = "linux")]
fn advise_huge_pages(pointer: *mut u8, size: usize) {
    if size < LARGE {
        return;
    }
    let page = rustix::param::page_size();
    let skipped = pointer.align_offset(page);
    let whole = size.saturating_sub(skipped) / page * page;
    // SAFETY: the range lies inside memory that this function owns, and the advice does not change its content.
    let advised =
        unsafe { rustix::mm::madvise(pointer.add(skipped).cast(), whole, rustix::mm::Advice::LinuxHugepage) };
    // If the system has no huge pages, access is only slower.
    let _ = advised;
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::{ErrorKind, Result, reserved};
    use crate::data_type::Element;

    fn zeroed<T: Element>(count: usize) -> Result<Vec<T>> {
        crate::elements::InPlace::new().zeroed(count)
    }

    #[test]
    fn memory_is_zero_and_too_much_is_an_error() {
        assert!(zeroed::<u16>(5 << 20).unwrap().iter().all(|&v| v == 0));
        assert!(zeroed::<f64>(0).unwrap().is_empty());
        assert_eq!(zeroed::<u64>(usize::MAX / 8).unwrap_err().kind(), ErrorKind::LimitExceeded);
        assert_eq!(reserved(usize::MAX / 2).unwrap_err().kind(), ErrorKind::OutOfMemory);
        assert_eq!(zeroed::<u64>(1 << 44).unwrap_err().kind(), ErrorKind::OutOfMemory);
    }
}
