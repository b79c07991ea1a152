//! The targets that need only the core and the codecs.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use zarrox_testkit::fuzz::Target;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = zarrox_fuzz::target_name();
    Target::new(zarrox_codecs::registry(), &name).unwrap_or_else(|error| panic!("{name}: {error}"))
});

fuzz_target!(|input: &[u8]| TARGET.run(input));
