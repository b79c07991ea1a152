//! Places of nodes, as programs name them.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrox_stores::Store;

/// The place of a node: a path on disk, a URL, or a path in a store.
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

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Path(path) => path.fmt(f),
            Kind::Store(store, path) => write!(f, "{path:?} in {}", store.location()),
        }
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
