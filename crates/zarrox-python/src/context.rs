//! The module's registry and options.

use std::sync::{LazyLock, OnceLock, PoisonError, RwLock};

use pyo3::prelude::*;
use zarrox::{OpenOptions, Registry};

use crate::warnings;

static REGISTRY: OnceLock<Registry> = OnceLock::new();

/// Sets the codecs and data types of the module. This function is called once, when Python imports the module.
pub(crate) fn know(registry: Registry) {
    // A second import of the module would set an equal registry.
    let _ = REGISTRY.set(registry);
}

/// Returns the known codecs and data types: all native ones, and those that are defined in Python.
pub(crate) fn registry() -> &'static Registry {
    REGISTRY.get_or_init(zarrox::codecs::registry)
}

/// The options for opening nodes, and the number of threads.
static OPTIONS: LazyLock<RwLock<(OpenOptions, usize)>> = LazyLock::new(|| RwLock::new((new_options(), 0)));

fn new_options() -> OpenOptions {
    OpenOptions::new().registry(registry().clone()).allow_foreign_files(true)
}

/// Returns the options for opening nodes, and subscribes Python to warnings. The import of the package does not open nodes, and
/// does not subscribe: the command sets its own subscriber.
pub(crate) fn open_options() -> OpenOptions {
    warnings::subscribe();
    OPTIONS.read().unwrap_or_else(PoisonError::into_inner).0.clone()
}

/// Returns the number of worker threads.
#[pyfunction]
pub(crate) fn threads() -> usize {
    match OPTIONS.read().unwrap_or_else(PoisonError::into_inner).1 {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Sets the number of threads for nodes that are opened from now on. Returns the previous number.
#[pyfunction]
pub(crate) fn set_threads(count: usize) -> usize {
    let before = threads();
    let options = new_options();
    let options = if count == 0 { options } else { options.threads(count) };
    *OPTIONS.write().unwrap_or_else(PoisonError::into_inner) = (options, count);
    before
}
