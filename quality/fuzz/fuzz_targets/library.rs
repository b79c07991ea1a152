//! The targets that need the whole library: damaged hierarchies, requests to a server, and readers of files.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use zarrox_hostile::{Hierarchy, NAME, Reader, Urls, urls};

enum Target {
    Hierarchy(Hierarchy),
    Urls(Urls),
    Reader(Reader),
}

static TARGET: LazyLock<Target> = LazyLock::new(|| match zarrox_fuzz::target_name().as_str() {
    NAME => {
        let hierarchy = Hierarchy::new();
        Target::Hierarchy(hierarchy.unwrap_or_else(|error| panic!("the hierarchies cannot be created: {error}")))
    }
    urls::NAME => {
        Target::Urls(Urls::new().unwrap_or_else(|error| panic!("the server does not start: {error}")))
    }
    name => {
        let reader = Reader::of_name(name);
        Target::Reader(reader.unwrap_or_else(|| panic!("'{name}' is not a target of this program")))
    }
});

fuzz_target!(|input: &[u8]| match &*TARGET {
    Target::Hierarchy(hierarchy) => hierarchy.run(input),
    Target::Urls(urls) => {
        urls.run(input);
    }
    Target::Reader(reader) => reader.run(input),
});
