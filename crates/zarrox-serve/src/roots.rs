//! The roots of a server: a list that can grow while the server runs.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use zarrox::{AccessOptions, Error, ErrorKind, OpenOptions, Place, Result};

use crate::failure::Answer;
use crate::root::{Root, root_named};
use crate::work::Limits;

/// The memory limit for decoding a chunk, in bytes.
const CHUNK_LIMIT: usize = 1 << 30;

/// The roots of a server. Clones share the list, so that roots can be added to a running server.
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
    /// Creates an empty list. All roots share a chunk cache.
    pub(crate) fn new(limits: Limits, access: AccessOptions) -> Self {
        Self { list: Arc::new(RwLock::new(Arc::new([]))), limits, access }
    }

    /// Adds the location of an array, a group, or several hierarchies. The location is opened with these options, but read-only.
    /// The name is part of URLs.
    ///
    /// # Errors
    /// If the name is taken or invalid in a URL, or the location has no store.
    pub fn add(&self, name: &str, place: impl Into<Place>, options: &OpenOptions) -> Result<()> {
        self.check(name)?;
        self.push(Root::open(name.to_owned(), &place.into(), &self.options(options), self.limits)?)
    }

    /// Returns the current roots.
    pub(crate) fn list(&self) -> Arc<[Arc<Root>]> {
        self.list.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the root of this name. A root whose file was replaced is opened again.
    pub(crate) async fn named(&self, name: &str) -> Answer<Arc<Root>> {
        let root = root_named(&self.list(), name)?.clone();
        if !root.is_file() {
            return Ok(root);
        }
        let (roots, workers) = (self.clone(), root.workers.clone());
        workers.run(move |_| Ok(roots.renewed(root)?)).await
    }

    fn renewed(&self, root: Arc<Root>) -> Result<Arc<Root>> {
        let Some(renewed) = root.renewed()?.map(Arc::new) else { return Ok(root) };
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        let is_old = |one: &Arc<Root>| Arc::ptr_eq(one, &root);
        *list = list.iter().map(|one| if is_old(one) { &renewed } else { one }).cloned().collect();
        Ok(renewed)
    }

    /// Returns the options for untrusted locations.
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
