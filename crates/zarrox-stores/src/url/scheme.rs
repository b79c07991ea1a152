//! A kind of URL: [`Scheme`], and what it leads to: [`Located`].

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use super::options::{StorageOption, StorageOptions};
use super::text::StoreUrl;
use crate::{Store, StoreError};

/// The meaning of a URL: a store, and a path in it.
#[derive(Debug)]
pub struct Located {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The path behind the store: segments separated by `/`, without one at either end. It is not checked.
    pub path: String,
    /// True if all that is in the store belongs together, as in a database; a bucket or a server has many
    /// things.
    pub whole: bool,
}

impl Located {
    /// A store of which all belongs together.
    pub fn whole(store: impl Store + 'static, path: impl Into<String>) -> Self {
        Self { store: Arc::new(store), path: path.into().trim_matches('/').to_owned(), whole: true }
    }

    /// A store with many things.
    #[doc(hidden)]
    pub fn one_of_many(store: impl Store + 'static, path: impl Into<String>) -> Self {
        Self { whole: false, ..Self::whole(store, path) }
    }
}

/// Opens the store of a URL of one kind.
pub type OpenStore = fn(&StoreUrl<'_>, &StorageOptions) -> Result<Located, StoreError>;

/// The file in which the store of a URL keeps everything, or the directory, whether it exists yet or not.
pub type FileOf = fn(&StoreUrl<'_>) -> PathBuf;

/// A kind of URL: its names, its storage options, and how its store is opened. A [`StoreRegistry`](crate::StoreRegistry) has a list
/// of them.
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
    /// The storage options that it takes.
    pub(super) options: &'static [StorageOption],
    pub(super) opening: Opening,
    pub(super) file: Option<FileOf>,
}

/// What opens URLs of a kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Opening {
    Function(OpenStore),
    /// Nothing, since this feature of zarrox is off.
    Feature(&'static str),
}

impl Scheme {
    /// Returns true if its feature is on.
    pub(super) fn is_available(&self) -> bool {
        matches!(self.opening, Opening::Function(_))
    }

    /// A kind of URL with these names before `://`, whose store takes no storage options.
    #[must_use]
    pub const fn new(names: &'static [&'static str], open: OpenStore) -> Self {
        Self { names, options: &[], opening: Opening::Function(open), file: None }
    }

    /// A kind of URL that needs a feature of zarrox which is off: the error of a URL names the feature.
    #[must_use]
    #[doc(hidden)]
    pub const fn needs_feature(names: &'static [&'static str], feature: &'static str) -> Self {
        Self { names, options: &[], opening: Opening::Feature(feature), file: None }
    }

    /// Sets the storage options that the store takes.
    #[must_use]
    pub const fn with_options(self, options: &'static [StorageOption]) -> Self {
        Self { options, ..self }
    }

    /// Sets where the store keeps everything, for stores in one file that is written.
    #[must_use]
    #[doc(hidden)]
    pub const fn with_file(self, file: FileOf) -> Self {
        Self { file: Some(file), ..self }
    }
}

/// [`StoreRegistry::open`](crate::StoreRegistry::open), for stores that lead to other URLs: it stands above them.
#[cfg(feature = "references")]
pub(crate) type OpenUrl = Arc<dyn Fn(&str, &StorageOptions) -> Result<Located, StoreError> + Send + Sync>;
