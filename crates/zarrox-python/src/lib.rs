//! The part of the Python package `zarrox` that is Rust: the module `zarrox._native`.

use pyo3::prelude::*;

/// What the modules of the package are built on.
#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
