//! The versions of the C libraries in this build.

/// Returns the names and versions of the C libraries that report their version. libdeflate does not.
#[must_use]
pub fn libraries() -> Vec<(&'static str, String)> {
    vec![
        #[cfg(feature = "blosc")]
        ("Blosc", crate::bytes_to_bytes::ffi::blosc::version()),
        #[cfg(feature = "lz4")]
        ("LZ4", crate::bytes_to_bytes::ffi::lz4::version()),
        #[cfg(feature = "zstd")]
        ("Zstandard", zstd_safe::version_string().to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_three_numbers() {
        for (name, version) in libraries() {
            let numbers: Vec<_> = version.split('.').map(str::parse::<u32>).collect();
            assert!(numbers.len() == 3 && numbers.iter().all(Result::is_ok), "{name} {version}");
        }
    }
}
