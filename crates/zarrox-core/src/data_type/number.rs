//! Bytes of elements that are numbers.

/// The element's bytes as an array of their exact number; zeros when the length is another.
pub(super) fn bytes_of<const N: usize>(element: &[u8]) -> [u8; N] {
    element.try_into().unwrap_or([0; N])
}

/// Writes the bytes of an element of this size; `false` when it has another.
pub(super) fn write(element: &mut [u8], bytes: &[u8]) -> bool {
    let fits = element.len() == bytes.len();
    if fits {
        element.copy_from_slice(bytes);
    }
    fits
}
