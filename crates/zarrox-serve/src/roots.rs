//! The roots of a server: a list that may grow while it is served.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use zarrox::{AccessOptions, Error, ErrorKind, OpenOptions, Place, Result};

use crate::root::{Limits, Root};

/// The most memory that decoding one chunk may take, in bytes.
const CHUNK_LIMIT: usize = 1 << 30;

/// The roots of a server. Clones share one list, so that roots can be added to a server that runs.
#[derive(Clone)]
pub struct Roots {
    list: Arc<RwLock<Arc<[Arc<Root>]>>>,
    pub(crate) limits: Limits,
    access: AccessOptions,
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list().iter()).finish()
    }
}

impl Roots {
    /// No roots yet. All that are added share a cache of chunks.
    pub(crate) fn new(limits: Limits, access: AccessOptions) -> Self {
        Self { list: Arc::new(RwLock::new(Arc::new([]))), limits, access }
    }

    /// Adds the place of an array, of a group, or of several hierarchies, opened with these options, but for reading. The name is a part of
    /// addresses.
    ///
    /// # Errors
    /// When the name is taken or cannot be in an address, or the place has no store.
    pub fn add(&self, name: &str, place: impl Into<Place>, options: &OpenOptions) -> Result<()> {
        self.check(name)?;
        self.push(Root::open(name.to_owned(), &place.into(), &self.options(options), self.limits)?)
    }

    /// Returns the roots that there are now.
    pub(crate) fn list(&self) -> Arc<[Arc<Root>]> {
        self.list.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the options for places that strangers may have written.
    fn options(&self, options: &OpenOptions) -> OpenOptions {
        options.clone().chunk_limit(CHUNK_LIMIT).access(&self.access)
    }

    fn check(&self, name: &str) -> Result<()> {
        if name.is_empty() || matches!(name, "." | "..") || name.contains(['/', '\\', '\0']) {
            return Err(argument(format!("'{}' cannot be the name of a root", name.escape_debug())));
        }
        check_free(&self.list(), name)
    }

    fn push(&self, root: Root) -> Result<()> {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        check_free(&list, &root.name)?;
        *list = list.iter().cloned().chain([Arc::new(root)]).collect();
        Ok(())
    }
}

fn check_free(roots: &[Arc<Root>], name: &str) -> Result<()> {
    if roots.iter().any(|root| root.name == name) {
        return Err(argument(format!(
            "two roots have the name '{name}'; NAME=PATH gives one of them another"
        )));
    }
    Ok(())
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}
