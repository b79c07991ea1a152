//! Errors of the reader of HDF5.

use zarrox::{Error, ErrorKind};

/// The error of the reader as one of ours.
pub(super) fn damaged(error: hdf5_reader::error::Error) -> Error {
    use hdf5_reader::error::Error as Found;
    let kind = match &error {
        Found::Io(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => ErrorKind::Unreachable,
        Found::UnsupportedEncoding(_)
        | Found::UnsupportedFilter(_)
        | Found::UnsupportedLayoutClass(_)
        | Found::UnsupportedDatatypeClass(_)
        | Found::UnsupportedLinkType(_)
        | Found::UnsupportedOffsetSize(_)
        | Found::UnsupportedLengthSize(_) => ErrorKind::Unsupported,
        Found::ResourceLimit(_) => ErrorKind::LimitExceeded,
        _ => ErrorKind::Corrupt,
    };
    Error::new(kind, error.to_string()).with_source(error)
}
