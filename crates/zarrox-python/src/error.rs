//! Converts errors to Python exceptions, whose classes are in `zarrox.errors`.

use std::error::Error as _;
use std::io;

use pyo3::exceptions::{
    PyKeyboardInterrupt, PyMemoryError, PyOSError, PyPermissionError, PyTimeoutError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::PyType;
use zarrox::stores::StoreError;
use zarrox::{Error, ErrorKind};

/// Returns an error that carries a Python exception as its source.
pub(crate) fn of_python(error: PyErr) -> Error {
    Error::new(ErrorKind::InvalidArgument, error.to_string()).with_source(error)
}

/// Returns an exception with the error's message. An exception that Python code raised during the operation is propagated, with a
/// note that contains the error's message.
pub(crate) fn raise(error: &Error) -> PyErr {
    Python::attach(|py| {
        let Some(raised) = cause(error) else { return exception(py, error) };
        // Python 3.10 has no notes.
        let _ = raised.value(py).call_method1("add_note", (error.to_string(),));
        raised.clone_ref(py)
    })
}

/// Returns the exception for an error of a store.
pub(crate) fn raise_store(error: StoreError) -> PyErr {
    raise(&zarrox::Error::from(error))
}

/// Returns the Python exception among the causes of an error, if any.
pub(crate) fn cause(error: &Error) -> Option<&PyErr> {
    causes(error).next()
}

/// Returns those causes of an error that have the type `E`.
fn causes<E: std::error::Error + 'static>(error: &Error) -> impl Iterator<Item = &E> {
    let all = std::iter::successors(error.source(), |&cause| cause.source());
    all.filter_map(|cause| cause.downcast_ref())
}

/// Returns true if the error is that a file would be larger than the system allows.
fn is_of_file_size(error: &Error) -> bool {
    causes(error).any(|cause: &io::Error| cause.kind() == io::ErrorKind::FileTooLarge)
}

fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let text = error.to_string();
    let class = match error.kind() {
        ErrorKind::Forbidden => return PyPermissionError::new_err(text),
        ErrorKind::TimedOut => return PyTimeoutError::new_err(text),
        ErrorKind::StorageFull => return PyOSError::new_err(text),
        ErrorKind::LimitExceeded if is_of_file_size(error) => return PyOSError::new_err(text),
        ErrorKind::LimitExceeded | ErrorKind::OutOfMemory => return PyMemoryError::new_err(text),
        ErrorKind::Interrupted => return PyKeyboardInterrupt::new_err(text),
        ErrorKind::InvalidArgument => return PyValueError::new_err(text),
        ErrorKind::NotFound => "NodeNotFoundError",
        ErrorKind::AlreadyExists => "ContainsNodeError",
        ErrorKind::Conflict => "ConflictError",
        ErrorKind::ReadOnly => "ReadOnlyError",
        ErrorKind::Corrupt => "CorruptDataError",
        ErrorKind::InvalidMetadata => "MetadataError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::InvalidSelection if error.message().contains("out of bounds") => "BoundsCheckError",
        ErrorKind::InvalidSelection => "SelectionError",
        ErrorKind::DataTypeMismatch => "DataTypeMismatchError",
        _ => "StoreUnreachableError",
    };
    raise_as(py, class, error)
}

/// Returns an exception of the given class in `zarrox.errors`, with the error's message.
pub(crate) fn raise_as(py: Python<'_>, class: &str, error: &Error) -> PyErr {
    let class =
        py.import("zarrox.errors").and_then(|errors| Ok(errors.getattr(class)?.cast_into::<PyType>()?));
    match class {
        Ok(class) => PyErr::from_type(class, error.to_string()),
        Err(missing) => missing,
    }
}

/// Conversion of errors to exceptions.
pub(crate) trait OrRaise<T> {
    /// Returns the value, or the exception.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Error> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| raise(&error))
    }
}

impl<T> OrRaise<T> for Result<T, StoreError> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(raise_store)
    }
}
