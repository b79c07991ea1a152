//! What a URL does not say of a store: [`StorageOptions`].

use std::collections::BTreeMap;
use std::fmt;

#[cfg(any(feature = "s3", feature = "azure", feature = "references"))]
use crate::{StoreError, StoreErrorKind};

/// Options of stores by their names, such as `endpoint` or `access_key_id`: what is said here is preferred to the environment.
///
/// Values are never shown, since some are secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct StorageOptions {
    values: BTreeMap<String, String>,
    create: bool,
}

impl StorageOptions {
    /// No options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an option.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.values.insert(name.into(), value.into());
        self
    }

    /// Whether a database that is not there is made. It is not, if not said.
    #[must_use]
    pub fn create(self, create: bool) -> Self {
        Self { create, ..self }
    }

    /// Whether a database that is not there is made.
    #[must_use]
    pub fn creates(&self) -> bool {
        self.create
    }

    /// The value of an option.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Whether an option is `true` or `false`; `None` when it is not set.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::InvalidKey`] when it is something else.
    #[cfg(any(feature = "s3", feature = "azure", feature = "references"))]
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, StoreError> {
        match self.get(name) {
            None => Ok(None),
            Some("true" | "1") => Ok(Some(true)),
            Some("false" | "0") => Ok(Some(false)),
            Some(_) => {
                let message = format!("the storage option '{name}' is 'true' or 'false'");
                Err(StoreError::new(StoreErrorKind::InvalidKey, "opening", message))
            }
        }
    }

    /// All options.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[cfg(feature = "references")]
impl<'a> FromIterator<(&'a str, &'a str)> for StorageOptions {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(options: I) -> Self {
        options.into_iter().fold(Self::new(), |options, (name, value)| options.with(name, value))
    }
}

impl fmt::Debug for StorageOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}
