//! The Rust part of the Python package `zarrox`: the module `zarrox._native`, which `_native.pyi` documents.

mod array;
mod codec;
mod context;
mod copied;
mod create;
mod dtype;
mod elements;
mod error;
mod foreign;
mod format;
mod group;
mod locked;
mod long;
mod mapping;
mod objects;
mod parts;
mod pickled;
mod selection;
mod split;
mod store;
mod tools;
mod user_types;
mod view;
mod warnings;

use pyo3::prelude::*;
use zarrox::stores::internals::fork;

use context::{know, registry};

/// Only this library uses this allocator: Python has its own.
#[global_allocator]
static ALLOCATOR: zarrox_cli::WithReserve = zarrox_cli::WithReserve::new();

/// Returns the names of all codecs.
#[pyfunction]
fn codec_names() -> Vec<(&'static str, Option<&'static str>)> {
    let known = registry().codecs().iter().filter(|def| def.name != foreign::DEF.name);
    known.map(|def| (def.name, def.v2_id)).collect()
}

/// Prepares for a fork: waits until no thread is inside a database.
#[pyfunction]
fn before_fork(py: Python<'_>) {
    py.detach(fork::before_fork);
}

/// Ends the preparation for a fork. This function is called after the fork, in both processes.
#[pyfunction]
fn after_fork(in_child: bool) {
    fork::after_fork(in_child);
}

/// Runs a command line of the program `zarrox`, and returns its exit code. The command may end the process.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| zarrox_cli::run(arguments))
}

/// The native module on which the modules of the package are built.
#[pymodule(name = "_native")]
mod native {
    use pyo3::prelude::*;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::array::{Array, grow_together};
    #[pymodule_export]
    use crate::codec::Codec;
    #[pymodule_export]
    use crate::context::{set_threads, threads};
    #[pymodule_export]
    use crate::create::{
        consolidate, create_array, create_group, delete_node, migrate_1to2, node_kind, open_node,
        replace_directory, reshard,
    };
    #[pymodule_export]
    use crate::group::{Group, Growth, grow_with};
    #[pymodule_export]
    use crate::long::PyInterrupt;
    #[pymodule_export]
    use crate::pickled::allow_pickle;
    #[pymodule_export]
    use crate::store::Store;
    #[pymodule_export]
    use crate::tools::check::check;
    #[pymodule_export]
    use crate::tools::digest::{digest, verify_manifest, write_manifest};
    #[pymodule_export]
    use crate::tools::files::{export_file, import_file};
    #[pymodule_export]
    use crate::tools::pyramid::{downsample, validate_ome};
    #[pymodule_export]
    use crate::tools::serve::{Server, serve};
    #[pymodule_export]
    use crate::tools::survey::{chunk_table, diff, du, stats, stats_along};
    #[pymodule_export]
    use crate::user_types::register_data_type;
    #[pymodule_export]
    use crate::{after_fork, before_fork, codec_names, run_command};

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        let registry = zarrox::codecs::registry().with_foreign_codecs(&crate::foreign::DEF);
        let registry = registry.with_codec_instead(&crate::pickled::DEF);
        let registry = registry.with_data_types(crate::pickled::PickledObjects);
        crate::know(registry.with_data_types(crate::user_types::PythonTypes));
        Ok(())
    }
}
