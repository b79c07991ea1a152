//! The locations of nodes, as arguments of functions that open and create them.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrox_core::Result;
use zarrox_stores::Store;
use zarrox_stores::internals::{is_url, strip_file_scheme};

use crate::error::argument;

/// The location of a node: a path on disk, a URL, or a path in a store.
///
/// Functions take `impl Into<Place>`:
///
/// ```
/// # use std::sync::Arc;
/// # use zarrox::prelude::*;
/// use zarrox::stores::MemoryStore;
/// # let directory = tempfile::tempdir()?;
///
/// zarrox::create_group(directory.path().join("a.zarr"))?;
/// let url = format!("file://{}/a.zarr", directory.path().display());
/// zarrox::open_group(&url)?;
///
/// let store = Arc::new(MemoryStore::new());
/// zarrox::create_group((store.clone(), "climate"))?;
/// zarrox::open_group((store, "climate"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Place(pub(crate) Kind);

#[derive(Clone)]
pub(crate) enum Kind {
    /// A path on disk, or a URL.
    Path(PathBuf),
    /// A path in a store.
    Store(Arc<dyn Store>, String),
}

impl Place {
    /// Returns the path on disk or the URL; `None` for a path in a store.
    #[doc(hidden)]
    pub fn as_path(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Path(path) => Some(path),
            Kind::Store(..) => None,
        }
    }

    /// Returns a sibling location: the path with a suffix appended.
    ///
    /// # Errors
    /// When the path is not Unicode, or the location is the root of a store.
    #[doc(hidden)]
    pub fn beside(&self, suffix: &str) -> Result<Self> {
        let with_suffix = |path: &str| format!("{}{suffix}", path.trim_end_matches('/'));
        match &self.0 {
            Kind::Path(path) => {
                let path = path.to_str().ok_or_else(|| argument("the path is not Unicode"))?;
                Ok(Self(Kind::Path(with_suffix(path).into())))
            }
            Kind::Store(store, path) if !path.is_empty() => {
                Ok(Self(Kind::Store(store.clone(), with_suffix(path))))
            }
            Kind::Store(store, _) => {
                Err(argument(format!("{} is the root of a store, which has no siblings", store.location())))
            }
        }
    }

    /// Returns the location with this name directly below.
    pub(crate) fn join(&self, name: &str) -> Self {
        match &self.0 {
            Kind::Path(path) => Self(Kind::Path(joined(path, name))),
            Kind::Store(store, path) if path.is_empty() => Self(Kind::Store(store.clone(), name.to_owned())),
            Kind::Store(store, path) => Self(Kind::Store(store.clone(), format!("{path}/{name}"))),
        }
    }
}

/// Returns true if a path is a URL, other than the URL of a directory, file or archive on disk.
pub(crate) fn is_elsewhere(path: &Path) -> bool {
    path.to_str().is_some_and(|text| is_url(strip_file_scheme(text).unwrap_or(text)))
}

/// Appends a name to a path or URL.
fn joined(path: &Path, name: &str) -> PathBuf {
    match path.to_str().filter(|_| is_elsewhere(path)) {
        Some(url) => format!("{}/{name}", url.trim_end_matches('/')).into(),
        None => path.join(name),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Path(path) => path.display().fmt(f),
            Kind::Store(store, path) => write!(f, "{path} in {}", store.location()),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({self})")
    }
}

impl From<&Self> for Place {
    fn from(place: &Self) -> Self {
        place.clone()
    }
}

macro_rules! paths {
    ($($T:ty),+ $(,)?) => {$(
        impl From<$T> for Place {
            fn from(path: $T) -> Self {
                Self(Kind::Path(PathBuf::from(path)))
            }
        }
    )+};
}

paths!(&str, String, &String, PathBuf, &Path, Cow<'_, Path>);

impl From<&PathBuf> for Place {
    fn from(path: &PathBuf) -> Self {
        Self(Kind::Path(path.clone()))
    }
}

#[cfg(feature = "url")]
impl From<url::Url> for Place {
    fn from(url: url::Url) -> Self {
        Self::from(&url)
    }
}

#[cfg(feature = "url")]
impl From<&url::Url> for Place {
    fn from(url: &url::Url) -> Self {
        Self::from(url.as_str())
    }
}

/// The root of a store.
impl From<Arc<dyn Store>> for Place {
    fn from(store: Arc<dyn Store>) -> Self {
        Self(Kind::Store(store, String::new()))
    }
}

impl<P: Into<String>> From<(Arc<dyn Store>, P)> for Place {
    fn from((store, path): (Arc<dyn Store>, P)) -> Self {
        Self(Kind::Store(store, path.into()))
    }
}

impl<S: Store + 'static, P: Into<String>> From<(Arc<S>, P)> for Place {
    fn from((store, path): (Arc<S>, P)) -> Self {
        Self(Kind::Store(store, path.into()))
    }
}
