//! The common parts of all fuzz targets.
//!
//! The files in `fuzz_targets` and the list of programs in `Cargo.toml` are written by `cargo xtask fuzz`, one for each codec of
//! the examples in `zarrox-testkit`, which also has all that the targets do.

pub use libfuzzer_sys;
pub use zarrox_testkit::fuzz::Target;

/// A fuzz target, by its name.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        static TARGET: std::sync::LazyLock<$crate::Target> = std::sync::LazyLock::new(|| $crate::known($name));
        $crate::libfuzzer_sys::fuzz_target!(|input: &[u8]| TARGET.run(input));
    };
}

/// The target of a name.
pub fn known(name: &str) -> Target {
    Target::new(zarrox_codecs::registry(), name).unwrap_or_else(|error| panic!("{name}: {error}"))
}
