//! The registry and the options that all of the module uses.

use std::sync::{LazyLock, OnceLock, PoisonError, RwLock};

use pyo3::prelude::*;
use zarrox::{OpenOptions, Registry};

static REGISTRY: OnceLock<Registry> = OnceLock::new();

/// Sets the codecs and data types of the module; called once, when Python imports it.
pub(crate) fn know(registry: Registry) {
    // A second import of the module brings an equal registry.
    let _ = REGISTRY.set(registry);
}

/// Returns the codecs and data types that are known: all of ours, and those that Python knows.
pub(crate) fn registry() -> &'static Registry {
    REGISTRY.get_or_init(zarrox::codecs::registry)
}

/// The options that nodes are opened with, and the number of threads that work with them.
static OPTIONS: LazyLock<RwLock<(OpenOptions, usize)>> = LazyLock::new(|| RwLock::new((new_options(), 0)));

fn new_options() -> OpenOptions {
    OpenOptions::new().registry(registry().clone()).allow_foreign_files(true)
}

pub(crate) fn open_options() -> OpenOptions {
    OPTIONS.read().unwrap_or_else(PoisonError::into_inner).0.clone()
}

/// Returns the number of threads that work.
#[pyfunction]
pub(crate) fn threads() -> usize {
    match OPTIONS.read().unwrap_or_else(PoisonError::into_inner).1 {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Says how many threads work with what is opened from now on; tells how many did.
#[pyfunction]
pub(crate) fn set_threads(count: usize) -> usize {
    let before = threads();
    let options = new_options();
    let options = if count == 0 { options } else { options.threads(count) };
    *OPTIONS.write().unwrap_or_else(PoisonError::into_inner) = (options, count);
    before
}
