//! What a URL does not say of a store: [`StorageOptions`].

use std::collections::BTreeMap;
use std::fmt;

use super::storage_options;
use crate::{StoreError, StoreErrorKind};

/// An option that a store takes, see [`storage_options`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageOption {
    /// Its name; a `*` at either end stands for any characters.
    pub name: &'static str,
    /// The kind of its values.
    pub value: OptionValue,
    /// A few words on what it says.
    pub help: &'static str,
}

/// The kind of values that an option of a store has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionValue {
    /// Any text.
    Text,
    /// `true` or `false`.
    Flag,
    /// A number of bytes.
    Bytes,
}

impl StorageOption {
    pub(crate) const fn text(name: &'static str, help: &'static str) -> Self {
        Self { name, value: OptionValue::Text, help }
    }

    pub(crate) const fn flag(name: &'static str, help: &'static str) -> Self {
        Self { name, value: OptionValue::Flag, help }
    }

    #[cfg(feature = "references")]
    pub(crate) const fn bytes(name: &'static str, help: &'static str) -> Self {
        Self { name, value: OptionValue::Bytes, help }
    }

    fn is_called(&self, name: &str) -> bool {
        match (self.name.strip_suffix('*'), self.name.strip_prefix('*')) {
            (None, None) => self.name == name,
            (Some(begin), None) => name.starts_with(begin),
            (None, Some(end)) => name.ends_with(end),
            (Some(_), Some(_)) => name.contains(self.name.trim_matches('*')),
        }
    }

    fn check(&self, value: &str) -> Result<(), StoreError> {
        let what = match self.value {
            OptionValue::Flag if flag(value).is_none() => "'true' or 'false'",
            OptionValue::Bytes if value.parse::<u64>().is_err() => "a number of bytes",
            _ => return Ok(()),
        };
        Err(wrong(format!("the storage option '{}' is {what}", self.name)))
    }
}

fn flag(value: &str) -> Option<bool> {
    match value {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

fn wrong(message: String) -> StoreError {
    StoreError::new(StoreErrorKind::InvalidKey, "opening", message)
}

/// The beginning of the names of options that are for the stores that references lead to.
pub(crate) const REMOTE: &str = "remote_";

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
    pub fn flag(&self, name: &'static str) -> Result<Option<bool>, StoreError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        StorageOption::flag(name, "").check(value)?;
        Ok(flag(value))
    }

    /// Checks that there are such options, and that they have such values. An option that another store takes than the one that is
    /// opened is passed over: options are often said once for several places.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::InvalidKey`] when no store takes an option, with the one that may be meant, or the value is none that it has.
    pub fn check(&self) -> Result<(), StoreError> {
        self.iter().try_for_each(|(name, value)| {
            let own = name.strip_prefix(REMOTE).filter(|own| *own != "protocol").unwrap_or(name);
            let mut known = storage_options()
                .flat_map(|(_, options)| options)
                .filter(|option| option.is_called(own))
                .peekable();
            if known.peek().is_none() {
                return Err(unknown(name, own));
            }
            let checked: Vec<_> = known.map(|option| option.check(value)).collect();
            if checked.iter().any(Result::is_ok) { Ok(()) } else { checked.into_iter().collect() }
        })
    }

    /// All options.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// The error of an option that no store takes; it names the one that is meant, if there is one that is spelled alike.
fn unknown(name: &str, own: &str) -> StoreError {
    let known = storage_options().flat_map(|(_, options)| options).map(|option| option.name);
    let known = known.filter(|known| !known.contains('*'));
    let nearest = known.map(|known| (distance(known, own), known)).min();
    let meant = match nearest.filter(|(distance, known)| *distance <= 1 + known.len() / 4) {
        Some((_, known)) => format!("did you mean '{}{known}'?", name.strip_suffix(own).unwrap_or_default()),
        None => "`zarrox help storage` lists all".to_owned(),
    };
    wrong(format!("no store takes a storage option '{}' ({meant})", name.escape_debug()))
}

/// Counts the characters that must be inserted, removed or replaced to make one text of the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.pop().unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, value: &str) -> Option<String> {
        StorageOptions::new().with(name, value).check().err().map(|error| error.to_string())
    }

    #[test]
    #[cfg(all(feature = "s3", feature = "references", feature = "hdfs"))]
    fn options_that_no_store_takes_are_refused_with_what_may_be_meant() {
        for (wrong, meant) in [
            ("alow_http", "did you mean 'allow_http'?"),
            ("acces_key_id", "did you mean 'access_key_id'?"),
            ("remote_regoin", "did you mean 'remote_region'?"),
            ("follow_link", "did you mean 'follow_links'?"),
            ("colour", "`zarrox help storage` lists all"),
        ] {
            let refused = refusal(wrong, "a secret").unwrap();
            assert!(refused.contains(wrong) && refused.contains(meant), "{refused}");
            assert!(!refused.contains("secret"), "{refused}");
        }
        for (name, value) in [
            ("allow_http", "true"),
            ("remote_endpoint", "http://localhost"),
            ("remote_protocol", "s3"),
            ("dfs.client.use.datanode.hostname", "true"),
        ] {
            assert_eq!(refusal(name, value), None);
        }
    }

    #[test]
    #[cfg(all(feature = "s3", feature = "references"))]
    fn values_that_an_option_cannot_have_are_refused() {
        let refused = refusal("allow_http", "flase").unwrap();
        assert!(refused.contains("the storage option 'allow_http' is 'true' or 'false'"), "{refused}");
        assert!(refusal("memory_limit", "much").unwrap().contains("a number of bytes"));
        assert_eq!(refusal("memory_limit", "1000000"), None);
    }

    #[test]
    fn each_option_is_described_once_for_each_store() {
        for (names, options) in storage_options() {
            for (index, option) in options.iter().enumerate() {
                assert!(!option.help.is_empty() && !option.help.ends_with('.'), "{names:?}: {}", option.name);
                assert!(
                    options[..index].iter().all(|other| other.name != option.name),
                    "{names:?}: {}",
                    option.name
                );
            }
        }
    }

    #[test]
    fn distances_are_numbers_of_changes() {
        assert_eq!(distance("allow_http", "alow_http"), 1);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!((distance("", "abc"), distance("abc", "")), (3, 3));
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
