//! The part of the Python package `zarrox` that is Rust: the module `zarrox._native`, of which `_native.pyi` says what each part does.

mod array;
mod codec;
mod create;
mod dtype;
mod elements;
mod error;
mod foreign;
mod group;
mod locked;
mod long;
mod mapping;
mod objects;
mod selection;
mod split;
mod store;
mod user_types;
mod warnings;

use std::sync::{LazyLock, PoisonError, RwLock};

use pyo3::prelude::*;
use zarrox::stores::fork;
use zarrox::{OpenOptions, Registry};

/// The codecs and data types that are known: all of ours, and those that Python knows.
fn registry() -> &'static Registry {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
        let registry = zarrox::codecs::registry().with_foreign_codecs(&foreign::DEF);
        registry.with_data_types(user_types::PythonTypes)
    });
    &REGISTRY
}

/// The options that nodes are opened with, and the number of threads that work with them.
static OPTIONS: LazyLock<RwLock<(OpenOptions, usize)>> = LazyLock::new(|| RwLock::new((new_options(), 0)));

fn new_options() -> OpenOptions {
    OpenOptions::new().registry(registry().clone()).allow_foreign_files(true)
}

fn open_options() -> OpenOptions {
    OPTIONS.read().unwrap_or_else(PoisonError::into_inner).0.clone()
}

/// The number of threads that work.
#[pyfunction]
fn threads() -> usize {
    match OPTIONS.read().unwrap_or_else(PoisonError::into_inner).1 {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Says how many threads work with what is opened from now on; tells how many did.
#[pyfunction]
fn set_threads(count: usize) -> usize {
    let before = threads();
    let options = new_options();
    let options = if count == 0 { options } else { options.threads(count) };
    *OPTIONS.write().unwrap_or_else(PoisonError::into_inner) = (options, count);
    before
}

/// The names of all codecs.
#[pyfunction]
fn codec_names() -> Vec<(&'static str, Option<&'static str>)> {
    let known = registry().codecs().iter().filter(|def| def.name != foreign::DEF.name);
    known.map(|def| (def.name, def.v2_id)).collect()
}

/// To be called before a fork: lets nobody be inside of a database.
#[pyfunction]
fn before_fork(py: Python<'_>) {
    py.detach(fork::hold_still);
}

/// To be called after a fork, in both processes.
#[pyfunction]
fn after_fork(in_child: bool) {
    fork::go_on(in_child);
}

/// The native module, which the modules of the package are built on.
#[pymodule(name = "_native")]
mod native {
    use pyo3::prelude::*;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::array::Array;
    #[pymodule_export]
    use crate::codec::Codec;
    #[pymodule_export]
    use crate::create::{
        consolidate, create_array, create_group, delete_node, migrate_1to2, node_kind, open_node,
    };
    #[pymodule_export]
    use crate::group::Group;
    #[pymodule_export]
    use crate::store::Store;
    #[pymodule_export]
    use crate::user_types::register_data_type;
    #[pymodule_export]
    use crate::{after_fork, before_fork, codec_names, set_threads, threads};

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::warnings::tell();
        Ok(())
    }
}
