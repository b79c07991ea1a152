//! The options of a store that are not part of its URL: [`StorageOptions`].

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::{StoreError, StoreErrorKind};

/// An option of a store. See [`StoreRegistry::storage_options`](crate::StoreRegistry::storage_options).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageOption {
    /// The name. A `*` at either end matches any characters.
    pub name: &'static str,
    /// The type of the value.
    pub value: OptionValue,
    /// A short description.
    pub help: &'static str,
}

/// The type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionValue {
    /// Any text.
    Text,
    /// `true` or `false`.
    Flag,
    /// A number of bytes.
    Bytes,
    /// A number of seconds, possibly with a fraction.
    Seconds,
}

impl StorageOption {
    /// The option shared by all stores that write to a local disk.
    #[doc(hidden)]
    pub const SYNC: Self = Self::flag(SYNC, "flush writes to the disk, so that they survive a power failure");

    /// The option shared by all stores on a local disk whose writers wait for each other.
    #[doc(hidden)]
    pub const LOCK_TIMEOUT: Self =
        Self::text(LOCK_TIMEOUT, "the timeout of locks of other processes in seconds [default: 60]");

    /// Creates an option whose value is any text.
    #[must_use]
    pub const fn text(name: &'static str, help: &'static str) -> Self {
        Self { name, value: OptionValue::Text, help }
    }

    /// Creates an option that is `true` or `false`.
    #[must_use]
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        Self { name, value: OptionValue::Flag, help }
    }

    /// Creates an option that is a number of bytes.
    #[must_use]
    pub const fn bytes(name: &'static str, help: &'static str) -> Self {
        Self { name, value: OptionValue::Bytes, help }
    }

    /// Creates an option that is a number of seconds.
    #[must_use]
    pub const fn seconds(name: &'static str, help: &'static str) -> Self {
        Self { name, value: OptionValue::Seconds, help }
    }

    /// Returns true if the name matches this option.
    pub(super) fn is_called(&self, name: &str) -> bool {
        match (self.name.strip_suffix('*'), self.name.strip_prefix('*')) {
            (None, None) => self.name == name,
            (Some(begin), None) => name.starts_with(begin),
            (None, Some(end)) => name.ends_with(end),
            (Some(_), Some(_)) => name.contains(self.name.trim_matches('*')),
        }
    }

    /// Checks that a value is valid for the option.
    pub(super) fn check(&self, value: &str) -> Result<(), StoreError> {
        let what = match self.value {
            OptionValue::Flag if flag(value).is_none() => "'true' or 'false'",
            OptionValue::Bytes if value.parse::<u64>().is_err() => "a number of bytes",
            OptionValue::Seconds if seconds(value).is_none() => "a number of seconds",
            _ => return Ok(()),
        };
        Err(wrong(format!("the storage option '{}' must be {what}", self.name)))
    }
}

fn seconds(value: &str) -> Option<Duration> {
    value.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

fn flag(value: &str) -> Option<bool> {
    match value {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Returns the error for an invalid option.
pub(super) fn wrong(message: String) -> StoreError {
    StoreError::new(StoreErrorKind::InvalidKey, "opening", message)
}

/// The name of the option that flushes writes to disk.
pub const SYNC: &str = "sync";

/// The name of the option for the lock timeout, in seconds.
pub const LOCK_TIMEOUT: &str = "lock_timeout";

/// The prefix of option names for the targets of references.
pub(crate) const REMOTE: &str = "remote_";

/// Store options by name, such as `endpoint` or `access_key_id`. They take precedence over the environment.
///
/// Their values are never shown, since some of them are secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct StorageOptions {
    values: BTreeMap<String, String>,
    create: bool,
}

impl StorageOptions {
    /// Creates an empty set of options.
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

    /// Removes an option.
    #[must_use]
    #[doc(hidden)]
    pub fn without(mut self, name: &str) -> Self {
        self.values.remove(name);
        self
    }

    /// Sets whether a missing database is created; `false` by default.
    #[must_use]
    pub fn create(self, create: bool) -> Self {
        Self { create, ..self }
    }

    /// Returns true if a missing database is to be created.
    #[must_use]
    #[doc(hidden)]
    pub fn creates(&self) -> bool {
        self.create
    }

    /// Returns the value of an option.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Returns the value of an option that is `true` or `false`, or `None` if the option is not set.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::InvalidKey`] for any other value.
    pub fn flag(&self, name: &'static str) -> Result<Option<bool>, StoreError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        StorageOption::flag(name, "").check(value)?;
        Ok(flag(value))
    }

    /// Returns the value of an option that is a number of seconds, or `None` if the option is not set.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::InvalidKey`] for any other value.
    pub fn seconds(&self, name: &'static str) -> Result<Option<Duration>, StoreError> {
        let Some(text) = self.get(name) else { return Ok(None) };
        match seconds(text) {
            None => Err(wrong(format!("'{text}' is not a number of seconds for the option '{name}'"))),
            seconds => Ok(seconds),
        }
    }

    /// Iterates over all options.
    #[doc(hidden)]
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
