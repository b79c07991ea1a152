//! Kinds of URLs: [`Scheme`]; and their targets: [`Located`].

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use super::options::{StorageOption, StorageOptions};
use super::text::StoreUrl;
use crate::{Store, StoreError};

/// The target of a URL: a store, and a path in it.
#[derive(Debug)]
pub struct Located {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The path in the store: segments separated by `/`, without a `/` at either end. It has not been validated.
    pub path: String,
    /// True if the store contains a single data set, like a database; a bucket or a server contains many.
    pub whole: bool,
}

impl Located {
    /// Creates the location of a store that contains a single data set.
    pub fn whole(store: impl Store + 'static, path: impl Into<String>) -> Self {
        Self { store: Arc::new(store), path: path.into().trim_matches('/').to_owned(), whole: true }
    }

    /// Creates the location of a store that contains many data sets.
    #[doc(hidden)]
    pub fn one_of_many(store: impl Store + 'static, path: impl Into<String>) -> Self {
        Self { whole: false, ..Self::whole(store, path) }
    }
}

/// A function that opens the store at a URL of one kind.
pub type OpenStore = fn(&StoreUrl<'_>, &StorageOptions) -> Result<Located, StoreError>;

/// A function that returns the file or directory that contains the whole store at a URL, even if it does not exist yet.
pub type FileOf = fn(&StoreUrl<'_>) -> PathBuf;

/// A kind of URL: its names, its storage options, and the function that opens its store. A
/// [`StoreRegistry`](crate::StoreRegistry) is a list of kinds.
///
/// ```
/// use zarrox_stores::{Located, MemoryStore, Scheme, StorageOptions, registry};
///
/// static SCRATCH: Scheme = Scheme::new(&["scratch"], |url, _| Ok(Located::whole(MemoryStore::new(), url.rest())));
///
/// let located = registry().with(&[&SCRATCH]).open("scratch://group/array", &StorageOptions::new())?;
/// assert_eq!(located.path, "group/array");
/// # Ok::<(), zarrox_stores::StoreError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    /// The names before `://`.
    pub(super) names: &'static [&'static str],
    /// The storage options of the store.
    pub(super) options: &'static [StorageOption],
    pub(super) opening: Opening,
    pub(super) file: Option<FileOf>,
}

/// The function that opens URLs of this kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Opening {
    Function(OpenStore),
    /// No function, since this Cargo feature of zarrox is disabled.
    Feature(&'static str),
}

impl Scheme {
    /// Returns true if the feature is enabled.
    pub(super) fn is_available(&self) -> bool {
        matches!(self.opening, Opening::Function(_))
    }

    /// Creates a kind of URL with these names before `://` and without storage options.
    #[must_use]
    pub const fn new(names: &'static [&'static str], open: OpenStore) -> Self {
        Self { names, options: &[], opening: Opening::Function(open), file: None }
    }

    /// Creates a kind of URL whose Cargo feature is disabled. Opening such a URL is an error, which names the feature.
    #[must_use]
    #[doc(hidden)]
    pub const fn needs_feature(names: &'static [&'static str], feature: &'static str) -> Self {
        Self { names, options: &[], opening: Opening::Feature(feature), file: None }
    }

    /// Sets the storage options of the store.
    #[must_use]
    pub const fn with_options(self, options: &'static [StorageOption]) -> Self {
        Self { options, ..self }
    }

    /// Sets the function that returns the file of the store. This is for writable stores in a single file.
    #[must_use]
    #[doc(hidden)]
    pub const fn with_file(self, file: FileOf) -> Self {
        Self { file: Some(file), ..self }
    }
}

/// [`StoreRegistry::open`](crate::StoreRegistry::open), for stores that open other URLs.
#[cfg(feature = "references")]
pub(crate) type OpenUrl = Arc<dyn Fn(&str, &StorageOptions) -> Result<Located, StoreError> + Send + Sync>;
