//! A kind of URL: [`Scheme`], and what it leads to: [`Located`].

use std::fmt::Debug;
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
    pub(crate) fn whole(store: impl Store + 'static, path: impl Into<String>) -> Self {
        Self { store: Arc::new(store), path: path.into().trim_matches('/').to_owned(), whole: true }
    }

    /// A store with many things.
    pub(crate) fn one_of_many(store: impl Store + 'static, path: impl Into<String>) -> Self {
        Self { whole: false, ..Self::whole(store, path) }
    }
}

/// A kind of URL.
pub(crate) struct Scheme {
    /// The names before `://`.
    pub(crate) names: &'static [&'static str],
    /// The storage options that it takes.
    pub(crate) options: &'static [StorageOption],
    /// Finds the store.
    pub(crate) open: fn(&StoreUrl<'_>, &StorageOptions) -> Result<Located, StoreError>,
}

/// [`open_url`](crate::open_url), for stores that lead to other URLs: it stands above them.
#[cfg(feature = "references")]
pub(crate) type OpenUrl = fn(&str, &StorageOptions) -> Result<Located, StoreError>;
