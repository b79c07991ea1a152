//! The text of `zarrox --version`.

/// The features of this build.
const FEATURES: [(&str, bool); 5] = [
    ("hdf5", cfg!(feature = "hdf5")),
    ("images", cfg!(feature = "images")),
    ("serve", cfg!(feature = "serve")),
    ("stores", cfg!(feature = "stores")),
    ("tables", cfg!(feature = "tables")),
];

/// Returns the version, the commit, the features, and the versions of the C libraries.
pub(crate) fn text() -> String {
    let enabled = FEATURES.iter().filter(|(_, enabled)| *enabled);
    let features: Vec<_> = enabled.map(|(name, _)| *name).collect();
    let libraries: Vec<_> =
        libraries().into_iter().map(|(name, version)| format!("{name} {version}")).collect();
    let listed = |names: Vec<&str>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!(
        "{}\ncommit: {}\nfeatures: {}\nlibraries: {}",
        env!("CARGO_PKG_VERSION"),
        env!("ZARROX_COMMIT"),
        listed(features),
        listed(libraries.iter().map(String::as_str).collect()),
    )
}

fn libraries() -> Vec<(&'static str, String)> {
    let mut libraries = zarrox::internals::libraries();
    #[cfg(feature = "stores")]
    libraries.extend(zarrox::stores::libraries());
    libraries.sort_unstable();
    libraries
}
