//! The common parts of all fuzz targets.
//!
//! The files in `fuzz_targets` and the list of programs in `Cargo.toml` are written by `cargo xtask fuzz`, one for each codec of
//! the examples in `zarrox-testkit`, which also has all that most targets do. Only the targets of hierarchies,
//! files and requests need the whole library.

pub use libfuzzer_sys;
pub use zarrox_hostile::{Hierarchy, Reader, Urls};
pub use zarrox_testkit::fuzz::Target;

/// A fuzz target, by its name.
#[macro_export]
macro_rules! target {
    // Nothing outside of these macros names the hierarchies, the server and the readers, so that the other programs are linked without the whole library.
    ("hierarchy") => {
        static HIERARCHY: std::sync::LazyLock<$crate::Hierarchy> = std::sync::LazyLock::new(|| {
            $crate::Hierarchy::new().unwrap_or_else(|error| panic!("hierarchies cannot be written: {error}"))
        });
        $crate::libfuzzer_sys::fuzz_target!(|input: &[u8]| HIERARCHY.run(input));
    };
    ("urls") => {
        static URLS: std::sync::LazyLock<$crate::Urls> = std::sync::LazyLock::new(|| {
            $crate::Urls::new().unwrap_or_else(|error| panic!("there is no server: {error}"))
        });
        $crate::libfuzzer_sys::fuzz_target!(|input: &[u8]| {
            URLS.run(input);
        });
    };
    ($name:literal) => {
        static TARGET: std::sync::LazyLock<$crate::Target> = std::sync::LazyLock::new(|| $crate::known($name));
        $crate::libfuzzer_sys::fuzz_target!(|input: &[u8]| TARGET.run(input));
    };
}

/// The fuzz target of a reader of files, by its name.
#[macro_export]
macro_rules! reader {
    ($name:literal) => {
        static READER: std::sync::LazyLock<$crate::Reader> = std::sync::LazyLock::new(|| {
            $crate::Reader::of_name($name).unwrap_or_else(|| panic!("{}: no reader has this name", $name))
        });
        $crate::libfuzzer_sys::fuzz_target!(|input: &[u8]| READER.run(input));
    };
}

/// The target of a name.
pub fn known(name: &str) -> Target {
    Target::new(zarrox_codecs::registry(), name).unwrap_or_else(|error| panic!("{name}: {error}"))
}
