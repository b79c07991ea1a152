//! The bytes of numeric elements.

/// Returns the element's bytes as an array of exactly this length; zeros if the length differs.
pub(super) fn bytes_of<const N: usize>(element: &[u8]) -> [u8; N] {
    element.try_into().unwrap_or([0; N])
}

/// Writes the bytes of an element; returns false if the element has a different size.
pub(super) fn write(element: &mut [u8], bytes: &[u8]) -> bool {
    let fits = element.len() == bytes.len();
    if fits {
        element.copy_from_slice(bytes);
    }
    fits
}
