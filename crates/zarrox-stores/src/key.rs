//! The names of stored objects: [`Key`] and [`Prefix`].

use std::borrow::Borrow;
use std::fmt;

use crate::{StoreError, StoreErrorKind};

/// The name of one stored object, such as `group/array/zarr.json`.
///
/// A key is one or more segments separated by `/`. A segment is not empty, is neither `.` nor `..`, and contains neither NUL nor
/// a backslash; any other Unicode text is valid. So a key cannot lead out of its store.
///
/// Keys are ordered by their bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Box<str>);

impl Key {
    /// Creates a key from a string, which is validated.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::InvalidKey`] when the string is not a valid key.
    pub fn new(text: impl Into<String>) -> Result<Self, StoreError> {
        let text = text.into();
        match check(&text) {
            Ok(()) => Ok(Self(text.into())),
            Err(reason) => Err(invalid(text, reason)),
        }
    }

    /// Returns the key as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last segment: `zarr.json` of `group/array/zarr.json`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(self.as_str(), |(_, name)| name)
    }

    /// Returns everything before the last segment: `group/array/` of `group/array/zarr.json`.
    #[must_use]
    pub fn parent(&self) -> Prefix {
        let end = self.0.len() - self.name().len();
        Prefix(self.0[..end].into())
    }
}

/// The common prefix of all keys in a node or directory. It is empty for the root of a store, and otherwise consists of segments
/// that each end in `/`, such as `group/array/`.
///
/// Because a prefix ends in `/`, `a/` is not a prefix of `ab/c`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Prefix(Box<str>);

impl Prefix {
    /// Returns the root of the store: the empty prefix.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Creates a prefix from a string, which is validated: it must be empty, or consist of segments that each end in `/`.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::InvalidKey`] when the string is not a valid prefix.
    pub fn new(text: impl Into<String>) -> Result<Self, StoreError> {
        let text = text.into();
        if text.is_empty() {
            return Ok(Self::root());
        }
        let checked = match text.strip_suffix('/') {
            Some(segments) => check(segments),
            None => Err("a prefix ends in '/'"),
        };
        match checked {
            Ok(()) => Ok(Self(text.into())),
            Err(reason) => Err(invalid(text, reason)),
        }
    }

    /// Returns the prefix as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if this is the root of the store.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the last segment without its `/`: `array` of `group/array/`. The name of the root is empty.
    #[must_use]
    pub fn name(&self) -> &str {
        let segments = self.segments();
        segments.rsplit_once('/').map_or(segments, |(_, name)| name)
    }

    /// Returns the prefix one level up: `group/` of `group/array/`, or `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        let end = self.segments().len() - self.name().len();
        Some(Self(self.0[..end].into()))
    }

    /// Returns the key `name` below this prefix. `name` may have several segments.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::InvalidKey`] when the name is not a valid part of a key.
    pub fn key(&self, name: &str) -> Result<Key, StoreError> {
        check(name).map_err(|reason| invalid(format!("{self}{name}"), reason))?;
        Ok(Key([self.as_str(), name].concat().into()))
    }

    /// Returns the prefix `name/` below this prefix. `name` does not end in `/`, and may have several segments.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::InvalidKey`] when the name is not a valid part of a key.
    pub fn child(&self, name: &str) -> Result<Self, StoreError> {
        check(name).map_err(|reason| invalid(format!("{self}{name}/"), reason))?;
        Ok(Self([self.as_str(), name, "/"].concat().into()))
    }

    /// Returns true if the key lies below this prefix, at any depth.
    #[must_use]
    pub fn contains(&self, key: &Key) -> bool {
        key.as_str().starts_with(self.as_str())
    }

    /// Returns the key at the path `key` below this prefix.
    pub(crate) fn join(&self, key: &Key) -> Key {
        Key([self.as_str(), key.as_str()].concat().into())
    }

    /// Returns the key relative to this prefix, or `None` if it is not below this prefix.
    pub(crate) fn strip(&self, key: &Key) -> Option<Key> {
        // The remainder of a key after a prefix, which ends in '/', is a valid key.
        key.0.strip_prefix(self.as_str()).map(|name| Key(name.into()))
    }

    /// Returns the prefix at the path `prefix` below this prefix.
    pub(crate) fn join_prefix(&self, prefix: &Self) -> Self {
        Self([self.as_str(), prefix.as_str()].concat().into())
    }

    /// Returns the prefix relative to this prefix, or `None` if it is not below this prefix.
    pub(crate) fn strip_prefix(&self, prefix: &Self) -> Option<Self> {
        prefix.0.strip_prefix(self.as_str()).map(|name| Self(name.into()))
    }

    /// Returns the prefix without its trailing `/`.
    #[must_use]
    #[doc(hidden)]
    pub fn segments(&self) -> &str {
        self.0.strip_suffix('/').unwrap_or_default()
    }
}

/// Returns the reason as an error if the text is not a valid key.
fn check(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("a key cannot be empty");
    }
    // Every access to a chunk creates a key, so all rules are checked in a single pass over the bytes.
    let mut segment = 0;
    for (position, byte) in text.bytes().enumerate() {
        match byte {
            0 | b'\\' => return Err("a key cannot contain NUL or a backslash"),
            b'/' => {
                check_segment(&text.as_bytes()[segment..position])?;
                segment = position + 1;
            }
            _ => {}
        }
    }
    check_segment(&text.as_bytes()[segment..])
}

fn check_segment(segment: &[u8]) -> Result<(), &'static str> {
    match segment {
        b"" => Err("a key cannot begin or end with '/', or contain '//'"),
        b"." | b".." => Err("a key cannot have a segment '.' or '..'"),
        _ => Ok(()),
    }
}

/// Returns a key that was read from a database, or `None` if the name is not a valid key. Such names belong to other programs.
pub fn valid(key: Vec<u8>) -> Option<Key> {
    String::from_utf8(key).ok().and_then(|key| Key::new(key).ok())
}

fn invalid(text: String, reason: &'static str) -> StoreError {
    StoreError::new(StoreErrorKind::InvalidKey, "checking", reason).with_key(text)
}

macro_rules! text_type {
    ($type:ident) => {
        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, formatter)
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<&str> for $type {
            type Error = StoreError;

            fn try_from(text: &str) -> Result<Self, StoreError> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $type {
            type Error = StoreError;

            fn try_from(text: String) -> Result<Self, StoreError> {
                Self::new(text)
            }
        }
    };
}

text_type!(Key);
text_type!(Prefix);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_valid() {
        for text in ["a", "a/b", ".zarray", "a.b/..c", "...", "дом/数据/ñ", "with space/ x", "c/0/0"] {
            assert_eq!(Key::new(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn keys_that_are_not_valid() {
        for text in ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "a\0b", "a\\b"] {
            let error = Key::new(text).unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::InvalidKey, "{text:?}");
            assert_eq!(error.key(), Some(text));
        }
    }

    #[test]
    fn prefixes() {
        for text in ["", "a/", "a/b/"] {
            assert_eq!(Prefix::new(text).unwrap().as_str(), text);
        }
        for text in ["a", "/", "/a/", "a//", "../", "a/../"] {
            assert_eq!(Prefix::new(text).unwrap_err().kind(), StoreErrorKind::InvalidKey, "{text:?}");
        }
    }

    #[test]
    fn parts() {
        let key = Key::new("a/b/c").unwrap();
        assert_eq!((key.name(), key.parent().as_str()), ("c", "a/b/"));
        assert_eq!(Key::new("c").unwrap().parent(), Prefix::root());
        let prefix = key.parent();
        assert_eq!((prefix.name(), prefix.parent()), ("b", Some(Prefix::new("a/").unwrap())));
        assert_eq!(Prefix::new("a/").unwrap().parent(), Some(Prefix::root()));
        assert_eq!(Prefix::root().parent(), None);
        assert_eq!(prefix.key("c").unwrap(), key);
        assert_eq!(Prefix::root().child("a").unwrap().child("b").unwrap(), prefix);
        assert_eq!(prefix.key("../c").unwrap_err().kind(), crate::StoreErrorKind::InvalidKey);
        assert_eq!(prefix.child("").unwrap_err().kind(), crate::StoreErrorKind::InvalidKey);
        assert!(prefix.contains(&key));
        assert!(!Prefix::new("a/").unwrap().contains(&Key::new("ab/c").unwrap()));
    }
}
